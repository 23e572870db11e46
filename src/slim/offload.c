/* Objects that are not linked yet: takes the images of other GPUs out of the section .llvm.offloading (formats/offload.h). Nothing
 * in an object refers to that section, and nothing in it has an address, so what lies behind it in the file moves up. */
#include "formats/offload.h"
#include "slim/slim_int.h"

struct offload_plan {
	struct slim_plan *p;
	uint64_t binary; /* the current one; UINT64_MAX: none yet */
	uint64_t kept, images;
};

static struct err *take_image(void *user, const struct offload_image *x)
{
	struct offload_plan *o = user;
	struct slim_plan *p = o->p;
	bool amd = str_contains(x->triple, S("-amd-"));
	bool keep = !amd || !x->arch.n || slim_keeps(p->keep, x->arch);
	if (o->binary != x->binary)
		o->kept = o->images = 0;
	o->binary = x->binary;
	o->kept += keep;
	o->images++;
	if (amd && x->arch.n)
		slim_sum_add(p->a, &p->targets,
			&(struct slim_sum){str_dup(p->a, x->arch), keep, 1, x->size});
	if (o->images < x->of)
		return NULL;
	if (o->kept && o->kept < x->of)
		return err_new(E_SLIM, "an offload binary has images that stay and others");
	if (o->kept)
		*VEC_PUSH(p->a, &p->binaries) = (struct slim_binary){x->binary, x->length};
	p->changed |= !o->kept;
	return NULL;
}

/* The bytes that leave the file: a multiple of the alignments of all that moves. */
static uint64_t bytes_gone(const struct slim_plan *p, uint64_t unused)
{
	uint64_t align = 8, end = p->from + p->size;
	VEC_EACH (const struct elf_section, s, &p->elf.sections)
		if (s->offset >= end && s->align > align)
			align = s->align;
	return unused / align * align;
}

struct err *slim_offload_read(struct slim_plan *p)
{
	const struct elf *e = &p->elf;
	struct offload_plan o = {.p = p, .binary = UINT64_MAX};
	VEC_EACH (const struct elf_section, s, &e->sections) {
		if (!str_eq(s->name, S(OFFLOAD_SECTION)) || !s->size)
			continue;
		if (p->section)
			return err_new(E_SLIM, "it has several sections " OFFLOAD_SECTION);
		struct bytes section = bytes_sub(p->src, s->offset, s->size);
		if (section.size != s->size)
			return err_new(E_ELF, OFFLOAD_SECTION " is not inside the file");
		p->section = (size_t)(s - e->sections.v);
		p->unlinked = true;
		p->from = s->offset;
		p->size = s->size;
		TRY(offload_walk(&section, take_image, &o));
	}
	if (!p->changed)
		return NULL;
	uint64_t end = p->from + p->size, now = 0;
	bool over =
		e->segments.n || (e->shoff < end && e->shoff + ELF_SHDR * e->sections.n > p->from);
	for (size_t i = 0; i < e->sections.n; i++) {
		const struct elf_section *s = &e->sections.v[i];
		bool bytes = i && s->type != ELF_NOBITS && s->size;
		over |= i != p->section && bytes && s->offset < end &&
			s->offset + s->size > p->from;
	}
	if (over)
		return err_new(E_SLIM, "something else lies over " OFFLOAD_SECTION);
	VEC_EACH (const struct slim_binary, b, &p->binaries)
		now = round_up(now, 8) + b->size;
	p->after = p->src->size - bytes_gone(p, p->size - now);
	return NULL;
}

/* Reads the result back: all other sections have their bytes, and the images that stay are there, in their order. */
static struct err *prove(const struct slim_plan *p, const struct elf_image *m, struct fs_out *o)
{
	ARENA(tmp);
	struct elf e;
	struct bytes now = bytes_fd(o->fd, o->offset);
	now.budget = p->src->budget;
	TRY(elf_open(&tmp, &now, &e));
	if (!elf_image_is(m, &e))
		return err_new(E_SLIM, "the smaller file would have other sections");
	for (size_t i = 1; i < e.sections.n; i++) {
		const struct elf_section *x = &p->elf.sections.v[i], *y = &e.sections.v[i];
		struct bytes was = bytes_sub(p->src, x->offset, x->size),
			     is = bytes_sub(&now, y->offset, y->size);
		uint64_t same = x->size;
		if (i == p->section || x->type == ELF_NOBITS)
			continue;
		TRY(bytes_compare(&was, &is, &same));
		if (same != x->size || y->size != x->size)
			return err_new(
				E_SLIM, "the smaller file would have another '%.*s'", STR(x->name));
	}
	struct slim_plan again = {.a = &tmp, .src = &now, .keep = p->keep, .elf = e};
	TRY(slim_offload_read(&again));
	bool same = !again.changed && again.binaries.n == p->binaries.n;
	for (size_t i = 0; same && i < again.binaries.n; i++) {
		uint64_t size = p->binaries.v[i].size, equal;
		struct bytes was = bytes_sub(p->src, p->from + p->binaries.v[i].offset, size),
			     is = bytes_sub(&now, again.from + again.binaries.v[i].offset, size);
		TRY(bytes_compare(&was, &is, &equal));
		same = equal == size && again.binaries.v[i].size == size;
	}
	return same ? NULL : err_new(E_SLIM, "the smaller file would have other images");
}

struct err *slim_offload_write(struct slim_plan *p, struct fs_out *o)
{
	ARENA(tmp);
	struct elf_image m;
	uint64_t stop = p->from + p->size;
	elf_image_begin(&tmp, &p->elf, &m);
	TRY(bytes_copy(p->src, 0, p->from, o));
	VEC_EACH (const struct slim_binary, b, &p->binaries) {
		fs_out_zeros(o, p->from + round_up(o->offset - p->from, 8));
		TRY(bytes_copy(p->src, p->from + b->offset, b->size, o));
	}
	m.now.sections.v[p->section].size = o->offset - p->from;
	uint64_t gone = bytes_gone(p, stop - o->offset);
	elf_image_shift(&m, stop, gone);
	fs_out_zeros(o, stop - gone);
	TRY(bytes_copy(p->src, stop, p->src->size - stop, o));
	TRY(elf_image_write(&m, o->fd));
	struct err *lost =
		o->first; /* a full disk is told as such, and not as a result that differs */
	o->first = NULL;
	TRY(lost);
	p->after = o->offset;
	return prove(p, &m, o);
}
