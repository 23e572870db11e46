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
	const char *name;         /* "gfx1100", "gfx11-generic" */
	unsigned mach;            /* EF_AMDGPU_MACH, the low byte of e_flags */
	const char *generic;      /* name of the generic target that covers it, or NULL */
	bool is_generic, removed; /* removed: gfx940, gfx941; still decoded */
	bool xnack, sramecc;      /* may carry the suffix */
	bool wave32;              /* default wave size 32, else 64 */
	const char *products;
};

/* A target id, parsed; features in canonical order (sramecc before xnack). */
struct target {
	const struct gpu *gpu; /* NULL for a processor that the table does not know */
	struct str name;       /* processor name */
	enum feature sramecc, xnack;
};

struct targets {
	struct target *v;
	size_t n, cap;
};

extern const struct gpu gpu_table[]; /* sorted by name */
extern const size_t gpu_count;

const struct gpu *gpu_by_name(struct str name);
const struct gpu *gpu_by_mach(unsigned mach);
/* Strict: an unknown processor or feature is E_GFX with did-you-mean. */
MUST_USE struct err *target_parse(struct arena *a, struct str text, struct target *ret);
/* Lenient, for reading files: never fails, gpu = NULL when unknown. */
struct target target_read(struct str text);
struct str target_text(struct arena *a, const struct target *t); /* canonical id */
/* From a code object's e_flags and EI_ABIVERSION (2 = V4 and later). Unknown MACH: "mach-0x7f". */
struct target target_from_flags(struct arena *a, uint32_t e_flags, unsigned abi_version);
/* gfx_target_version of the KFD topology, e.g. 110000 -> "gfx1100", 90402 -> "gfx942". */
struct str target_from_kfd(struct arena *a, uint32_t gfx_target_version);
bool target_eq(const struct target *a, const struct target *b);
/* Does code compiled for `have` run on a device (or cover a wish) `want`: same processor with
 * compatible features, or the generic target that covers it. */
bool target_covers(const struct target *have, const struct target *want);
/* "gfx1100,gfx90a:xnack-" (also "all" = every current non-generic gpu); duplicates are dropped.
 * "native" is for the caller to replace first (machine/). */
MUST_USE struct err *targets_parse(struct arena *a, const struct strs *words, struct targets *ret);
