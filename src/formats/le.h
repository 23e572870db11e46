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

/* Records: the format of files that only rocsmith writes and reads. One function names the members of a record in their
 * order, and so writes or reads it. A text is its length in 4 bytes, its bytes and a NUL, so it can be used in place.
 * Reading never leaves the buffer: the first damage sets `bad`, and from then on all values read as zeros and "". */
struct record {
	struct buf *out; /* receives the members; NULL = they are read */
	struct str in;   /* the unread bytes */
	bool bad;
	struct arena *a; /* holds lists that are read */
};

void record_raw(struct record *r, void *io, size_t n);
void record_bool(struct record *r, bool *io);                /* 1 byte */
void record_kind(struct record *r, void *io, unsigned last); /* 1 byte; an enum of 0 to `last` */
void record_u32(struct record *r, unsigned *io);
void record_u64(struct record *r, uint64_t *io);
void record_text(struct record *r, struct str *io);  /* a NUL in it is damage */
void record_bytes(struct record *r, struct str *io); /* written like a text, but NULs are allowed */
/* The number of elements of a VEC of structs of `size` bytes, in 4 bytes; reading makes them, as zeros. A number that
 * cannot be right, as each takes at least `least` bytes, is damage. */
void record_list(struct record *r, void *io, size_t size, size_t least);
