/* A segment at the end of the file for the dynamic strings and the dynamic table, and a place for its program header;
 * see elf_edit.h. strip wants the program headers to stay where they are, so what is behind them moves. */
#include "formats/elf_edit_int.h"

enum { E_PHOFF = 32, E_SHOFF = 40, E_PHNUM = 56, PHNUM_MAX = 0xfffe };
enum {
	P_FLAGS = 4,
	P_OFFSET = 8,
	P_VADDR = 16,
	P_PADDR = 24,
	P_FILESZ = 32,
	P_MEMSZ = 40,
	P_ALIGN = 48
};
enum { SH_ADDR = 16, SH_OFFSET = 24, SH_SIZE = 32, SHT_STRTAB = 3, SHT_DYNAMIC = 6 };
enum { PT_GNU_STACK = 0x6474e551, PT_GNU_PROPERTY = 0x6474e553, PF_W = 2, PF_R = 4 };
enum {
	SPARE = 4,
	ALIGN = 64,
	MAX_PAGE = 1 << 30,
	MAX_MOVE = 64 << 20,
	MAX_HOLE = 16 << 20,
	MAX_ROUNDS = 64
};

struct growth {
	struct elf_editor *ed;
	uint64_t page, end; /* the largest page; the first free address */
	uint64_t delta;     /* address - offset of the first segment, which has the headers */
	size_t last;        /* the last PT_LOAD in the table */
	struct str headers; /* program headers as they were */
	size_t home;        /* the segment to be extended; segments.n: a new one */
	bool headers_move;  /* into the new segment */
	uint64_t from, offset,
		addr;      /* of the segment: its begin; where the strings go, and their address */
	uint64_t table_at; /* where the table goes */
	uint64_t stop;     /* of the segment in the file */
	struct buf b;      /* the program headers as they are to be */
};

static uint64_t up(uint64_t n, uint64_t step)
{
	return (n + step - 1) / step * step;
}

static const struct elf_segment *segment(const struct growth *g, size_t i)
{
	return &g->ed->e->segments.v[i];
}

/* ---- what is there ---- */

static struct err *look_at_segments(struct growth *g)
{
	static const struct {
		uint16_t machine;
		uint32_t page;
	} pages[] = {{ELF_X86_64, 0x1000}, {ELF_AARCH64, 0x10000}, {ELF_AMDGPU, 0x1000}};
	const struct elf *e = g->ed->e;
	bool first = true;
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		g->page = pages[i].machine == e->machine ? pages[i].page : g->page;
	if (!g->page)
		return err_new(E_ELF, "it is for a processor whose pages are not known");
	for (size_t i = 0; i < e->segments.n; i++) {
		const struct elf_segment *s = segment(g, i);
		uint64_t end = s->vaddr + s->memsz;
		if (s->type != ELF_PT_LOAD)
			continue;
		if (s->align > MAX_PAGE || (s->align & (s->align - 1)) || end < s->vaddr ||
			end > INT64_MAX || s->filesz > s->memsz ||
			s->offset > g->ed->e->src->size ||
			s->filesz > g->ed->e->src->size - s->offset)
			return err_new(E_ELF, "segment %zu is not valid", i);
		g->page = s->align > g->page ? s->align : g->page;
		g->end = end > g->end ? end : g->end;
		g->delta = first ? s->vaddr - s->offset : g->delta;
		g->last = i;
		first = false;
	}
	if (first || e->segments.n >= PHNUM_MAX)
		return err_new(E_ELF, "it has %zu segments", e->segments.n);
	uint64_t size = e->segments.n * ELF_PHDR;
	return bytes_slice(g->ed->a, e->src, le64(g->ed->head + E_PHOFF), size, &g->headers);
}

static bool is_program(const struct elf *e)
{
	VEC_EACH (const struct elf_segment, s, &e->segments)
		if (s->type == ELF_PT_INTERP)
			return true;
	return false;
}

static const struct elf_segment *dynamic(const struct elf *e)
{
	VEC_EACH (const struct elf_segment, s, &e->segments)
		if (s->type == ELF_PT_DYNAMIC)
			return s;
	return NULL;
}

/* static-pie and ld.so find the table by its distance from their code, before anything could tell them. */
static struct err *may_move_table(const struct elf *e, const struct elf_editor *ed)
{
	enum { DT_NEEDED = 1, DT_FLAGS_1 = 0x6ffffffb, DF_1_PIE = 0x08000000 };
	bool needs = false, pie = e->type == ELF_EXEC;
	VEC_EACH (const struct elf_entry, x, &ed->entries) {
		needs = needs || (x->tag == DT_NEEDED && !x->text.p);
		pie = pie || (x->tag == DT_FLAGS_1 && x->value & DF_1_PIE);
	}
	if (is_program(e) || needs || !pie)
		return NULL;
	return err_new(
		E_ELF, "it is linked statically: its code knows where its dynamic section is");
}

/* ---- the segment ---- */

/* Is there one that has the strings, and the table perhaps, at the end of memory and of the file? */
static bool find_home(struct growth *g)
{
	const struct elf_editor *ed = g->ed;
	const struct elf_segment *d = dynamic(ed->e), *s = segment(g, g->last);
	uint64_t end = ed->strings_at + ed->strings.n, stop = s->offset + s->filesz;
	if (!ed->strings.n || ed->strings_at < s->offset || end > stop ||
		stop != ed->e->src->size || s->filesz != s->memsz || s->vaddr + s->memsz != g->end)
		return false;
	bool inside = d->offset >= end && d->offset + d->filesz == stop && d->offset - end < ALIGN;
	if (end != stop && !inside)
		return false;
	g->ed->table_moves = ed->table_moves || inside;
	g->home = g->last;
	g->from = s->offset;
	g->offset = ed->strings_at;
	g->addr = s->vaddr - s->offset;
	return true;
}

/* Until Linux 5.18 kernels told a program that its headers are as far from its first segment as in the file. */
static struct err *choose_place(struct growth *g, uint64_t lead)
{
	uint64_t from = up(g->ed->e->src->size, ALIGN), addr = up(g->end, g->page) + from % g->page;
	if (g->headers_move && is_program(g->ed->e)) {
		uint64_t want = addr - g->delta;
		from = want > from ? want : from;
		from = up(from, ALIGN);
		addr = from + g->delta;
		if (from - g->ed->e->src->size > MAX_HOLE)
			return err_new(E_ELF, "kernels before Linux 5.18 could not start it");
	}
	g->from = from;
	g->addr = addr - from;
	g->offset = from + up(lead, ALIGN);
	return NULL;
}

/* ---- room for a program header ---- */

static bool can_move(const struct elf *e, const struct elf_section *s)
{
	static const uint32_t types[] = {ELF_NOTE, 5 /* HASH */, 0x6ffffff6 /* GNU_HASH */,
		ELF_DYNSYM, SHT_STRTAB, 0x6fffffff /* VERSYM */, DT_VERNEED, DT_VERDEF + 1};
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (s->type == types[i])
			return !(s->flags & ELF_WRITE);
	VEC_EACH (const struct elf_segment, p, &e->segments)
		if (p->type == ELF_PT_INTERP && p->offset == s->offset)
			return true;
	return false;
}

/* Bytes from..to of the file: what else has a part of them? Then it is made larger; false when that may not move. */
static bool take_neighbours(const struct elf *e, uint64_t *from, uint64_t *to, bool *ret_more)
{
	uint64_t a = *from, b = *to;
	*ret_more = false;
	VEC_EACH (const struct elf_section, s, &e->sections) {
		if (s->type == ELF_NOBITS || !s->type || !s->size || s->offset >= b ||
			s->offset + s->size <= a)
			continue;
		if (!(s->flags & ELF_ALLOC) || s->offset < *from || !can_move(e, s))
			return false;
		*to = s->offset + s->size > *to ? s->offset + s->size : *to;
	}
	VEC_EACH (const struct elf_segment, s, &e->segments) {
		bool table =
			s->type == ELF_PT_LOAD || s->type == ELF_PT_PHDR || s->type == PT_GNU_STACK;
		if (table || !s->filesz || s->offset >= b || s->offset + s->filesz <= a)
			continue;
		if ((s->type != ELF_PT_INTERP && s->type != ELF_PT_NOTE &&
			    s->type != PT_GNU_PROPERTY) ||
			s->offset < *from)
			return false;
		*to = s->offset + s->filesz > *to ? s->offset + s->filesz : *to;
	}
	*ret_more = *to > b;
	return *to - *from <= MAX_MOVE;
}

/* The first byte behind the headers that something lies at. */
static uint64_t first_behind(const struct elf *e, uint64_t end, uint64_t need)
{
	uint64_t first = need;
	VEC_EACH (const struct elf_section, s, &e->sections)
		if (s->type && s->type != ELF_NOBITS && s->size && s->offset >= end &&
			s->offset < first)
			first = s->offset;
	return first;
}

/* false: another way has to be found. */
static struct err *make_room(struct growth *g, bool *ret)
{
	struct elf_editor *ed = g->ed;
	const struct elf *e = ed->e;
	uint64_t at = le64(ed->head + E_PHOFF), end = at + g->headers.n, need = end + ELF_PHDR;
	uint64_t from = first_behind(e, end, need), to = need, shoff = le64(ed->head + E_SHOFF);
	bool more = from < need, good = e->sections.n && shoff >= need, inside = false;
	struct str gap;
	for (unsigned round = 0; good && more; round++)
		good = round < MAX_ROUNDS && take_neighbours(e, &from, &to, &more);
	VEC_EACH (const struct elf_segment, s, &e->segments)
		if (s->type == ELF_PT_LOAD && at >= s->offset && to <= s->offset + s->filesz) {
			inside = true;
			ed->moved_addr = s->vaddr - s->offset;
		}
	*ret = good && inside && shoff >= to;
	if (!*ret)
		return NULL;
	TRY(bytes_slice(ed->a, e->src, end, from - end, &gap));
	for (size_t i = 0; i < gap.n; i++)
		*ret = *ret && !gap.p[i];
	ed->moved_from = from;
	ed->moved_to = from < need ? to : from;
	return NULL;
}

/* ---- writing ---- */

static bool moved(const struct elf_editor *ed, uint64_t offset, uint64_t size)
{
	return offset >= ed->moved_from && offset < ed->moved_to && size <= ed->moved_to - offset;
}

/* What lay behind the headers: its bytes come first, then the changes that were made to them. */
static struct err *move_neighbours(struct growth *g)
{
	struct elf_editor *ed = g->ed;
	struct elf_edits old = *ed->out;
	struct str bytes;
	uint64_t n = ed->moved_to - ed->moved_from;
	*ed->out = (struct elf_edits){0};
	ed->moved_by = g->from + ed->moved_from % ALIGN - ed->moved_from;
	if (n) {
		TRY(bytes_slice(ed->a, ed->e->src, ed->moved_from, n, &bytes));
		elf_put(ed, ed->moved_from, arena_array(ed->a, 1, (size_t)n), (size_t)n);
		elf_put(ed, ed->moved_from + ed->moved_by, bytes.p, bytes.n);
	}
	VEC_EACH (struct elf_edit, x, &old) {
		x->offset += moved(ed, x->offset, x->bytes.n) ? ed->moved_by : 0;
		*VEC_PUSH(ed->a, ed->out) = *x;
	}
	ed->moved_addr = ed->moved_by + g->addr - ed->moved_addr;
	return NULL;
}

static void set_place(char *h, uint64_t offset, uint64_t addr)
{
	put_le(h + P_OFFSET, offset, 8);
	put_le(h + P_VADDR, addr, 8);
	put_le(h + P_PADDR, addr, 8);
}

static void set_size(char *h, uint64_t size)
{
	put_le(h + P_FILESZ, size, 8);
	put_le(h + P_MEMSZ, size, 8);
}

static void add_segment(struct growth *g)
{
	char *h = buf_space(&g->b, ELF_PHDR);
	put_le(h, ELF_PT_LOAD, 4);
	put_le(h + P_FLAGS, PF_R | (g->ed->table_moves ? PF_W : 0), 4);
	set_place(h, g->from, g->from + g->addr);
	set_size(h, g->stop - g->from);
	put_le(h + P_ALIGN, g->page, 8);
}

static void write_headers(struct growth *g)
{
	struct elf_editor *ed = g->ed;
	const struct elf *e = ed->e;
	bool new = g->home == e->segments.n;
	uint64_t at = g->headers_move ? g->from : le64(ed->head + E_PHOFF);
	uint64_t size = (e->segments.n + new) * ELF_PHDR;
	g->b.a = ed->a;
	buf_reserve(&g->b, (size_t)size);
	for (size_t i = 0; i < e->segments.n; i++) {
		const struct elf_segment *s = segment(g, i);
		char *h = buf_space(&g->b, ELF_PHDR);
		memcpy(h, g->headers.p + i * ELF_PHDR, ELF_PHDR);
		if (i == g->home) {
			set_size(h, g->stop - s->offset);
			put_le(h + P_FLAGS, s->flags | (g->ed->table_moves ? PF_W : 0), 4);
		} else if (s->type == ELF_PT_PHDR) {
			set_size(h, size);
			if (g->headers_move)
				set_place(h, at, at + g->addr);
		} else if (s->type == ELF_PT_DYNAMIC && ed->table_moves) {
			set_place(h, g->table_at, g->table_at + g->addr);
			set_size(h, g->stop - g->table_at);
		} else if (s->type != ELF_PT_LOAD && moved(ed, s->offset, s->filesz)) {
			set_place(h, s->offset + ed->moved_by, s->vaddr + ed->moved_addr);
		}
		if (i == g->last && new)
			add_segment(g);
	}
	elf_put_le(ed, E_PHOFF, at, 8);
	elf_put_le(ed, E_PHNUM, size / ELF_PHDR, 2);
	elf_put(ed, at, g->b.p, g->b.n);
}

static void write_section(struct growth *g, size_t i)
{
	struct elf_editor *ed = g->ed;
	const struct elf_section *s = &ed->e->sections.v[i];
	uint64_t at = le64(ed->head + E_SHOFF) + i * ELF_SHDR, offset = s->offset, size = s->size;
	uint64_t addr = s->addr;
	if (s->type == SHT_STRTAB && s->flags & ELF_ALLOC && s->offset == ed->strings_at) {
		offset = g->offset;
		addr = offset + g->addr;
		size = ed->strings.n + ed->more.n;
	} else if (s->type == SHT_DYNAMIC && ed->table_moves && s->offset == ed->table_at) {
		offset = g->table_at;
		addr = offset + g->addr;
		size = g->stop - g->table_at;
	} else if (s->type && s->flags & ELF_ALLOC && s->type != ELF_NOBITS &&
		   moved(ed, s->offset, s->size)) {
		offset += ed->moved_by;
		addr += ed->moved_addr;
	} else {
		return;
	}
	elf_put_le(ed, at + SH_ADDR, addr, 8);
	elf_put_le(ed, at + SH_OFFSET, offset, 8);
	elf_put_le(ed, at + SH_SIZE, size, 8);
}

/* Entries with addresses of what moved. */
static void follow(struct growth *g)
{
	static const uint64_t tags[] = {4 /* HASH */, 6 /* SYMTAB */, 0x6ffffef5 /* GNU_HASH */,
		DT_VERSYM, DT_VERNEED, DT_VERDEF};
	struct elf_editor *ed = g->ed;
	VEC_EACH (struct elf_entry, x, &ed->entries) {
		if (x->tag == DT_STRTAB)
			x->value = g->offset + g->addr;
		else if (x->tag == DT_STRSZ)
			x->value = ed->strings.n + ed->more.n;
		for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
			if (x->tag == tags[i] && moved(ed, elf_offset_of(ed->e, x->value), 1))
				x->value += ed->moved_addr;
	}
}

static void write_content(struct growth *g)
{
	struct elf_editor *ed = g->ed;
	BUF(table, ed->a);
	if (ed->table_moves)
		elf_put(ed, ed->table_at, arena_array(ed->a, 1, (size_t)ed->table_size),
			(size_t)ed->table_size);
	if (g->home == ed->e->segments.n)
		elf_put(ed, g->offset, ed->now, ed->strings.n);
	elf_put(ed, g->offset + ed->strings.n, ed->more.p, ed->more.n);
	if (!ed->table_moves)
		return;
	VEC_EACH (const struct elf_entry, x, &ed->entries) {
		buf_le(&table, x->tag, 8);
		buf_le(&table, x->value, 8);
	}
	buf_space(&table, (size_t)(g->stop - g->table_at) - table.n);
	/* zeros between the strings and the table: there may be older bytes */
	uint64_t end = g->offset + ed->strings.n + ed->more.n;
	elf_put(ed, end, arena_array(ed->a, 1, ALIGN), (size_t)(g->table_at - end));
	elf_put(ed, g->table_at, table.p, table.n);
}

static struct err *new_segment(struct growth *g)
{
	bool room = false;
	TRY(make_room(g, &room));
	g->headers_move = !room;
	if (!room)
		g->ed->moved_to = g->ed->moved_from = 0;
	uint64_t lead = room ? g->ed->moved_to - g->ed->moved_from + g->ed->moved_from % ALIGN
			     : g->headers.n + ELF_PHDR;
	TRY(choose_place(g, lead));
	/* no later change could take anything out of the old strings */
	char *zeros = arena_array(g->ed->a, 1, g->ed->strings.n);
	elf_put(g->ed, g->ed->strings_at, zeros, g->ed->strings.n);
	return move_neighbours(g);
}

struct err *elf_grow(struct elf_editor *ed)
{
	struct growth g = {.ed = ed, .home = ed->e->segments.n};
	TRY(look_at_segments(&g));
	if (ed->table_moves)
		TRY(may_move_table(ed->e, ed));
	if (!elf_entry(ed, DT_STRTAB) || !elf_entry(ed, DT_STRSZ))
		return err_new(E_ELF, "it has no dynamic strings");
	if (!find_home(&g))
		TRY(new_segment(&g));
	uint64_t end = g.offset + ed->strings.n + ed->more.n;
	g.table_at = up(end, ELF_DYN_SIZE);
	g.stop = ed->table_moves ? g.table_at + (ed->entries.n + 1 + SPARE) * ELF_DYN_SIZE : end;
	follow(&g);
	write_content(&g);
	write_headers(&g);
	for (size_t i = 0; i < ed->e->sections.n; i++)
		write_section(&g, i);
	return NULL;
}
