/* A code object without what no runtime reads: debug information, comments, the names of its own symbols. All that a
 * segment has stays where it is; behind it there are new section headers.
 *
 * ROCr finds kernels by the section called .symtab (GElfImage::getSymbolTable() in amd_elf_image.cpp; by .dynsym
 * only when LOADER_USE_DYNSYM is set), so `llvm-strip --strip-all` makes objects without kernels. Here the
 * header .symtab stays, and leads to the bytes of .dynsym, which has every symbol that may be asked for by name.
 * See slim_int.h. */
#include "base/buf.h"
#include "formats/le.h"
#include "slim/slim_int.h"

enum { SHDR = 64, SYM = 24, SHT_SYMTAB = 2, SHT_STRTAB = 3, INFO_LINK = 0x40 };

/* Symbols that can be asked for: objects, among them kernel descriptors, that are defined and not hidden. */
static struct err *count_names(const struct elf *e, const struct elf_section *s, uint64_t *ret)
{
	enum { OBJECT = 1, COMMON = 5, KERNEL = 10, CHUNK = 1024 * SYM };
	char p[CHUNK];
	*ret = 0;
	for (uint64_t at = 0; at + SYM <= s->size; at += CHUNK) {
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

struct shrinking {
	const struct elf *e;
	struct buf *names, *table;
	size_t kept, n; /* sections: the first ones of the old, those that are there by now */
};

static void add_header(struct shrinking *k, const struct elf_section *s, struct str name)
{
	const uint64_t word[] = {s->flags, s->addr, s->offset, s->size};
	bool info = !(s->flags & INFO_LINK) || s->info < k->kept;
	buf_le(k->table, k->names->n, 4);
	buf_le(k->table, s->type, 4);
	for (unsigned i = 0; i < 4; i++)
		buf_le(k->table, word[i], 8);
	buf_le(k->table, s->link < k->kept ? s->link : 0, 4);
	buf_le(k->table, info ? s->info : 0, 4);
	buf_le(k->table, s->align, 8);
	buf_le(k->table, s->entsize, 8);
	buf_add(k->names, name);
	buf_char(k->names, 0);
	k->n++;
}

/* Where the last segment ends; 0: something that has to stay is behind that. */
static uint64_t end_of_segments(const struct elf *e)
{
	uint64_t end = SLIM_HEAD + 56 * e->segments.n; /* where linkers put their headers */
	char word[8];
	struct err *err = bytes_read(e->src, word, sizeof(word), 32);
	bool bad = err || le64(word) != SLIM_HEAD || !e->segments.n;
	err_free(err);
	VEC_EACH (const struct elf_segment, s, &e->segments)
		end = s->filesz && s->offset + s->filesz > end ? s->offset + s->filesz : end;
	VEC_EACH (const struct elf_section, s, &e->sections)
		bad = bad || (s->flags & ELF_ALLOC && s->type != ELF_NOBITS &&
				     (s->offset > end || s->size > end - s->offset));
	return bad || end > e->src->size ? 0 : end;
}

/* Symbols name sections by their numbers: those that stay have to be the first ones. */
static size_t kept_sections(const struct elf *e)
{
	size_t n = 1, all = 1;
	for (size_t i = 1; i < e->sections.n; i++) {
		bool alloc = e->sections.v[i].flags & ELF_ALLOC;
		n += alloc && n == i;
		all += alloc;
	}
	return n == all ? n : 0;
}

static void fill_table(struct shrinking *k, const struct elf_section *dynamic)
{
	for (size_t i = 0; i < k->kept; i++)
		add_header(k, &k->e->sections.v[i], k->e->sections.v[i].name);
	if (dynamic) {
		struct elf_section same = *dynamic;
		same.type = SHT_SYMTAB;
		same.flags = same.addr = 0;
		add_header(k, &same, S(".symtab"));
	}
}

/* Of the sections that there are, one each. */
static struct err *find_symbols(const struct elf *e, const struct elf_section **ret_dynamic,
	const struct elf_section **ret_all, bool *ret_good)
{
	uint64_t known = 0, asked = 0;
	*ret_dynamic = *ret_all = NULL;
	VEC_EACH (const struct elf_section, s, &e->sections) {
		*ret_dynamic = s->type == ELF_DYNSYM ? s : *ret_dynamic;
		*ret_all = s->type == SHT_SYMTAB ? s : *ret_all;
	}
	if (*ret_dynamic)
		TRY(count_names(e, *ret_dynamic, &known));
	if (*ret_all)
		TRY(count_names(e, *ret_all, &asked));
	*ret_good = *ret_dynamic && (!*ret_all || asked == known);
	return NULL;
}

static struct err *strip(struct arena *a, const struct elf *e, struct slim_strip *ret)
{
	ARENA(tmp);
	BUF(names, &tmp);
	BUF(table, &tmp);
	BUF(tail, a);
	struct shrinking k = {.e = e, .names = &names, .table = &table, .kept = kept_sections(e)};
	const struct elf_section *dynamic, *all;
	uint64_t cut = end_of_segments(e);
	bool good;
	TRY(find_symbols(e, &dynamic, &all, &good));
	if (!cut || !good || !k.kept)
		return NULL;
	fill_table(&k, all ? dynamic : NULL);
	struct elf_section strings = {.type = SHT_STRTAB, .offset = cut, .align = 1};
	strings.size = names.n + sizeof(".shstrtab");
	add_header(&k, &strings, S(".shstrtab"));
	buf_add(&tail, buf_str(&names));
	while ((cut + tail.n) % 8)
		buf_char(&tail, 0);
	uint64_t headers = cut + tail.n;
	buf_add(&tail, buf_str(&table));
	if (cut + tail.n >= e->src->size)
		return NULL;
	char *head = arena_alloc(a, SLIM_HEAD);
	TRY(bytes_read(e->src, head, SLIM_HEAD, 0));
	put_le(head + 40, headers, 8);
	put_le(head + 60, k.n, 2);
	put_le(head + 62, k.n - 1, 2);
	*ret = (struct slim_strip){.cut = cut, .head = head, .tail = buf_str(&tail)};
	return NULL;
}

struct err *slim_strip(struct arena *a, const struct bytes *src, struct slim_strip *ret)
{
	ARENA(tmp);
	struct elf e;
	*ret = (struct slim_strip){0};
	struct err *err = elf_open(&tmp, src, &e);
	/* V2 has other symbols; what is damaged stays as it is */
	if (!err && e.machine == ELF_AMDGPU && e.type == ELF_DYN && e.abiversion &&
		e.sections.n > 1 && e.sections.n < 0xff00) {
		TRY(budget_memory(src->budget, 2 * SHDR * e.sections.n));
		err = strip(a, &e, ret);
	}
	if (err && err->code != E_ELF)
		return err;
	err_free(err);
	return NULL;
}
