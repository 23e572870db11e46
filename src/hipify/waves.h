/* Finds code that assumes waves (warps) of 32 lanes; waves of gfx9 GPUs have 64.
 *
 * Works on tokens, file by file, without types: the latest declaration or assignment in front of a use
 * decides what a name means. Skips lines that a ROCm build does not compile, and code under an #if
 * that tests the GPU's generation or wave size. Sources: HIP's amd_warp_sync_functions.h (masks have
 * 64 bits; a mask that differs from the active lanes traps), and the HIP documentation of warpSize
 * (not a constant since ROCm 7).
 */
#pragma once

#include "base/map.h"
#include "formats/finding.h"

struct waves_request {
	struct str dir;
	const struct strs *files; /* relative to dir; NULL = the sources and headers in it */
	struct strs exclude;      /* as in struct hipify_options */
	bool by_torch;            /* evaluate #if as in a build with PyTorch */
	size_t most;              /* limit of findings per kind; 0 = no limit */
	const struct map *texts;  /* path -> struct str *: texts that were read already; or NULL */
};

/* Adds findings in the order of their kinds; their path is a place: "red.cu:6:31". Skips unreadable files. */
MUST_USE struct err *waves_find(
	struct arena *a, const struct waves_request *q, struct findings *ret);

/* ---- private: data/waves.yaml ---- */
enum wave_kind { WAVE_MASK, WAVE_SIZE, WAVE_SHUFFLE, WAVE_BALLOT, WAVE_COUNT, WAVE_CONSTANT };
struct wave_finding {
	enum wave_kind kind;
	const char *id, *why, *instead;
};
TABLE(wave_finding);
enum { W_CAST, W_NARROW, W_WIDE, W_VOTE, W_BITS, W_THREAD, W_FULL, W_STOP, W_OPEN, W_SHFL };
enum { W_SYNC = W_SHFL + 1, W_WAY, W_PLANE, W_LANE, W_WAVE, W_LANES, W_LOG, W_MASKS };
struct wave_class {
	unsigned class;
	const char *const *words;
};
TABLE(wave_class);
