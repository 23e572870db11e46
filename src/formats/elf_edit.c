/* What is to change in the dynamic table, in the strings and in the lists of versions, and where each string goes; where
 * all of it lies is elf_grow.c's when it does not fit. See elf_edit.h.
 *
 * The hard part is what must not be touched: a linker lets a string be the end of another one ("lib" in
 * "/build/rocm/lib"), so every place that names a string is asked for. */
#include "formats/elf_edit_int.h"

#include "base/fs.h"

enum {
	MAX_NAMES = 65536,
	SHT_STRTAB = 3,
	SHT_DYNAMIC = 6,
	VER_FLG_BASE = 1,
	VERSYM_INDEX = 0x7fff
};
enum use { FREE, USED, WAS_USED }; /* WAS_USED: by what has changed */

/* Tags whose value is a string. */
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

void elf_put(struct elf_editor *ed, uint64_t offset, const void *p, size_t n)
{
	struct str bytes = {.p = p, .n = n};
	if (n)
		*VEC_PUSH(ed->a, ed->out) = (struct elf_edit){offset, str_dup(ed->a, bytes)};
}

void elf_put_le(struct elf_editor *ed, uint64_t offset, uint64_t value, unsigned bytes)
{
	char text[8];
	put_le(text, value, bytes);
	elf_put(ed, offset, text, bytes);
}

struct elf_entry *elf_entry(struct elf_editor *ed, uint64_t tag)
{
	VEC_EACH (struct elf_entry, x, &ed->entries)
		if (x->tag == tag)
			return x;
	return NULL;
}

static uint64_t value_of(struct elf_editor *ed, uint64_t tag)
{
	const struct elf_entry *x = elf_entry(ed, tag);
	return x ? x->value : 0;
}

/* Is this string there? */
static bool is_at(const struct elf_editor *ed, uint64_t at, struct str text)
{
	struct str rest = str_sub(ed->strings, at < SIZE_MAX ? (size_t)at : 0, ed->strings.n);
	return text.n < rest.n && str_starts(rest, text) && !rest.p[text.n];
}

/* Where elf_dynamic() has seen to it that strings are not much longer than what they share. */
static struct str string_at(const struct elf_editor *ed, uint64_t at)
{
	struct str rest = str_sub(ed->strings, at < SIZE_MAX ? (size_t)at : 0, ed->strings.n);
	return at < ed->strings.n ? str_sub(rest, 0, str_chr(rest, 0)) : S("");
}

/* ---- reading ---- */

/* How much of the table may be written: entries of zeros behind the last one are spare. */
static uint64_t room_of(const struct elf *e, uint64_t at, struct str table, size_t n)
{
	uint64_t size = table.n;
	VEC_EACH (const struct elf_section, s, &e->sections)
		if (s->type == SHT_DYNAMIC && s->offset == at && s->size < size)
			size = s->size;
	while (n < size && !table.p[n])
		n++;
	return n / ELF_DYN_SIZE * ELF_DYN_SIZE;
}

static struct err *read_table(struct elf_editor *ed)
{
	struct str table = {0};
	VEC_EACH (const struct elf_segment, s, &ed->e->segments) {
		if (s->type != ELF_PT_DYNAMIC)
			continue;
		ed->table_at = s->offset;
		TRY_CTX(bytes_slice(ed->a, ed->e->src, s->offset, s->filesz, &table),
			"cannot read the dynamic section");
		break;
	}
	size_t n = 0;
	for (; n + ELF_DYN_SIZE <= table.n && le64(table.p + n); n += ELF_DYN_SIZE) {
		if (ed->entries.n == MAX_NAMES)
			return err_new(E_LIMIT, "more than %d dynamic entries", MAX_NAMES);
		*VEC_PUSH(ed->a, &ed->entries) =
			(struct elf_entry){le64(table.p + n), le64(table.p + n + 8), {0}};
	}
	ed->table_size = room_of(ed->e, ed->table_at, table, n);
	return NULL;
}

static struct err *read_strings(struct elf_editor *ed)
{
	const struct bytes *src = ed->e->src;
	uint64_t addr = value_of(ed, DT_STRTAB);
	ed->strings_at = addr ? elf_offset_of(ed->e, addr) : 0;
	if (addr)
		TRY_CTX(bytes_slice(
				ed->a, src, ed->strings_at, value_of(ed, DT_STRSZ), &ed->strings),
			"cannot read the dynamic strings");
	TRY(budget_memory(src->budget, 2 * ed->strings.n));
	ed->now = arena_raw(ed->a, ed->strings.n + 1);
	memcpy(ed->now, ed->strings.p ? ed->strings.p : "", ed->strings.n);
	ed->used = arena_array(ed->a, ed->strings.n + 1, sizeof(*ed->used));
	ed->more.a = ed->a;
	if (!ed->strings.n || ed->strings.p[ed->strings.n - 1])
		buf_char(&ed->more, 0);
	return NULL;
}

/* ---- versions ---- */

struct aux { /* a version that is needed, and its index for symbols */
	char raw[16];
};
struct need { /* of one library */
	char raw[16];
	struct str file;
	bool gone, renamed;
	size_t from, n; /* in auxes */
};
struct versions {
	VEC(struct need) needs;
	VEC(struct aux) auxes;
	uint64_t at, end; /* in the file */
	uint64_t base;    /* a version that is defined: the file itself */
	char def[20], name[8];
};

static struct err *read_auxes(
	struct elf_editor *ed, struct versions *v, struct need *need, uint64_t at)
{
	uint64_t next = le32(need->raw + 8);
	need->from = v->auxes.n;
	for (unsigned i = le16(need->raw + 2); i && next; i--, need->n++) {
		struct aux *x = VEC_PUSH(ed->a, &v->auxes);
		at += next;
		if (v->auxes.n > MAX_NAMES)
			return err_new(E_LIMIT, "more than %d needed versions", MAX_NAMES);
		TRY(bytes_read(ed->e->src, x->raw, sizeof(x->raw), at));
		v->end = at + sizeof(x->raw) > v->end ? at + sizeof(x->raw) : v->end;
		next = le32(x->raw + 12);
	}
	return NULL;
}

static struct err *read_needs(struct elf_editor *ed, struct versions *v)
{
	uint64_t next = value_of(ed, DT_VERNEED), at = next ? elf_offset_of(ed->e, next) : 0;
	v->at = at;
	for (uint64_t n = value_of(ed, DT_VERNEEDNUM); n && next; n--, at += next) {
		struct need *need = VEC_PUSH(ed->a, &v->needs);
		if (v->needs.n > MAX_NAMES)
			return err_new(E_LIMIT, "more than %d libraries with versions", MAX_NAMES);
		TRY(bytes_read(ed->e->src, need->raw, sizeof(need->raw), at));
		v->end = at + sizeof(need->raw) > v->end ? at + sizeof(need->raw) : v->end;
		need->file = string_at(ed, le32(need->raw + 4));
		TRY(read_auxes(ed, v, need, at));
		next = le32(need->raw + 12);
	}
	return NULL;
}

static void mark(struct elf_editor *ed, uint64_t at, enum use use)
{
	for (; at < ed->strings.n && ed->used[at] != use; at++) {
		ed->used[at] = (unsigned char)use;
		if (!ed->strings.p[at])
			break;
	}
}

/* Names of the versions that it defines. The first one of all is the file's own name, as a rule. */
static struct err *read_defs(struct elf_editor *ed, struct versions *v, struct str soname)
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
			bool own = le16(def + 2) & VER_FLG_BASE && step == le32(def + 12) &&
				   !v->base && soname.n && is_at(ed, le32(aux), soname);
			if (own) {
				v->base = at;
				memcpy(v->def, def, sizeof(def));
				memcpy(v->name, aux, sizeof(aux));
			} else {
				mark(ed, le32(aux), USED);
			}
			step = le32(aux + 4);
		}
		next = le32(def + 16);
	}
	return NULL;
}

/* ---- what is wanted ---- */

static struct str text_of(const struct elf_editor *ed, const struct elf_entry *x)
{
	return x->text.p ? x->text : string_at(ed, x->value);
}

static bool needs(const struct elf_editor *ed, struct str name)
{
	VEC_EACH (const struct elf_entry, x, &ed->entries)
		if (x->tag == ELF_NEEDED && str_eq(text_of(ed, x), name))
			return true;
	return false;
}

static void apply_to_versions(struct versions *v, const struct elf_change *c)
{
	VEC_EACH (struct need, n, &v->needs) {
		if (!c->old.n || !str_eq(n->file, c->old) || str_eq(c->old, c->now))
			continue;
		n->renamed = true;
		n->gone = n->gone || !c->now.n;
		n->file = c->now;
	}
}

static bool apply(struct elf_editor *ed, struct versions *v, const struct elf_change *c)
{
	size_t kept = 0;
	bool found = false, changed = false, again = c->tag == ELF_NEEDED && needs(ed, c->now);
	VEC_EACH (struct elf_entry, x, &ed->entries) {
		struct str text = x->tag == (uint64_t)c->tag ? text_of(ed, x) : S("");
		bool it = x->tag == (uint64_t)c->tag &&
			  (c->tag != ELF_NEEDED || str_eq(text, c->old));
		bool same = str_eq(text, c->now), goes = it && (!c->now.n || (again && !same));
		found = found || it;
		changed = changed || (it && !same);
		if (it && !same)
			x->text = c->now;
		if (!goes)
			ed->entries.v[kept++] = *x;
	}
	ed->entries.n = kept;
	bool adds = !found && c->now.n && !again && (c->tag != ELF_NEEDED || !c->old.n);
	if (adds)
		*VEC_PUSH(ed->a, &ed->entries) = (struct elf_entry){(uint64_t)c->tag, 0, c->now};
	if (c->tag == ELF_NEEDED && found)
		apply_to_versions(v, c);
	return changed || adds;
}

/* ---- who else names a string ---- */

static struct err *use_symbol(void *user, const struct elf_symbol *s)
{
	mark(user, s->at, USED);
	return NULL;
}

static void use_versions(struct elf_editor *ed, const struct versions *v, enum use use)
{
	VEC_EACH (const struct need, n, &v->needs) {
		if (n->renamed == (use == WAS_USED))
			mark(ed, le32(n->raw + 4), use);
		for (size_t i = n->from; n->gone == (use == WAS_USED) && i < n->from + n->n; i++)
			mark(ed, le32(v->auxes.v[i].raw + 8), use);
	}
}

/* Lists of prelink, or whatever else takes its names from here. */
static bool used_by_strangers(const struct elf_editor *ed)
{
	static const uint32_t known[] = {SHT_DYNAMIC, ELF_DYNSYM, DT_VERNEED, DT_VERDEF + 1};
	const struct elf_section *v = ed->e->sections.v;
	for (size_t i = 0; i < ed->e->sections.n; i++) {
		uint32_t link = v[i].link;
		bool ours = link && link < ed->e->sections.n && v[link].type == SHT_STRTAB &&
			    v[link].offset == ed->strings_at;
		for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
			ours = ours && v[i].type != known[k];
		if (ours)
			return true;
	}
	return false;
}

/* was: the table before the changes. Marks of uses are made last: they win. */
static struct err *use_all(struct elf_editor *ed, const struct elf_entry *was, size_t n,
	struct versions *v, struct str soname)
{
	for (size_t i = 0; i < n; i++)
		if (is_text(was[i].tag))
			mark(ed, was[i].value, WAS_USED);
	use_versions(ed, v, WAS_USED);
	use_versions(ed, v, USED);
	VEC_EACH (const struct elf_entry, x, &ed->entries)
		if (is_text(x->tag) && !x->text.p)
			mark(ed, x->value, USED);
	TRY_CTX(read_defs(ed, v, soname), "cannot read the versions");
	TRY(elf_symbols(ed->e, false, use_symbol, ed));
	if (ed->strings.n)
		ed->used[0] = ed->strings.p[0] ? ed->used[0] : USED;
	if (used_by_strangers(ed))
		memset(ed->used, USED, ed->strings.n);
	return NULL;
}

/* ---- where a string goes ---- */

static uint64_t find_run(const struct elf_editor *ed, size_t n)
{
	size_t run = 0;
	for (size_t i = 0; i < ed->strings.n; i++) {
		bool zero = ed->used[i] == FREE && !ed->now[i];
		run = zero || ed->used[i] == WAS_USED ? run + 1 : 0;
		if (run == n)
			return i + 1 - n;
	}
	return UINT64_MAX;
}

static uint64_t place(struct elf_editor *ed, struct str text, bool anew)
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
	at = find_run(ed, z.n);
	if (at == UINT64_MAX) {
		buf_add(&ed->more, z);
		return now.n + ed->more.n - z.n;
	}
	memcpy(ed->now + at, z.p, z.n);
	memset(ed->used + at, USED, z.n);
	return at;
}

/* First those that are there, so that nothing is written over them. */
static void place_all(struct elf_editor *ed)
{
	for (unsigned anew = 0; anew < 2; anew++) {
		VEC_EACH (struct elf_entry, x, &ed->entries) {
			uint64_t at = x->text.p ? place(ed, x->text, anew) : UINT64_MAX;
			if (at != UINT64_MAX)
				x->value = at;
		}
	}
	for (size_t i = 0; i < ed->strings.n; i++)
		if (ed->used[i] == WAS_USED)
			ed->now[i] = 0;
}

/* ---- edits ---- */

/* What differs; stretches near to each other are one. */
static void put_changes(struct elf_editor *ed, uint64_t at, struct str old, const char *now)
{
	enum { GAP = 64 };
	for (size_t i = 0; i < old.n; i++) {
		if (old.p[i] == now[i])
			continue;
		size_t from = i, to = i + 1;
		for (; i < old.n && i < to + GAP; i++)
			to = old.p[i] != now[i] ? i + 1 : to;
		elf_put(ed, at + from, now + from, to - from);
		i = to - 1;
	}
}

static uint32_t hash_of(struct str name)
{
	uint32_t h = 0;
	for (size_t i = 0; i < name.n; i++) {
		h = (h << 4) + (unsigned char)name.p[i];
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	return h;
}

/* The list anew, in its old place. */
static struct err *put_needs(struct elf_editor *ed, struct versions *v)
{
	BUF(b, ed->a);
	size_t last = SIZE_MAX, count = 0;
	VEC_EACH (struct need, n, &v->needs) {
		if (n->gone)
			continue;
		if (n->renamed)
			put_le(n->raw + 4, place(ed, n->file, false), 4);
		put_le(n->raw + 2, n->n, 2);
		put_le(n->raw + 8, n->n ? 16 : 0, 4);
		put_le(n->raw + 12, 0, 4);
		if (last != SIZE_MAX)
			put_le(b.p + last + 12, b.n - last, 4);
		last = b.n;
		count++;
		buf_add(&b, (struct str){n->raw, 16});
		for (size_t i = 0; i < n->n; i++) {
			put_le(v->auxes.v[n->from + i].raw + 12, i + 1 < n->n ? 16 : 0, 4);
			buf_add(&b, (struct str){v->auxes.v[n->from + i].raw, 16});
		}
	}
	if (b.n > v->end - v->at)
		return err_new(E_ELF, "its lists of versions lie over each other");
	buf_space(&b, (size_t)(v->end - v->at) - b.n);
	elf_put(ed, v->at, b.p, b.n);
	struct elf_entry *x = elf_entry(ed, DT_VERNEEDNUM);
	if (x)
		x->value = count;
	return NULL;
}

struct symbols { /* that were of a version that is gone */
	struct elf_editor *ed;
	const bool *gone; /* by version */
	uint64_t at;
};

/* Of any version, from now on. */
static struct err *free_symbol(void *user, const struct elf_symbol *s)
{
	struct symbols *x = user;
	char word[2];
	TRY(bytes_read(x->ed->e->src, word, 2, x->at + 2 * (uint64_t)s->index));
	if (x->gone[le16(word) & VERSYM_INDEX])
		elf_put_le(x->ed, x->at + 2 * (uint64_t)s->index, 1, 2);
	return NULL;
}

/* An empty list has no entry; without any, glibc must not be told of symbols' versions. */
static void drop_versions(struct elf_editor *ed)
{
	bool defs = elf_entry(ed, DT_VERDEF);
	size_t kept = 0;
	VEC_EACH (struct elf_entry, x, &ed->entries)
		if (x->tag != DT_VERNEED && x->tag != DT_VERNEEDNUM &&
			(defs || x->tag != DT_VERSYM))
			ed->entries.v[kept++] = *x;
	ed->entries.n = kept;
}

static void put_section_info(struct elf_editor *ed, uint32_t type, uint64_t info)
{
	for (size_t i = 0; i < ed->e->sections.n; i++)
		if (ed->e->sections.v[i].type == type)
			elf_put_le(ed, le64(ed->head + 40) + i * ELF_SHDR + 44, info, 4);
}

static struct err *put_versions(struct elf_editor *ed, struct versions *v)
{
	bool renamed = false, any = false;
	bool *gone = arena_array(ed->a, VERSYM_INDEX + 1, sizeof(*gone));
	struct symbols x = {.ed = ed, .gone = gone};
	size_t left = 0;
	VEC_EACH (const struct need, n, &v->needs) {
		renamed = renamed || n->renamed;
		any = any || n->gone;
		left += !n->gone;
		for (size_t i = n->from; n->gone && i < n->from + n->n; i++)
			gone[le16(v->auxes.v[i].raw + 6) & VERSYM_INDEX] = true;
	}
	if (renamed)
		TRY(put_needs(ed, v));
	x.at = value_of(ed, DT_VERSYM) ? elf_offset_of(ed->e, value_of(ed, DT_VERSYM)) : 0;
	gone[0] = gone[1] = false;
	if (any && x.at)
		TRY(elf_symbols(ed->e, false, free_symbol, &x));
	if (any)
		put_section_info(ed, DT_VERNEED, left);
	if (any && !left)
		drop_versions(ed);
	return NULL;
}

static void put_base(struct elf_editor *ed, const struct versions *v)
{
	const struct elf_entry *x = elf_entry(ed, ELF_SONAME);
	if (!v->base || !x || !x->text.p)
		return;
	elf_put_le(ed, v->base + 8, hash_of(x->text), 4);
	elf_put_le(ed, v->base + le32(v->def + 12), x->value, 4);
}

static struct err *put_table(struct elf_editor *ed)
{
	struct str old;
	char *now = arena_array(ed->a, 1, (size_t)ed->table_size);
	TRY(bytes_slice(ed->a, ed->e->src, ed->table_at, ed->table_size, &old));
	for (size_t i = 0; i < ed->entries.n; i++) {
		put_le(now + i * ELF_DYN_SIZE, ed->entries.v[i].tag, 8);
		put_le(now + i * ELF_DYN_SIZE + 8, ed->entries.v[i].value, 8);
	}
	put_changes(ed, ed->table_at, old, now);
	return NULL;
}

static struct err *edit(struct elf_editor *ed, struct versions *v)
{
	place_all(ed);
	bool table = (ed->entries.n + 1) * ELF_DYN_SIZE > ed->table_size;
	ed->table_moves = table;
	size_t none = !ed->strings.n || ed->strings.p[ed->strings.n - 1];
	TRY(put_versions(ed, v));
	put_base(ed, v);
	put_changes(ed, ed->strings_at, ed->strings, ed->now);
	if (table || ed->more.n > none)
		TRY_CTX(elf_grow(ed), "there is no room for another dynamic section");
	return ed->table_moves ? NULL : put_table(ed);
}

static struct err *compute(
	struct arena *a, const struct elf *e, const struct elf_changes *c, struct elf_edits *ret)
{
	struct elf_editor ed = {.a = a, .e = e, .out = ret};
	struct versions v = {0};
	bool changed = false, wants = false;
	*ret = (struct elf_edits){0};
	TRY(bytes_read(e->src, ed.head, sizeof(ed.head), 0));
	TRY(read_table(&ed));
	VEC_EACH (const struct elf_change, x, c)
		wants = wants || (x->now.n && !x->old.n);
	if (!ed.entries.n)
		return wants ? err_new(E_ELF, "it has no dynamic section: nothing is loaded for it")
			     : NULL;
	TRY(read_strings(&ed));
	TRY_CTX(read_needs(&ed, &v), "cannot read the needed versions");
	const struct elf_entry *name = elf_entry(&ed, ELF_SONAME);
	struct str soname = name ? string_at(&ed, name->value) : S("");
	size_t n = ed.entries.n;
	struct elf_entry *was = arena_array(a, n, sizeof(*was));
	memcpy(was, ed.entries.v, n * sizeof(*was));
	VEC_EACH (const struct elf_change, x, c)
		changed = apply(&ed, &v, x) || changed;
	if (!changed)
		return NULL;
	name = elf_entry(&ed, ELF_SONAME);
	TRY(use_all(&ed, was, n, &v, name && name->text.p ? soname : S("")));
	return edit(&ed, &v);
}

/* ---- in a file ---- */

struct facts { /* what the loader sees */
	struct bytes src;
	struct budget budget;
	struct elf e;
	struct elf_dynamic dyn;
};

static struct err *look(struct arena *a, int fd, struct facts *f)
{
	struct stat st;
	TRY(fs_stat(str_fmt(a, "/proc/self/fd/%d", fd), &st));
	f->src = bytes_fd(fd, (uint64_t)st.st_size);
	budget_set(&f->budget, f->src.size);
	f->src.budget = &f->budget;
	TRY(elf_open(a, &f->src, &f->e));
	return elf_dynamic(a, &f->e, &f->dyn);
}

static bool same_names(const struct strs *x, const struct strs *y)
{
	bool same = x->n == y->n;
	for (size_t i = 0; same && i < x->n; i++)
		same = str_eq(x->v[i], y->v[i]);
	return same;
}

static void expect(struct arena *a, struct elf_dynamic *d, const struct elf_change *c)
{
	struct strs list = {0};
	if (c->tag != ELF_NEEDED) {
		*(c->tag == ELF_SONAME        ? &d->soname
			: c->tag == ELF_RPATH ? &d->rpath
					      : &d->runpath) = c->now;
		return;
	}
	bool again = strs_has(&d->needed, c->now);
	VEC_EACH (const struct str, s, &d->needed) {
		bool it = str_eq(*s, c->old);
		if (!it || str_eq(*s, c->now) || (c->now.n && !again))
			strs_add(a, &list, it ? c->now : *s);
	}
	if (!c->old.n && !again)
		strs_add(a, &list, c->now);
	d->needed = list;
}

struct err *elf_edit_fd(int fd, const struct elf_changes *c, bool *ret_changed)
{
	ARENA(tmp);
	struct facts old, now;
	struct elf_edits edits;
	*ret_changed = false;
	TRY(look(&tmp, fd, &old));
	TRY(compute(&tmp, &old.e, c, &edits));
	*ret_changed = edits.n;
	VEC_EACH (const struct elf_edit, e, &edits)
		TRY(fs_pwrite(fd, e->bytes.p, e->bytes.n, e->offset));
	if (!edits.n)
		return NULL;
	VEC_EACH (const struct elf_change, x, c)
		expect(&tmp, &old.dyn, x);
	TRY(look(&tmp, fd, &now));
	const struct elf_dynamic *x = &old.dyn, *y = &now.dyn;
	if (str_eq(x->soname, y->soname) && str_eq(x->rpath, y->rpath) &&
		str_eq(x->runpath, y->runpath) && same_names(&x->needed, &y->needed) &&
		same_names(&x->defined, &y->defined) && same_names(&x->undefined, &y->undefined))
		return NULL;
	return err_new(E_ELF, "it did not become what it should");
}
