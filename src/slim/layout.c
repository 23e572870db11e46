/* The shape of the smaller ELF file: which pages go, and what has to be written in headers and at every pointer. Source:
 * System V gABI chapters 4 and 5. See slim_int.h. */
#include "base/fs.h"
#include "formats/le.h"
#include "slim/slim_int.h"

enum { E_PHOFF = 32, E_SHOFF = 40, E_PHNUM = 56, SH_OFFSET = 24, SH_SIZE = 32, SHDR = 64 };
enum { PHDR = 56, P_OFFSET = 8, P_VADDR = 16, P_PADDR = 24, P_FILESZ = 32, P_MEMSZ = 40 };
enum { PAGE = 4096, PHNUM_MAX = 0xfffe };

static const struct elf_segment *own_segment(const struct slim_plan *p)
{
	return &p->elf.segments.v[p->segment];
}

/* All moves in steps of the largest page that a loader may have; each segment for itself has to fit its own. Until Linux
 * 5.18 kernels told a program that its headers are as far from its first segment as in the file. */
static struct err *look_at_segments(
	const struct slim_plan *p, uint64_t *ret_step, bool *ret_movable)
{
	const struct elf_segment *first = NULL, *own = own_segment(p);
	bool program = p->elf.type == ELF_EXEC;
	*ret_step = PAGE;
	VEC_EACH (const struct elf_segment, s, &p->elf.segments) {
		bool load = s->type == ELF_PT_LOAD;
		program = program || s->type == ELF_PT_INTERP;
		first = load && !first ? s : first;
		uint64_t align = s->align > PAGE ? s->align : PAGE;
		if (load && (align & (align - 1) || (s->offset - s->vaddr) % align))
			return err_new(E_SLIM, "a segment is not aligned as it says");
		*ret_step = load && align > *ret_step ? align : *ret_step;
	}
	*ret_movable = p->elf.segments.n < PHNUM_MAX &&
		       (!program || own->vaddr - own->offset == first->vaddr - first->offset);
	return NULL;
}

struct err *slim_layout(const struct slim_plan *p, uint64_t end, struct slim_cut *ret)
{
	const struct elf_segment *s = own_segment(p);
	uint64_t step, stop = p->from + p->size, table = (end + 7) / 8 * 8;
	bool movable = false, split = s->offset + s->filesz > stop || s->memsz > s->filesz;
	TRY(look_at_segments(p, &step, &movable));
	if (end > stop)
		return err_new(E_SLIM, "it would not become smaller");
	if (split)
		end = table + (p->elf.segments.n + 1) * PHDR;
	uint64_t from = (end + step - 1) / step * step;
	uint64_t to = split ? stop / step * step : stop - (stop - from) % step;
	*ret = (struct slim_cut){.from = stop};
	if (from >= stop || to <= from)
		return NULL;
	if (split && !movable)
		return err_new(E_SLIM, "kernels before Linux 5.18 could not start the program");
	*ret = (struct slim_cut){.from = from, .n = to - from, .table = table, .split = split};
	return NULL;
}

/* Does a part of the file lie where bundles are? */
static bool touches(const struct slim_plan *p, uint64_t offset, uint64_t size)
{
	return size && offset < p->from + p->size && offset + size > p->from;
}

static void set_place(char *h, uint64_t offset, uint64_t vaddr, uint64_t paddr)
{
	put_le(h + P_OFFSET, offset, 8);
	put_le(h + P_VADDR, vaddr, 8);
	put_le(h + P_PADDR, paddr, 8);
}

static void set_sizes(char *h, uint64_t filesz, uint64_t memsz)
{
	put_le(h + P_FILESZ, filesz, 8);
	put_le(h + P_MEMSZ, memsz, 8);
}

/* The header of the segment with the bundles; of a split one both halves. */
static void own_header(
	const struct slim_plan *p, const struct slim_cut *c, char *h, struct buf *table)
{
	const struct elf_segment *s = own_segment(p);
	uint64_t first = c->from - s->offset, gone = first + c->n;
	if (!c->split) {
		set_sizes(h, s->filesz - c->n, s->memsz - c->n);
		return;
	}
	char second[PHDR];
	memcpy(second, h, PHDR);
	set_sizes(h, first, first);
	set_place(second, c->from, s->vaddr + gone, le64(h + P_PADDR) + gone);
	set_sizes(second, s->filesz - gone, s->memsz - gone);
	buf_add(table, (struct str){second, PHDR});
}

struct err *slim_headers(const struct slim_plan *p, const struct slim_cut *c, struct buf *table)
{
	char word[8];
	const struct elf_segment *own = own_segment(p);
	uint64_t size = (p->elf.segments.n + c->split) * PHDR;
	uint64_t addr = c->table - own->offset + own->vaddr;
	TRY(bytes_read(p->src, word, 8, E_PHOFF));
	buf_reserve(table, (size_t)size);
	for (size_t i = 0; i < p->elf.segments.n; i++) {
		const struct elf_segment *s = &p->elf.segments.v[i];
		char *h = buf_space(table, PHDR);
		TRY(bytes_read(p->src, h, PHDR, le64(word) + i * PHDR));
		if (s == own) {
			own_header(p, c, h, table);
		} else if (s->type == ELF_PT_PHDR && c->split) {
			set_place(h, c->table, addr, addr);
			set_sizes(h, size, size);
		} else if (touches(p, s->offset, s->filesz)) {
			return err_new(E_SLIM, "segment %zu lies over the bundles", i);
		} else {
			put_le(h + P_OFFSET, slim_map(c, s->offset), 8);
		}
	}
	return NULL;
}

/* ---- over the copy ---- */

static struct err *put(int fd, uint64_t offset, uint64_t value, unsigned bytes)
{
	char text[8];
	put_le(text, value, bytes);
	return fs_pwrite(fd, text, bytes, offset);
}

static struct err *patch_sections(
	const struct slim_plan *p, const struct slim_cut *c, uint64_t shoff, int fd)
{
	const struct bundle *last = &p->bundles.v[p->bundles.n - 1].now;
	uint64_t size = p->mark.n ? 0 : last->offset + last->stored - p->from;
	for (size_t i = 0; i < p->elf.sections.n; i++) {
		const struct elf_section *s = &p->elf.sections.v[i];
		uint64_t at = slim_map(c, shoff) + i * SHDR, offset = slim_map(c, s->offset);
		if (i && i == p->section)
			TRY(put(fd, at + SH_SIZE, size, 8));
		if (offset != s->offset)
			TRY(put(fd, at + SH_OFFSET, offset, 8));
	}
	return NULL;
}

/* Every bundle has to have a pointer: else somebody finds it in a way that we do not know. */
static struct err *patch_refs(const struct slim_plan *p, const struct slim_cut *c, int fd)
{
	ARENA(tmp);
	struct slim_refs refs;
	TRY(slim_refs(&tmp, p, &p->elf, false, &refs));
	bool *seen = arena_array(&tmp, p->bundles.n, sizeof(*seen));
	VEC_EACH (const struct slim_ref, r, &refs) {
		seen[r->bundle] = seen[r->bundle] || r->pointer;
		if (r->at)
			TRY(put(fd, slim_map(c, r->at), slim_addr(p, r->bundle, true), 8));
		if (p->mark.n && r->pointer)
			TRY(slim_mark_wrapper(p, c, r, fd));
	}
	for (size_t i = 0; i < p->bundles.n; i++)
		if (!seen[i])
			return err_new(E_SLIM, "nothing that is known points at bundle %zu", i);
	return NULL;
}

struct err *slim_patch(
	const struct slim_plan *p, const struct slim_cut *c, struct str table, int fd)
{
	char head[64];
	TRY(bytes_read(p->src, head, sizeof(head), 0));
	uint64_t phoff = c->split ? c->table : slim_map(c, le64(head + E_PHOFF));
	uint64_t shoff = le64(head + E_SHOFF);
	TRY(put(fd, E_PHOFF, phoff, 8));
	TRY(put(fd, E_PHNUM, table.n / PHDR, 2));
	TRY(fs_pwrite(fd, table.p, table.n, phoff));
	if (p->elf.sections.n) {
		TRY(put(fd, E_SHOFF, slim_map(c, shoff), 8));
		TRY(patch_sections(p, c, shoff, fd));
	}
	return patch_refs(p, c, fd);
}
