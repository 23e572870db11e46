/* Proves that a smaller file is right: reads it back and compares it with the old one. Only the plan of the headers and
 * the checksums of the objects are taken from the writer. See slim_int.h. */
#include <libdeflate.h>

#include "slim/slim_int.h"

static struct err *wrong(const char *what, uint64_t n)
{
	return err_new(
		E_SLIM, "the smaller file would be wrong: %s %llu", what, (unsigned long long)n);
}

static struct err *same_bytes(
	const struct bytes *old, uint64_t from, const struct bytes *now, uint64_t to, uint64_t size)
{
	struct bytes x = bytes_sub(old, from, size), y = bytes_sub(now, to, size);
	uint64_t same;
	TRY(bytes_compare(&x, &y, &same));
	return same == size ? NULL : wrong("a byte behind offset", to + same);
}

struct err *slim_prove_copy(
	const struct slim_plan *p, const struct elf_image *m, const struct bytes *now)
{
	uint64_t stop = p->from + p->size;
	TRY(same_bytes(p->src, 0, now, 0, p->from));
	return same_bytes(p->src, stop, now, elf_image_at(m, stop, 0), p->src->size - stop);
}

/* ---- bundles ---- */

struct slim_unpacking {
	const struct slim_bundle *b;
	uint32_t crc; /* CRC-32 of the current object so far */
};

static struct err *check_part(void *user, const struct bundle_span *s, struct str part, uint64_t at)
{
	struct slim_unpacking *u = user;
	u->crc = libdeflate_crc32(at ? u->crc : 0, part.p, part.n);
	bool end = at + part.n == s->size;
	return end && u->crc != u->b->moves[s->id].crc ? wrong("the object at", s->offset + at)
						       : NULL;
}

struct err *slim_prove_bundle(
	const struct slim_plan *p, const struct slim_bundle *b, const struct bytes *now)
{
	ARENA(tmp);
	struct bundle is;
	struct slim_unpacking u = {.b = b};
	struct bundle_reader r = {.fn = check_part, .user = &u, .whole = true};
	if (!b->changed)
		return same_bytes(p->src, b->old.offset, now, b->now.offset, b->old.stored);
	TRY(bundle_open(&tmp, now, b->now.offset, b->now.offset + b->now.stored, &is));
	bool same = is.encoding == b->now.encoding && is.entries.n == b->now.entries.n;
	for (size_t i = 0; i < is.entries.n && same; i++) {
		const struct bundle_entry *x = &is.entries.v[i], *y = &b->now.entries.v[i];
		same = str_eq(x->id, y->id) && x->offset == y->offset && x->size == y->size &&
		       slim_keeps(p->keep, x->target);
	}
	r.spans.v = arena_array(&tmp, b->n + 1, sizeof(*r.spans.v));
	for (r.spans.n = 0; r.spans.n < b->n; r.spans.n++)
		r.spans.v[r.spans.n] = (struct bundle_span){
			b->moves[r.spans.n].now, b->moves[r.spans.n].size, r.spans.n};
	TRY(bundle_decode(now, &is, bundle_reader_piece, &r));
	return same && r.i == b->n ? NULL : wrong("the bundle at", b->now.offset);
}

/* ---- the ELF file around them ---- */

static struct err *check_address(
	const struct slim_plan *p, const struct elf_image *m, const struct elf *now, uint64_t addr)
{
	uint64_t old = elf_offset_of(&p->elf, addr), is = elf_offset_of(now, addr);
	return is == elf_image_at(m, old, 0) ? NULL : wrong("what is at address", addr);
}

struct err *slim_prove(
	const struct slim_plan *p, const struct elf_image *m, const struct bytes *now)
{
	ARENA(a);
	struct elf e;
	struct slim_refs old, refs;
	uint64_t stop = p->from + p->size;
	for (size_t i = 0; i < p->bundles.n && !p->mark.n; i++)
		TRY(slim_prove_bundle(p, &p->bundles.v[i], now));
	if (!m)
		return NULL;
	TRY(elf_open(&a, now, &e));
	if (!elf_image_is(m, &e))
		return wrong("its program headers, of which it has", e.segments.n);
	/* each loaded segment is at its old address, and the file still has its last byte */
	VEC_EACH (const struct elf_segment, s, &p->elf.segments) {
		bool own = s == &p->elf.segments.v[p->segment];
		bool more = !own || s->offset + s->filesz > stop;
		if (s->type != ELF_PT_LOAD || !s->filesz)
			continue;
		TRY(check_address(p, m, &e, s->vaddr));
		if (more)
			TRY(check_address(p, m, &e, s->vaddr + s->filesz - 1));
		if (own && more)
			TRY(check_address(p, m, &e, stop - s->offset + s->vaddr));
	}
	/* each pointer is still at its place and points at its bundle */
	TRY(slim_refs(&a, p, &p->elf, false, &old));
	TRY(slim_refs(&a, p, &e, true, &refs));
	bool same = old.n == refs.n;
	for (size_t i = 0; same && i < old.n; i++) {
		const struct slim_ref *r = &refs.v[i];
		uint32_t bundle = (uint32_t)r->bundle;
		if (p->mark.n && r->pointer)
			TRY(slim_marked(&e, r, &bundle));
		same = (bundle == old.v[i].bundle || (p->mark.n && !r->pointer)) &&
		       elf_image_at(m, old.v[i].at, 0) == r->at;
	}
	return same ? NULL : wrong("its pointers, of which it has", refs.n);
}
