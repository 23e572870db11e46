/* The payload of compressed bundles (CCOB): decoding it, whole or only its first block, and finding
 * where it ends. For bundle.c only; bundle.h is the interface. */
#pragma once

#include "formats/bundle.h"

/* The decoded bytes, in pieces of at most 128 KiB. peek: only the first so many, without memory for the
 * whole window. */
MUST_USE struct err *ccob_decode(
	const struct elf_src *src, const struct bundle *b, bool peek, bundle_fn *fn, void *user);
/* The number of payload bytes of a v1 bundle, whose header does not tell; b->stored must hold the
 * most that it can be. */
MUST_USE struct err *ccob_length(const struct elf_src *src, const struct bundle *b, uint64_t *ret);
