/* The dynamic loader's view of an ELF file: PT_DYNAMIC, its strings, needed versions and
 * symbols. Nothing here uses the section table, except for the number of symbols of a file that has
 * no hash table, or an empty one. Sources: System V gABI chapter 5; the GNU hash table as glibc's dl-lookup reads
 * it; LSB 5.0 "Symbol Versioning" for .gnu.version_r. See elf.h. */
#include "formats/elf.h"

#include "formats/le.h"

enum { DT_NEEDED = 1, DT_SONAME = 14, DT_RPATH = 15, DT_TEXTREL = 22, DT_RUNPATH = 29 };
enum { DT_FLAGS = 30 };
enum {
	DT_HASH,
	DT_STRTAB,
	DT_STRSZ,
	DT_SYMTAB,
	DT_RELA,
	DT_RELASZ,
	DT_JMPREL,
	DT_PLTRELSZ,
	DT_GNU_HASH,
	DT_VERDEF,
	DT_VERDEFNUM,
	DT_VERNEED,
	DT_VERNEEDNUM,
	DT_COUNT
}; /* the entries with the places of tables, as indexes of dyn.value */
static const uint64_t place_tags[DT_COUNT] = {
	4, 5, 10, 6, 7, 8, 23, 2, 0x6ffffef5, 0x6ffffffc, 0x6ffffffd, 0x6ffffffe, 0x6fffffff};

enum {
	DF_TEXTREL = 4,
	DYN = 16,
	SYM = 24,
	VERNEED = 16,
	VERDEF = 20,
	VER_FLG_WEAK = 2,
	MAX_SYMBOLS = 32 << 20,
	MAX_NEEDED = 65536, /* limit of needed libraries, and of needed versions */
	SHARED_NAMES = 64 << 10,
	CHUNK = 4096,     /* symbols or hash words per read */
	PIECE = 1 << 16,  /* bytes of strings per read */
	MOST = 512 << 20, /* bytes of all strings; bytes_slice() refuses more */
};

struct dyn {
	const struct elf *e;
	struct str table; /* the entries */
	uint64_t value[DT_COUNT];
	struct str strings;
	uint64_t strings_at; /* their offset in the file */
	char *there;         /* a flag per piece of `strings`: it was read */
	uint64_t names;      /* bytes of names that may still be read from them */
};

static void find_values(struct str table, const uint64_t *tags, size_t n, uint64_t *ret)
{
	for (size_t at = 0; at < table.n; at += DYN)
		for (size_t i = 0; i < n; i++)
			if (le64(table.p + at) == tags[i])
				ret[i] = le64(table.p + at + 8);
}

/* Reads the entries and, if wanted, the strings: small tables of them at once; large ones piece by piece, by string_at().
 * d->table stays empty if the file has no dynamic section. */
static struct err *open_dynamic(struct arena *a, const struct elf *e, bool strings, struct dyn *d)
{
	const struct elf_segment *s = elf_segment(e, ELF_PT_DYNAMIC);
	const struct bytes *src = e->src;
	size_t n = 0;
	*d = (struct dyn){.e = e};
	if (s)
		TRY_CTX(bytes_slice(a, src, s->offset, s->filesz, &d->table),
			"cannot read the dynamic section");
	while (n + DYN <= d->table.n && le64(d->table.p + n))
		n += DYN;
	d->table.n = n;
	find_values(d->table, place_tags, DT_COUNT, d->value);
	uint64_t at = d->strings_at = elf_offset_of(e, d->value[DT_STRTAB]);
	uint64_t size = d->value[DT_STRSZ];
	strings = strings && d->value[DT_STRTAB];
	if (strings && size > PIECE && size <= MOST && at <= src->size && size <= src->size - at) {
		TRY_CTX(budget_memory(src->budget, size), "cannot read the dynamic strings");
		char *p = arena_raw(a, (size_t)size + 1);
		p[size] = 0;
		d->strings = (struct str){p, (size_t)size};
		d->there = arena_alloc(a, (size_t)size / PIECE + 1);
	} else if (strings) {
		TRY_CTX(bytes_slice(a, src, at, size, &d->strings),
			"cannot read the dynamic strings");
	}
	d->names = 4 * (uint64_t)d->strings.n + SHARED_NAMES;
	return NULL;
}

/* Reads those pieces of the strings that the one at offset needs. Linkers let names share their ends; many names that
 * share one endless string are an attack. */
static struct err *string_at(struct dyn *d, uint64_t offset, struct str *ret)
{
	*ret = S("");
	if (offset >= d->strings.n)
		return NULL;
	char *p = (char *)(uintptr_t)d->strings.p;
	size_t from = (size_t)offset;
	for (bool end = !d->there; !end && from < d->strings.n;) {
		size_t i = from / PIECE, at = i * PIECE, n = d->strings.n - at;
		n = n < PIECE ? n : PIECE;
		if (!d->there[i])
			TRY(bytes_read(d->e->src, p + at, n, d->strings_at + at));
		d->there[i] = 1;
		end = memchr(p + from, 0, at + n - from);
		from = at + n;
	}
	ret->p = p + offset;
	ret->n = strnlen(ret->p, d->strings.n - (size_t)offset);
	if (ret->n > d->names)
		return err_new(E_LIMIT,
			"its names are more than four times as long as the %zu "
			"bytes of strings that they share",
			d->strings.n);
	d->names -= ret->n;
	return NULL;
}

/* Reads the versions that are needed of each library. Bad links lead to a limit, not into a loop. */
static struct err *read_versions(struct arena *a, struct dyn *d, struct elf_dynamic *ret)
{
	char need[VERNEED], aux[VERNEED];
	struct str file, version;
	uint64_t n = d->value[DT_VERNEEDNUM], next = d->value[DT_VERNEED];
	uint64_t at = elf_offset_of(d->e, next);
	if (next && n > MAX_NEEDED)
		return err_new(E_LIMIT, "%llu libraries with versions: at most %d are read",
			(unsigned long long)n, MAX_NEEDED);
	for (; n && next; n--, at += next) {
		TRY(bytes_read(d->e->src, need, VERNEED, at));
		TRY(string_at(d, le32(need + 4), &file));
		uint64_t place = at, step = le32(need + 8);
		for (unsigned i = le16(need + 2); i && step; i--) {
			place += step;
			TRY(bytes_read(d->e->src, aux, VERNEED, place));
			if (ret->versions.n >= MAX_NEEDED)
				return err_new(E_LIMIT, "more than %d needed versions", MAX_NEEDED);
			TRY(string_at(d, le32(aux + 8), &version));
			*VEC_PUSH(a, &ret->versions) = (struct elf_need_version){.file = file,
				.version = version,
				.weak = le16(aux + 4) & VER_FLG_WEAK};
			step = le32(aux + 12);
		}
		next = le32(need + 12);
	}
	return NULL;
}

static struct err *read_offers(struct arena *a, struct dyn *d, struct elf_dynamic *ret)
{
	char def[VERDEF], name[4];
	struct str version;
	uint64_t next = d->value[DT_VERDEF], at = elf_offset_of(d->e, next);
	for (uint64_t i = 0; i < d->value[DT_VERDEFNUM] && i < MAX_NEEDED && next;
		i++, at += next) {
		TRY(bytes_read(d->e->src, def, VERDEF, at));
		TRY(bytes_read(d->e->src, name, sizeof(name), at + le32(def + 12)));
		TRY(string_at(d, le32(name), &version));
		strs_add(a, &ret->offers, version);
		next = le32(def + 16);
	}
	return NULL;
}

/* A file that defines nothing may have a GNU hash table without symbols. The highest symbol that a relocation names
 * then counts, although symbols above it may be named by none. */
static struct err *count_by_relocations(const struct dyn *d, uint64_t *ret)
{
	const struct {
		uint64_t at, size;
	} tables[] = {{d->value[DT_RELA], d->value[DT_RELASZ]},
		{d->value[DT_JMPREL], d->value[DT_PLTRELSZ]}};
	char chunk[CHUNK * SYM];
	for (size_t t = 0; t < 2; t++) {
		uint64_t at = elf_offset_of(d->e, tables[t].at), n = tables[t].size / SYM, k;
		for (uint64_t i = 0; tables[t].at && i < n; i += k) {
			k = n - i < CHUNK ? n - i : CHUNK;
			TRY(bytes_read(d->e->src, chunk, (size_t)k * SYM, at + i * SYM));
			for (size_t r = 0; r < k; r++) {
				uint64_t symbol = le32(chunk + r * SYM + 12);
				*ret = symbol >= *ret ? symbol + 1 : *ret;
			}
		}
	}
	return NULL;
}

/* Counts by a hash table; that of GNU has the number in its chain of the highest bucket, which ends at the last symbol. */
static struct err *count_symbols(const struct dyn *d, uint64_t *ret)
{
	char h[16], words[4 * CHUNK];
	const struct bytes *src = d->e->src;
	uint64_t at = elf_offset_of(d->e, d->value[DT_GNU_HASH]), last = 0, all = 0;
	VEC_EACH (struct elf_section, s, &d->e->sections)
		all = s->type == ELF_DYNSYM ? s->size / SYM : all;
	*ret = all;
	if (d->value[DT_HASH]) {
		TRY(bytes_read(src, h, 8, elf_offset_of(d->e, d->value[DT_HASH])));
		*ret = le32(h + 4);
	} else if (d->value[DT_GNU_HASH]) {
		TRY(bytes_read(src, h, sizeof(h), at));
		uint64_t buckets = le32(h), first = le32(h + 4), bloom = le32(h + 8), n;
		at += sizeof(h) + bloom * 8;
		for (uint64_t i = 0; i < buckets; i += n) {
			n = buckets - i < CHUNK ? buckets - i : CHUNK;
			TRY(bytes_read(src, words, (size_t)n * 4, at + i * 4));
			for (size_t k = 0; k < n; k++)
				last = le32(words + k * 4) > last ? le32(words + k * 4) : last;
		}
		at += buckets * 4;
		for (bool end = last < first; !end; last++) {
			if (last > MAX_SYMBOLS)
				return err_new(
					E_LIMIT, "more than %d dynamic symbols", MAX_SYMBOLS);
			TRY(bytes_read(src, words, 4, at + (last - first) * 4));
			end = words[0] & 1;
		}
		*ret = last >= first ? last : all > first ? all : first;
		if (last < first && !all)
			TRY(count_by_relocations(d, ret));
	}
	if (*ret > MAX_SYMBOLS)
		return err_new(E_LIMIT, "%llu dynamic symbols: at most %d are read",
			(unsigned long long)*ret, MAX_SYMBOLS);
	return NULL;
}

static struct err *each_symbol(struct dyn *d, elf_symbol_fn *fn, void *user)
{
	const struct bytes *src = d->e->src;
	uint64_t total = 0, n = 0;
	char chunk[CHUNK * SYM];
	if (!d->value[DT_SYMTAB])
		return NULL;
	uint64_t at = elf_offset_of(d->e, d->value[DT_SYMTAB]);
	uint64_t hash = elf_offset_of(d->e, d->value[DT_HASH]), symbols = hash - at;
	/* one read is enough if the hash table, which has the number of symbols, lies close behind these */
	if (d->value[DT_HASH] && hash >= at && symbols <= CHUNK * SYM - 8 &&
		hash <= src->size - 8) {
		TRY_CTX(bytes_read(src, chunk, (size_t)symbols + 8, at),
			"cannot read the dynamic symbols");
		total = le32(chunk + symbols + 4);
		total = total <= symbols / SYM ? total : 0;
	}
	bool here = total;
	if (!here)
		TRY_CTX(count_symbols(d, &total), "cannot count the dynamic symbols");
	for (uint64_t i = 0; i < total; i += n) {
		n = total - i < CHUNK ? total - i : CHUNK;
		if (!here)
			TRY_CTX(bytes_read(src, chunk, (size_t)n * SYM, at + i * SYM),
				"cannot read the dynamic symbols");
		for (size_t k = i ? 0 : 1; k < n; k++) {
			const char *p = chunk + k * SYM;
			struct elf_symbol s = {
				.index = (uint32_t)(i + k),
				.at = le32(p),
				.type = (uint8_t)(p[4] & 15),
				.bind = (uint8_t)((unsigned char)p[4] >> 4),
				.section = le16(p + 6),
				.value = le64(p + 8),
				.size = le64(p + 16),
			};
			TRY(string_at(d, s.at, &s.name));
			TRY(fn(user, &s));
		}
	}
	return NULL;
}

struct err *elf_symbols(const struct elf *e, bool named, elf_symbol_fn *fn, void *user)
{
	ARENA(tmp);
	struct dyn d;
	TRY(open_dynamic(&tmp, e, named, &d));
	return each_symbol(&d, fn, user);
}

struct err *elf_symbol_room(const struct elf *e, uint64_t *ret)
{
	ARENA(tmp);
	struct dyn d;
	TRY(open_dynamic(&tmp, e, false, &d));
	uint64_t from = d.value[DT_SYMTAB], end = UINT64_MAX;
	const uint64_t tables[] = {d.value[DT_HASH], d.value[DT_GNU_HASH], d.value[DT_STRTAB]};
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		end = tables[i] > from && tables[i] < end ? tables[i] : end;
	*ret = from && end < UINT64_MAX ? (end - from) / SYM : 0;
	return NULL;
}

struct err *elf_tags(const struct elf *e, const uint64_t *tags, size_t n, uint64_t *ret)
{
	ARENA(tmp);
	struct dyn d;
	TRY(open_dynamic(&tmp, e, false, &d));
	memset(ret, 0, n * sizeof(*ret));
	find_values(d.table, tags, n, ret);
	return NULL;
}

struct err *elf_symbol_name(struct arena *a, const struct elf *e, uint32_t at, struct str *ret)
{
	ARENA(tmp);
	struct dyn d;
	char name[201] = "";
	size_t n;
	TRY(open_dynamic(&tmp, e, false, &d));
	uint64_t from = d.strings_at;
	TRY(bytes_peek(
		e->src, name, sizeof(name) - 1, from < UINT64_MAX - at ? from + at : from, &n));
	*ret = str_dup(a, str_from(name));
	return NULL;
}

struct names {
	struct budget *budget;
	struct arena *a;
	struct elf_dynamic *out;
};

static struct err *take_symbol(void *user, const struct elf_symbol *s)
{
	enum { LOCAL = 0 };
	struct names *n = user;
	if (s->bind == LOCAL || !s->name.n)
		return NULL;
	TRY(budget_memory(n->budget, 2 * sizeof(s->name))); /* the list grows by doubling */
	strs_add(n->a, s->section ? &n->out->defined : &n->out->undefined, s->name);
	return NULL;
}

static struct err *read_needs(
	struct arena *a, const struct elf *e, struct dyn *d, struct elf_dynamic *ret)
{
	*ret = (struct elf_dynamic){0};
	TRY(open_dynamic(a, e, true, d)); /* in `a`: the views in ret point into it */
	for (size_t i = 0; i < d->table.n; i += DYN) {
		uint64_t tag = le64(d->table.p + i), value = le64(d->table.p + i + 8);
		struct str text = {0};
		if (tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH)
			TRY(string_at(d, value, &text));
		if (tag == DT_NEEDED && ret->needed.n >= MAX_NEEDED)
			return err_new(E_LIMIT, "more than %d needed libraries", MAX_NEEDED);
		if (tag == DT_NEEDED)
			strs_add(a, &ret->needed, text);
		else if (tag == DT_SONAME)
			ret->soname = text;
		else if (tag == DT_RPATH)
			ret->rpath = text;
		else if (tag == DT_RUNPATH)
			ret->runpath = text;
		else if (tag == DT_TEXTREL || (tag == DT_FLAGS && value & DF_TEXTREL))
			ret->textrel = true;
	}
	TRY_CTX(read_versions(a, d, ret), "cannot read the needed versions");
	TRY_CTX(read_offers(a, d, ret), "cannot read the versions that it defines");
	return NULL;
}

struct err *elf_needs(struct arena *a, const struct elf *e, struct elf_dynamic *ret)
{
	struct dyn d;
	return read_needs(a, e, &d, ret);
}

struct err *elf_dynamic(struct arena *a, const struct elf *e, struct elf_dynamic *ret)
{
	struct dyn d;
	TRY(read_needs(a, e, &d, ret));
	struct names names = {.budget = e->src->budget, .a = a, .out = ret};
	return each_symbol(&d, take_symbol, &names);
}
