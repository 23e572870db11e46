/* CUDA names that PyTorch's tables left in results.
 *
 * Only names that our own tables know, or that follow the naming of CUDA and its libraries
 * (cudaX, CU_X), outside comments and strings, that the project does not declare itself, in lines
 * that a ROCm build compiles as far as can be told. A report that is not sure says so.
 */
#pragma once

#include "changes/view.h"
#include "hipify/hipify.h"

/* Fills t->untranslated from the texts of t->files (modes torch and extension, either engine); places are
 * those in the sources. */
MUST_USE struct err *report_untranslated(struct arena *a, const struct hipify_options *o,
	const struct hipify_view *view, struct hipify_tree *t);

/* Lines from..to, from 1. */
struct line_range {
	unsigned from, to;
};

struct line_ranges {
	struct line_range *v;
	size_t n, cap;
};

/* What conditions tell of lines. */
struct live_lines {
	struct line_ranges dead;       /* left out of a ROCm build, as far as can be told */
	struct line_ranges conditions; /* those of #if and the like themselves */
};

/* In a ROCm build of PyTorch or of an extension USE_ROCM is defined, __CUDACC__ and CUDA_VERSION
 * are not, ... */
struct live_lines torch_live_lines(struct arena *a, struct str text);
bool line_in(const struct line_ranges *r, unsigned line);
