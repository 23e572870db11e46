/* The meaning of gfx names: the table of GPU targets, feature suffixes, generic targets, coverage.
 *
 * A target id is a processor name with optional features: "gfx90a:sramecc+:xnack-". A feature that is left out means
 * "any". Code of a generic target ("gfx11-generic") runs on every processor that it covers.
 * Source: LLVM AMDGPUUsage; e_flags measured with LLVM 22.1.8. The table is data/targets.yaml.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"

enum feature { FEATURE_UNSUPPORTED, FEATURE_ANY, FEATURE_OFF, FEATURE_ON };

/* A processor, from data/targets.yaml. */
struct gpu {
	const char *name;    /* "gfx1100", "gfx11-generic" */
	unsigned mach;       /* EF_AMDGPU_MACH, the low byte of e_flags */
	const char *generic; /* name of the generic target that covers it, or NULL */
	bool is_generic;
	bool removed;        /* gfx940, gfx941: compilers no longer know it; still decoded */
	bool current;        /* packages are built for it today; "all" stands for these */
	bool debian;         /* Debian's libraries of ROCm have kernels for it */
	bool xnack, sramecc; /* its ids may have the suffix */
	bool wave32;         /* default wave size 32, else 64 */
	bool no_images;      /* no textures, no surfaces */
	/* limits of a SIMD unit; 0 = not known. See data/targets.yaml */
	unsigned waves, vgprs, vgpr_step;
	bool apu;          /* shares memory with the CPU; gfx942 comes in both forms */
	const char *kind;  /* "dgpu", "dcgpu" or "igpu" if TheRock builds for it; or NULL */
	const char *about; /* its code name: "Strix Halo APU", or NULL */
	const char *const *products; /* "RX 9060", "RX 9060 XT", NULL; or NULL */
};

/* A parsed target id. A feature that the id does not name is FEATURE_ANY, or FEATURE_UNSUPPORTED if the processor has
 * no such feature. */
struct target {
	const struct gpu *gpu; /* NULL for a processor that the table does not know */
	struct str name;       /* processor name; if unknown, a view of the parsed text */
	enum feature sramecc, xnack;
};

struct board { /* a PCI device of AMD's; see data/targets.yaml */
	unsigned device;
	const char *const *names;
};
TABLE(board);

struct targets VEC_OF(struct target);

TABLE(gpu); /* sorted by name */

const struct gpu *gpu_by_name(struct str name);
const struct gpu *gpu_by_mach(unsigned mach);
/* The products with this GPU, for people: "RX 9060, RX 9060 XT", "Strix Halo APU (Radeon 8050S, ...)"; may be "". */
struct str gpu_products(struct arena *a, const struct gpu *gpu);
/* The product with this PCI device of AMD's, by the text of libdrm's amdgpu.ids ("": none) and our own table: "Radeon RX 7900
 * GRE"; "" if neither knows it. revision: its PCI revision, "0xce", or ""; memory: bytes, 0 = not known. */
struct str board_name(
	struct arena *a, unsigned device, struct str revision, uint64_t memory, struct str ids);
/* The line of an amdgpu.ids for a device with this revision, or "". */
struct str board_ids_line(struct str ids, unsigned device, struct str revision);
/* Parses an id found in a file, and never fails: if the processor is unknown, or cannot have the features that are
 * named, gpu is NULL and name is the whole text. */
struct target target_read(struct str text);
struct str target_text(struct arena *a, const struct target *t); /* canonical id */
/* Compares like strcmp(), but by generation, for lists that people read: gfx9-generic, gfx90a, gfx942, gfx1030,
 * gfx1201; text that is not the name of a target comes last. */
int target_order(struct str x, struct str y);
/* Compares two structs whose first member is a target (struct str), for qsort(). */
int target_order_first(const void *x, const void *y);
void targets_sort(struct strs *list);
/* The target in a code object's e_flags and EI_ABIVERSION (1 = V3, 2 = V4 and later). In V3 a feature is on or off,
 * never any. An unknown MACH gives the name "mach-0x7f" (V2, EI_ABIVERSION 0 of amdhsa, has its target in a note, not
 * in the flags). */
struct target target_from_flags(struct arena *a, uint32_t e_flags, unsigned abi_version);
/* The target for a gfx_target_version of the KFD topology: "gfx1100" for 110000, "gfx942" for 90402, "" for 0. Works
 * for processors that the table does not have yet, too. */
struct str target_from_kfd(struct arena *a, uint32_t gfx_target_version);
/* Does code compiled for `have` run on a device `want`, or satisfy a request for it? It does for the same processor or
 * a generic target that covers it, unless a feature is on in one and off in the other. */
bool target_covers(const struct target *have, const struct target *want);
/* The modes of a device that a target stands for: each feature that it leaves open is on or off in them. Returns their
 * number, at least 1. */
enum { TARGET_MODES = 4 };
size_t target_modes(const struct target *t, struct target ret[TARGET_MODES]);
/* Does any id in the list cover the GPU? */
bool targets_serve(const struct strs *list, struct str gpu);
/* Parses words such as "gfx1100" or "gfx90a:xnack-", which may be joined by commas, and keeps their order; duplicates
 * are dropped. "all" is every processor with .current, in table order; a family of TheRock's ("gfx110X-all", "gfx94X-dcgpu",
 * "gfx120X", "igpu-all") all of its processors. An empty list is E_GFX. The caller has replaced "native" (know/rule.h).
 *
 * A product stands for its target, without regard to case, blanks and AMD's prefixes: "RX 9070 XT", "mi300x", "AMD
 * Radeon 780M Graphics", "MI300X:xnack-". Strict: an unknown processor or feature is E_GFX with did-you-mean. Removed
 * processors are accepted (old files have them): look at gpu->removed before compiling for one. */
MUST_USE struct err *targets_parse(struct arena *a, const struct strs *words, struct targets *ret);

/* The next known processor, or family of processors, in a path: gfx90a in "gfx90a68.kdb"; in "amd-gfx11xx/" all
 * processors whose names have that length and begin with "gfx11". target_word() moves *rest past it, and returns false
 * if there is none. */
struct target_word {
	struct str text;
	size_t stem; /* bytes that the names of its members share */
};
bool target_word(struct str *rest, struct target_word *ret);
bool target_word_is(const struct target_word *w, const struct gpu *gpu);
