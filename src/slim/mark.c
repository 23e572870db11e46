/* A host part: wrappers that name a bundle by its number, and the section that tells runtimes where device code is
 * (HIP's registration since rocm-systems#2622; shared/kpack). See slim.h. */
#include "base/fs.h"
#include "formats/le.h"
#include "slim/slim_int.h"

enum { SHDR = 64, E_SHOFF = 40, E_SHNUM = 60, E_SHSTRNDX = 62, WRAPPER = 24 };

void slim_mark(struct slim_plan *p, struct str mark)
{
	p->mark = mark;
	p->changed = true;
}

/* The wrapper that a pointer is in, and where it is. */
static struct err *wrapper_of(const struct elf *e, const struct slim_ref *r, uint32_t magic,
	char ret[WRAPPER], uint64_t *at)
{
	*at = elf_offset_of(e, r->place - 8);
	TRY(bytes_read(e->src, ret, WRAPPER, *at));
	if (le32(ret) == magic)
		return NULL;
	return err_new(E_SLIM, "at address 0x%llx a pointer at device code is in no wrapper",
		(unsigned long long)r->place);
}

struct err *slim_mark_wrapper(
	const struct slim_plan *p, const struct slim_cut *c, const struct slim_ref *r, int fd)
{
	char bytes[WRAPPER], word[8];
	uint64_t at;
	TRY(wrapper_of(&p->elf, r, SLIM_HIPF, bytes, &at));
	put_le(word, SLIM_HIPK, 4);
	TRY(fs_pwrite(fd, word, 4, slim_map(c, at)));
	put_le(word, r->bundle, 8);
	return fs_pwrite(fd, word, 8, slim_map(c, at) + 16);
}

struct err *slim_marked(const struct elf *e, const struct slim_ref *r, uint32_t *ret)
{
	char bytes[WRAPPER];
	uint64_t at;
	TRY(wrapper_of(e, r, SLIM_HIPK, bytes, &at));
	*ret = le32(bytes + 16);
	return NULL;
}

static void set(char *h, unsigned name, uint64_t addr, uint64_t offset, uint64_t size)
{
	put_le(h, name, 4);
	put_le(h + 4, ELF_PROGBITS, 4);
	put_le(h + 8, ELF_ALLOC, 8);
	put_le(h + 16, addr, 8);
	put_le(h + 24, offset, 8);
	put_le(h + 32, size, 8);
	put_le(h + 48, 1, 8);
}

/* The old headers, as they are by now, are copied behind the file, with one more. */
struct err *slim_mark_sections(
	const struct slim_plan *p, const struct slim_cut *c, struct fs_out *o)
{
	ARENA(tmp);
	BUF(names, &tmp);
	BUF(table, &tmp);
	char head[64];
	struct str old;
	size_t n = p->elf.sections.n;
	if (!p->section)
		return err_new(E_SLIM, "it has no section headers");
	TRY(bytes_read(p->src, head, sizeof(head), 0));
	unsigned strings = le16(head + E_SHSTRNDX);
	if (!strings || strings >= n || n > 0xff00 - 2)
		return err_new(E_SLIM, "it has no names of sections, or too many");
	const struct elf_section *s = &p->elf.sections.v[strings];
	TRY(bytes_slice(&tmp, p->src, s->offset, s->size, &old));
	buf_add(&names, old);
	buf_add(&names, S(SLIM_KPACK_REF "\0"));
	uint64_t at = o->offset;
	fs_out_write(o, names.p, names.n);
	fs_out_zeros(o, (o->offset + 7) / 8 * 8);
	uint64_t shoff = o->offset;
	char *h = buf_space(&table, (n + 1) * SHDR);
	TRY(fs_pread(o->fd, h, n * SHDR, slim_map(c, le64(head + E_SHOFF))));
	put_le(h + strings * SHDR + 24, at, 8);
	put_le(h + strings * SHDR + 32, names.n, 8);
	put_le(h + p->section * SHDR + 4, ELF_NOBITS, 4);
	set(h + n * SHDR, (unsigned)old.n, slim_addr(p, 0, true), p->from, p->mark.n);
	fs_out_write(o, table.p, table.n);
	put_le(head, shoff, 8);
	put_le(head + 8, n + 1, 2);
	TRY(fs_pwrite(o->fd, head, 8, E_SHOFF));
	return fs_pwrite(o->fd, head + 8, 2, E_SHNUM);
}
