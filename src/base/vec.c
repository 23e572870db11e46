/* Growing arrays; see vec.h. */
#include "base/vec.h"

void *vec_room(struct arena *a, void *v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return v;
	size_t want = *cap ? *cap * 2 : 8;
	v = arena_grow(a, v, *cap * size, want * size);
	*cap = want;
	return v;
}
