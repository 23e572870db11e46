/* Which files PyTorch's hipify takes, and how it calls their results.
 *
 * Paths are computed as text, as Python's os.path does it (pypath.h). The folder is walked in the
 * order of its directory entries, unsorted, links to folders are not followed: when two sources
 * give one output the later one wins, as in the original. Reference hipify.md 3, 4.4.
 */
#pragma once

#include "hipify/torch/tables.h"
#include "hipify/view.h"

/* fnmatch.fnmatch(): '*' crosses '/', no escapes, '[!x]'. Anchored at both ends. */
bool py_fnmatch(struct str path, struct str pattern);
/* get_hip_file_path(): rel is relative. */
struct str torch_output_name(struct arena *a, struct str rel, bool extension);
bool torch_out_of_place(struct str rel);
bool torch_pytorch_file(struct str rel, bool fbgemm);
bool torch_special_file(struct str rel, bool fbgemm);
bool torch_caffe2_gpu_file(struct str rel);

struct torch_selection {
	struct str root;               /* absolute */
	struct strs includes, ignores; /* absolute patterns */
	struct strs extensions;        /* {NULL} = the original's list */
	bool extension;                /* extension mode: every file counts */
	bool out_of_place_only, fbgemm;
	enum torch_generation generation;
};

/* matched_files_iter(): absolute paths. Folders that were read are noted in the view. */
MUST_USE struct err *torch_select(struct arena *a, const struct torch_selection *s,
	struct hipify_view *view, struct strs *ret);
