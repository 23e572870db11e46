/* The parts of a run that run.c puts together: the engines, which turn a view of the sources into
 * changes in memory without writing them, and the saved report. Private to hipify/.
 */
#pragma once

#include "hipify/hipify.h"

/* ---- cuda/tree.c: mode standalone over a folder ---- */
/* Fills ret; a change has a text if that text is to be written. */
MUST_USE struct err *standalone_run(struct arena *a, const struct hipify_options *o,
	const struct view *view, struct hipify_tree *ret);

/* Adds the finding about the operators for vector types that a file defines. */
void hipify_say_operators(
	struct arena *a, struct findings *list, struct str path, const struct hipify_text *t);

/* ---- torch/: modes torch and extension ---- */
/* Files of a tree are independent and run in parallel. An extension is translated in the original's
 * order, because a header's result depends on the file that included it first. Input that aborts
 * the original (bad UTF-8, unterminated launches) fails only its own file here. Fills ret->changes
 * with texts, and ret->findings; files that the original would ignore are not listed. */
MUST_USE struct err *torch_run(struct arena *a, const struct hipify_options *o,
	const struct torch_source *s, const struct view *view, struct hipify_tree *ret);
/* Like torch_run(), but runs that torch's own Python on a scratch copy: --engine torch and `hipify verify`. */
MUST_USE struct err *torch_run_python(struct arena *a, const struct hipify_options *o,
	const struct torch_source *s, const struct view *view, struct hipify_tree *ret);

/* One file as a run over the whole folder translates it, with its edits: hipify_options.one. */
struct torch_one {
	struct str rel;          /* in: the file, relative to the folder */
	bool found;              /* false: the run does not translate it */
	struct str source;       /* the decoded source, to which the edits refer */
	struct hipify_text text; /* the line that marks a result is one of its edits */
};

/* ---- saved.c: the report of a run, as bytes ---- */
/* The manifest keeps the report, so that a run with nothing to do can still print it. */
/* Packs the untranslated names, the findings and the headers of t. */
struct str saved_pack(struct arena *a, const struct hipify_tree *t);
/* Unpacks into ret, whose texts point into `bytes`. E_CORRUPT if saved_pack() did not make them. */
MUST_USE struct err *saved_load(struct arena *a, struct str bytes, struct hipify_tree *ret);

/* ---- torch/untranslated.c: CUDA names that PyTorch's tables left in results ---- */
/* Fills t->untranslated from the texts of t->changes (modes torch and extension, either engine).
 * Reports names from our own tables and names in the style of CUDA and its libraries (cudaX, CU_X),
 * outside comments and strings, unless the project declares them or a ROCm build is known not to
 * compile the line. Lines and columns are those of the source; a doubtful report is marked unsure. */
MUST_USE struct err *torch_untranslated(struct arena *a, const struct hipify_options *o,
	const struct view *view, struct hipify_tree *t);
