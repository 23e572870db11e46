/* Little-endian numbers in byte buffers, at any alignment (the caller has checked the bounds), and records of numbers
 * and texts. */
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

/* Records: the format of files that only rocsmith writes and reads. A text is its length in 4 bytes, its bytes and a
 * NUL, so it can be used in place. Reading never leaves the buffer: the first damage sets `bad`, and from then on all
 * values read as zeros and "". */
void pack_text(struct buf *b, struct str s);

struct unpack {
	struct str s; /* the unread bytes */
	bool bad;
};

const char *unpack_raw(struct unpack *u, uint64_t n); /* n bytes, or NULL */
uint64_t unpack_u64(struct unpack *u, unsigned bytes);
bool unpack_bool(struct unpack *u); /* 1 byte */
/* An enum constant in 1 byte; a value above `last` is damage. */
unsigned unpack_kind(struct unpack *u, unsigned last);
/* The number of records that follow, in 4 bytes. A number that cannot be right, as each takes at least `least` bytes,
 * is damage. */
size_t unpack_count(struct unpack *u, size_t least);
struct str unpack_text(struct unpack *u);  /* a NUL in it is damage */
struct str unpack_bytes(struct unpack *u); /* written like a text, but NULs are allowed */
