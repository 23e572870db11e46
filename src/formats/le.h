/* Little-endian numbers in byte buffers, at any alignment. The caller has checked the bounds. */
#pragma once

#include <stdint.h>

static inline uint16_t le16(const char *p)
{
	const unsigned char *b = (const unsigned char *)p;
	return (uint16_t)(b[0] | b[1] << 8);
}

static inline uint32_t le32(const char *p)
{
	return le16(p) | (uint32_t)le16(p + 2) << 16;
}

static inline uint64_t le64(const char *p)
{
	return le32(p) | (uint64_t)le32(p + 4) << 32;
}

static inline void put_le(char *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (char)(i < 8 ? v >> 8 * i : 0);
}
