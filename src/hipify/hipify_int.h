/* The parts of a run that run.c puts together: the engines, from a view of the sources to changes,
 * of which nothing is written here, and the report. Private to hipify/.
 */
#pragma once

#include "hipify/hipify.h"

/* ---- cuda/tree.c: mode standalone over a folder ---- */
/* Fills ret->changes, with texts where something is to be written, and the rest of ret. */
MUST_USE struct err *standalone_run(struct arena *a, const struct hipify_options *o,
	const struct view *view, struct hipify_tree *ret);

/* ---- torch/: modes torch and extension ---- */
/* Files of a tree are independent and run in parallel; an extension is done in the original's
 * order, because a header's result depends on who included it first. Where the original dies
 * half-way (bad UTF-8, unterminated launches) the file alone fails. Fills ret->changes with texts,
 * and ret->findings; files that the original would ignore are not listed. */
MUST_USE struct err *torch_run(struct arena *a, const struct hipify_options *o,
	const struct torch_source *s, const struct view *view, struct hipify_tree *ret);
/* The same by that torch's own Python, on a scratch copy; for --engine torch and `hipify verify`. */
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

/* ---- saved.c: what a run reports besides its changes, as bytes ---- */
/* Kept in the manifest, so that a run with nothing to do can still report it. */
/* Packs the names left untranslated, the findings and the headers of t. */
struct str saved_pack(struct arena *a, const struct hipify_tree *t);
/* Texts are used where they lie. E_CORRUPT when they are no such bytes. */
MUST_USE struct err *saved_load(struct arena *a, struct str bytes, struct hipify_tree *ret);

/* ---- torch/untranslated.c: CUDA names that PyTorch's tables left in results ---- */
/* Fills t->untranslated from the texts of t->changes (modes torch and extension, either engine):
 * names that our own tables know, or that follow the naming of CUDA and its libraries (cudaX,
 * CU_X), outside comments and strings, that the project does not declare itself, in lines that a
 * ROCm build compiles as far as can be told. Places are those in the sources; a report that is not
 * sure says so. */
MUST_USE struct err *torch_untranslated(struct arena *a, const struct hipify_options *o,
	const struct view *view, struct hipify_tree *t);
