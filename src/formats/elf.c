/* ELF headers, segments and sections, read through bounded accessors; see elf.h. */
#include "formats/elf.h"

#include <fcntl.h>

#include "formats/le.h"

enum {
	MAX_SEGMENTS = 4096,
	MAX_SECTIONS = 65535,
	MAX_NAME = 256, /* bytes of a section name */
	WINDOW = 1024,  /* first read: the header and usually all of the program headers */
};

bool elf_is(struct str head)
{
	/* ELFCLASS64, ELFDATA2LSB, EV_CURRENT */
	return head.n >= ELF_EHDR && !memcmp(head.p, "\177ELF\2\1\1", 7);
}

_Static_assert(sizeof(struct elf_segment) == ELF_PHDR, "a program header");
_Static_assert(offsetof(struct elf_section, name) == ELF_SHDR, "a section header");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the headers' byte order");

static struct err *read_segments(struct arena *a, size_t n, struct str head, struct elf *ret)
{
	uint64_t bytes = (uint64_t)n * ELF_PHDR;
	struct str table = {0};
	if (ret->phoff <= head.n && bytes <= head.n - ret->phoff)
		table = str_sub(head, (size_t)ret->phoff, (size_t)(ret->phoff + bytes));
	else
		TRY_CTX(bytes_slice(a, ret->src, ret->phoff, bytes, &table),
			"cannot read the program headers");
	ret->segments.v = arena_array(a, n, sizeof(*ret->segments.v));
	ret->segments.n = ret->segments.cap = n;
	if (n)
		memcpy(ret->segments.v, table.p, bytes);
	return NULL;
}

static uint64_t farther(uint64_t end, uint64_t offset, uint64_t size)
{
	if (offset > UINT64_MAX - size)
		return UINT64_MAX;
	return offset + size > end ? offset + size : end;
}

bool elf_header(struct str head, struct elf *ret)
{
	*ret = (struct elf){0};
	if (!elf_is(head))
		return false;
	ret->abiversion = (uint8_t)head.p[8];
	ret->type = le16(head.p + 16);
	ret->machine = le16(head.p + 18);
	ret->entry = le64(head.p + 24);
	ret->flags = le32(head.p + 48);
	return true;
}

static struct err *open_head(
	struct arena *a, const struct bytes *src, struct elf *ret, uint32_t *ret_sections)
{
	enum { PN_XNUM = 0xffff, SHN_XINDEX = 0xffff };
	char h[WINDOW];
	struct elf_section s;
	struct str head = {.p = h};
	TRY(bytes_peek(src, h, sizeof(h), 0, &head.n));
	if (!elf_header(head, ret))
		return err_new(E_ELF, "no 64-bit little-endian ELF header");
	uint32_t phnum = le16(h + 56), shnum = le16(h + 60);
	ret->src = src;
	ret->phoff = le64(h + 32);
	ret->shoff = le64(h + 40);
	ret->names = le16(h + 62);
	/* counts that do not fit into 16 bits are in section 0 */
	if (ret->shoff && (!shnum || phnum == PN_XNUM || ret->names == SHN_XINDEX)) {
		TRY_CTX(bytes_read(src, &s, ELF_SHDR, ret->shoff),
			"cannot read the section headers");
		uint32_t size = s.size < UINT32_MAX ? (uint32_t)s.size : UINT32_MAX;
		shnum = shnum ? shnum : size;
		phnum = phnum == PN_XNUM ? s.info : phnum;
		ret->names = ret->names == SHN_XINDEX ? s.link : ret->names;
	}
	if (phnum && le16(h + 54) != ELF_PHDR)
		return err_new(E_ELF, "program headers of %u bytes", le16(h + 54));
	if (shnum && le16(h + 58) != ELF_SHDR)
		return err_new(E_ELF, "section headers of %u bytes", le16(h + 58));
	if (phnum > MAX_SEGMENTS || shnum > MAX_SECTIONS)
		return err_new(E_LIMIT, "%u segments and %u sections: at most %d and %d are read",
			phnum, shnum, MAX_SEGMENTS, MAX_SECTIONS);
	*ret_sections = shnum;
	ret->tables = farther(ELF_EHDR, ret->phoff, (uint64_t)phnum * ELF_PHDR);
	ret->tables = farther(ret->tables, ret->shoff, (uint64_t)shnum * ELF_SHDR);
	return read_segments(a, phnum, head, ret);
}

struct err *elf_open_head(struct arena *a, const struct bytes *src, struct elf *ret)
{
	uint32_t sections;
	return open_head(a, src, ret, &sections);
}

struct err *elf_open(struct arena *a, const struct bytes *src, struct elf *ret)
{
	struct str table, names;
	uint32_t n;
	TRY(open_head(a, src, ret, &n));
	if (!n || !ret->shoff)
		return NULL;
	TRY_CTX(bytes_slice(a, src, ret->shoff, (uint64_t)n * ELF_SHDR, &table),
		"cannot read the section headers");
	TRY(budget_memory(src->budget, n * sizeof(*ret->sections.v)));
	struct elf_section *v = ret->sections.v = arena_array(a, n, sizeof(*v));
	ret->sections.n = ret->sections.cap = n;
	for (size_t i = 0; i < n; i++)
		memcpy(&v[i], table.p + i * ELF_SHDR, ELF_SHDR);
	if (ret->names == 0 || ret->names >= n || v[ret->names].type == ELF_NOBITS)
		return NULL;
	const struct elf_section *strings = &v[ret->names];
	TRY_CTX(bytes_slice(a, src, strings->offset, strings->size, &names),
		"cannot read the section names");
	for (size_t i = 0; i < n; i++) {
		struct str rest = str_sub(names, v[i].name_at, (size_t)v[i].name_at + MAX_NAME);
		v[i].name = str_sub(rest, 0, str_chr(rest, 0));
	}
	return NULL;
}

const struct elf_section *elf_section(const struct elf *e, struct str name)
{
	return VEC_FIND(const struct elf_section, &e->sections, name, name);
}

const struct elf_segment *elf_segment(const struct elf *e, uint32_t type)
{
	VEC_EACH (const struct elf_segment, s, &e->segments)
		if (s->type == type)
			return s;
	return NULL;
}

uint64_t elf_extent(const struct elf *e)
{
	uint64_t end = e->tables;
	VEC_EACH (const struct elf_segment, s, &e->segments)
		end = farther(end, s->offset, s->filesz);
	VEC_EACH (const struct elf_section, s, &e->sections)
		end = s->type == ELF_NOBITS ? end : farther(end, s->offset, s->size);
	return end;
}

uint64_t elf_offset_of(const struct elf *e, uint64_t vaddr)
{
	VEC_EACH (struct elf_segment, s, &e->segments) {
		if (s->type == ELF_PT_LOAD && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz &&
			s->offset <= UINT64_MAX - (vaddr - s->vaddr))
			return s->offset + (vaddr - s->vaddr);
	}
	return UINT64_MAX;
}
