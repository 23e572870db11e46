/* Records of numbers and texts as bytes, little endian: what rocsmith writes for itself to read.
 *
 * A text is its length in 4 bytes, its bytes and a NUL, so that it is used where it lies. Reading
 * never leaves the bytes: the first damage sets bad, and all that follows reads as zeros and "".
 */
#pragma once

#include "base/buf.h"

void pack_u64(struct buf *b, uint64_t v, unsigned bytes); /* the lowest 1 to 8 bytes of v */
void pack_text(struct buf *b, struct str s);

struct unpack {
	struct str s; /* what is left */
	bool bad;
};

const char *unpack_raw(struct unpack *u, uint64_t n); /* n bytes, or NULL */
uint64_t unpack_u64(struct unpack *u, unsigned bytes);
bool unpack_bool(struct unpack *u); /* 1 byte */
/* An enum constant up to last, in 1 byte; more is damage. */
unsigned unpack_kind(struct unpack *u, unsigned last);
/* How many records of at least so many bytes each follow, in 4 bytes: never more than can be. */
size_t unpack_count(struct unpack *u, size_t least);
struct str unpack_text(struct unpack *u);  /* a NUL in it is damage */
struct str unpack_bytes(struct unpack *u); /* any bytes, written as a text is */
