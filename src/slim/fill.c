/* A host part gets its device code back: as bundles in a new segment at the end of the file, behind the program
 * headers, which move there. Addresses stay. See slim.h. */
#include "base/fs.h"
#include "formats/le.h"
#include "slim/slim_int.h"

enum { PHDR = 56, SHDR = 64, E_PHOFF = 32, E_SHOFF = 40, E_PHNUM = 56, PAGE = 4096 };

struct filling {
	struct arena *a;
	struct slim_plan host, now; /* as it is; the bundles that come */
	size_t mark;                /* section of the host */
	struct slim_refs refs;
	uint64_t base, vaddr; /* of the new segment */
	struct fs_out *o;
};

static uint64_t round_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) / align * align;
}

static struct err *plan_bundles(struct filling *k, const struct slim_fill *f)
{
	static const struct slim_keep all;
	size_t i = 0;
	k->now = (struct slim_plan){.a = k->a, .src = f->content, .keep = &all, .changed = true};
	size_t bundles = f->bundles;
	VEC_EACH (const struct slim_ref, r, &k->refs) {
		uint32_t index = 0;
		if (r->pointer)
			TRY(slim_marked(&k->host.elf, r, &index));
		bundles = index >= bundles ? index + 1 : bundles;
	}
	if (k->refs.n && bundles > f->bundles && bundles > k->refs.n)
		return err_new(E_SLIM, "a wrapper names bundle %zu, and there are %zu wrappers",
			bundles - 1, k->refs.n);
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

/* ---- the host ---- */

static struct err *read_host(struct filling *k, const struct bytes *src)
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
	VEC_EACH (const struct elf_segment, s, &p->elf.segments)
		if (s->type == ELF_PT_INTERP)
			return err_new(
				E_SLIM, "kernels before Linux 5.18 could not start the program");
	return slim_refs(k->a, p, &p->elf, false, &k->refs);
}

/* The bundle that a pointer or a symbol is for. */
static struct err *number_of(struct filling *k, const struct slim_ref *r, uint32_t *ret)
{
	*ret = 0;
	if (r->pointer)
		TRY(slim_marked(&k->host.elf, r, ret));
	VEC_EACH (const struct slim_ref, x, &k->refs)
		if (!r->pointer && x->pointer && r->symbol && x->symbol == r->symbol)
			return slim_marked(&k->host.elf, x, ret);
	return NULL;
}

static struct err *put(struct filling *k, uint64_t at, uint64_t value, unsigned bytes)
{
	char word[8];
	put_le(word, value, bytes);
	return fs_pwrite(k->o->fd, word, bytes, at);
}

static struct err *patch_refs(struct filling *k)
{
	VEC_EACH (const struct slim_ref, r, &k->refs) {
		uint32_t n;
		uint64_t wrapper = elf_offset_of(&k->host.elf, r->place - 8);
		TRY(number_of(k, r, &n));
		if (n >= k->now.bundles.n)
			return err_new(E_SLIM, "there is no device code number %u", n);
		uint64_t addr = k->now.bundles.v[n].now.offset - k->base + k->vaddr;
		if (r->at)
			TRY(put(k, r->at, addr, 8));
		if (r->pointer) {
			TRY(put(k, wrapper, SLIM_HIPF, 4));
			TRY(put(k, wrapper + 16, 0, 8));
		}
	}
	return NULL;
}

static struct err *patch_sections(struct filling *k)
{
	char word[8], none[SHDR] = {0};
	TRY(bytes_read(k->host.src, word, 8, E_SHOFF));
	uint64_t at = le64(word) + k->host.section * SHDR;
	uint64_t from = k->now.bundles.v[0].now.offset;
	TRY(put(k, at + 4, ELF_PROGBITS, 4));
	TRY(put(k, at + 8, ELF_ALLOC, 8));
	TRY(put(k, at + 16, from - k->base + k->vaddr, 8));
	TRY(put(k, at + 24, from, 8));
	TRY(put(k, at + 32, k->o->offset - from, 8));
	return fs_pwrite(k->o->fd, none, SHDR, le64(word) + k->mark * SHDR);
}

static struct err *patch_segments(struct filling *k, uint64_t step)
{
	ARENA(tmp);
	BUF(table, &tmp);
	char word[8];
	size_t n = k->host.elf.segments.n;
	TRY(bytes_read(k->host.src, word, 8, E_PHOFF));
	char *h = buf_space(&table, (n + 1) * PHDR);
	TRY(bytes_read(k->host.src, h, n * PHDR, le64(word)));
	uint64_t size = k->o->offset - k->base;
	const uint64_t own[] = {k->base, k->vaddr, k->vaddr, size, size, step};
	put_le(h + n * PHDR, ELF_PT_LOAD, 4);
	put_le(h + n * PHDR + 4, 4, 4);
	for (unsigned i = 0; i < 6; i++)
		put_le(h + n * PHDR + 8 + 8 * i, own[i], 8);
	for (size_t i = 0; i < n; i++)
		for (unsigned f = 0; f < 5 && le32(h + i * PHDR) == ELF_PT_PHDR; f++)
			put_le(h + i * PHDR + 8 + 8 * f, f < 3 ? own[f] : table.n, 8);
	TRY(fs_pwrite(k->o->fd, table.p, table.n, k->base));
	TRY(put(k, E_PHOFF, k->base, 8));
	return put(k, E_PHNUM, n + 1, 2);
}

static struct err *fill_host(struct filling *k)
{
	uint64_t step = PAGE, top = 0;
	const struct slim_plan *p = &k->host;
	VEC_EACH (const struct elf_segment, s, &p->elf.segments) {
		bool load = s->type == ELF_PT_LOAD;
		step = load && s->align > step ? s->align : step;
		top = load && s->vaddr + s->memsz > top ? s->vaddr + s->memsz : top;
	}
	if (step > 1 << 24 || step & (step - 1) || top > UINT64_MAX / 2)
		return err_new(E_SLIM, "its segments are not aligned");
	TRY(slim_copy(p, 0, p->src->size, k->o));
	k->base = round_up(k->o->offset, step);
	k->vaddr = round_up(top, step);
	fs_out_zeros(k->o, k->base + (p->elf.segments.n + 1) * PHDR);
	TRY(slim_write_bundles(&k->now, k->o));
	TRY(patch_refs(k));
	TRY(patch_sections(k));
	return patch_segments(k, step);
}

/* Read anew as any other file. */
static struct err *prove(struct filling *k)
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
	bool same = p.bundles.n == k->now.bundles.n && refs.n == k->refs.n;
	for (size_t i = 0; i < refs.n && same; i++) {
		uint32_t n;
		TRY(number_of(k, &k->refs.v[i], &n));
		same = refs.v[i].bundle == n && refs.v[i].place == k->refs.v[i].place;
	}
	return same ? NULL : err_new(E_SLIM, "the file with device code would be wrong");
}

struct err *slim_fill(struct arena *a, const struct slim_fill *f, struct str path)
{
	CLEANUP(fs_out_abandon) struct fs_out o = {.fd = -1, .dir = -1};
	struct filling k = {.a = a, .o = &o};
	if (f->host)
		TRY(read_host(&k, f->host));
	TRY(plan_bundles(&k, f));
	TRY(fs_out_open(&o, path, 0644));
	TRY(f->host ? fill_host(&k) : slim_write_bundles(&k.now, &o));
	struct err *e = o.first;
	o.first = NULL;
	TRY(e);
	TRY(prove(&k));
	return fs_out_commit(&o);
}
