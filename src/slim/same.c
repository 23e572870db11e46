/* Are two files the same but for their device code? Device code of another size shifts all later sections, and so changes
 * pc-relative distances across it. A difference is accepted if it equals the shift of the sections involved. x86-64 only,
 * where distances and addresses are whole words. Sections that are not loaded (the linker's symbols, debug information)
 * do not count. See slim.h. */
#include "slim/slim_int.h"

enum { CHUNK = 1 << 20, NEAR = 1 << 20, WORD = 8, SECTIONS = 1000 };

static struct err *differs(struct str what)
{
	return err_new(E_SLIM, "the host parts differ in %.*s", STR(what));
}

struct host_pair {
	const struct slim_plan *x, *y;
	struct slim_refs rx, ry;
	char *one, *other;
	bool moved; /* a section has another address */
};

/* The shift of a section: its address in y - its address in x. */
static uint64_t shift(const struct host_pair *p, size_t i)
{
	return p->y->elf.sections.v[i].addr - p->x->elf.sections.v[i].addr;
}

/* Is an address of x, or one near it, in a section with that shift? */
static bool moves_by(const struct host_pair *p, uint64_t addr, uint64_t by, uint64_t near)
{
	for (size_t i = 1; i < p->x->elf.sections.n; i++) {
		const struct elf_section *s = &p->x->elf.sections.v[i];
		bool here = s->flags & ELF_ALLOC && addr + near >= s->addr &&
			    addr <= s->addr + s->size + near;
		if (here && shift(p, i) == by)
			return true;
	}
	return false;
}

/* Finds a word around byte i of a piece that a shift explains: an address, or a pc-relative distance of 4 bytes, whose
 * change the shifts of both sections explain. Returns its bytes from i on, or 0. Words are not aligned, and their lowest
 * bytes may be equal. */
static size_t explain(const struct host_pair *p, size_t section, uint64_t at, size_t n, size_t i)
{
	const struct elf_section *s = &p->x->elf.sections.v[section];
	for (size_t back = 0; back < 8 && back <= i && p->moved; back++) {
		const char *x = p->one + i - back, *y = p->other + i - back;
		size_t left = n - i + back;
		if (left >= 8 && moves_by(p, le64(x), le64(y) - le64(x), 0))
			return 8 - back;
		if (back >= 4 || left < 4 || !(s->flags & ELF_ALLOC))
			continue;
		int64_t old = (int32_t)le32(x), now = (int32_t)le32(y);
		if (moves_by(p, s->addr + at + i - back + (uint64_t)old,
			    (uint64_t)(now - old) + shift(p, section), NEAR + s->size))
			return 4 - back;
	}
	return 0;
}

/* Reads bytes, with pointers at bundles zeroed. */
static struct err *read_masked(
	const struct bytes *s, const struct slim_refs *refs, char *p, size_t n, uint64_t from)
{
	TRY(bytes_read(s, p, n, from));
	VEC_EACH (const struct slim_ref, r, refs) {
		uint64_t a = r->at > from ? r->at : from,
			 b = r->at + 8 < from + n ? r->at + 8 : from + n;
		if (r->at && a < b)
			memset(p + (a - from), 0, (size_t)(b - a));
	}
	return NULL;
}

/* Sections that the linker computes from the rest of the file: a hash, and (lld) the padding of RELRO. */
static bool follows(struct str section)
{
	return str_eq(section, S(".note.gnu.build-id")) || str_eq(section, S(".relro_padding"));
}

/* A word may cross the border of two pieces, so they overlap by two words. */
static struct err *same_section(struct host_pair *p, size_t i)
{
	enum { STEP = CHUNK - 2 * WORD };
	const struct elf_section *x = &p->x->elf.sections.v[i], *y = &p->y->elf.sections.v[i];
	bool fat = i == p->x->section, loaded = x->flags & ELF_ALLOC;
	if (!str_eq(x->name, y->name) || x->type != y->type || x->flags != y->flags ||
		fat != (i == p->y->section) ||
		(!fat && loaded && x->size != y->size && !follows(x->name)))
		return differs(x->name);
	if (fat || !loaded || x->type == ELF_NOBITS || follows(x->name))
		return NULL;
	for (uint64_t at = 0; at < x->size; at += STEP) {
		size_t n = x->size - at < CHUNK ? (size_t)(x->size - at) : CHUNK;
		TRY(read_masked(p->x->src, &p->rx, p->one, n, x->offset + at));
		TRY(read_masked(p->y->src, &p->ry, p->other, n, y->offset + at));
		bool last = at + n == x->size;
		for (size_t k = at ? WORD : 0, used; k < (last ? n : n - WORD); k += used) {
			used = p->one[k] == p->other[k] ? 1 : explain(p, i, at, n, k);
			if (!used)
				return differs(x->name);
		}
		if (last)
			break;
	}
	return NULL;
}

static struct err *read_refs(struct arena *a, const struct slim_plan *p, struct slim_refs *ret)
{
	struct slim_plan copy = *p;
	TRY(slim_find_segment(&copy));
	TRY(slim_refs(a, &copy, &copy.elf, false, ret));
	/* gold also writes the address to the place that a relocation by a symbol fills */
	VEC_EACH (struct slim_ref, r, ret)
		r->at = r->at ? r->at : elf_offset_of(&p->elf, r->place);
	VEC_SORT(ret, offset_order);
	return NULL;
}

struct err *slim_same_host(const struct slim_plan *x, const struct slim_plan *y)
{
	ARENA(a);
	struct host_pair p = {
		.x = x, .y = y, .one = arena_raw(&a, CHUNK), .other = arena_raw(&a, CHUNK)};
	const struct elf *e = &x->elf, *f = &y->elf;
	if (x->bundles.n != y->bundles.n || !e->src != !f->src)
		return differs(S("the number of bundles"));
	if (!e->src)
		return NULL;
	if (e->sections.n != f->sections.n || e->machine != f->machine || e->type != f->type ||
		!x->section)
		return differs(S("their headers"));
	for (size_t i = 1; i < e->sections.n; i++)
		p.moved = p.moved || shift(&p, i);
	if (p.moved && (e->machine != ELF_X86_64 || e->sections.n > SECTIONS))
		return differs(S("the addresses of their sections"));
	if (e->entry != f->entry && !moves_by(&p, e->entry, f->entry - e->entry, 0))
		return differs(S("their headers"));
	TRY(read_refs(&a, x, &p.rx));
	TRY(read_refs(&a, y, &p.ry));
	bool same = p.rx.n == p.ry.n;
	for (size_t i = 0; same && i < p.rx.n; i++) {
		const struct slim_ref *r = &p.rx.v[i], *q = &p.ry.v[i];
		same = r->bundle == q->bundle && r->pointer == q->pointer &&
		       r->symbol == q->symbol &&
		       (r->place == q->place || moves_by(&p, r->place, q->place - r->place, 0));
	}
	if (!same)
		return differs(S("the pointers at bundles"));
	for (size_t i = 1; i < e->sections.n; i++)
		TRY(same_section(&p, i));
	return NULL;
}
