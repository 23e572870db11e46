/* Objects that are not linked yet: takes the images of other GPUs out of the section .llvm.offloading (formats/offload.h). Nothing
 * in an object refers to that section, and nothing in it has an address, so what lies behind it in the file moves up. */
#include "formats/offload.h"
#include "formats/le.h"
#include "slim/slim_int.h"

enum { MAX_HEAD = 4 << 20 };

struct offload_plan {
	struct slim_plan *p;
	struct bytes section;
	struct offload_image first; /* the current binary's, with the least offset of its images */
	VEC(struct offload_image) kept;
	uint64_t images;
};

/* Keeps some images of a binary (version 2): its header and tables without the others, then each image. */
static struct err *split_binary(struct offload_plan *o)
{
	struct slim_plan *p = o->p;
	const struct offload_image *first = &o->first;
	uint64_t n = first->offset, now = n;
	if (n > MAX_HEAD || first->entry > n || first->of > (n - first->entry) / OFFLOAD_ENTRY)
		return err_new(E_SLIM, "an offload binary has images before the end of its tables");
	char *head = arena_array(p->a, n, 1);
	TRY(bytes_read(&o->section, head, n, first->binary));
	char *table = head + first->entry;
	struct slim_part *part = VEC_PUSH(p->a, &p->parts);
	*part = (struct slim_part){.offset = first->binary, .size = n};
	for (size_t i = 0; i < o->kept.n; i++) {
		const struct offload_image *x = &o->kept.v[i];
		now = round_up(now, 8);
		memmove(table + i * OFFLOAD_ENTRY, head + x->entry, OFFLOAD_ENTRY);
		put_le(table + i * OFFLOAD_ENTRY + 24, now, 8);
		*VEC_PUSH(p->a, &p->parts) =
			(struct slim_part){.offset = x->binary + x->offset, .size = x->size};
		now += x->size;
		if (now > first->length)
			return err_new(E_SLIM, "images of an offload binary lie over each other");
	}
	memset(table + o->kept.n * OFFLOAD_ENTRY, 0, (first->of - o->kept.n) * OFFLOAD_ENTRY);
	put_le(head + 8, now, 8);
	put_le(head + 24, o->kept.n, 8);
	p->parts.v[p->parts.n - o->kept.n - 1].head = (struct str){head, n};
	return NULL;
}

static struct err *take_image(void *user, const struct offload_image *x)
{
	struct offload_plan *o = user;
	struct slim_plan *p = o->p;
	bool amd = str_contains(x->triple, S("-amd-"));
	bool keep = !amd || !x->arch.n || slim_keeps(p->keep, x->arch);
	if (!o->images)
		o->first = *x;
	if (o->first.offset > x->offset)
		o->first.offset = x->offset;
	if (keep)
		*VEC_PUSH(p->a, &o->kept) = *x;
	if (amd && x->arch.n)
		slim_sum_add(p->a, &p->targets,
			&(struct slim_sum){str_dup(p->a, x->arch), keep, 1, x->size});
	if (++o->images < x->of)
		return NULL;
	if (o->kept.n == x->of)
		*VEC_PUSH(p->a, &p->parts) =
			(struct slim_part){.offset = x->binary, .size = x->length};
	else if (o->kept.n)
		TRY(split_binary(o));
	p->changed |= o->kept.n < x->of;
	o->kept.n = o->images = 0;
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
		struct offload_plan o = {.p = p, .section = section};
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
	VEC_EACH (const struct slim_part, part, &p->parts)
		now = round_up(now, 8) + part->size;
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
	uint64_t at = 0;
	bool same = !again.changed;
	VEC_EACH (const struct slim_part, part, &p->parts) {
		uint64_t equal;
		at = round_up(at, 8);
		struct bytes was = part->head.p
					   ? bytes_mem(part->head)
					   : bytes_sub(p->src, p->from + part->offset, part->size),
			     is = bytes_sub(&now, again.from + at, part->size);
		TRY(bytes_compare(&was, &is, &equal));
		same = same && equal == part->size;
		at += part->size;
	}
	/* names lie outside of the images: a table may have pointed to where something went */
	struct slim_sums kept = {0};
	VEC_EACH (const struct slim_sum, sum, &p->targets)
		if (sum->kept)
			slim_sum_add(&tmp, &kept, sum);
	same = same && kept.n == again.targets.n;
	for (size_t i = 0; same && i < kept.n; i++) {
		const struct slim_sum *x = &kept.v[i], *y = &again.targets.v[i];
		same = str_eq(x->target, y->target) && x->objects == y->objects &&
		       x->bytes == y->bytes;
	}
	return same && at == again.size
		       ? NULL
		       : err_new(E_SLIM, "the smaller file would have other images");
}

struct err *slim_offload_write(struct slim_plan *p, struct fs_out *o)
{
	ARENA(tmp);
	struct elf_image m;
	uint64_t stop = p->from + p->size;
	elf_image_begin(&tmp, &p->elf, &m);
	TRY(bytes_copy(p->src, 0, p->from, o));
	VEC_EACH (const struct slim_part, part, &p->parts) {
		fs_out_zeros(o, p->from + round_up(o->offset - p->from, 8));
		if (part->head.p)
			fs_out_write(o, part->head.p, part->head.n);
		else
			TRY(bytes_copy(p->src, p->from + part->offset, part->size, o));
	}
	m.now.sections.v[p->section].size = o->offset - p->from;
	uint64_t gone = bytes_gone(p, stop - o->offset);
	elf_image_shift(&m, stop, gone);
	fs_out_zeros(o, stop - gone);
	TRY(bytes_copy(p->src, stop, p->src->size - stop, o));
	TRY(elf_image_write(&m, o->fd));
	TRY(fs_out_error(o)); /* a full disk is told as such, and not as a result that differs */
	p->after = o->offset;
	return prove(p, &m, o);
}
