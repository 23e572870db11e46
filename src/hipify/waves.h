/* Spots of a source that assume waves (warps) of 32 lanes, where those of gfx9 GPUs have 64.
 *
 * Looks at tokens, file by file, and knows no types: a name is what the declaration or assignment in
 * front made of it. Lines that a ROCm build does not compile are left out, and those below an #if
 * that asks for the generation of the GPU or the size of its waves. Sources of the facts: HIP's
 * amd_warp_sync_functions.h (masks have 64 bits; one that is not that of the active lanes traps),
 * and the HIP documentation of warpSize (no constant from ROCm 7 on).
 */
#pragma once

#include "formats/finding.h"

struct waves_request {
	struct str dir;
	const struct strs *files; /* relative to dir; NULL = the sources and headers in it */
	struct strs exclude;      /* as in struct hipify_options */
	bool by_torch;            /* #if is read as in a build with PyTorch */
	size_t most;              /* findings of each kind at most; 0 = all */
	struct str state; /* file that tells what unchanged files have; "" = they are all read */
	bool keep;        /* write it */
};

/* Kind by kind; path is the place: "red.cu:6:31". Files that cannot be read are left out. */
MUST_USE struct err *waves_find(
	struct arena *a, const struct waves_request *q, struct findings *ret);
