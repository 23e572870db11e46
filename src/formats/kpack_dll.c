/* Makes host parts of Windows programs and DLLs, and fills them again; see kpack.h. All addresses stay: the section with the
 * bundles loses its bytes in the file, so that the loader fills it with zeros, and a new last section has the mark, or the
 * bundles that take its place. What can be wrong with an image is found when it is opened. Source: Microsoft's "PE Format". */
#include "formats/kpack.h"
#include "formats/le.h"

enum { WRAPPER = 24, SECTION = 40, RELOC = 8, DEBUG_ENTRY = 28, HIPF = 0x48495046 };
enum { HIPK = 0x4b504948 };
enum { /* offsets in the optional header of PE32+ */
	BASE = 24,
	SECTION_ALIGN = 32,
	FILE_ALIGN = 36,
	IMAGE_SIZE = 56,
	HEADERS_SIZE = 60,
	CHECKSUM = 64,
	DIRS = 112,
	OPTIONAL = 240
};
enum { DIR_CERTIFICATE = 4, DIR_RELOC = 5, DIR_DEBUG = 6 };

static struct err *refused(const char *why)
{
	return err_new(E_FORMAT, "its device code cannot be taken out: %s", why);
}

static const char *dir_of(const struct kpack_dll *d, unsigned i)
{
	return d->head.p + d->pe.optional + DIRS + 8 * i;
}

/* The offset of a byte of the image in the new file. */
static uint64_t moved(const struct kpack_dll *d, uint64_t offset)
{
	return offset >= d->cut + d->cut_size ? offset - d->cut_size : offset;
}

/* ---- reading ---- */

static struct err *keep_bundle(void *user, const struct bundle *b)
{
	struct kpack_dll *d = user;
	return bundle_copy(d->a, d->src, b, VEC_PUSH(d->a, &d->bundles));
}

static struct err *read_wrappers(struct kpack_dll *d)
{
	char w[WRAPPER];
	for (uint64_t at = 0; at + WRAPPER <= d->wrappers.size; at += WRAPPER) {
		TRY(bytes_read(d->src, w, WRAPPER, d->wrappers.offset + at));
		if (le32(w) != HIPF)
			return refused("not all of .hipFatB are wrappers");
		const struct bundle *all = d->bundles.v;
		const struct bundle key = {
			.offset = le64(w + 8) - d->base - d->fat.addr + d->fat.offset};
		const struct bundle *found =
			all ? bsearch(&key, all, d->bundles.n, sizeof(key), offset_order) : NULL;
		if (!found)
			return refused("a wrapper leads to no bundle");
		TRY(budget_memory(d->src->budget, 2 * sizeof(*d->numbers.v)));
		*VEC_PUSH(d->a, &d->numbers) = (uint32_t)(found - all);
	}
	return d->numbers.n ? NULL : refused("there is no wrapper");
}

/* Each pointer at device code that the loader would move has to be in a wrapper. */
static struct err *check_pointers(const struct kpack_dll *d)
{
	uint64_t rva = le32(dir_of(d, DIR_RELOC)), left = le32(dir_of(d, DIR_RELOC) + 4);
	char block[RELOC], entry[2], word[8];
	while (rva && left >= RELOC) {
		TRY(bytes_read(d->src, block, RELOC, pe_offset(&d->pe, rva)));
		uint64_t page = le32(block), size = le32(block + 4);
		if (size < RELOC || size > left)
			return refused("its relocations are damaged");
		for (uint64_t at = RELOC; at + 2 <= size; at += 2) {
			enum { DIR64 = 10 };
			TRY(budget_work(d->src->budget, 2 * d->pe.sections.n));
			TRY(bytes_read(d->src, entry, 2, pe_offset(&d->pe, rva + at)));
			uint64_t place = page + (le16(entry) & 0xfff);
			if (le16(entry) >> 12 != DIR64)
				continue;
			TRY(bytes_read(d->src, word, 8, pe_offset(&d->pe, place)));
			bool fat = le64(word) - d->base - d->fat.addr < d->cut_size;
			uint64_t in = place - d->wrappers.addr;
			if (fat && (in >= d->wrappers.size || in % WRAPPER != 8))
				return refused("a pointer at it is in no wrapper");
		}
		rva += size;
		left -= size;
	}
	return NULL;
}

/* The debug directory, which has places in the file, lies in one section that stays. */
static struct err *check_debug(const struct kpack_dll *d)
{
	uint64_t rva = le32(dir_of(d, DIR_DEBUG)), n = le32(dir_of(d, DIR_DEBUG) + 4) / DEBUG_ENTRY;
	if (!rva || !n)
		return NULL;
	uint64_t from = pe_offset(&d->pe, rva), last = n * DEBUG_ENTRY - 1;
	bool whole = from != UINT64_MAX && pe_offset(&d->pe, rva + last) - from == last;
	bool stays = from < d->cut || from >= d->cut + d->cut_size;
	return whole && stays ? NULL : refused("its debug directory is damaged");
}

/* The headers; `fat` and `wrappers` are set. */
static struct err *read_head(struct kpack_dll *d)
{
	enum { MAGIC = 0x20b, MOST = 1 << 16, TABLE = 16 };
	char head[OPTIONAL];
	size_t got;
	uint64_t at = d->pe.optional;
	TRY(bytes_peek(d->src, head, sizeof(head), at, &got));
	uint64_t size = le32(head + HEADERS_SIZE), align = le32(head + FILE_ALIGN);
	if (got < sizeof(head) || le16(head) != MAGIC || le32(head + DIRS - 4) <= DIR_DEBUG)
		return refused("it is no 64-bit image");
	if (size > MOST || !align || align > MOST || !le32(head + SECTION_ALIGN))
		return refused("its headers are damaged");
	TRY(bytes_slice(d->a, d->src, 0, size, &d->head));
	d->base = le64(head + BASE);
	if (at + OPTIONAL > size)
		return refused("its headers are damaged");
	d->table = at + le16(d->head.p + at - 20 + TABLE);
	d->after = d->table + SECTION * d->pe.sections.n;
	return d->after <= size ? NULL : refused("its headers are damaged");
}

/* No other section has bytes in the range that leaves the file. */
static struct err *check_layout(struct kpack_dll *d)
{
	uint64_t align = le32(d->head.p + d->pe.optional + FILE_ALIGN);
	d->cut_size = le32(d->head.p + d->table + SECTION * d->index + 16);
	for (size_t i = 0; i < d->pe.sections.n; i++) {
		const char *p = d->head.p + d->table + SECTION * i;
		uint64_t from = le32(p + 20), n = le32(p + 16);
		if (i != d->index && n && from < d->cut + d->cut_size && d->cut < from + n)
			return refused("its sections overlap");
	}
	if (d->cut_size % align || d->cut % align || d->cut < d->head.n ||
		d->cut + d->cut_size > d->src->size)
		return refused("its sections are not aligned");
	return NULL;
}

/* Finds the section `name`, and the wrappers. */
static struct err *open_sections(struct kpack_dll *d, struct str name, unsigned found[2])
{
	TRY(pe_open(d->a, d->src, &d->pe));
	VEC_EACH (const struct pe_section, s, &d->pe.sections) {
		bool fat = str_starts(s->name, name), w = str_starts(s->name, S(".hipFatB"));
		d->fat = fat ? *s : d->fat;
		d->index = fat ? (size_t)(s - d->pe.sections.v) : d->index;
		d->wrappers = w ? *s : d->wrappers;
		found[0] += fat;
		found[1] += w;
	}
	return NULL;
}

static struct err *open_image(struct arena *a, const struct bytes *src, struct kpack_dll *d)
{
	unsigned found[2] = {0};
	*d = (struct kpack_dll){.a = a, .src = src};
	TRY(open_sections(d, S(".hip_fat"), found));
	if (!d->pe.optional || !d->fat.size)
		return NULL;
	if (found[0] != 1 || found[1] != 1)
		return refused("it has several sections of bundles, or no wrappers");
	d->cut = d->fat.offset;
	uint64_t at = d->fat.offset, end = at + d->fat.size;
	TRY(bundle_walk(src, &at, end, keep_bundle, d));
	if (at < end)
		return refused("something in .hip_fat is no bundle");
	TRY(read_head(d));
	TRY(check_layout(d));
	TRY(read_wrappers(d));
	TRY(check_debug(d));
	return check_pointers(d);
}

struct err *kpack_dll_open(struct arena *a, const struct bytes *src, struct kpack_dll *ret)
{
	size_t room = 0;
	TRY(open_image(a, src, ret));
	while (ret->after + room < ret->head.n && !ret->head.p[ret->after + room])
		room++;
	return !ret->head.n || room >= SECTION
		       ? NULL
		       : refused("its headers have no room for one more section");
}

/* ---- writing ---- */

/* The headers of the host part: a section without bytes, the sections behind it moved, and one more. */
static void change_head(const struct kpack_dll *d, char *head, uint64_t offset, size_t mark)
{
	enum { SYMBOLS = -12, SECTIONS = -18, READ_DATA = 0x40000040 };
	uint64_t opt = d->pe.optional, align = le32(head + opt + SECTION_ALIGN);
	uint64_t addr = round_up(le32(head + opt + IMAGE_SIZE), align);
	uint64_t symbols = opt + (uint64_t)(int64_t)SYMBOLS;
	for (size_t i = 0; i < d->pe.sections.n; i++) {
		uint64_t p = d->table + SECTION * i;
		bool fat = i == d->index;
		if (fat && !le32(head + p + 8))
			put_le(head + p + 8, d->cut_size, 4);
		if (fat)
			put_le(head + p + 16, 0, 4);
		put_le(head + p + 20, fat ? 0 : moved(d, le32(head + p + 20)), 4);
	}
	memcpy(head + d->after, ".kpackrf", 8);
	put_le(head + d->after + 8, mark, 4);
	put_le(head + d->after + 12, addr, 4);
	put_le(head + d->after + 16, round_up(mark, le32(head + opt + FILE_ALIGN)), 4);
	put_le(head + d->after + 20, offset, 4);
	put_le(head + d->after + 36, READ_DATA, 4);
	put_le(head + opt + IMAGE_SIZE, round_up(addr + mark, align), 4);
	put_le(head + opt + CHECKSUM, 0, 4);
	put_le(head + opt + DIRS + 8 * DIR_CERTIFICATE, 0, 8); /* a signature of other bytes */
	put_le(head + symbols, moved(d, le32(head + symbols)), 4);
	put_le(head + (opt + (uint64_t)(int64_t)SECTIONS), d->pe.sections.n + 1, 2);
}

static struct err *change_wrappers(const struct kpack_dll *d, uint64_t addr, struct fs_out *o)
{
	char w[WRAPPER];
	for (size_t i = 0; i < d->numbers.n; i++) {
		uint64_t at = d->wrappers.offset + WRAPPER * i;
		TRY(bytes_read(d->src, w, WRAPPER, at));
		put_le(w, HIPK, 4);
		put_le(w + 8, d->base + addr, 8);
		put_le(w + 16, d->numbers.v[i], 8);
		TRY(fs_pwrite(o->fd, w, WRAPPER, moved(d, at)));
	}
	/* entries of the debug directory name places in the file */
	uint64_t rva = le32(dir_of(d, DIR_DEBUG)), n = le32(dir_of(d, DIR_DEBUG) + 4) / DEBUG_ENTRY;
	for (uint64_t i = 0; rva && i < n; i++) {
		uint64_t at = pe_offset(&d->pe, rva + i * DEBUG_ENTRY);
		TRY(bytes_read(d->src, w, 4, at + 24));
		put_le(w, moved(d, le32(w)), 4);
		TRY(fs_pwrite(o->fd, w, 4, moved(d, at + 24)));
	}
	return NULL;
}

static struct err *write_host(const struct kpack_dll *d, struct str mark, struct fs_out *o)
{
	char *head = arena_alloc(d->a, d->head.n);
	uint64_t signature = le32(dir_of(d, DIR_CERTIFICATE)), end = d->src->size;
	uint64_t align = le32(d->head.p + d->pe.optional + FILE_ALIGN);
	end = signature >= d->cut + d->cut_size && signature < end ? signature : end;
	memcpy(head, d->head.p, d->head.n);
	uint64_t offset = round_up(moved(d, end), align);
	change_head(d, head, offset, mark.n);
	fs_out_write(o, head, d->head.n);
	uint64_t stop = d->cut + d->cut_size;
	TRY(bytes_copy(d->src, d->head.n, d->cut - d->head.n, o));
	TRY(bytes_copy(d->src, stop, end - stop, o));
	fs_out_zeros(o, offset);
	fs_out_write(o, mark.p, mark.n);
	fs_out_zeros(o, offset + round_up(mark.n, align));
	return change_wrappers(d, le32(head + d->after + 12), o);
}

struct err *kpack_dll_save(const struct kpack_dll *d, struct str mark, struct str path)
{
	CLEANUP(fs_out_abandon) struct fs_out o = {.fd = -1, .dir = -1};
	CLEANUP(bytes_close) struct bytes_file now = {.fd = -1};
	struct kpack_host h;
	TRY(fs_out_open(&o, path, 0644));
	TRY(write_host(d, mark, &o));
	TRY(fs_out_commit(&o));
	TRY(bytes_open(path, &now));
	TRY(kpack_host_read(d->a, &now.src, &h));
	bool *seen = arena_array(d->a, d->bundles.n + 1, sizeof(*seen));
	size_t distinct = 0;
	VEC_EACH (const uint32_t, number, &d->numbers) {
		distinct += !seen[*number];
		seen[*number] = true;
	}
	bool same = h.name.n && h.patterns.n == 1 && h.indexes.n == distinct &&
		    str_eq(kpack_mark(d->a, h.name, h.patterns.v[0]), mark);
	VEC_EACH (const uint32_t, x, &h.indexes)
		same = same && *x < d->bundles.n && seen[*x];
	return same ? NULL : err_new(E_INTERNAL, "a host part does not name its archives");
}

/* ---- filling a host part ---- */

/* The headers with the bundles in place of the mark; their offset in the file. The section that had them gets another name. */
static struct err *fill_head(const struct kpack_dll *d, char *head, uint64_t size, uint64_t *ret)
{
	const uint64_t most = 1u << 31; /* Windows loads no larger image */
	char *opt = head + d->pe.optional, *p = head + d->table + SECTION * d->index;
	uint64_t align = le32(opt + FILE_ALIGN),
		 end = round_up(d->fat.addr + size, le32(opt + SECTION_ALIGN));
	if (end > most || d->src->size > most)
		return err_new(
			E_LIMIT, "it would be larger than 2 GiB, and Windows loads no such image");
	bool last = le32(p + 20) + (uint64_t)le32(p + 16) == d->src->size;
	*ret = last ? le32(p + 20) : round_up(d->src->size, align);
	for (size_t i = 0; i < d->pe.sections.n; i++)
		if (!memcmp(head + d->table + SECTION * i, ".hip_fat", 8))
			memcpy(head + d->table + SECTION * i, ".hipgone", 8);
	memcpy(p, ".hip_fat", 8);
	put_le(p + 8, size, 4);
	put_le(p + 16, round_up(size, align), 4);
	put_le(p + 20, *ret, 4);
	put_le(opt + IMAGE_SIZE, end, 4);
	put_le(opt + CHECKSUM, 0, 4);
	put_le(opt + DIRS + 8 * DIR_CERTIFICATE, 0, 8);
	return NULL;
}

static struct err *fill_image(struct kpack_dll *d, const struct bytes *code, struct fs_out *o)
{
	unsigned found[2] = {0};
	uint64_t at = 0;
	char w[WRAPPER];
	TRY(open_sections(d, S(".kpackrf"), found));
	if (found[0] != 1 || found[1] != 1 || d->index + 1 != d->pe.sections.n)
		return err_new(E_FORMAT,
			"it is no host part: its last section is no mark, or it has no wrappers");
	TRY(read_head(d));
	TRY(bundle_walk(code, &at, code->size, keep_bundle, d));
	char *head = arena_alloc(d->a, d->head.n);
	memcpy(head, d->head.p, d->head.n);
	TRY(fill_head(d, head, code->size, &at));
	fs_out_write(o, head, d->head.n);
	uint64_t have = at < d->src->size ? at : d->src->size;
	TRY(bytes_copy(d->src, d->head.n, have > d->head.n ? have - d->head.n : 0, o));
	fs_out_zeros(o, at);
	TRY(bytes_copy(code, 0, code->size, o));
	fs_out_zeros(o, round_up(o->offset, le32(head + d->pe.optional + FILE_ALIGN)));
	for (at = 0; at + WRAPPER <= d->wrappers.size; at += WRAPPER) {
		TRY(bytes_read(d->src, w, WRAPPER, d->wrappers.offset + at));
		uint32_t n = le32(w + 16);
		if (le32(w) != HIPK || n >= d->bundles.n)
			return err_new(E_FORMAT, "a wrapper has no bundle");
		TRY(budget_memory(d->src->budget, 2 * sizeof(n)));
		*VEC_PUSH(d->a, &d->numbers) = n;
		put_le(w, HIPF, 4);
		put_le(w + 8, d->base + d->fat.addr + d->bundles.v[n].offset, 8);
		put_le(w + 16, 0, 8);
		TRY(fs_pwrite(o->fd, w, WRAPPER, d->wrappers.offset + at));
	}
	return NULL;
}

struct err *kpack_dll_fill(
	struct arena *a, const struct bytes *host, const struct bytes *code, struct str path)
{
	CLEANUP(fs_out_abandon) struct fs_out o = {.fd = -1, .dir = -1};
	CLEANUP(bytes_close) struct bytes_file now = {.fd = -1};
	struct kpack_dll d = {.a = a, .src = host}, filled;
	TRY(fs_out_open(&o, path, 0644));
	TRY(fill_image(&d, code, &o));
	TRY(fs_out_commit(&o));
	TRY(bytes_open(path, &now));
	TRY(open_image(a, &now.src, &filled));
	bool same = filled.bundles.n == d.bundles.n && filled.numbers.n == d.numbers.n;
	for (size_t i = 0; same && i < d.numbers.n; i++)
		same = filled.numbers.v[i] == d.numbers.v[i];
	return same ? NULL : err_new(E_INTERNAL, "a filled host part does not lead to its bundles");
}
