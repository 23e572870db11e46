/* The hash of the name tables: used by tools/gen_names.c, which fills the slots, and by names.c,
 * which looks them up. FNV-1a, 32 bits; collisions go to the next slot. */
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline uint32_t names_hash(const char *p, size_t n)
{
	uint32_t h = 2166136261u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * 16777619u;
	return h;
}
