/* Device code read out of its bundles, object by object; and are two files the same but for that? See slim.h. */
#include <stdlib.h>

#include "slim/slim_int.h"

enum { CHUNK = 1 << 20 };

/* ---- objects ---- */

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
			TRY(elf_src_read(p->src, bytes, n, b->offset + at));
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

/* ---- the same but for them ---- */

static int by_at(const void *x, const void *y)
{
	const struct slim_ref *a = x, *b = y;
	return (a->at > b->at) - (a->at < b->at);
}

static struct err *differs(struct str what)
{
	return err_new(E_SLIM, "the host parts differ in %.*s", STR(what));
}

/* The bytes of pointers count as zeros. */
static struct err *read_masked(
	const struct elf_src *s, const struct slim_refs *refs, char *p, size_t n, uint64_t from)
{
	TRY(elf_src_read(s, p, n, from));
	VEC_EACH (const struct slim_ref, r, refs) {
		uint64_t a = r->at > from ? r->at : from,
			 b = r->at + 8 < from + n ? r->at + 8 : from + n;
		if (r->at && a < b)
			memset(p + (a - from), 0, (size_t)(b - a));
	}
	return NULL;
}

struct pair {
	const struct slim_plan *x, *y;
	struct slim_refs rx, ry;
	char *one, *other;
};

static struct err *same_section(struct pair *p, size_t i)
{
	const struct elf_section *x = &p->x->elf.sections.v[i], *y = &p->y->elf.sections.v[i];
	bool fat = i == p->x->section;
	if (!str_eq(x->name, y->name) || x->type != y->type || x->flags != y->flags ||
		x->addr != y->addr || x->link != y->link || x->info != y->info ||
		fat != (i == p->y->section) || (!fat && x->size != y->size))
		return differs(x->name);
	for (uint64_t at = 0; !fat && x->type != ELF_NOBITS && at < x->size; at += CHUNK) {
		size_t n = x->size - at < CHUNK ? (size_t)(x->size - at) : CHUNK;
		TRY(read_masked(p->x->src, &p->rx, p->one, n, x->offset + at));
		TRY(read_masked(p->y->src, &p->ry, p->other, n, y->offset + at));
		if (memcmp(p->one, p->other, n) != 0)
			return differs(x->name);
	}
	return NULL;
}

static struct err *read_refs(struct arena *a, const struct slim_plan *p, struct slim_refs *ret)
{
	struct slim_plan copy = *p;
	TRY(slim_find_segment(&copy));
	TRY(slim_refs(a, &copy, &copy.elf, false, ret));
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_at);
	return NULL;
}

struct err *slim_same_host(const struct slim_plan *x, const struct slim_plan *y)
{
	ARENA(a);
	struct pair p = {
		.x = x, .y = y, .one = arena_raw(&a, CHUNK), .other = arena_raw(&a, CHUNK)};
	if (x->bundles.n != y->bundles.n || !x->elf.src != !y->elf.src)
		return differs(S("the number of bundles"));
	if (!x->elf.src)
		return NULL;
	if (x->elf.sections.n != y->elf.sections.n || x->elf.machine != y->elf.machine ||
		x->elf.type != y->elf.type || x->elf.entry != y->elf.entry || !x->section)
		return differs(S("their headers"));
	TRY(read_refs(&a, x, &p.rx));
	TRY(read_refs(&a, y, &p.ry));
	bool same = p.rx.n == p.ry.n;
	for (size_t i = 0; same && i < p.rx.n; i++) {
		const struct slim_ref *r = &p.rx.v[i], *q = &p.ry.v[i];
		same = r->bundle == q->bundle && r->place == q->place && r->symbol == q->symbol;
	}
	if (!same)
		return differs(S("the pointers at bundles"));
	for (size_t i = 1; i < x->elf.sections.n; i++)
		TRY(same_section(&p, i));
	return NULL;
}
