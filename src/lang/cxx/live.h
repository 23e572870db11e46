/* Finds the lines of a C++ text that a ROCm build does not compile, from #if conditions over a few macros.
 *
 * Conditions have three values: an unknown condition makes no line dead, but an unknown
 * operand of && or || does not hide a known one. Facts: cpp_extension.py defines USE_ROCM and
 * __HIP_PLATFORM_AMD__; hipcc defines neither __CUDACC__ nor __CUDA_ARCH__; hipify replaces
 * CUDA_VERSION by TORCH_HIP_VERSION, whose values are ROCm's (some hundreds) and never CUDA's;
 * PyTorch's build sets AT_CUDNN_ENABLED() and the like to 0 without CUDA.
 */
#pragma once

#include "base/vec.h"

/* The lines from..to inclusive, counted from 1. */
struct line_range {
	unsigned from, to;
};

struct line_ranges VEC_OF(struct line_range);

struct live_lines {
	struct line_ranges dead;       /* lines known not to be compiled */
	struct line_ranges conditions; /* the #if, #elif and similar lines themselves */
};

/* by_torch: a build with PyTorch. For any other, the macros that our own translation turns into those of HIP or
 * leaves undefined are unknown. */
struct live_lines live_lines(struct arena *a, struct str text, bool by_torch);
bool line_in(const struct line_ranges *r, unsigned line);
