/* CUDA names that PyTorch's tables left in results.
 *
 * Only names that our own tables know, or that follow the naming of CUDA and its libraries
 * (cudaX, CU_X), outside comments and strings, that the project does not declare itself, in lines
 * that a ROCm build compiles as far as can be told. A report that is not sure says so.
 */
#pragma once

#include "changes/view.h"
#include "hipify/hipify.h"

/* Fills t->untranslated from the texts of t->changes (modes torch and extension, either engine);
 * places are those in the sources. */
MUST_USE struct err *report_untranslated(struct arena *a, const struct hipify_options *o,
	const struct view *view, struct hipify_tree *t);
