/* Arenas: allocations that are freed together.
 *
 * An arena hands out zeroed, aligned memory and frees all of it at once. A function with a parameter `struct arena *a`
 * allocates its result there; a function without one leaves no allocation behind. Scratch memory is allocated between
 * arena_mark() and arena_rewind().
 *
 * Running out of memory aborts the program with a message. A size that comes from a file must be
 * checked against a declared limit first: too large a file is an error, never an abort.
 * Under ASan the freed part of an arena is poisoned. Not thread-safe: one arena, one thread.
 */
#pragma once

#include <stddef.h>

struct arena_block;

/* Zero-initialise, or declare with ARENA; arena_free() leaves it reusable. */
struct arena {
	struct arena_block *head; /* newest block */
	size_t used;              /* bytes in use in head */
};

struct arena_mark {
	struct arena_block *head;
	size_t used;
};

void *arena_alloc(struct arena *a, size_t size);
void *arena_raw(struct arena *a, size_t size); /* not zeroed, for bytes that are filled at once */
/* An array of n elements; aborts if n * size overflows. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* Enlarges the block p of old_size bytes, in place if p was the last allocation; the new bytes are not zeroed. */
void *arena_grow(struct arena *a, void *p, size_t old_size, size_t new_size);

struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark m);
void arena_free(struct arena *a);

/* Moves the blocks of `from` into a, which frees them; `from` is empty afterwards. They survive a rewind of a to a mark
 * in its present block. */
void arena_join(struct arena *a, struct arena *from);

/* malloc that aborts instead of returning NULL; for objects that outlive any arena. */
void *xmalloc(size_t size);

#define CLEANUP(fn) __attribute__((cleanup(fn)))
/* A scratch arena that is freed at the end of the scope. */
#define ARENA(name) CLEANUP(arena_free) struct arena name = {0}
#define NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
