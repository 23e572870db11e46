/* Plans and writes changed ELF files; see elf_image.h. */
#include "formats/elf_image.h"

#include "base/fs.h"

enum { E_PHOFF = 32, E_SHOFF = 40, E_PHNUM = 56, E_SHNUM = 60, E_SHSTRNDX = 62 };
enum { PT_GNU_STACK = 0x6474e551, PT_GNU_PROPERTY = 0x6474e553, PF_R = 4 };
enum { PAGE = 4096, ALIGN = 64, PHNUM_MAX = 0xfffe, MAX_PAGE = 1 << 30, MAX_MOVE = 64 << 20 };
enum { MAX_HOLE = 16 << 20, MAX_ROUNDS = 64 };

void elf_image_begin(struct arena *a, const struct elf *e, struct elf_image *ret)
{
	*ret = (struct elf_image){.a = a, .was = e, .now = *e, .names = {.a = a}};
	ret->now.segments.v = arena_array(a, e->segments.n + 1, sizeof(*e->segments.v));
	ret->now.sections.v = arena_array(a, e->sections.n + 1, sizeof(*e->sections.v));
	ret->now.segments.cap = e->segments.n + 1;
	ret->now.sections.cap = e->sections.n + 1;
	if (e->segments.n)
		memcpy(ret->now.segments.v, e->segments.v, e->segments.n * sizeof(*e->segments.v));
	if (e->sections.n)
		memcpy(ret->now.sections.v, e->sections.v, e->sections.n * sizeof(*e->sections.v));
}

struct elf_memory elf_memory(const struct elf *e)
{
	struct elf_memory m = {.page = PAGE, .bad = SIZE_MAX};
	for (size_t i = 0; i < e->segments.n; i++) {
		const struct elf_segment *s = &e->segments.v[i];
		uint64_t end = s->vaddr + s->memsz, size = e->src->size;
		if (s->type != ELF_PT_LOAD)
			continue;
		if (m.bad == SIZE_MAX &&
			(s->align > MAX_PAGE || (s->align & (s->align - 1)) || end < s->vaddr ||
				end > INT64_MAX || s->filesz > s->memsz || s->offset > size ||
				s->filesz > size - s->offset))
			m.bad = i;
		m.page = s->align > m.page ? s->align : m.page;
		m.end = end > m.end ? end : m.end;
		m.delta = m.n++ ? m.delta : s->vaddr - s->offset;
		m.last = i;
	}
	return m;
}

void elf_image_put(struct elf_image *m, uint64_t offset, const void *p, size_t n)
{
	struct str bytes = {.p = p, .n = n};
	if (n)
		*VEC_PUSH(m->a, &m->patches) = (struct elf_patch){offset, str_dup(m->a, bytes)};
}

void elf_image_put_le(struct elf_image *m, uint64_t offset, uint64_t value, unsigned bytes)
{
	char text[8];
	put_le(text, value, bytes);
	elf_image_put(m, offset, text, bytes);
}

uint64_t elf_image_at(const struct elf_image *m, uint64_t offset, uint64_t size)
{
	const struct elf_shift *s = &m->shift;
	if (offset >= s->from && offset < s->to && size <= s->to - offset)
		return offset + s->by;
	bool gone = offset < s->from && s->from - offset <= s->gone;
	return gone ? s->from - s->gone : offset;
}

/* Updates the headers of the shifted range. If the range moves in memory, loaded segments stay: they still cover the
 * old place. */
static void shift_range(struct elf_image *m, struct elf_shift shift)
{
	m->shift = shift;
	VEC_EACH (struct elf_segment, s, &m->now.segments) {
		uint64_t offset = elf_image_at(m, s->offset, shift.addr ? s->filesz : 0);
		bool moves = offset != s->offset && !(shift.addr && s->type == ELF_PT_LOAD);
		s->vaddr += moves ? shift.addr : 0;
		s->paddr = moves && shift.addr ? s->vaddr : s->paddr;
		s->offset = moves ? offset : s->offset;
	}
	VEC_EACH (struct elf_section, s, &m->now.sections) {
		bool loaded = s->type && s->type != ELF_NOBITS && s->flags & ELF_ALLOC;
		uint64_t offset = elf_image_at(m, s->offset, shift.addr ? s->size : 0);
		bool moves = offset != s->offset && (loaded || !shift.addr);
		s->addr += moves ? shift.addr : 0;
		s->offset = moves ? offset : s->offset;
	}
	m->now.phoff = elf_image_at(m, m->now.phoff, 0);
	m->now.shoff = elf_image_at(m, m->now.shoff, 0);
}

void elf_image_shift(struct elf_image *m, uint64_t stop, uint64_t gone)
{
	shift_range(m, (struct elf_shift){.from = stop, .to = UINT64_MAX, .by = -gone});
}

void elf_image_load(struct elf_image *m, size_t i, const struct elf_segment *s)
{
	VEC_PUSH(m->a, &m->now.segments);
	struct elf_segment *v = m->now.segments.v;
	memmove(v + i + 1, v + i, (m->now.segments.n - 1 - i) * sizeof(*v));
	v[i] = *s;
	VEC_EACH (struct elf_segment, x, &m->now.segments)
		if (x->type == ELF_PT_PHDR)
			x->filesz = x->memsz = m->now.segments.n * ELF_PHDR;
}

void elf_image_move_headers(struct elf_image *m, uint64_t offset, uint64_t addr)
{
	m->now.phoff = offset;
	VEC_EACH (struct elf_segment, s, &m->now.segments) {
		if (s->type != ELF_PT_PHDR)
			continue;
		s->offset = offset;
		s->vaddr = s->paddr = addr;
	}
}

/* ---- one more segment ---- */

static bool can_move(const struct elf *e, const struct elf_section *s)
{
	static const uint32_t types[] = {ELF_NOTE, 5 /* HASH */, 0x6ffffff6 /* GNU_HASH */,
		ELF_DYNSYM, ELF_STRTAB, 0x6fffffff /* VERSYM */, 0x6ffffffe /* VERNEED */,
		0x6ffffffd /* VERDEF */};
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (s->type == types[i])
			return !(s->flags & ELF_WRITE);
	VEC_EACH (const struct elf_segment, p, &e->segments)
		if (p->type == ELF_PT_INTERP && p->offset == s->offset)
			return true;
	return false;
}

/* Extends the range from..to over all sections and segments that overlap it; false if one of them may not move, or
 * the range becomes too large. */
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

/* Finds the range that has to move out of the way of one more program header behind the others. *ret is false if that
 * is not possible. shift->addr is the distance of addresses from offsets in that range. */
static struct err *find_room(const struct elf_image *m, struct elf_shift *shift, bool *ret)
{
	const struct elf *e = m->was;
	uint64_t end = e->phoff + e->segments.n * ELF_PHDR, need = end + ELF_PHDR;
	uint64_t from = need, to = need;
	struct str gap;
	VEC_EACH (const struct elf_section, s, &e->sections)
		if (s->type && s->type != ELF_NOBITS && s->size && s->offset >= end &&
			s->offset < from)
			from = s->offset;
	bool more = from < need, good = e->sections.n && e->shoff >= need, inside = false;
	for (unsigned round = 0; good && more; round++)
		good = round < MAX_ROUNDS && take_neighbours(e, &from, &to, &more);
	VEC_EACH (const struct elf_segment, s, &e->segments)
		if (s->type == ELF_PT_LOAD && e->phoff >= s->offset &&
			to <= s->offset + s->filesz) {
			inside = true;
			shift->addr = s->vaddr - s->offset;
		}
	*ret = good && inside && e->shoff >= to;
	if (!*ret)
		return NULL;
	TRY(bytes_slice(m->a, e->src, end, from - end, &gap));
	for (size_t i = 0; i < gap.n; i++)
		*ret = *ret && !gap.p[i];
	shift->from = from;
	shift->to = from < need ? to : from;
	return NULL;
}

struct err *elf_image_append(struct elf_image *m, size_t *ret, uint64_t *ret_at)
{
	const struct elf *e = m->was;
	const struct elf_memory mem = elf_memory(e);
	uint64_t page = mem.page, size = e->src->size, from = round_up(size, ALIGN);
	struct elf_shift shift = {0};
	bool room;
	if (e->machine == ELF_AARCH64 && page < 0x10000)
		page = 0x10000;
	TRY(find_room(m, &shift, &room));
	uint64_t addr = round_up(mem.end, page) + from % page;
	if (!room && elf_segment(e, ELF_PT_INTERP)) {
		/* in a program, the headers must keep their distance from the first segment */
		uint64_t want = addr - mem.delta;
		from = round_up(want > from ? want : from, ALIGN);
		addr = from + mem.delta;
		if (from - size > MAX_HOLE)
			return err_new(E_ELF, "kernels before Linux 5.18 could not start it");
	}
	const struct elf_segment s = {.type = ELF_PT_LOAD,
		.flags = PF_R,
		.offset = from,
		.vaddr = addr,
		.paddr = addr,
		.align = page};
	uint64_t lead = (e->segments.n + 1) * ELF_PHDR;
	if (room) {
		lead = shift.to - shift.from + shift.from % ALIGN;
		shift.by = from + shift.from % ALIGN - shift.from;
		shift.addr = shift.by + addr - from - shift.addr;
		if (shift.to > shift.from) {
			TRY(bytes_slice(
				m->a, e->src, shift.from, shift.to - shift.from, &m->moved));
			shift_range(m, shift);
		}
	} else {
		elf_image_move_headers(m, from, addr);
	}
	*ret = mem.last + 1;
	elf_image_load(m, *ret, &s);
	*ret_at = from + round_up(lead, ALIGN);
	return NULL;
}

/* ---- less of the file ---- */

struct err *elf_image_cut(struct elf_image *m, size_t segment, uint64_t end, uint64_t stop)
{
	const struct elf *e = m->was;
	const struct elf_memory mem = elf_memory(e);
	const struct elf_segment own = e->segments.v[segment];
	bool split = own.offset + own.filesz > stop || own.memsz > own.filesz;
	bool program = e->type == ELF_EXEC || elf_segment(e, ELF_PT_INTERP);
	uint64_t table = round_up(end, 8);
	VEC_EACH (const struct elf_segment, s, &e->segments) {
		uint64_t align = s->align > PAGE ? s->align : PAGE;
		if (s->type == ELF_PT_LOAD &&
			(align & (align - 1) || (s->offset - s->vaddr) % align))
			return err_new(E_SLIM, "a segment is not aligned as its header says");
	}
	if (end > stop)
		return err_new(E_SLIM, "it would not become smaller");
	if (split)
		end = table + (e->segments.n + 1) * ELF_PHDR;
	/* All moves are multiples of the largest page, so offsets and addresses stay congruent in each segment. */
	uint64_t from = round_up(end, mem.page);
	uint64_t to = split ? stop / mem.page * mem.page : stop - (stop - from) % mem.page;
	if (from >= stop || to <= from)
		return NULL;
	if (split &&
		(e->segments.n >= PHNUM_MAX || (program && own.vaddr - own.offset != mem.delta)))
		return err_new(E_SLIM, "kernels before Linux 5.18 could not start the program");
	uint64_t n = to - from, gone = to - own.offset;
	shift_range(m, (struct elf_shift){.from = to, .to = UINT64_MAX, .by = -n, .gone = n});
	struct elf_segment *first = &m->now.segments.v[segment], second = own;
	first->filesz -= n;
	first->memsz -= n;
	if (!split)
		return NULL;
	first->filesz = first->memsz = from - own.offset;
	second.offset = from;
	second.vaddr += gone;
	second.paddr += gone;
	second.filesz -= gone;
	second.memsz -= gone;
	elf_image_load(m, segment + 1, &second);
	elf_image_move_headers(m, table, table - own.offset + own.vaddr);
	return NULL;
}

/* ---- sections ---- */

struct err *elf_image_keep_names(struct elf_image *m)
{
	struct str old;
	const struct elf_section *s = &m->was->sections.v[m->was->names];
	TRY(bytes_slice(m->a, m->was->src, s->offset, s->size, &old));
	buf_add(&m->names, old);
	return NULL;
}

void elf_image_add_section(struct elf_image *m, const struct elf_section *s, struct str name)
{
	struct elf_section *x = VEC_PUSH(m->a, &m->now.sections);
	*x = *s;
	x->name = name;
	x->name_at = (uint32_t)m->names.n;
	buf_add(&m->names, name);
	buf_char(&m->names, 0);
}

/* ---- writing ---- */

static struct str segment_table(const struct elf *e)
{
	return (struct str){(const char *)e->segments.v, e->segments.n * ELF_PHDR};
}

static struct str section_table(struct arena *a, const struct elf *e)
{
	BUF(b, a);
	VEC_EACH (const struct elf_section, s, &e->sections)
		buf_add(&b, (struct str){(const char *)s, ELF_SHDR});
	return buf_str(&b);
}

struct str elf_image_tail(struct elf_image *m, uint64_t offset)
{
	struct elf_section *names = &m->now.sections.v[m->now.names];
	BUF(tail, m->a);
	names->offset = offset;
	names->size = m->names.n;
	buf_add(&tail, buf_str(&m->names));
	m->now.shoff = round_up(offset + tail.n, 8);
	buf_space(&tail, (size_t)(m->now.shoff - offset) - tail.n);
	buf_add(&tail, section_table(m->a, &m->now));
	return buf_str(&tail);
}

struct err *elf_image_head(const struct elf_image *m, char ret[ELF_EHDR])
{
	const struct elf *e = &m->now;
	TRY(bytes_read(e->src, ret, ELF_EHDR, 0));
	put_le(ret + E_PHOFF, e->phoff, 8);
	if (e->sections.n)
		put_le(ret + E_SHOFF, e->shoff, 8);
	/* counts that do not fit into 16 bits are in section 0, and do not change */
	if (e->segments.n != m->was->segments.n)
		put_le(ret + E_PHNUM, e->segments.n, 2);
	if (e->sections.n != m->was->sections.n)
		put_le(ret + E_SHNUM, e->sections.n, 2);
	if (e->names != m->was->names)
		put_le(ret + E_SHSTRNDX, e->names, 2);
	return NULL;
}

struct err *elf_image_write(const struct elf_image *m, int fd)
{
	ARENA(tmp);
	char head[ELF_EHDR];
	const struct elf_shift *shift = &m->shift;
	struct str segments = segment_table(&m->now);
	struct str sections = section_table(&tmp, &m->now);
	TRY(elf_image_head(m, head));
	if (m->moved.n) {
		TRY(fs_pwrite(fd, arena_array(&tmp, 1, m->moved.n), m->moved.n, shift->from));
		TRY(fs_pwrite(fd, m->moved.p, m->moved.n, shift->from + shift->by));
	}
	VEC_EACH (const struct elf_patch, x, &m->patches)
		TRY(fs_pwrite(fd, x->bytes.p, x->bytes.n, elf_image_at(m, x->offset, x->bytes.n)));
	TRY(fs_pwrite(fd, segments.p, segments.n, m->now.phoff));
	TRY(fs_pwrite(fd, sections.p, sections.n, m->now.shoff));
	return fs_pwrite(fd, head, sizeof(head), 0);
}

bool elf_image_is(const struct elf_image *m, const struct elf *result)
{
	ARENA(tmp);
	return str_eq(segment_table(&m->now), segment_table(result)) &&
	       str_eq(section_table(&tmp, &m->now), section_table(&tmp, result));
}
