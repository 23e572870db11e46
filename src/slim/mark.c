/* Makes and reads host parts: wrappers name a bundle by its number, and a section tells HIP where the device code is
 * (HIP's registration since rocm-systems#2622; shared/kpack). See slim.h. */
#include "slim/slim_int.h"

enum { WRAPPER = 24, MAX_SECTIONS = 0xff00 - 2 };

void slim_mark(struct slim_plan *p, struct str mark)
{
	p->mark = mark;
	p->changed = true;
}

/* Reads the wrapper that contains a pointer. *ret_at: its offset in the file. */
static struct err *read_wrapper(const struct elf *e, const struct slim_ref *r, uint32_t magic,
	char ret[WRAPPER], uint64_t *ret_at)
{
	*ret_at = elf_offset_of(e, r->place - 8);
	TRY(bytes_read(e->src, ret, WRAPPER, *ret_at));
	if (le32(ret) == magic)
		return NULL;
	return err_new(E_SLIM, "at address 0x%llx a pointer at device code is in no wrapper",
		(unsigned long long)r->place);
}

struct err *slim_mark_wrapper(
	const struct slim_plan *p, const struct slim_ref *r, struct elf_image *m)
{
	char bytes[WRAPPER];
	uint64_t at;
	TRY(read_wrapper(&p->elf, r, SLIM_HIPF, bytes, &at));
	elf_image_put_le(m, at, SLIM_HIPK, 4);
	elf_image_put_le(m, at + 16, r->bundle, 8);
	return NULL;
}

struct err *slim_marked(const struct elf *e, const struct slim_ref *r, uint32_t *ret)
{
	char bytes[WRAPPER];
	uint64_t at;
	TRY(read_wrapper(e, r, SLIM_HIPK, bytes, &at));
	*ret = le32(bytes + 16);
	return NULL;
}

/* Adds the mark's section: all section headers go to the end of the file; the old ones stay where they are, unused. */
struct err *slim_mark_sections(const struct slim_plan *p, struct elf_image *m, struct fs_out *o)
{
	const struct elf_section mark = {.type = ELF_PROGBITS,
		.flags = ELF_ALLOC,
		.addr = slim_addr(p, 0, true),
		.offset = p->from,
		.size = p->mark.n,
		.align = 1};
	size_t n = p->elf.sections.n;
	if (!p->section)
		return err_new(E_SLIM, "it has no section headers");
	if (!p->elf.names || p->elf.names >= n || n > MAX_SECTIONS)
		return err_new(E_SLIM, "it has no names of sections, or too many");
	TRY(elf_image_keep_names(m));
	m->now.sections.v[p->section].type = ELF_NOBITS;
	elf_image_add_section(m, &mark, S(SLIM_KPACK_REF));
	struct str tail = elf_image_tail(m, o->offset);
	fs_out_write(o, tail.p, tail.n);
	return elf_image_write(m, o->fd);
}
