/* Strips the parts of a code object that no runtime reads: debug information, comments, the names of its own symbols.
 * Everything in segments stays where it is; new section headers come behind it.
 *
 * ROCr finds kernels by the section called .symtab (GElfImage::getSymbolTable() in amd_elf_image.cpp; by .dynsym only
 * when LOADER_USE_DYNSYM is set), so `llvm-strip --strip-all` makes objects without kernels. Here the header .symtab
 * stays, and points at the bytes of .dynsym, which has every symbol that may be looked up by name. See slim_int.h. */
#include "slim/slim_int.h"

enum { SYM = 24, INFO_LINK = 0x40, MAX_SECTIONS = 0xff00 };

/* Counts the symbols that can be looked up: objects, among them kernel descriptors, that are defined and not hidden. */
static struct err *count_names(const struct elf *e, const struct elf_section *s, uint64_t *ret)
{
	enum { OBJECT = 1, COMMON = 5, KERNEL = 10, CHUNK = 1024 * SYM };
	char p[CHUNK];
	*ret = 0;
	for (uint64_t at = 0; s && at + SYM <= s->size; at += CHUNK) {
		size_t n = s->size - at < CHUNK ? (size_t)(s->size - at) / SYM * SYM : CHUNK;
		TRY(bytes_read(e->src, p, n, s->offset + at));
		for (size_t i = 0; i < n; i += SYM) {
			unsigned type = p[i + 4] & 15, bind = (unsigned char)p[i + 4] >> 4;
			unsigned hidden = p[i + 5] & 3;
			*ret += (type == OBJECT || type == COMMON || type == KERNEL) && bind &&
				le16(p + i + 6) && hidden != 1 && hidden != 2;
		}
	}
	return NULL;
}

static void keep_section(
	struct elf_image *m, const struct elf_section *s, struct str name, size_t kept)
{
	struct elf_section x = *s;
	x.link = s->link < kept ? s->link : 0;
	x.info = !(s->flags & INFO_LINK) || s->info < kept ? s->info : 0;
	elf_image_add_section(m, &x, name);
}

/* Symbols name sections by index, so those that stay, because they are in segments, have to be the first ones; and
 * nothing behind the last segment may have to stay. If it is otherwise, the object stays as it is. */
static struct err *strip_object(struct arena *a, const struct elf *e, struct slim_strip *ret)
{
	ARENA(tmp);
	struct elf_image m;
	const struct elf_section *dynamic = NULL, *all = NULL;
	uint64_t known, wanted, cut = SLIM_HEAD + ELF_PHDR * e->segments.n;
	size_t kept = 1;
	bool bad = e->phoff != SLIM_HEAD || !e->segments.n;
	VEC_EACH (const struct elf_segment, s, &e->segments)
		cut = s->filesz && s->offset + s->filesz > cut ? s->offset + s->filesz : cut;
	while (kept < e->sections.n && e->sections.v[kept].flags & ELF_ALLOC)
		kept++;
	VEC_EACH (const struct elf_section, s, &e->sections) {
		bool alloc = s->flags & ELF_ALLOC;
		bad = bad || (alloc && s >= e->sections.v + kept) ||
		      (alloc && s->type != ELF_NOBITS &&
			      (s->offset > cut || s->size > cut - s->offset));
		dynamic = s->type == ELF_DYNSYM ? s : dynamic;
		all = s->type == ELF_SYMTAB ? s : all;
	}
	TRY(count_names(e, dynamic, &known));
	TRY(count_names(e, all, &wanted));
	if (bad || cut > e->src->size || !dynamic || (all && wanted != known))
		return NULL;
	elf_image_begin(&tmp, e, &m);
	m.now.sections.n = 0;
	for (size_t i = 0; i < kept; i++)
		keep_section(&m, &e->sections.v[i], e->sections.v[i].name, kept);
	if (all) {
		struct elf_section symbols = *dynamic;
		symbols.type = ELF_SYMTAB;
		symbols.flags = symbols.addr = 0;
		keep_section(&m, &symbols, S(".symtab"), kept);
	}
	const struct elf_section names = {.type = ELF_STRTAB, .align = 1};
	m.now.names = (uint32_t)m.now.sections.n;
	elf_image_add_section(&m, &names, S(".shstrtab"));
	struct str tail = elf_image_tail(&m, cut);
	if (cut + tail.n >= e->src->size)
		return NULL;
	char *head = arena_alloc(a, SLIM_HEAD);
	TRY(elf_image_head(&m, head));
	*ret = (struct slim_strip){.cut = cut, .head = head, .tail = str_dup(a, tail)};
	return NULL;
}

struct err *slim_strip(struct arena *a, const struct bytes *src, struct slim_strip *ret)
{
	ARENA(tmp);
	struct elf e;
	*ret = (struct slim_strip){0};
	struct err *err = elf_open(&tmp, src, &e);
	/* version 2 marks kernels by other symbols; a damaged object stays as it is */
	if (!err && e.machine == ELF_AMDGPU && e.type == ELF_DYN && e.abiversion &&
		e.sections.n > 1 && e.sections.n < MAX_SECTIONS) {
		TRY(budget_memory(src->budget, 2 * ELF_SHDR * e.sections.n));
		err = strip_object(a, &e, ret);
	}
	if (err && err->code != E_ELF)
		return err;
	err_free(err);
	return NULL;
}
