/* Little-endian numbers in byte buffers, at any alignment (the caller has checked the bounds), and
 * records of numbers and texts. */
#pragma once

#include "base/buf.h"

static inline uint16_t le16(const void *at)
{
	const unsigned char *p = at;
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t le32(const void *at)
{
	const unsigned char *p = at;
	return le16(p) | (uint32_t)le16(p + 2) << 16;
}

static inline uint64_t le64(const void *at)
{
	const unsigned char *p = at;
	return le32(p) | (uint64_t)le32(p + 4) << 32;
}

static inline void put_le(char *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (char)(i < 8 ? v >> 8 * i : 0);
}

static inline void buf_le(struct buf *b, uint64_t v, unsigned bytes)
{
	put_le(buf_space(b, bytes), v, bytes);
}

/* Records: what rocsmith writes for itself to read. A text is its length in 4 bytes, its bytes and
 * a NUL, so that it is used where it lies. Reading never leaves the bytes: the first damage sets
 * bad, and all that follows reads as zeros and "". */
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
