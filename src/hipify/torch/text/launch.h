/* Kernel launches, k<<<grid, block>>>(x) to hipLaunchKernelGGL((k), dim3(grid), ...), as
 * processKernelLaunches() of PyTorch's hipify does it, with its quirks (reference hipify.md 4.5).
 *
 * Linear for ordinary sources: launches with equal text are replaced at once through an index of
 * the
 * "<<<" in the file; only launches that overlap each other take the literal way of the original.
 */
#pragma once

#include "hipify/hipify.h"
#include "hipify/torch/text/trace.h"

/* *ret is text itself when there is no launch. trace may be NULL. */
MUST_USE struct err *torch_launches(
	struct arena *a, struct str text, struct torch_trace *trace, struct str *ret);
