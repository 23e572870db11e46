/* ELF headers, segments and sections, read through bounded accessors; see elf.h. */
#include "formats/elf.h"

#include <fcntl.h>
#include <string.h>

#include "base/fs.h"
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

static struct elf_section section_at(const char *p)
{
	return (struct elf_section){
		.name_at = le32(p),
		.type = le32(p + 4),
		.flags = le64(p + 8),
		.addr = le64(p + 16),
		.offset = le64(p + 24),
		.size = le64(p + 32),
		.link = le32(p + 40),
		.info = le32(p + 44),
		.align = le64(p + 48),
		.entsize = le64(p + 56),
	};
}

/* The tables as the header describes them. Counts that do not fit into 16 bits are in section 0. */
struct tables {
	uint64_t phoff, shoff;
	uint32_t phnum, shnum, names;
};

static struct err *big_counts(const struct bytes *src, struct tables *t)
{
	enum { PN_XNUM = 0xffff, SHN_XINDEX = 0xffff };
	char first[ELF_SHDR];
	if (!t->shoff || (t->shnum && t->phnum != PN_XNUM && t->names != SHN_XINDEX))
		return NULL;
	TRY(bytes_read(src, first, ELF_SHDR, t->shoff));
	struct elf_section s = section_at(first);
	if (!t->shnum)
		t->shnum = s.size < UINT32_MAX ? (uint32_t)s.size : UINT32_MAX;
	if (t->phnum == PN_XNUM)
		t->phnum = s.info;
	if (t->names == SHN_XINDEX)
		t->names = s.link;
	return NULL;
}

static struct err *read_segments(
	struct arena *a, const struct tables *t, struct str head, struct elf *ret)
{
	uint64_t bytes = (uint64_t)t->phnum * ELF_PHDR;
	struct str table = {0};
	if (t->phoff <= head.n && bytes <= head.n - t->phoff)
		table = str_sub(head, (size_t)t->phoff, (size_t)(t->phoff + bytes));
	else
		TRY_CTX(bytes_slice(a, ret->src, t->phoff, bytes, &table),
			"cannot read the program headers");
	ret->segments.v = arena_array(a, t->phnum, sizeof(*ret->segments.v));
	ret->segments.n = ret->segments.cap = t->phnum;
	for (size_t i = 0; i < t->phnum; i++) {
		const char *p = table.p + i * ELF_PHDR;
		ret->segments.v[i] = (struct elf_segment){
			.type = le32(p),
			.flags = le32(p + 4),
			.offset = le64(p + 8),
			.vaddr = le64(p + 16),
			.paddr = le64(p + 24),
			.filesz = le64(p + 32),
			.memsz = le64(p + 40),
			.align = le64(p + 48),
		};
	}
	return NULL;
}

static struct err *read_sections(struct arena *a, const struct tables *t, struct elf *ret)
{
	struct str table, names;
	if (!t->shnum || !t->shoff)
		return NULL;
	uint64_t bytes = (uint64_t)t->shnum * ELF_SHDR;
	TRY_CTX(bytes_slice(a, ret->src, t->shoff, bytes, &table),
		"cannot read the section headers");
	TRY(budget_memory(ret->src->budget, t->shnum * sizeof(*ret->sections.v)));
	ret->sections.v = arena_array(a, t->shnum, sizeof(*ret->sections.v));
	ret->sections.n = ret->sections.cap = t->shnum;
	for (size_t i = 0; i < t->shnum; i++)
		ret->sections.v[i] = section_at(table.p + i * ELF_SHDR);
	if (t->names == 0 || t->names >= t->shnum || ret->sections.v[t->names].type == ELF_NOBITS)
		return NULL;
	const struct elf_section *strings = &ret->sections.v[t->names];
	TRY_CTX(bytes_slice(a, ret->src, strings->offset, strings->size, &names),
		"cannot read the section names");
	for (size_t i = 0; i < t->shnum; i++) {
		size_t at = ret->sections.v[i].name_at;
		struct str rest = str_sub(names, at, at + MAX_NAME);
		ret->sections.v[i].name = str_sub(rest, 0, str_chr(rest, 0));
	}
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
	ret->osabi = (uint8_t)head.p[7];
	ret->abiversion = (uint8_t)head.p[8];
	ret->type = le16(head.p + 16);
	ret->machine = le16(head.p + 18);
	ret->entry = le64(head.p + 24);
	ret->flags = le32(head.p + 48);
	return true;
}

static struct err *open_head(
	struct arena *a, const struct bytes *src, struct elf *ret, struct tables *t)
{
	char h[WINDOW];
	struct str head = {.p = h};
	TRY(bytes_peek(src, h, sizeof(h), 0, &head.n));
	if (!elf_header(head, ret))
		return err_new(E_ELF, "no 64-bit little-endian ELF header");
	ret->src = src;
	*t = (struct tables){
		.phoff = le64(h + 32),
		.shoff = le64(h + 40),
		.phnum = le16(h + 56),
		.shnum = le16(h + 60),
		.names = le16(h + 62),
	};
	TRY_CTX(big_counts(src, t), "cannot read the section headers");
	if (t->phnum && le16(h + 54) != ELF_PHDR)
		return err_new(E_ELF, "program headers of %u bytes", le16(h + 54));
	if (t->shnum && le16(h + 58) != ELF_SHDR)
		return err_new(E_ELF, "section headers of %u bytes", le16(h + 58));
	if (t->phnum > MAX_SEGMENTS || t->shnum > MAX_SECTIONS)
		return err_new(E_LIMIT, "%u segments and %u sections: at most %d and %d are read",
			t->phnum, t->shnum, MAX_SEGMENTS, MAX_SECTIONS);
	ret->phoff = t->phoff;
	ret->shoff = t->shoff;
	ret->names = t->names;
	ret->tables = farther(ELF_EHDR, t->phoff, (uint64_t)t->phnum * ELF_PHDR);
	ret->tables = farther(ret->tables, t->shoff, (uint64_t)t->shnum * ELF_SHDR);
	return read_segments(a, t, head, ret);
}

struct err *elf_open_head(struct arena *a, const struct bytes *src, struct elf *ret)
{
	struct tables t;
	return open_head(a, src, ret, &t);
}

struct err *elf_open(struct arena *a, const struct bytes *src, struct elf *ret)
{
	struct tables t;
	TRY(open_head(a, src, ret, &t));
	return read_sections(a, &t, ret);
}

const struct elf_section *elf_section(const struct elf *e, struct str name)
{
	VEC_EACH (struct elf_section, s, &e->sections) {
		if (str_eq(s->name, name))
			return s;
	}
	return NULL;
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
