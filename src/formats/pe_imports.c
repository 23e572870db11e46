/* The import tables of PE images, through bounded reads; see pe_imports.h. */
#include "formats/pe_imports.h"

#include <string.h>

#include "formats/le.h"
#include "formats/pe.h"

enum { DOS = 64, LFANEW = 60, COFF = 24, OPTIONAL = 240, SECTION = 40, MAX_SECTIONS = 96 };
enum { PE32_PLUS = 0x20b, DIRS = 112, IMPORT = 1, DELAY = 13, MAX_NAME = 256, MAX_NAMES = 65536 };

struct image {
	const struct elf_src *src;
	char sections[MAX_SECTIONS * SECTION];
	unsigned n;
};

static uint64_t offset_of(const struct image *m, uint64_t rva)
{
	for (unsigned i = 0; i < m->n; i++) {
		const char *s = m->sections + i * SECTION;
		uint64_t at = le32(s + 12), size = le32(s + 16);
		if (rva >= at && rva - at < size)
			return le32(s + 20) + (rva - at);
	}
	return UINT64_MAX;
}

static struct err *read_name(struct arena *a, const struct image *m, uint64_t rva, struct str *ret)
{
	char text[MAX_NAME] = "";
	size_t n = 0;
	uint64_t at = offset_of(m, rva);
	if (at != UINT64_MAX)
		TRY(elf_src_peek(m->src, text, sizeof(text), at, &n));
	size_t end = strnlen(text, n);
	if (end == n || !end)
		return err_new(E_FORMAT, "a name in its import table is not in the file");
	*ret = str_dup(a, (struct str){text, end});
	return NULL;
}

/* A table of entries of `size` bytes with the RVA of a name at `name`; one without ends it. */
static struct err *read_table(struct arena *a, const struct image *m, uint64_t rva,
	const unsigned layout[2], struct strs *ret)
{
	char entry[32];
	uint64_t at = rva ? offset_of(m, rva) : 0;
	for (struct str name; rva; at += layout[0]) {
		TRY(elf_src_read(m->src, entry, layout[0], at));
		if (!le32(entry + layout[1]))
			return NULL;
		if (ret->n == MAX_NAMES)
			return err_new(E_LIMIT, "more than %d imported libraries", MAX_NAMES);
		TRY(read_name(a, m, le32(entry + layout[1]), &name));
		strs_add(a, ret, name);
	}
	return NULL;
}

static struct err *read_image(
	struct arena *a, const struct elf_src *src, struct image *m, struct strs *ret)
{
	static const unsigned imports[] = {20, 12}, delayed[] = {32, 4};
	char dos[DOS], head[COFF + OPTIONAL] = "";
	size_t n;
	TRY(elf_src_read(src, dos, DOS, 0));
	uint64_t at = le32(dos + LFANEW);
	TRY(elf_src_peek(src, head, sizeof(head), at, &n));
	const char *optional = head + COFF;
	if (!pe_is((struct str){dos, DOS}) || memcmp(head, "PE\0\0", 4) != 0 ||
		le16(optional) != PE32_PLUS)
		return err_new(E_FORMAT, "no 64-bit Windows image");
	m->src = src;
	m->n = le16(head + 6);
	if (m->n > MAX_SECTIONS)
		return err_new(E_LIMIT, "%u sections: at most %d are read", m->n, MAX_SECTIONS);
	TRY(elf_src_read(src, m->sections, (size_t)m->n * SECTION, at + COFF + le16(head + 20)));
	uint32_t dirs = le32(optional + DIRS - 4);
	if (dirs > IMPORT)
		TRY(read_table(a, m, le32(optional + DIRS + 8 * IMPORT), imports, ret));
	if (dirs > DELAY)
		TRY(read_table(a, m, le32(optional + DIRS + 8 * DELAY), delayed, ret));
	return NULL;
}

struct err *pe_imports(struct arena *a, const struct elf_src *src, struct strs *ret)
{
	struct image m = {0};
	*ret = (struct strs){0};
	struct err *e = read_image(a, src, &m, ret);
	if (e && e->code == E_ELF) /* of what reads for all formats */
		e->code = E_FORMAT;
	return e;
}
