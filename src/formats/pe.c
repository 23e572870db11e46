/* Section and import tables of PE images and COFF objects, through bounded reads; see pe.h. */
#include "formats/pe.h"

#include "formats/le.h"

enum { DOS = 64, COFF = 20, SECTION = 40, SYMBOL = 18, NAME = 64, MAX_SECTIONS = 65279 };
enum { OPTIONAL = 240, PE32_PLUS = 0x20b, DIRS = 112, IMPORT = 1, DELAY = 13, MAX_NAME = 256 };
enum { MAX_NAMES = 65536 };

bool pe_is(struct str head)
{
	return head.n >= DOS && !memcmp(head.p, "MZ", 2);
}

bool coff_is(struct str head)
{
	enum { X86_64 = 0x8664, ARM64 = 0xaa64, OPTIONAL_SIZE = 16 };
	return head.n >= COFF && (le16(head.p) == X86_64 || le16(head.p) == ARM64) &&
	       le16(head.p + 2) && !le16(head.p + OPTIONAL_SIZE);
}

struct err *pe_open(struct arena *a, const struct bytes *src, struct pe *ret)
{
	enum { UNINITIALIZED = 0x80 };
	char head[DOS], name[NAME];
	struct str h = {.p = head}, table;
	uint64_t at = 0, name_at;
	size_t got;
	*ret = (struct pe){0};
	TRY(bytes_peek(src, head, DOS, 0, &h.n));
	if (pe_is(h)) {
		char sign[4 + COFF] = "";
		at = le32(head + 60);
		TRY(bytes_peek(src, sign, sizeof(sign), at, &h.n));
		if (h.n < sizeof(sign) || memcmp(sign, "PE\0\0", 4) != 0)
			return NULL;
		memcpy(head, sign + 4, COFF);
		at += 4;
		ret->optional = at + COFF;
	} else if (!coff_is(h)) {
		return err_new(E_FORMAT, "no PE image and no COFF object");
	}
	uint64_t n = le16(head + 2), symbols = le32(head + 8);
	uint64_t strings = symbols ? symbols + (uint64_t)SYMBOL * le32(head + 12) : 0;
	ret->src = src;
	ret->machine = le16(head);
	if (n > MAX_SECTIONS)
		return err_new(
			E_LIMIT, "%u sections: at most %d are read", (unsigned)n, MAX_SECTIONS);
	TRY_CTX(bytes_slice(a, src, at + COFF + le16(head + 16), n * SECTION, &table),
		"cannot read the section table");
	TRY(budget_memory(src->budget, n * (sizeof(struct pe_section) + NAME)));
	for (const char *p = table.p; n; n--, p += SECTION) {
		struct pe_section *s = VEC_PUSH(a, &ret->sections);
		uint64_t inside = le32(p + 8);
		*s = (struct pe_section){
			.name = str_dup(a, (struct str){.p = p, .n = strnlen(p, 8)}),
			.addr = le32(p + 12),
			.offset = le32(p + 20),
			.size = le32(p + 16),
			.flags = le32(p + 36),
		};
		if (!s->offset || s->flags & UNINITIALIZED)
			s->size = 0;
		if (inside && inside < s->size)
			s->size = inside; /* the rest is padding for the file's alignment */
		if (s->size && (s->offset > src->size || s->size > src->size - s->offset))
			return err_new(E_FORMAT,
				"section '%.*s' of %llu bytes at offset %llu is not inside the "
				"file",
				STR(s->name), (unsigned long long)s->size,
				(unsigned long long)s->offset);
		/* a name longer than 8 bytes: "/12" is an offset in the string table, behind the symbols */
		if (!strings || !str_starts(s->name, S("/")) ||
			!str_u64(str_sub(s->name, 1, 8), 10, &name_at))
			continue;
		TRY(bytes_peek(src, name, NAME, strings + name_at, &got));
		s->name = str_dup(a, (struct str){.p = name, .n = strnlen(name, got)});
	}
	return NULL;
}

/* ---- imports ---- */

uint64_t pe_offset(const struct pe *m, uint64_t rva)
{
	VEC_EACH (const struct pe_section, s, &m->sections)
		if (rva >= s->addr && rva - s->addr < s->size)
			return s->offset + (rva - s->addr);
	return UINT64_MAX;
}

/* Reads a table whose entries have layout[0] bytes, with the RVA of a name at layout[1]; an entry without a name ends
 * it. */
static struct err *read_table(struct arena *a, const struct pe *m, uint64_t rva,
	const unsigned layout[2], struct strs *ret)
{
	char entry[32], text[MAX_NAME];
	for (uint64_t at = rva ? pe_offset(m, rva) : 0; rva; at += layout[0]) {
		TRY(bytes_read(m->src, entry, layout[0], at));
		uint32_t name = le32(entry + layout[1]);
		if (!name)
			return NULL;
		if (ret->n == MAX_NAMES)
			return err_new(E_LIMIT, "more than %d imported libraries", MAX_NAMES);
		uint64_t name_at = pe_offset(m, name);
		size_t n = 0;
		if (name_at != UINT64_MAX)
			TRY(bytes_peek(m->src, text, sizeof(text), name_at, &n));
		size_t end = strnlen(text, n);
		if (end == n || !end)
			return err_new(E_FORMAT, "a name in its import table is not in the file");
		strs_add(a, ret, str_dup(a, (struct str){text, end}));
	}
	return NULL;
}

static struct err *read_image(struct arena *a, const struct bytes *src, struct strs *ret)
{
	static const unsigned imports[] = {20, 12}, delayed[] = {32, 4};
	char head[OPTIONAL] = "";
	struct pe m;
	size_t n;
	TRY(pe_open(a, src, &m));
	if (m.optional)
		TRY(bytes_peek(src, head, sizeof(head), m.optional, &n));
	if (le16(head) != PE32_PLUS)
		return err_new(E_FORMAT, "no 64-bit Windows image");
	uint32_t dirs = le32(head + DIRS - 4);
	if (dirs > IMPORT)
		TRY(read_table(a, &m, le32(head + DIRS + 8 * IMPORT), imports, ret));
	if (dirs > DELAY)
		TRY(read_table(a, &m, le32(head + DIRS + 8 * DELAY), delayed, ret));
	return NULL;
}

struct err *pe_imports(struct arena *a, const struct bytes *src, struct strs *ret)
{
	*ret = (struct strs){0};
	struct err *e = read_image(a, src, ret);
	if (e && e->code == E_ELF) /* bytes.c, which serves all formats, returns it */
		e->code = E_FORMAT;
	return e;
}
