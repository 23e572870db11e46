/* Little-endian numbers in byte buffers, at any alignment. The caller has checked the bounds. */
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
