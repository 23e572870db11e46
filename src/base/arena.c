/* Arenas over malloc'ed blocks, and arrays that grow in them; see arena.h and vec.h. Blocks double up to a limit, so
 * that a small scratch arena costs one malloc and a large one few. */
#include "base/vec.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* gcc defines __SANITIZE_ADDRESS__; clang has __has_feature. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define POISONED 1
#endif

#ifdef POISONED
#include <sanitizer/asan_interface.h>
#define POISON(p, n) __asan_poison_memory_region((p), (n))
#define UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum { FIRST_BLOCK = 4096, LAST_BLOCK = 1 << 20, ALIGN = 16 };

struct arena_block {
	struct arena_block *prev;
	size_t size; /* the size of data */
	_Alignas(ALIGN) char data[];
};

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);
	if (!p) {
		fputs("rocsmith: out of memory\n", stderr);
		abort();
	}
	return p;
}

static struct arena_block *block_new(struct arena_block *prev, size_t need)
{
	size_t size = prev ? prev->size * 2 : FIRST_BLOCK;
	if (size > LAST_BLOCK)
		size = LAST_BLOCK;
	if (size < need)
		size = need;
	struct arena_block *b = xmalloc(sizeof(*b) + size);
	b->prev = prev;
	b->size = size;
	POISON(b->data, size);
	return b;
}

static size_t align_up(size_t n)
{
	if (n > SIZE_MAX / 2) {
		fputs("rocsmith: allocation too large\n", stderr);
		abort();
	}
	return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

void *arena_raw(struct arena *a, size_t size)
{
	size_t need = align_up(size ? size : 1);
	if (!a->head || a->head->size - a->used < need) {
		a->head = block_new(a->head, need);
		a->used = 0;
	}
	char *p = a->head->data + a->used;
	a->used += need;
	UNPOISON(p, size ? size : 1);
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	return memset(arena_raw(a, size), 0, size ? size : 1);
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / 2 / size)
		return arena_alloc(a, SIZE_MAX);
	return arena_alloc(a, n * size);
}

void *arena_grow(struct arena *a, void *p, size_t old_size, size_t new_size)
{
	if (p && new_size <= old_size)
		return p;
	if (p && a->head) {
		size_t old = align_up(old_size ? old_size : 1);
		size_t off = a->used - old;
		if (a->used >= old && (char *)p == a->head->data + off &&
			a->head->size - off >= align_up(new_size)) {
			a->used = off + align_up(new_size);
			UNPOISON(p, new_size);
			return p;
		}
	}
	void *q = arena_raw(a, new_size);
	if (old_size)
		memcpy(q, p, old_size);
	return q;
}

void *vec_room(struct arena *a, void *v, size_t n, size_t *cap, size_t size)
{
	if (n >= *cap) {
		size_t want = *cap ? *cap * 2 : 8;
		v = arena_grow(a, v, *cap * size, want * size);
		*cap = want;
	}
	memset((char *)v + n * size, 0, size); /* only this element: unused pages stay untouched */
	return v;
}

void *vec_find(const void *v, size_t n, size_t size, size_t at, struct str text)
{
	for (const char *p = v, *end = n ? p + n * size : p; p < end; p += size)
		if (str_eq(*(const struct str *)(const void *)(p + at), text))
			return (void *)p;
	return NULL;
}

struct arena_mark arena_mark(const struct arena *a)
{
	return (struct arena_mark){.head = a->head, .used = a->used};
}

void arena_rewind(struct arena *a, struct arena_mark m)
{
	while (a->head != m.head) {
		struct arena_block *prev = a->head->prev;
		free(a->head);
		a->head = prev;
	}
	a->used = m.used;
	if (a->head)
		POISON(a->head->data + a->used, a->head->size - a->used);
}

void arena_free(struct arena *a)
{
	arena_rewind(a, (struct arena_mark){0});
}

void arena_join(struct arena *a, struct arena *from)
{
	struct arena_block *oldest = from->head;
	if (!a->head) {
		*a = *from;
	} else if (oldest) {
		while (oldest->prev)
			oldest = oldest->prev;
		oldest->prev = a->head->prev;
		a->head->prev = from->head;
	}
	*from = (struct arena){0};
}
