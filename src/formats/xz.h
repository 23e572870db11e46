/* liblzma, opened when the first xz stream is met: linked, its constructor would ask the CPU in every start, which
 * is slow in a virtual machine (see hash.c). */
#pragma once

#include <lzma.h>

#include "base/err.h"
#include "base/library.h"

#define XZ_FUNCTIONS(X)                                                                            \
	X(lzma_stream_decoder)                                                                     \
	X(lzma_code)                                                                               \
	X(lzma_end)

struct xz {
	XZ_FUNCTIONS(LIBRARY_MEMBER)
};

/* E_TOOL_MISSING: it is not here. */
MUST_USE struct err *xz_open(const struct xz **ret);
