/* Proof that a smaller file is what it has to be: read anew, and compared with the old one. Nothing is taken from the
 * writer but the checksums of the objects that it read. See slim_int.h. */
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
	enum { CHUNK = 1 << 20 };
	ARENA(tmp);
	char *one = arena_raw(&tmp, CHUNK), *other = arena_raw(&tmp, CHUNK);
	for (uint64_t at = 0; at < size; at += CHUNK) {
		size_t n = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		TRY(bytes_read(old, one, n, from + at));
		TRY(bytes_read(now, other, n, to + at));
		if (memcmp(one, other, n) != 0)
			return wrong("a byte behind offset", to + at);
	}
	return NULL;
}

struct err *slim_prove_copy(
	const struct slim_plan *p, const struct slim_cut *c, const struct bytes *now)
{
	uint64_t stop = p->from + p->size;
	TRY(same_bytes(p->src, 0, now, 0, p->from));
	return same_bytes(p->src, stop, now, slim_map(c, stop), p->src->size - stop);
}

/* ---- bundles ---- */

struct unpacking {
	const struct slim_bundle *b;
	size_t i;
	uint32_t crc;
};

static struct err *check_piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	(void)stop;
	struct unpacking *u = user;
	struct slim_piece rest = {p, n, at};
	struct slim_part part;
	while (slim_part(u->b, true, &u->i, &rest, &part)) {
		u->crc = libdeflate_crc32(u->crc, part.p, part.n);
		if (part.end && u->crc != part.move->crc)
			return wrong("the object at", part.now);
		u->crc = part.end ? 0 : u->crc;
	}
	return NULL;
}

struct err *slim_prove_bundle(
	const struct slim_plan *p, const struct slim_bundle *b, const struct bytes *now)
{
	ARENA(tmp);
	struct bundle is;
	struct unpacking u = {.b = b};
	if (!b->changed)
		return same_bytes(p->src, b->old.offset, now, b->now.offset, b->old.stored);
	TRY(bundle_open(&tmp, now, b->now.offset, b->now.offset + b->now.stored, &is));
	bool same = is.encoding == b->now.encoding && is.entries.n == b->now.entries.n;
	for (size_t i = 0; i < is.entries.n && same; i++) {
		const struct bundle_entry *x = &is.entries.v[i], *y = &b->now.entries.v[i];
		same = str_eq(x->id, y->id) && x->offset == y->offset && x->size == y->size &&
		       slim_keeps(p->keep, x->target);
	}
	TRY(bundle_decode(now, &is, check_piece, &u));
	return same && u.i == b->n ? NULL : wrong("the bundle at", b->now.offset);
}

/* ---- the ELF file around them ---- */

static struct err *check_address(
	const struct slim_plan *p, const struct slim_cut *c, const struct elf *now, uint64_t addr)
{
	uint64_t old = elf_offset_of(&p->elf, addr), is = elf_offset_of(now, addr);
	return is == slim_map(c, old) ? NULL : wrong("what is at address", addr);
}

/* Segments are where they were, and at their ends nothing of the file is lost. */
static struct err *check_segments(
	const struct slim_plan *p, const struct slim_cut *c, const struct elf *now)
{
	uint64_t stop = p->from + p->size;
	VEC_EACH (const struct elf_segment, s, &p->elf.segments) {
		bool own = s == &p->elf.segments.v[p->segment];
		bool more = !own || s->offset + s->filesz > stop;
		if (s->type != ELF_PT_LOAD || !s->filesz)
			continue;
		TRY(check_address(p, c, now, s->vaddr));
		if (more)
			TRY(check_address(p, c, now, s->vaddr + s->filesz - 1));
		if (own && more)
			TRY(check_address(p, c, now, stop - s->offset + s->vaddr));
	}
	return NULL;
}

/* Each pointer is at its place still, and points at its bundle. */
static struct err *check_refs(
	const struct slim_plan *p, const struct slim_cut *c, const struct elf *e)
{
	ARENA(a);
	struct slim_refs old, now;
	TRY(slim_refs(&a, p, &p->elf, false, &old));
	TRY(slim_refs(&a, p, e, true, &now));
	bool same = old.n == now.n;
	for (size_t i = 0; same && i < old.n; i++) {
		uint32_t bundle = (uint32_t)now.v[i].bundle;
		if (p->mark.n && now.v[i].pointer)
			TRY(slim_marked(e, &now.v[i], &bundle));
		same = (bundle == old.v[i].bundle || (p->mark.n && !now.v[i].pointer)) &&
		       slim_map(c, old.v[i].at) == now.v[i].at;
	}
	return same ? NULL : wrong("its pointers, of which it has", now.n);
}

struct err *slim_prove(const struct slim_plan *p, const struct slim_cut *c, const struct bytes *now)
{
	ARENA(a);
	struct elf e;
	for (size_t i = 0; i < p->bundles.n && !p->mark.n; i++)
		TRY(slim_prove_bundle(p, &p->bundles.v[i], now));
	if (!p->elf.src)
		return NULL;
	TRY(elf_open(&a, now, &e));
	TRY(check_segments(p, c, &e));
	return check_refs(p, c, &e);
}
