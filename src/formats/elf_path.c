/* Another search path for an ELF file, in place: what to write over DT_RPATH or DT_RUNPATH. See elf.h.
 *
 * The hard part is what must not be touched: a linker lets a string be the end of another one ("lib" in
 * "/build/rocm/lib"), so every place that names a string is asked for (System V gABI chapter 5; Oracle's
 * "Linker and Libraries Guide" for the tags of filters and audits; LSB 5.0 "Symbol Versioning"). */
#include "formats/elf.h"

#include "formats/le.h"

enum { DYN = 16, DT_NEEDED = 1, DT_STRTAB = 5, DT_STRSZ = 10, DT_SONAME = 14, MAX_NAMES = 65536 };

/* Tags whose value is a string. */
static const uint64_t text_tags[] = {DT_NEEDED, DT_SONAME, ELF_RPATH, ELF_RUNPATH,
	0x6ffffefa /* DT_CONFIG */, 0x6ffffefb /* DT_DEPAUDIT */, 0x6ffffefc /* DT_AUDIT */,
	0x7ffffffd /* DT_AUXILIARY */, 0x7fffffff /* DT_FILTER */};

/* Lists of versions: where in an entry is what. */
static const struct chain {
	uint64_t tag;
	unsigned size, count, file /* 0 = none */, aux, next, aux_size, name, aux_next;
} chains[] = {
	{0x6ffffffe /* DT_VERNEED */, 16, 2, 4, 8, 12, 16, 8, 12},
	{0x6ffffffc /* DT_VERDEF */, 20, 6, 0, 12, 16, 8, 0, 4},
};

struct path {
	const struct elf *e;
	struct str table, strings; /* dynamic entries up to DT_NULL */
	uint64_t table_at, strings_at;
	size_t entry;         /* in the table; its size = there is none */
	uint64_t from, limit; /* of the value: its begin; the first byte that is another string's */
};

static uint64_t value_of(const struct path *p, uint64_t tag)
{
	for (size_t i = 0; i < p->table.n; i += DYN)
		if (le64(p->table.p + i) == tag)
			return le64(p->table.p + i + 8);
	return 0;
}

static struct err *open_path(
	struct arena *a, const struct elf *e, enum elf_path_tag tag, struct path *p)
{
	*p = (struct path){.e = e};
	VEC_EACH (struct elf_segment, s, &e->segments) {
		if (s->type != ELF_PT_DYNAMIC)
			continue;
		p->table_at = s->offset;
		TRY_CTX(elf_src_slice(a, e->src, s->offset, s->filesz, &p->table),
			"cannot read the dynamic section");
		break;
	}
	size_t n = 0;
	while (n + DYN <= p->table.n && le64(p->table.p + n))
		n += DYN;
	p->table.n = n;
	while (p->entry < n && le64(p->table.p + p->entry) != (uint64_t)tag)
		p->entry += DYN;
	if (p->entry == n)
		return NULL;
	p->strings_at = elf_offset_of(e, value_of(p, DT_STRTAB));
	TRY_CTX(elf_src_slice(a, e->src, p->strings_at, value_of(p, DT_STRSZ), &p->strings),
		"cannot read the dynamic strings");
	p->from = le64(p->table.p + p->entry + 8);
	if (p->from >= p->strings.n)
		return err_new(E_ELF, "the search path is not inside the dynamic strings");
	struct str rest = str_sub(p->strings, (size_t)p->from, p->strings.n);
	p->limit = p->from + str_chr(rest, 0) + 1;
	if (p->limit > p->strings.n)
		return err_new(E_ELF, "the search path is not terminated");
	return NULL;
}

/* ---- who else uses its bytes ---- */

static void use(struct path *p, uint64_t at)
{
	if (at >= p->from && at < p->limit)
		p->limit = at;
}

static struct err *use_symbol(void *user, const struct elf_symbol *s)
{
	use(user, s->at);
	return NULL;
}

static struct err *use_versions_of(
	struct path *p, const struct chain *c, const char *entry, uint64_t at)
{
	char aux[16];
	uint64_t next = le32(entry + c->aux);
	for (unsigned i = le16(entry + c->count); i && next; i--) {
		at += next;
		TRY(elf_src_read(p->e->src, aux, c->aux_size, at));
		use(p, le32(aux + c->name));
		next = le32(aux + c->aux_next);
	}
	return NULL;
}

static struct err *use_versions(struct path *p, const struct chain *c)
{
	char entry[20];
	uint64_t at = elf_offset_of(p->e, value_of(p, c->tag)), next = value_of(p, c->tag);
	for (uint64_t n = value_of(p, c->tag + 1), i = 0; i < n && next; i++, at += next) {
		if (i >= MAX_NAMES)
			return err_new(E_LIMIT, "more than %d libraries with versions", MAX_NAMES);
		TRY(elf_src_read(p->e->src, entry, c->size, at));
		if (c->file)
			use(p, le32(entry + c->file));
		TRY(use_versions_of(p, c, entry, at));
		next = le32(entry + c->next);
	}
	return NULL;
}

static struct err *use_all(struct path *p)
{
	for (size_t i = 0; i < p->table.n; i += DYN)
		for (size_t t = 0; t < sizeof(text_tags) / sizeof(text_tags[0]); t++)
			if (i != p->entry && le64(p->table.p + i) == text_tags[t])
				use(p, le64(p->table.p + i + 8));
	for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++)
		TRY_CTX(use_versions(p, &chains[i]), "cannot read the versions");
	return elf_symbols(p->e, false, use_symbol, p);
}

/* ---- edits ---- */

/* The entries behind it move up, and the last one's place ends the table. */
static void remove_entry(struct arena *a, const struct path *p, struct elf_edits *ret)
{
	BUF(b, a);
	buf_add(&b, str_sub(p->table, p->entry + DYN, p->table.n));
	buf_space(&b, DYN);
	*VEC_PUSH(a, ret) = (struct elf_edit){p->table_at + p->entry, buf_str(&b)};
}

/* The text, and zeros over what is left of the old one. */
static void write_text(
	struct arena *a, const struct path *p, struct str text, struct elf_edits *ret)
{
	size_t room = (size_t)(p->limit - p->from);
	BUF(b, a);
	buf_add(&b, text);
	buf_space(&b, room - text.n);
	if (room)
		*VEC_PUSH(a, ret) = (struct elf_edit){p->strings_at + p->from, buf_str(&b)};
}

struct err *elf_path_edits(struct arena *a, const struct elf *e, enum elf_path_tag tag,
	struct str path, struct elf_edits *ret)
{
	struct path p;
	*ret = (struct elf_edits){.fits = !path.n};
	TRY(open_path(a, e, tag, &p));
	if (p.entry == p.table.n)
		return NULL;
	TRY(use_all(&p));
	/* in the middle of another string nothing can be written */
	if (p.from && p.strings.p[p.from - 1])
		p.limit = p.from;
	ret->fits |= path.n < p.limit - p.from;
	if (!ret->fits)
		return NULL;
	if (!path.n)
		remove_entry(a, &p, ret);
	write_text(a, &p, path, ret);
	return NULL;
}
