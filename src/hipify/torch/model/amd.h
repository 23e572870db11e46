/* The work of a PyTorch checkout's tools/amd_build/build_amd.py, read from its text.
 *
 * The script is code, but what it says is in literals: lists of patterns and files, pairs of
 * replace() calls. They are found by the shape of the code around them, in all forms that the
 * script had since torch 2.0. Code that writes files in a way that is not recognised is never
 * passed over in silence: it is a doubt, and the run is no longer said to equal the original's.
 */
#pragma once

#include "formats/finding.h"
#include "hipify/torch/model/tables.h"

/* Replacements of plain text in some files, done before hipify, line by line. */
struct amd_edit {
	struct strs files;        /* relative to the checkout; absent ones are passed over */
	struct torch_map replace; /* in order; each works on the result of the ones before */
	bool when_kept;           /* only when launches are kept */
};

enum amd_launches {
	AMD_KEEPS_LAUNCHES,
	AMD_REWRITES_LAUNCHES,
	AMD_ASKS_HIP_INFO, /* kept when $HIP_PATH (/opt/rocm/hip)/lib/.hipInfo has
			      HIP_COMPILER=clang */
};

struct amd_build {
	struct str file;               /* as messages name it */
	struct strs includes, ignores; /* patterns, relative to the checkout */
	struct strs extra_files;       /* as hipify()'s argument: the original dies without them */
	struct strs extra_if_there;    /* more of them, if they exist */
	enum amd_launches launches;
	struct {
		struct amd_edit *v;
		size_t n, cap;
	} edits;
	struct { /* one file copied after hipify; from.n is 0 when there is none */
		struct str from, to;
		bool required; /* the original fails without it; else it is passed over */
	} copy;
	struct findings
		doubts; /* parts of the script that are not done as it does them; empty = none */
};

/* E_TORCH when it has no literal lists of includes and ignores. */
MUST_USE struct err *amd_build_read(
	struct arena *a, const struct torch_file *f, struct amd_build *ret);
