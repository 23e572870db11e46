/* Section tables of PE images and COFF objects; see pe.h. */
#include "formats/pe.h"

#include <string.h>

#include "formats/le.h"

enum { DOS = 64, COFF = 20, SECTION = 40, SYMBOL = 18, NAME = 64, MAX_SECTIONS = 65279 };

bool pe_is(struct str head)
{
	return head.n >= DOS && !memcmp(head.p, "MZ", 2);
}

bool coff_is(struct str head)
{
	enum { X86_64 = 0x8664, ARM64 = 0xaa64, OPTIONAL = 16 };
	return head.n >= COFF && (le16(head.p) == X86_64 || le16(head.p) == ARM64) &&
	       le16(head.p + 2) && !le16(head.p + OPTIONAL);
}

/* Longer than 8 bytes: "/12" is a place in the string table, which lies behind the symbols. */
static struct err *section_name(
	struct arena *a, const struct elf_src *src, uint64_t strings, struct pe_section *s)
{
	char name[NAME];
	uint64_t at;
	size_t n;
	if (!strings || !str_starts(s->name, S("/")) || !str_u64(str_sub(s->name, 1, 8), 10, &at))
		return NULL;
	TRY(elf_src_peek(src, name, NAME, strings + at, &n));
	s->name = str_dup(a, (struct str){.p = name, .n = strnlen(name, n)});
	return NULL;
}

static struct err *read_section(struct arena *a, const struct elf_src *src, const char *p,
	uint64_t strings, struct pe_section *s)
{
	enum { UNINITIALIZED = 0x80 };
	uint64_t inside = le32(p + 8);
	*s = (struct pe_section){
		.name = str_dup(a, (struct str){.p = p, .n = strnlen(p, 8)}),
		.offset = le32(p + 20),
		.size = le32(p + 16),
		.flags = le32(p + 36),
	};
	if (!s->offset || s->flags & UNINITIALIZED)
		s->size = 0;
	if (inside && inside < s->size)
		s->size = inside; /* the rest only fills up the file's alignment */
	if (s->size && (s->offset > src->size || s->size > src->size - s->offset))
		return err_new(E_FORMAT,
			"section '%.*s' of %llu bytes at offset %llu is not inside the file",
			STR(s->name), (unsigned long long)s->size, (unsigned long long)s->offset);
	return section_name(a, src, strings, s);
}

struct err *pe_open(struct arena *a, const struct elf_src *src, struct pe *ret)
{
	char head[DOS];
	struct str h = {.p = head}, table;
	uint64_t at = 0;
	*ret = (struct pe){0};
	TRY(elf_src_peek(src, head, DOS, 0, &h.n));
	if (pe_is(h)) {
		char sign[4 + COFF] = "";
		at = le32(head + 60);
		TRY(elf_src_peek(src, sign, sizeof(sign), at, &h.n));
		if (h.n < sizeof(sign) || memcmp(sign, "PE\0\0", 4) != 0)
			return NULL;
		memcpy(head, sign + 4, COFF);
		at += 4;
	} else if (!coff_is(h)) {
		return err_new(E_FORMAT, "no PE image and no COFF object");
	}
	uint64_t n = le16(head + 2), symbols = le32(head + 8);
	uint64_t strings = symbols ? symbols + (uint64_t)SYMBOL * le32(head + 12) : 0;
	ret->machine = le16(head);
	if (n > MAX_SECTIONS)
		return err_new(
			E_LIMIT, "%u sections: at most %d are read", (unsigned)n, MAX_SECTIONS);
	TRY_CTX(elf_src_slice(a, src, at + COFF + le16(head + 16), n * SECTION, &table),
		"cannot read the section table");
	TRY(budget_memory(src->budget, n * (sizeof(struct pe_section) + NAME)));
	for (size_t i = 0; i < n; i++)
		TRY(read_section(
			a, src, table.p + i * SECTION, strings, VEC_PUSH(a, &ret->sections)));
	return NULL;
}
