/* Device code read out of its bundles, object by object. See slim.h. */
#include <stdlib.h>

#include "slim/slim_int.h"

enum { CHUNK = 1 << 20 };

struct walk {
	slim_object_fn *fn;
	void *user;
	size_t bundle;
	const struct bundle_entry **v; /* by offset */
	size_t n, i;
};

static int by_offset(const void *x, const void *y)
{
	const struct bundle_entry *const *a = x, *const *b = y;
	return ((*a)->offset > (*b)->offset) - ((*a)->offset < (*b)->offset);
}

/* A piece of the bundle as it is decoded may have parts of several objects. */
static struct err *piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	struct walk *w = user;
	while (w->i < w->n) {
		const struct bundle_entry *e = w->v[w->i];
		uint64_t from = e->offset > at ? e->offset : at, end = e->offset + e->size;
		uint64_t to = end < at + n ? end : at + n;
		if (from >= at + n)
			break;
		struct str part = {(const char *)p + (from - at), (size_t)(to - from)};
		TRY(w->fn(w->user, w->bundle, e, &part, from - e->offset));
		if (to < end)
			break;
		w->i++;
	}
	*stop = w->i == w->n;
	return NULL;
}

static struct err *raw(const struct slim_plan *p, const struct bundle *b, struct walk *w)
{
	ARENA(tmp);
	bool stop = false;
	char *bytes = arena_raw(&tmp, CHUNK);
	while (w->i < w->n) {
		uint64_t end = w->v[w->i]->offset + w->v[w->i]->size, at = w->v[w->i]->offset;
		for (size_t n; at < end; at += n) {
			n = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
			TRY(bytes_read(p->src, bytes, n, b->offset + at));
			TRY(piece(w, bytes, n, at, &stop));
		}
	}
	return NULL;
}

struct err *slim_objects(const struct slim_plan *p, slim_object_fn *fn, void *user)
{
	for (size_t i = 0; i < p->bundles.n; i++) {
		ARENA(tmp);
		const struct bundle *b = &p->bundles.v[i].old;
		struct walk w = {.fn = fn, .user = user, .bundle = i};
		w.v = arena_array(&tmp, b->entries.n + 1, sizeof(struct bundle_entry *));
		VEC_EACH (const struct bundle_entry, e, &b->entries)
			if (e->size)
				w.v[w.n++] = e;
		qsort(w.v, w.n, sizeof(*w.v), by_offset);
		if (w.n)
			TRY(b->encoding == BUNDLE_RAW ? raw(p, b, &w)
						      : bundle_decode(p->src, b, piece, &w));
	}
	return NULL;
}
