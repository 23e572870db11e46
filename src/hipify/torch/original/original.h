/* Inside of torch_run_python(): original.c runs and collects, copy.c makes the scratch copy,
 * driver.py is the program that the interpreter gets.
 *
 * Below the scratch folder, files/ mirrors absolute paths, so that folders outside the project keep
 * their place relative to it, and module/ holds the hipify that is run.
 */
#pragma once

#include "hipify/hipify_int.h"

struct scratch {
	struct arena *a;
	const struct hipify_options *o;
	const struct torch_source *s;
	const struct view *view;
	struct str top, files; /* absolute, without links; files = TOP/files */
	struct str root;       /* of the copy */
	struct str script;     /* mode torch: the text of build_amd.py */
	struct strs endings;   /* of files that matter */
	struct map names;      /* mode torch: file names that the script has in quotes */
	struct map there;      /* real paths that have a copy */
};

extern const struct str torch_driver; /* the text of driver.py */

/* Fills files/ and module/. */
MUST_USE struct err *scratch_fill(struct scratch *c);
/* Where a path of the user lies in the copy. */
struct str scratch_path(const struct scratch *c, struct str path);
