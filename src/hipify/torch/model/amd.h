/* The steps of a PyTorch checkout's tools/amd_build/build_amd.py, extracted from its text.
 *
 * The script is code, but its settings are literals: lists of patterns and files, pairs of
 * replace() calls. They are found by the shape of the code around them, in every form that the
 * script has had since torch 2.0. Unrecognised code that writes files is never ignored silently:
 * it becomes a doubt, and the run no longer claims to equal the original's.
 */
#pragma once

#include "formats/finding.h"
#include "hipify/torch/model/tables.h"

/* Plain text replacements in some files, done before hipify, line by line. */
struct amd_edit {
	struct strs files;        /* relative to the checkout; absent ones are skipped */
	struct torch_map replace; /* applied in order, each to the result of the previous ones */
	bool when_kept;           /* done only if launches are kept */
};

enum amd_launches {
	AMD_KEEPS_LAUNCHES,
	AMD_REWRITES_LAUNCHES,
	AMD_ASKS_HIP_INFO, /* kept if $HIP_PATH/lib/.hipInfo (default /opt/rocm/hip) has
			      HIP_COMPILER=clang */
};

struct amd_build {
	struct str file;               /* the script's path in messages */
	struct strs includes, ignores; /* patterns, relative to the checkout */
	struct strs extra_files;    /* hipify()'s argument; the original fails if one is missing */
	struct strs extra_if_there; /* optional extra files */
	enum amd_launches launches;
	VEC(struct amd_edit) edits;
	struct { /* one file copied after hipify; from.n is 0 if there is none */
		struct str from, to;
		bool required; /* the original fails if it is missing; else it is skipped */
	} copy;
	struct findings doubts; /* parts of the script that are not reproduced */
};

/* E_TORCH if the script has no literal lists of includes and ignores, or names a file outside of its tree. */
MUST_USE struct err *amd_build_read(
	struct arena *a, const struct torch_file *f, struct amd_build *ret);
