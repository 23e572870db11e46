/* Kernel launches, k<<<grid, block>>>(x) to hipLaunchKernelGGL((k), dim3(grid), ...), as
 * processKernelLaunches() of PyTorch's hipify does it, with its quirks: doc/hipify.md, Launches.
 *
 * Linear where launches stand apart from each other and nowhere else in the text, which is nearly
 * always so. Otherwise each launch is searched for in the whole text, as the original does it: 4
 * GiB may be searched for one text, a thousand launches in 4 MiB. More is E_HIPIFY, and so is a
 * text that launches without "(" would make larger than 128 MiB.
 */
#pragma once

#include "hipify/torch/text/trace.h"

/* *ret is text itself when there is nothing to do. trace may be NULL. */
MUST_USE struct err *torch_launches(
	struct arena *a, struct str text, struct torch_trace *trace, struct str *ret);
