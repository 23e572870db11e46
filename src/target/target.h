/* What gfx names mean: the table of GPU targets, feature suffixes, generic targets, coverage.
 *
 * A target id is a processor name with optional features: "gfx90a:sramecc+:xnack-". Features left
 * out mean "any". A generic target ("gfx11-generic") runs on every processor that it covers.
 * Source: LLVM AMDGPUUsage; e_flags measured with LLVM 22.1.8. The table is data/targets.yaml.
 */
#pragma once

#include "base/err.h"

enum feature { FEATURE_UNSUPPORTED, FEATURE_ANY, FEATURE_OFF, FEATURE_ON };

/* A processor, from data/targets.yaml. */
struct gpu {
	const char *name;    /* "gfx1100", "gfx11-generic" */
	unsigned mach;       /* EF_AMDGPU_MACH, the low byte of e_flags */
	const char *generic; /* name of the generic target that covers it, or NULL */
	bool is_generic;
	bool removed;        /* gfx940, gfx941: compilers no longer know it; still decoded */
	bool current;        /* packages are built for it today: what "all" means */
	bool xnack, sramecc; /* may carry the suffix */
	bool wave32;         /* default wave size 32, else 64 */
	unsigned waves, vgprs, vgpr_step; /* of a SIMD unit; 0: not known. See data/targets.yaml */
	bool apu;                    /* shares memory with the CPU; gfx942 comes in both forms */
	const char *about;           /* its code name: "Strix Halo APU", or NULL */
	const char *const *products; /* "RX 9060", "RX 9060 XT", NULL; or NULL */
};

/* A target id, parsed. A feature that the id does not name is FEATURE_ANY, or FEATURE_UNSUPPORTED
 * where the processor has no such feature. */
struct target {
	const struct gpu *gpu; /* NULL for a processor that the table does not know */
	struct str name; /* processor name; of an unknown one a view of the text it came from */
	enum feature sramecc, xnack;
};

struct targets {
	struct target *v;
	size_t n, cap;
};

const struct gpu *gpu_table(void); /* sorted by name */
extern const size_t gpu_count;

const struct gpu *gpu_by_name(struct str name);
const struct gpu *gpu_by_mach(unsigned mach);
/* For people: "RX 9060, RX 9060 XT", "Strix Halo APU (Radeon 8050S, ...)"; may be "". */
struct str gpu_products(struct arena *a, const struct gpu *gpu);
/* Lenient, for reading files: never fails. When the processor is unknown, or it cannot have the
 * features that are named, gpu is NULL and name is the whole text. */
struct target target_read(struct str text);
struct str target_text(struct arena *a, const struct target *t); /* canonical id */
/* As strcmp() does, by generation: gfx9-generic, gfx90a, gfx942, gfx1030, gfx1201; what is no name of a
 * target comes last. For lists that people read. */
int target_order(struct str x, struct str y);
void targets_sort(struct strs *list);
/* From a code object's e_flags and EI_ABIVERSION (1 = V3, 2 = V4 and later). In V3 a feature is on
 * or off, never any. Unknown MACH: name "mach-0x7f" (V2, EI_ABIVERSION 0 of amdhsa, keeps its
 * target in a note and has none in the flags). */
struct target target_from_flags(struct arena *a, uint32_t e_flags, unsigned abi_version);
/* gfx_target_version of the KFD topology, e.g. 110000 -> "gfx1100", 90402 -> "gfx942"; 0 -> "".
 * Also right for processors that the table does not know yet. */
struct str target_from_kfd(struct arena *a, uint32_t gfx_target_version);
/* Does code compiled for `have` run on a device (or cover a wish) `want`: same processor, or the
 * generic target that covers it, and no feature on in one and off in the other. */
bool target_covers(const struct target *have, const struct target *want);
/* The same of a list of ids: does one of them? */
bool targets_serve(const struct strs *list, struct str gpu);
/* Words such as "gfx1100" or "gfx90a:xnack-", also joined by commas, in the order given; duplicates
 * are dropped. "all" is every processor with .current, in table order. An empty list is E_GFX.
 * "native" is for the caller to replace first (know/rule.h).
 *
 * A product stands for its target, without regard to case, blanks and AMD's prefixes: "RX 9070 XT",
 * "mi300x", "AMD Radeon 780M Graphics", "MI300X:xnack-".
 * Strict: an unknown processor or feature is E_GFX with did-you-mean. Removed processors are accepted
 * (old files have them): look at gpu->removed before compiling for one. */
MUST_USE struct err *targets_parse(struct arena *a, const struct strs *words, struct targets *ret);

/* The next known processor, or family of them, in a path: of "gfx90a68.kdb" gfx90a, of "amd-gfx11xx/" all whose
 * names are as long and begin with "gfx11". *rest moves behind it. False: there is none. */
struct target_word {
	struct str text;
	size_t stem; /* bytes that the names of its members share */
};
bool target_word(struct str *rest, struct target_word *ret);
bool target_word_is(const struct target_word *w, const struct gpu *gpu);
