/* PyTorch's hipify over a tree or an extension: from a torch and a view of the sources to changes.
 *
 * Nothing is written here. Files of a tree are independent and run in parallel; an extension is
 * done in the original's order, because a header's result depends on who included it first. Where
 * the original dies half-way (bad UTF-8, unterminated launches) the file alone fails.
 */
#pragma once

#include "changes/view.h"
#include "hipify/hipify.h"
#include "hipify/torch/text/text.h"

/* o->mode is HIPIFY_TORCH or HIPIFY_EXTENSION. Fills ret->changes with texts, and ret->findings.
 * The files of a tree that the original would ignore are not listed. */
MUST_USE struct err *torch_run(struct arena *a, const struct hipify_options *o,
	const struct torch_source *s, const struct view *view, struct hipify_tree *ret);
/* The same by that torch's own Python, on a scratch copy; for --engine torch and --verify. */
MUST_USE struct err *torch_run_python(struct arena *a, const struct hipify_options *o,
	const struct torch_source *s, const struct view *view, struct hipify_tree *ret);

/* One file as the whole run does it, with its edits. */
struct torch_one {
	struct str rel;          /* asked for: relative to the folder */
	bool found;              /* false: the run does not take it */
	struct str source;       /* decoded: what the edits refer to */
	struct hipify_text text; /* with the line that marks a result, as an edit */
};

/* The error is the run's, or that of the file. */
MUST_USE struct err *torch_run_file(struct arena *a, const struct hipify_options *o,
	const struct torch_source *s, const struct view *view, struct torch_one *io);
