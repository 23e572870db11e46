/* The files that PyTorch's hipify translates, and the names of their results.
 *
 * Paths are computed as text, as in Python's os.path (lang/python/path.h). The folder is walked in the
 * order of its directory entries, unsorted, without following links to folders: if two sources have
 * the same output, the later one wins, as in the original. Folders below which no pattern can match
 * are not even read. doc/hipify.md has the rules.
 */
#pragma once

#include "changes/view.h"
#include "hipify/torch/model/tables.h"

#define TORCH_BUILD_AMD "tools/amd_build/build_amd.py"

/* Reads the script that selects the files of PyTorch's own tree: the tree's (dir, as the user named it)
 * or else that of the torch. E_TORCH if neither has one. */
MUST_USE struct err *torch_find_build_amd(struct arena *a, struct str dir,
	const struct torch_source *s, const struct view *view, struct torch_file *ret);

/* The original's get_hip_file_path(); rel is a relative path. */
struct str torch_output_name(struct arena *a, struct str rel, bool extension);
bool torch_out_of_place(struct str rel);
bool torch_pytorch_file(struct str rel, bool fbgemm);
bool torch_special_file(struct str rel, bool fbgemm);
bool torch_caffe2_gpu_file(struct str rel);

struct torch_selection {
	struct str root; /* absolute; an include folder as str(pathlib.Path()) writes it */
	struct strs includes, ignores; /* absolute patterns */
	struct strs extensions;        /* {NULL} = the original's list */
	/* With these endings: the headers below the root, which is an include folder, where no other rule applies, such
	 * as those for the top folder. */
	struct strs headers;
	bool extension; /* extension mode: every file counts */
	bool out_of_place_only, fbgemm;
	enum torch_generation generation;
	struct map *links;               /* out: the files that are links; NULL = not wanted */
	struct torch_patterns *patterns; /* set by torch_select_open() */
};

/* The original's extensions for sources and for headers. */
extern const struct strs torch_source_extensions, torch_header_extensions;
bool torch_ends_with_one(struct str path, const struct strs *endings);

/* Compiles the patterns; must precede the functions below. */
void torch_select_open(struct arena *a, struct torch_selection *s);
/* Is the file at this absolute path selected? */
bool torch_select_takes(const struct torch_selection *s, struct str path, struct str rel);
/* The original's matched_files_iter(), or the headers below an include folder as pathlib's rglob('*') finds them, that
 * match the patterns: gives absolute paths, none if there is no such folder. Notes the folders it read in the view. */
MUST_USE struct err *torch_select(struct arena *a, const struct torch_selection *s,
	const struct view *view, struct strs *ret);
