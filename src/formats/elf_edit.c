/* Plans the new dynamic section of an ELF file: its table, its strings, its lists of versions; see elf_edit.h.
 * elf_image.c writes it.
 *
 * The hard part is what must not change: linkers let a string be the end of another one ("lib" in "/build/rocm/lib"),
 * so every reference to a string is looked at. */
#include "formats/elf_edit.h"

#include "base/fs.h"
#include "formats/elf_image.h"

enum { DT_STRTAB = 5, DT_STRSZ = 10, DT_VERSYM = 0x6ffffff0, DT_VERDEF = 0x6ffffffc };
enum { DT_VERDEFNUM = 0x6ffffffd, DT_VERNEED = 0x6ffffffe, DT_VERNEEDNUM = 0x6fffffff };
/* section types of the lists of versions */
enum { SHT_VERNEED = 0x6ffffffe, SHT_VERDEF = 0x6ffffffd };
enum {
	MAX_NAMES = 65536,
	ENTRY = 16, /* bytes of an entry of the dynamic table */
	SPARE = 4,  /* spare entries behind a table that has moved */
	ALIGN = 64,
	VER_FLG_BASE = 1,
	VERSYM_INDEX = 0x7fff
};
enum use { FREE, USED, WAS_USED }; /* WAS_USED: referenced only by entries that have changed */

struct elf_entry { /* an entry of the dynamic table */
	uint64_t tag, value;
	struct str text; /* not NULL: a new string, which has no place yet */
};

struct elf_need_aux { /* a needed version, with the index that symbols use */
	char raw[16];
};

struct elf_need { /* the versions needed of one library */
	char raw[16];
	struct str file;
	bool gone, renamed;
	size_t from, n; /* range in auxes */
};

struct elf_editor {
	struct arena *a;
	const struct elf *e;
	struct elf_image image;
	VEC(struct elf_entry) entries; /* the new entries, without the final DT_NULL */
	uint64_t table_at, table_size; /* the dynamic table in the file, with its spare entries */
	bool table_moves;
	uint64_t strings_at;
	struct str strings;  /* the old strings */
	char *now;           /* the new strings, in the place of the old */
	unsigned char *used; /* enum use of each byte */
	struct buf more;     /* strings to append to the old ones */
	VEC(struct elf_need) needs;
	VEC(struct elf_need_aux) auxes;
	uint64_t needs_at, needs_end;
	uint64_t base; /* the version definition that is the file's own name, or 0 */
	char base_def[20];
};

/* Is the value of this tag a string? */
static bool is_text(uint64_t tag)
{
	static const uint64_t tags[] = {ELF_NEEDED, ELF_SONAME, ELF_RPATH, ELF_RUNPATH,
		0x6ffffefa /* DT_CONFIG */, 0x6ffffefb /* DT_DEPAUDIT */, 0x6ffffefc /* DT_AUDIT */,
		0x7ffffffd /* DT_AUXILIARY */, 0x7fffffff /* DT_FILTER */};
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
		if (tag == tags[i])
			return true;
	return false;
}

static struct elf_entry *entry_of(struct elf_editor *ed, uint64_t tag)
{
	VEC_EACH (struct elf_entry, x, &ed->entries)
		if (x->tag == tag)
			return x;
	return NULL;
}

static uint64_t value_of(struct elf_editor *ed, uint64_t tag)
{
	const struct elf_entry *x = entry_of(ed, tag);
	return x ? x->value : 0;
}

/* Takes bounded time: elf_dynamic() has limited the total length of strings that share bytes. */
static struct str string_at(const struct elf_editor *ed, uint64_t at)
{
	struct str rest = str_sub(ed->strings, at < SIZE_MAX ? (size_t)at : 0, ed->strings.n);
	return at < ed->strings.n ? str_sub(rest, 0, str_chr(rest, 0)) : S("");
}

static struct str text_of(const struct elf_editor *ed, const struct elf_entry *x)
{
	return x->text.p ? x->text : string_at(ed, x->value);
}

/* ---- reading ---- */

/* Reads the dynamic table with its spare entries, and its strings. */
static struct err *read_dynamic(struct elf_editor *ed)
{
	const struct bytes *src = ed->e->src;
	const struct elf_segment *d = elf_segment(ed->e, ELF_PT_DYNAMIC);
	struct str table = {0};
	if (d)
		TRY_CTX(bytes_slice(ed->a, src, d->offset, d->filesz, &table),
			"cannot read the dynamic section");
	size_t n = 0;
	for (; n + ENTRY <= table.n && le64(table.p + n); n += ENTRY) {
		if (ed->entries.n == MAX_NAMES)
			return err_new(E_LIMIT, "more than %d dynamic entries", MAX_NAMES);
		*VEC_PUSH(ed->a, &ed->entries) =
			(struct elf_entry){le64(table.p + n), le64(table.p + n + 8), {0}};
	}
	/* zeros behind the last entry, up to the end of the section, are spare entries */
	uint64_t size = table.n, strings = value_of(ed, DT_STRTAB);
	ed->table_at = d ? d->offset : 0;
	VEC_EACH (const struct elf_section, s, &ed->e->sections)
		if (s->type == ELF_DYNAMIC && s->offset == ed->table_at && s->size < size)
			size = s->size;
	while (n < size && !table.p[n])
		n++;
	ed->table_size = n / ENTRY * ENTRY;
	ed->strings_at = strings ? elf_offset_of(ed->e, strings) : 0;
	if (strings)
		TRY_CTX(bytes_slice(
				ed->a, src, ed->strings_at, value_of(ed, DT_STRSZ), &ed->strings),
			"cannot read the dynamic strings");
	TRY(budget_memory(src->budget, 2 * ed->strings.n));
	ed->now = arena_raw(ed->a, ed->strings.n + 1);
	memcpy(ed->now, ed->strings.p ? ed->strings.p : "", ed->strings.n);
	ed->used = arena_array(ed->a, 1, ed->strings.n + 1);
	ed->more.a = ed->a;
	return NULL;
}

static struct err *read_needs(struct elf_editor *ed)
{
	const struct bytes *src = ed->e->src;
	uint64_t next = value_of(ed, DT_VERNEED), at = next ? elf_offset_of(ed->e, next) : 0;
	ed->needs_at = at;
	for (uint64_t n = value_of(ed, DT_VERNEEDNUM); n && next; n--, at += next) {
		struct elf_need *need = VEC_PUSH(ed->a, &ed->needs);
		if (ed->needs.n > MAX_NAMES)
			return err_new(E_LIMIT, "more than %d libraries with versions", MAX_NAMES);
		TRY(bytes_read(src, need->raw, sizeof(need->raw), at));
		uint64_t end = at + sizeof(need->raw), place = at, step = le32(need->raw + 8);
		need->file = string_at(ed, le32(need->raw + 4));
		need->from = ed->auxes.n;
		for (unsigned i = le16(need->raw + 2); i && step; i--, need->n++) {
			struct elf_need_aux *x = VEC_PUSH(ed->a, &ed->auxes);
			place += step;
			if (ed->auxes.n > MAX_NAMES)
				return err_new(E_LIMIT, "more than %d needed versions", MAX_NAMES);
			TRY(bytes_read(src, x->raw, sizeof(x->raw), place));
			end = place + sizeof(x->raw) > end ? place + sizeof(x->raw) : end;
			step = le32(x->raw + 12);
		}
		ed->needs_end = end > ed->needs_end ? end : ed->needs_end;
		next = le32(need->raw + 12);
	}
	return NULL;
}

/* ---- changes ---- */

static bool apply_change(struct elf_editor *ed, const struct elf_change *c)
{
	size_t kept = 0;
	bool need = c->tag == ELF_NEEDED, again = false, found = false, changed = false;
	VEC_EACH (const struct elf_entry, x, &ed->entries)
		again = again || (need && x->tag == ELF_NEEDED && str_eq(text_of(ed, x), c->now));
	VEC_EACH (struct elf_entry, x, &ed->entries) {
		struct str text = x->tag == (uint64_t)c->tag ? text_of(ed, x) : S("");
		bool it = x->tag == (uint64_t)c->tag && (!need || str_eq(text, c->old));
		bool same = str_eq(text, c->now), goes = it && (!c->now.n || (again && !same));
		found = found || it;
		changed = changed || (it && !same);
		if (it && !same)
			x->text = c->now;
		if (!goes)
			ed->entries.v[kept++] = *x;
	}
	ed->entries.n = kept;
	bool adds = !found && c->now.n && !again && (!need || !c->old.n);
	if (adds)
		*VEC_PUSH(ed->a, &ed->entries) = (struct elf_entry){(uint64_t)c->tag, 0, c->now};
	VEC_EACH (struct elf_need, n, &ed->needs) {
		if (!need || !found || !c->old.n || !str_eq(n->file, c->old) ||
			str_eq(c->old, c->now))
			continue;
		n->renamed = true;
		n->gone = n->gone || !c->now.n;
		n->file = c->now;
	}
	return changed || adds;
}

/* ---- references to strings ---- */

static void mark_string(struct elf_editor *ed, uint64_t at, enum use use)
{
	for (; at < ed->strings.n && ed->used[at] != use; at++) {
		ed->used[at] = (unsigned char)use;
		if (!ed->strings.p[at])
			break;
	}
}

static struct err *mark_symbol(void *user, const struct elf_symbol *s)
{
	mark_string(user, s->at, USED);
	return NULL;
}

static void mark_needs(struct elf_editor *ed, enum use use)
{
	VEC_EACH (const struct elf_need, n, &ed->needs) {
		if (n->renamed == (use == WAS_USED))
			mark_string(ed, le32(n->raw + 4), use);
		for (size_t i = n->from; n->gone == (use == WAS_USED) && i < n->from + n->n; i++)
			mark_string(ed, le32(ed->auxes.v[i].raw + 8), use);
	}
}

/* Marks the names of the versions that the file defines. The first definition usually is the file's own name: if that
 * is the soname that changes, it is kept as ed->base instead. */
static struct err *mark_defs(struct elf_editor *ed, struct str soname)
{
	char def[20], aux[8];
	uint64_t next = value_of(ed, DT_VERDEF), at = next ? elf_offset_of(ed->e, next) : 0;
	size_t names = 0;
	for (uint64_t n = value_of(ed, DT_VERDEFNUM); n && next; n--, at += next) {
		TRY(bytes_read(ed->e->src, def, sizeof(def), at));
		uint64_t place = at, step = le32(def + 12);
		for (unsigned k = le16(def + 6); k && step; k--) {
			place += step;
			TRY(bytes_read(ed->e->src, aux, sizeof(aux), place));
			if (++names > MAX_NAMES)
				return err_new(E_LIMIT, "more than %d versions", MAX_NAMES);
			uint64_t name = le32(aux);
			struct str rest = str_sub(ed->strings, (size_t)name, ed->strings.n);
			bool own = le16(def + 2) & VER_FLG_BASE && step == le32(def + 12) &&
				   !ed->base && soname.n && soname.n < rest.n &&
				   str_starts(rest, soname) && !rest.p[soname.n];
			if (own) {
				ed->base = at;
				memcpy(ed->base_def, def, sizeof(def));
			} else {
				mark_string(ed, name, USED);
			}
			step = le32(aux + 4);
		}
		next = le32(def + 16);
	}
	return NULL;
}

/* was: the table before the changes. Strings in use are marked last, so that USED wins. */
static struct err *mark_all(
	struct elf_editor *ed, const struct elf_entry *was, size_t n, struct str soname)
{
	static const uint32_t known[] = {ELF_DYNAMIC, ELF_DYNSYM, SHT_VERNEED, SHT_VERDEF};
	for (size_t i = 0; i < n; i++)
		if (is_text(was[i].tag))
			mark_string(ed, was[i].value, WAS_USED);
	mark_needs(ed, WAS_USED);
	mark_needs(ed, USED);
	VEC_EACH (const struct elf_entry, x, &ed->entries)
		if (is_text(x->tag) && !x->text.p)
			mark_string(ed, x->value, USED);
	TRY_CTX(mark_defs(ed, soname), "cannot read the versions");
	TRY(elf_symbols(ed->e, false, mark_symbol, ed));
	if (ed->strings.n)
		ed->used[0] = ed->strings.p[0] ? ed->used[0] : USED;
	/* sections of unknown types may refer to strings, too, such as the lists of prelink */
	const struct elf_section *v = ed->e->sections.v;
	for (size_t i = 0; i < ed->e->sections.n; i++) {
		uint32_t link = v[i].link;
		bool unknown = link && link < ed->e->sections.n && v[link].type == ELF_STRTAB &&
			       v[link].offset == ed->strings_at;
		for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
			unknown = unknown && v[i].type != known[k];
		if (unknown)
			memset(ed->used, USED, ed->strings.n);
	}
	return NULL;
}

/* ---- placing strings ---- */

/* The offset of a string among the new ones; UINT64_MAX: it is not there, and may not be added unless `anew`. */
static uint64_t place_string(struct elf_editor *ed, struct str text, bool anew)
{
	struct str z = {.p = str_z(ed->a, text), .n = text.n + 1};
	struct str now = {.p = ed->now, .n = ed->strings.n};
	uint64_t at = str_find(now, z), more = str_find(buf_str(&ed->more), z);
	if (at < now.n) {
		memset(ed->used + at, USED, z.n);
		return at;
	}
	if (more < ed->more.n || !anew)
		return more < ed->more.n ? now.n + more : UINT64_MAX;
	size_t run = 0, i = 0;
	for (; i < now.n && run < z.n; i++) {
		bool zero = ed->used[i] == FREE && !ed->now[i];
		run = zero || ed->used[i] == WAS_USED ? run + 1 : 0;
	}
	if (run < z.n) {
		buf_add(&ed->more, z);
		return now.n + ed->more.n - z.n;
	}
	memcpy(ed->now + i - z.n, z.p, z.n);
	memset(ed->used + i - z.n, USED, z.n);
	return i - z.n;
}

/* ---- changes in place ---- */

/* Replaces a range of the file from the first byte that differs to the last one. now: as many bytes as old, which outlive the image. */
static void put_range(struct elf_editor *ed, uint64_t at, struct str old, const char *now)
{
	size_t from = 0, to = old.n;
	while (from < to && old.p[from] == now[from])
		from++;
	while (to > from && old.p[to - 1] == now[to - 1])
		to--;
	if (from < to)
		*VEC_PUSH(ed->a, &ed->image.patches) =
			(struct elf_patch){at + from, {.p = now + from, .n = to - from}};
}

/* Rewrites the list of needed versions in place. */
static struct err *put_needs(struct elf_editor *ed)
{
	BUF(b, ed->a);
	size_t last = SIZE_MAX, count = 0;
	VEC_EACH (struct elf_need, n, &ed->needs) {
		if (n->gone)
			continue;
		if (n->renamed)
			put_le(n->raw + 4, place_string(ed, n->file, false), 4);
		put_le(n->raw + 2, n->n, 2);
		put_le(n->raw + 8, n->n ? 16 : 0, 4);
		put_le(n->raw + 12, 0, 4);
		if (last != SIZE_MAX)
			put_le(b.p + last + 12, b.n - last, 4);
		last = b.n;
		count++;
		buf_add(&b, (struct str){n->raw, 16});
		for (size_t i = 0; i < n->n; i++) {
			char *aux = ed->auxes.v[n->from + i].raw;
			put_le(aux + 12, i + 1 < n->n ? 16 : 0, 4);
			buf_add(&b, (struct str){aux, 16});
		}
	}
	uint64_t size = ed->needs_end - ed->needs_at;
	if (b.n > size)
		return err_new(E_ELF, "its lists of versions lie over each other");
	buf_space(&b, (size_t)size - b.n);
	elf_image_put(&ed->image, ed->needs_at, b.p, b.n);
	struct elf_entry *x = entry_of(ed, DT_VERNEEDNUM);
	if (x)
		x->value = count;
	return NULL;
}

struct unversioned { /* symbols whose needed version is gone */
	struct elf_editor *ed;
	const bool *gone; /* indexed by version */
	uint64_t at;      /* offset of the symbols' version indexes */
};

/* Makes such a symbol match any version. */
static struct err *free_symbol(void *user, const struct elf_symbol *s)
{
	struct unversioned *x = user;
	uint64_t at = x->at + 2 * (uint64_t)s->index;
	char word[2];
	TRY(bytes_read(x->ed->e->src, word, 2, at));
	if (x->gone[le16(word) & VERSYM_INDEX])
		elf_image_put_le(&x->ed->image, at, 1, 2);
	return NULL;
}

static struct err *put_versions(struct elf_editor *ed)
{
	bool renamed = false, any = false;
	bool *gone = arena_array(ed->a, VERSYM_INDEX + 1, sizeof(*gone));
	struct unversioned x = {.ed = ed, .gone = gone};
	size_t left = 0, kept = 0;
	VEC_EACH (const struct elf_need, n, &ed->needs) {
		renamed = renamed || n->renamed;
		any = any || n->gone;
		left += !n->gone;
		for (size_t i = n->from; n->gone && i < n->from + n->n; i++)
			gone[le16(ed->auxes.v[i].raw + 6) & VERSYM_INDEX] = true;
	}
	if (renamed)
		TRY(put_needs(ed));
	if (!any)
		return NULL;
	x.at = value_of(ed, DT_VERSYM) ? elf_offset_of(ed->e, value_of(ed, DT_VERSYM)) : 0;
	gone[0] = gone[1] = false;
	if (x.at)
		TRY(elf_symbols(ed->e, false, free_symbol, &x));
	VEC_EACH (struct elf_section, s, &ed->image.now.sections)
		s->info = s->type == SHT_VERNEED ? (uint32_t)left : s->info;
	/* an empty list has no entries, and without any list glibc expects no symbol versions */
	bool defs = entry_of(ed, DT_VERDEF);
	VEC_EACH (struct elf_entry, t, &ed->entries)
		if (left || (t->tag != DT_VERNEED && t->tag != DT_VERNEEDNUM &&
				    (defs || t->tag != DT_VERSYM)))
			ed->entries.v[kept++] = *t;
	ed->entries.n = kept;
	return NULL;
}

static struct str new_table(struct elf_editor *ed, uint64_t size)
{
	BUF(b, ed->a);
	VEC_EACH (const struct elf_entry, x, &ed->entries) {
		buf_le(&b, x->tag, 8);
		buf_le(&b, x->value, 8);
	}
	buf_space(&b, (size_t)size - b.n);
	return buf_str(&b);
}

/* ---- more room ---- */

/* Finds the segment of an earlier change: strings, and perhaps the table, at the end of memory and of the file. */
static bool find_own_segment(struct elf_editor *ed, const struct elf_memory *mem, size_t *ret)
{
	const struct elf_segment *d = elf_segment(ed->e, ELF_PT_DYNAMIC);
	const struct elf_segment *s = &ed->e->segments.v[mem->last];
	uint64_t end = ed->strings_at + ed->strings.n, stop = s->offset + s->filesz;
	if (!ed->strings.n || ed->strings_at < s->offset || end > stop ||
		stop != ed->e->src->size || s->filesz != s->memsz ||
		s->vaddr + s->memsz != mem->end)
		return false;
	bool inside = d->offset >= end && d->offset + d->filesz == stop && d->offset - end < ALIGN;
	if (end != stop && !inside)
		return false;
	ed->table_moves = ed->table_moves || inside;
	*ret = mem->last;
	return true;
}

static struct err *may_grow(struct elf_editor *ed, const struct elf_memory *mem)
{
	enum { DT_FLAGS_1 = 0x6ffffffb, DF_1_PIE = 0x08000000, PHNUM_MAX = 0xfffe };
	const struct elf *e = ed->e;
	if (e->machine != ELF_X86_64 && e->machine != ELF_AARCH64 && e->machine != ELF_AMDGPU)
		return err_new(E_ELF, "it is for a processor whose pages are not known");
	if (mem->bad != SIZE_MAX)
		return err_new(E_ELF, "segment %zu is not valid", mem->bad);
	if (!mem->n || e->segments.n >= PHNUM_MAX)
		return err_new(E_ELF, "it has %zu segments", e->segments.n);
	/* static-pie and ld.so find the table by its distance from their code, before anything is relocated */
	bool needs = false, pie = e->type == ELF_EXEC;
	VEC_EACH (const struct elf_entry, x, &ed->entries) {
		needs = needs || (x->tag == ELF_NEEDED && !x->text.p);
		pie = pie || (x->tag == DT_FLAGS_1 && x->value & DF_1_PIE);
	}
	if (ed->table_moves && pie && !needs && !elf_segment(e, ELF_PT_INTERP))
		return err_new(E_ELF,
			"it is linked statically: its code knows where its dynamic section is");
	if (!entry_of(ed, DT_STRTAB) || !entry_of(ed, DT_STRSZ))
		return err_new(E_ELF, "it has no dynamic strings");
	return NULL;
}

/* Updates the entries that point into moved tables. strings: the new address of the strings. */
static void move_entries(struct elf_editor *ed, uint64_t strings)
{
	static const uint64_t tags[] = {4 /* HASH */, 6 /* SYMTAB */, 0x6ffffef5 /* GNU_HASH */,
		DT_VERSYM, DT_VERNEED, DT_VERDEF};
	const struct elf_image *m = &ed->image;
	VEC_EACH (struct elf_entry, x, &ed->entries) {
		if (x->tag == DT_STRTAB)
			x->value = strings;
		else if (x->tag == DT_STRSZ)
			x->value = ed->strings.n + ed->more.n;
		for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
			uint64_t at = x->tag == tags[i] ? elf_offset_of(ed->e, x->value) : 0;
			if (x->tag == tags[i] && elf_image_at(m, at, 1) != at)
				x->value += m->shift.addr;
		}
	}
}

/* Moves the strings, and the table if needed, to a segment of their own at the end. */
static struct err *grow(struct elf_editor *ed)
{
	enum { PF_W = 2 };
	struct elf_image *m = &ed->image;
	const struct elf_memory mem = elf_memory(ed->e);
	char *zeros = arena_array(ed->a, 1, ed->strings.n + ed->table_size + ALIGN);
	uint64_t at = ed->strings_at;
	size_t home;
	TRY(may_grow(ed, &mem));
	bool new = !find_own_segment(ed, &mem, &home);
	if (new) {
		/* clear the old strings: later changes remove strings from the new place only */
		elf_image_put(m, at, zeros, ed->strings.n);
		TRY(elf_image_append(m, &home, &at));
	}
	struct elf_segment *s = &m->now.segments.v[home];
	uint64_t addr = s->vaddr - s->offset, end = at + ed->strings.n + ed->more.n;
	uint64_t table = round_up(end, ENTRY);
	uint64_t table_size = (ed->entries.n + 1 + SPARE) * ENTRY;
	s->filesz = s->memsz = (ed->table_moves ? table + table_size : end) - s->offset;
	s->flags |= ed->table_moves ? PF_W : 0;
	move_entries(ed, at + addr);
	if (ed->table_moves)
		elf_image_put(m, ed->table_at, zeros, (size_t)ed->table_size);
	if (new)
		elf_image_put(m, at, ed->now, ed->strings.n);
	elf_image_put(m, at + ed->strings.n, ed->more.p, ed->more.n);
	/* update the section headers */
	for (size_t i = 0; i < ed->e->sections.n; i++) {
		const struct elf_section *old = &ed->e->sections.v[i];
		struct elf_section *x = &m->now.sections.v[i];
		if (x->type == ELF_STRTAB && x->flags & ELF_ALLOC &&
			old->offset == ed->strings_at) {
			x->offset = at;
			x->size = ed->strings.n + ed->more.n;
			x->addr = x->offset + addr;
		} else if (x->type == ELF_DYNAMIC && ed->table_moves &&
			   old->offset == ed->table_at) {
			x->offset = table;
			x->size = table_size;
			x->addr = x->offset + addr;
		}
	}
	if (!ed->table_moves)
		return NULL;
	VEC_EACH (struct elf_segment, x, &m->now.segments) {
		if (x->type != ELF_PT_DYNAMIC)
			continue;
		x->offset = table;
		x->vaddr = x->paddr = table + addr;
		x->filesz = x->memsz = table_size;
	}
	/* there may be older bytes between the strings and the table */
	elf_image_put(m, end, zeros, (size_t)(table - end));
	elf_image_put(m, table, new_table(ed, table_size).p, (size_t)table_size);
	return NULL;
}

/* ---- the edit ---- */

static struct err *plan_edit(struct elf_editor *ed, const struct elf_changes *c)
{
	bool changed = false, wants = false;
	TRY(read_dynamic(ed));
	VEC_EACH (const struct elf_change, x, c)
		wants = wants || (x->now.n && !x->old.n);
	if (!ed->entries.n)
		return wants ? err_new(E_ELF, "it has no dynamic section: nothing is loaded for it")
			     : NULL;
	TRY_CTX(read_needs(ed), "cannot read the needed versions");
	const struct elf_entry *name = entry_of(ed, ELF_SONAME);
	struct str soname = name ? string_at(ed, name->value) : S(""), old;
	size_t n = ed->entries.n;
	struct elf_entry *was = arena_array(ed->a, n, sizeof(*was));
	memcpy(was, ed->entries.v, n * sizeof(*was));
	VEC_EACH (const struct elf_change, x, c)
		changed = apply_change(ed, x) || changed;
	if (!changed)
		return NULL;
	name = entry_of(ed, ELF_SONAME);
	TRY(mark_all(ed, was, n, name && name->text.p ? soname : S("")));
	/* existing strings are placed first, so that nothing is written over them */
	for (unsigned anew = 0; anew < 2; anew++) {
		VEC_EACH (struct elf_entry, x, &ed->entries) {
			uint64_t at = x->text.p ? place_string(ed, x->text, anew) : UINT64_MAX;
			x->value = at != UINT64_MAX ? at : x->value;
		}
	}
	for (size_t i = 0; i < ed->strings.n; i++)
		if (ed->used[i] == WAS_USED)
			ed->now[i] = 0;
	ed->table_moves = (ed->entries.n + 1) * ENTRY > ed->table_size;
	size_t none = !ed->strings.n || ed->strings.p[ed->strings.n - 1];
	put_range(ed, ed->strings_at, ed->strings, ed->now);
	TRY(put_versions(ed));
	name = entry_of(ed, ELF_SONAME);
	/* the version definition that is the file's own name gets the new soname */
	if (ed->base && name && name->text.p) {
		uint32_t hash = 0; /* System V's, as in DT_HASH */
		for (size_t i = 0; i < name->text.n; i++) {
			hash = (hash << 4) + (unsigned char)name->text.p[i];
			hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
		}
		elf_image_put_le(&ed->image, ed->base + 8, hash, 4);
		elf_image_put_le(&ed->image, ed->base + le32(ed->base_def + 12), name->value, 4);
	}
	if (ed->table_moves || ed->more.n > none)
		TRY_CTX(grow(ed), "there is no room for another dynamic section");
	if (ed->table_moves)
		return NULL;
	TRY(bytes_slice(ed->a, ed->e->src, ed->table_at, ed->table_size, &old));
	put_range(ed, ed->table_at, old, new_table(ed, ed->table_size).p);
	return NULL;
}

struct elf_facts { /* the file as the loader sees it */
	struct bytes_file in;
	struct elf e;
	struct elf_dynamic dyn;
};

static struct err *read_facts(struct arena *a, int fd, struct elf_facts *f)
{
	TRY(bytes_open(str_fmt(a, "/proc/self/fd/%d", fd), &f->in));
	TRY(elf_open(a, &f->in.src, &f->e));
	return elf_dynamic(a, &f->e, &f->dyn);
}

static void facts_done(struct elf_facts *f)
{
	bytes_close(&f->in);
}

struct err *elf_edit_fd(int fd, const struct elf_changes *c, bool *ret_changed)
{
	ARENA(tmp);
	CLEANUP(facts_done) struct elf_facts old = {.in.fd = -1}, now = {.in.fd = -1};
	struct elf_dynamic *x = &old.dyn, *y = &now.dyn;
	*ret_changed = false;
	TRY(read_facts(&tmp, fd, &old));
	struct elf_editor ed = {.a = &tmp, .e = &old.e};
	elf_image_begin(&tmp, &old.e, &ed.image);
	TRY(plan_edit(&ed, c));
	*ret_changed = ed.image.patches.n;
	if (!*ret_changed)
		return NULL;
	TRY(elf_image_write(&ed.image, fd));
	TRY(read_facts(&tmp, fd, &now));
	/* the old facts with the changes are what the new file must say */
	VEC_EACH (const struct elf_change, change, c) {
		struct str *value = change->tag == ELF_SONAME  ? &x->soname
				    : change->tag == ELF_RPATH ? &x->rpath
							       : &x->runpath;
		struct strs list = {0};
		bool again = strs_has(&x->needed, change->now);
		if (change->tag != ELF_NEEDED) {
			*value = change->now;
			continue;
		}
		VEC_EACH (const struct str, s, &x->needed) {
			bool it = str_eq(*s, change->old);
			if (!it || str_eq(*s, change->now) || (change->now.n && !again))
				strs_add(&tmp, &list, it ? change->now : *s);
		}
		if (!change->old.n && !again)
			strs_add(&tmp, &list, change->now);
		x->needed = list;
	}
	if (elf_image_is(&ed.image, &now.e) && str_eq(x->soname, y->soname) &&
		str_eq(x->rpath, y->rpath) && str_eq(x->runpath, y->runpath) &&
		strs_eq(&x->needed, &y->needed) && strs_eq(&x->defined, &y->defined) &&
		strs_eq(&x->undefined, &y->undefined))
		return NULL;
	return err_new(E_ELF, "it did not become what it should");
}
