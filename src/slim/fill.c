/* Puts device code back into a host part: as bundles in a new segment at the end of the file, behind the program
 * headers, which move there. Addresses stay. See slim.h. */
#include "slim/slim_int.h"

struct slim_filling {
	struct arena *a;
	struct slim_plan host, now; /* the host part as it is; the bundles to add */
	struct elf_image image;
	size_t mark; /* index of the section SLIM_KPACK_REF */
	struct slim_refs refs;
	uint32_t *number; /* the number of the bundle of each of refs */
	struct fs_out *o;
};

/* ---- the host ---- */

static struct err *read_host(struct slim_filling *k, const struct bytes *src)
{
	struct slim_plan *p = &k->host;
	*p = (struct slim_plan){.a = k->a, .src = src};
	TRY(elf_open(k->a, src, &p->elf));
	for (size_t i = 1; i < p->elf.sections.n; i++) {
		if (str_eq(p->elf.sections.v[i].name, S(SLIM_KPACK_REF)))
			k->mark = i;
		if (str_eq(p->elf.sections.v[i].name, S(".hip_fatbin")))
			p->section = i;
	}
	if (!k->mark || !p->section)
		return err_new(E_SLIM, "it is no host part: a section is missing");
	p->from = p->elf.sections.v[k->mark].offset;
	p->size = p->elf.sections.v[k->mark].size;
	*VEC_PUSH(k->a, &p->bundles) = (struct slim_bundle){.old.offset = p->from};
	TRY(slim_find_segment(p));
	if (elf_segment(&p->elf, ELF_PT_INTERP))
		return err_new(E_SLIM, "kernels before Linux 5.18 could not start the program");
	TRY(slim_refs(k->a, p, &p->elf, false, &k->refs));
	k->number = arena_array(k->a, k->refs.n + 1, sizeof(*k->number));
	for (size_t i = 0; i < k->refs.n; i++)
		if (k->refs.v[i].pointer)
			TRY(slim_marked(&p->elf, &k->refs.v[i], &k->number[i]));
	/* a symbol gets the bundle of the first pointer that a relocation makes from it */
	for (size_t i = 0; i < k->refs.n; i++) {
		const struct slim_ref *r = &k->refs.v[i], *x = k->refs.v;
		size_t n = r->pointer || !r->symbol ? k->refs.n : 0;
		while (n < k->refs.n && !(x[n].pointer && x[n].symbol == r->symbol))
			n++;
		k->number[i] = n < k->refs.n ? k->number[n] : k->number[i];
	}
	elf_image_begin(k->a, &p->elf, &k->image);
	return NULL;
}

static struct err *plan_bundles(struct slim_filling *k, const struct slim_fill *f)
{
	static const struct slim_keep all;
	size_t i = 0, bundles = f->bundles;
	k->now = (struct slim_plan){.a = k->a, .src = f->content, .keep = &all, .changed = true};
	for (size_t r = 0; r < k->refs.n; r++)
		if (k->refs.v[r].pointer && k->number[r] >= bundles)
			bundles = (size_t)k->number[r] + 1;
	if (k->refs.n && bundles > f->bundles && bundles > k->refs.n)
		return err_new(E_SLIM, "a wrapper names bundle %zu, and there are %zu wrappers",
			bundles - 1, k->refs.n);
	if (!bundles)
		return err_new(E_SLIM, "no wrapper points at its device code");
	for (size_t n = 0; n < bundles; n++) {
		struct slim_bundle *b = VEC_PUSH(k->a, &k->now.bundles);
		*b = (struct slim_bundle){.changed = true, .content = *f->content};
		b->now.encoding = f->encoding;
		b->now.zstd = true;
		if (f->first.n)
			VEC_PUSH(k->a, &b->now.entries)->id = f->first;
		for (; i < f->n && f->v[i].bundle == n; i++)
			*VEC_PUSH(k->a, &b->now.entries) = (struct bundle_entry){
				.id = f->v[i].id, .offset = f->v[i].at, .size = f->v[i].size};
		slim_lay_out(k->a, b, NULL);
	}
	if (i < f->n)
		return err_new(E_SLIM, "no wrapper names bundle %zu", f->v[i].bundle);
	return NULL;
}

static struct err *fill_host(struct slim_filling *k)
{
	enum { MAX_PAGE = 1 << 24, PF_R = 4 };
	const struct elf *e = &k->host.elf;
	const struct elf_memory mem = elf_memory(e);
	struct elf_image *m = &k->image;
	struct fs_out *o = k->o;
	if (mem.bad != SIZE_MAX || mem.page > MAX_PAGE)
		return err_new(E_SLIM, "its segments are not aligned");
	TRY(bytes_copy(k->host.src, 0, k->host.src->size, o));
	struct elf_segment own = {.type = ELF_PT_LOAD, .flags = PF_R, .align = mem.page};
	own.offset = round_up(o->offset, mem.page);
	own.vaddr = own.paddr = round_up(mem.end, mem.page);
	fs_out_zeros(o, own.offset + (e->segments.n + 1) * ELF_PHDR);
	TRY(slim_write_bundles(&k->now, o));
	own.filesz = own.memsz = o->offset - own.offset;
	elf_image_load(m, e->segments.n, &own);
	elf_image_move_headers(m, own.offset, own.vaddr);
	for (size_t i = 0; i < k->refs.n; i++) {
		const struct slim_ref *r = &k->refs.v[i];
		uint64_t wrapper = elf_offset_of(e, r->place - 8);
		if (k->number[i] >= k->now.bundles.n)
			return err_new(E_SLIM, "there is no device code number %u", k->number[i]);
		uint64_t at = k->now.bundles.v[k->number[i]].now.offset;
		if (r->at)
			elf_image_put_le(m, r->at, at - own.offset + own.vaddr, 8);
		if (r->pointer) {
			elf_image_put_le(m, wrapper, SLIM_HIPF, 4);
			elf_image_put_le(m, wrapper + 16, 0, 8);
		}
	}
	struct elf_section *code = &m->now.sections.v[k->host.section];
	code->type = ELF_PROGBITS;
	code->flags = ELF_ALLOC;
	code->offset = k->now.bundles.v[0].now.offset;
	code->addr = code->offset - own.offset + own.vaddr;
	code->size = o->offset - code->offset;
	m->now.sections.v[k->mark] = (struct elf_section){0};
	return elf_image_write(m, o->fd);
}

/* Proves the result by reading it back like any other file. */
static struct err *prove_filled(struct slim_filling *k)
{
	static const struct slim_keep none = {.none = true};
	ARENA(tmp);
	struct slim_plan p;
	struct slim_refs refs;
	struct bytes now = bytes_fd(k->o->fd, k->o->offset);
	VEC_EACH (const struct slim_bundle, b, &k->now.bundles)
		TRY(slim_prove_bundle(&k->now, b, &now));
	if (!k->host.src)
		return NULL;
	TRY(slim_read(&tmp, &now, &none, &p));
	TRY(slim_find_segment(&p));
	TRY(slim_refs(&tmp, &p, &p.elf, false, &refs));
	bool same = elf_image_is(&k->image, &p.elf) && p.bundles.n == k->now.bundles.n &&
		    refs.n == k->refs.n;
	for (size_t i = 0; i < refs.n && same; i++)
		same = refs.v[i].bundle == k->number[i] && refs.v[i].place == k->refs.v[i].place;
	return same ? NULL : err_new(E_SLIM, "the file with device code would be wrong");
}

struct err *slim_fill(struct arena *a, const struct slim_fill *f, struct str path)
{
	CLEANUP(fs_out_abandon) struct fs_out o = {.fd = -1, .dir = -1};
	struct slim_filling k = {.a = a, .o = &o};
	if (f->host)
		TRY(read_host(&k, f->host));
	TRY(plan_bundles(&k, f));
	TRY(fs_out_open(&o, path, 0644));
	TRY(f->host ? fill_host(&k) : slim_write_bundles(&k.now, &o));
	TRY(fs_out_error(&o));
	TRY(prove_filled(&k));
	return fs_out_commit(&o);
}
