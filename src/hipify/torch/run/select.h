/* The files that PyTorch's hipify takes, and the names of their results.
 *
 * Paths are computed as text, as Python's os.path does it (lang/python/path.h). The folder is
 * walked in the order of its directory entries, unsorted, links to folders are not followed: when
 * two sources give one output the later one wins, as in the original. Folders below which no
 * pattern can match are not even read. doc/hipify.md tells the rules.
 */
#pragma once

#include "changes/view.h"
#include "hipify/torch/model/tables.h"

#define TORCH_BUILD_AMD "tools/amd_build/build_amd.py"

/* The script that tells what of PyTorch's own tree is translated: that of the tree, which the user
 * calls dir, or of the torch. E_TORCH when there is none. */
MUST_USE struct err *torch_find_build_amd(struct arena *a, struct str dir,
	const struct torch_source *s, const struct view *view, struct torch_file *ret);

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
	unsigned jobs;                   /* threads that walk; 0 = one per CPU */
	struct map *links;               /* gets the files that are links; NULL = nobody asks */
	struct torch_patterns *patterns; /* set by torch_select_open() */
};

/* The original's extensions of sources and of headers. */
extern const struct strs torch_source_extensions, torch_header_extensions;
bool torch_ends_with_one(struct str path, const struct strs *endings);

/* Compiles the patterns; before any of the following. */
void torch_select_open(struct arena *a, struct torch_selection *s);
/* Is the file of this absolute path taken? */
bool torch_select_takes(const struct torch_selection *s, struct str path, struct str rel);
/* matched_files_iter(): absolute paths. Folders that were read are noted in the view. */
MUST_USE struct err *torch_select(struct arena *a, const struct torch_selection *s,
	const struct view *view, struct strs *ret);
struct torch_headers {
	const struct torch_selection *s;
	struct str dir; /* an include folder, as str(pathlib.Path()) writes it */
	struct strs endings;
};

/* The headers below an include folder, as pathlib's rglob('*') finds them: those that the patterns
 * take and that have one of the endings. Nothing when there is no such folder. */
MUST_USE struct err *torch_select_headers(
	struct arena *a, const struct torch_headers *h, const struct view *view, struct strs *ret);
