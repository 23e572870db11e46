/* Libraries with bundles in a segment of their own making, and a loader that maps and relocates them as ld.so does:
 * written from the format documents, without the code under test. */
#pragma once

#include "unit/fixture_elf.h"

#define FX_HOST "host-x86_64-unknown-linux-gnu-"
#define FX_ID(target) "hipv4-amdgcn-amd-amdhsa--" target

enum fx_pointer {
	FX_RELATIVE,
	FX_BOTH,
	FX_RELR,
	FX_ABS64,
	FX_WORD /* none: a program at a fixed address */
};

struct fx_fat {
	unsigned machine; /* 0: x86-64 */
	enum fx_pointer pointer;
	bool stripped, last,
		writable; /* no sections; nothing behind the bundles; in the segment of the wrappers */
	size_t align;     /* of segments; 0: 4096 */
	unsigned ccob;    /* version, 0: raw */
	bool zlib, symbol, interp; /* symbol: of .symtab */
	bool mixed; /* the first segment is aligned for larger pages than others, as lld does it for .rodata */
	bool skew; /* addresses of the second segment are not as far from the first as in the file */
	size_t off;       /* what pointers are wrong by */
	unsigned unnamed; /* bundles that no pointer leads to */
	bool generic; /* but for the first bundle, gfx906 has gfx9-generic's code with a feature */
};

enum { FX_BUNDLES = 3, FX_SYMBOLS = 0x200, FX_HASH = 0x300, FX_RELA = 0x400, FX_RELRS = 0x500 };

struct fx_fatbin {
	struct str section;
	size_t at[FX_BUNDLES];
};

static unsigned fx_times = 1; /* all objects are so much larger */

/* The letters of an object: of bundle b for target t. */
static inline struct str fx_letters(struct arena *a, unsigned b, unsigned t)
{
	size_t n = (5000u + 3000u * b + 100u * t) * fx_times;
	char *p = arena_alloc(a, n);
	for (size_t i = 0; i < n; i++)
		p[i] = (char)((i * 7 + i / 251 + b * 31 + t * 97) % 251);
	return (struct str){p, n};
}

static inline struct fx_fatbin fx_fatbin(struct arena *a, const struct fx_fat *f)
{
	struct fx_fatbin ret;
	BUF(b, a);
	for (unsigned i = 0; i < FX_BUNDLES; i++) {
		const struct fx_entry v[] = {{.id = FX_HOST},
			{.id = FX_ID("gfx90a:xnack-"), .bytes = fx_letters(a, i, 0)},
			{.id = f->generic ? FX_ID("gfx906") : FX_ID("gfx1100"),
				.bytes = f->generic && i ? S("") : fx_letters(a, i, 1)},
			{.id = f->generic ? FX_ID("gfx9-generic:xnack-") : FX_ID("gfx11-generic"),
				.bytes = fx_letters(a, i, 2)},
			{.id = FX_ID("gfx1201"), .bytes = fx_letters(a, i, 3)}};
		struct str one = fx_bundle(a, v, 5, 4096);
		fx_pad(&b, (b.n + 4095) / 4096 * 4096);
		ret.at[i] = b.n;
		buf_add(&b, f->ccob ? fx_ccob(a, one, f->ccob, !f->zlib) : one);
	}
	ret.section = buf_str(&b);
	return ret;
}

struct fx_seg {
	unsigned type, flags;
	uint64_t offset, vaddr, size, align;
};

static inline void fx_put_segment(struct buf *b, size_t i, const struct fx_seg *s)
{
	size_t at = 64 + i * 56;
	fx_set(b, at, s->type, 4);
	fx_set(b, at + 4, s->flags, 4);
	fx_set(b, at + 8, s->offset, 8);
	fx_set(b, at + 16, s->vaddr, 8);
	fx_set(b, at + 24, s->vaddr, 8);
	fx_set(b, at + 32, s->size, 8);
	fx_set(b, at + 40, s->size, 8);
	fx_set(b, at + 48, s->align, 8);
}

struct fx_built {
	struct str file;
	uint64_t wrappers, tail; /* their addresses */
};

static inline struct fx_built fx_fat_library(struct arena *a, struct fx_fat f)
{
	struct fx_fatbin fat = fx_fatbin(a, &f);
	size_t align = f.align ? f.align : 4096;
	bool arm = f.machine == 183;
	BUF(b, a);
	buf_add(&b, S("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0"));
	fx_le(&b, f.pointer == FX_WORD ? 2 : 3, 2);
	fx_le(&b, f.machine ? f.machine : 62, 2);
	fx_le(&b, 1, 4);
	fx_pad(&b, align);
	fx_set(&b, 32, 64, 8);
	fx_set(&b, 52, 64, 2);
	fx_set(&b, 54, 56, 2);
	uint64_t skew = f.mixed  ? 0x1000
			: f.skew ? 16 * align
				 : 0,
		 data = b.n, from = b.n, tail = 0;
	if (!f.writable) {
		buf_add(&b, fat.section);
		tail = b.n + 8;
		if (!f.last)
			buf_add(&b, S("12345678what is behind the bundles"));
		else
			tail = 0;
		data = (b.n + align - 1) / align * align;
		fx_pad(&b, data);
	}
	size_t dynamic = data + FX_BUNDLES * 24;
	fx_pad(&b, dynamic + 16 * 8);
	if (f.writable) {
		from = (b.n + 4095) / 4096 * 4096;
		fx_pad(&b, from);
		buf_add(&b, fat.section);
	}
	uint64_t base = f.pointer == FX_WORD ? 0x400000 : 0;
	size_t end = b.n, vfat = base + from + (f.writable ? skew : 0);
	skew += base;
	const struct fx_seg segments[] = {
		{6, 4, 64, base + 64, 6 * 56, 8},
		{1, 4, 0, base,
			f.writable ? align
			: tail     ? tail + 26
				   : from + fat.section.n,
			f.mixed ? 0x8000 : align},
		{1, 6, data, data + skew, end - data, align},
		{2, 6, dynamic, dynamic + skew, 16 * 8, 8},
		{0x6474e551, 6, 0, 0, 0, 16},
		{f.interp ? 3 : 4, 4, 0x600, base + 0x600, 8, 1},
	};
	for (size_t i = 0; i < 6; i++)
		fx_put_segment(&b, i, &segments[i]);
	fx_set(&b, 56, 6, 2);
	/* pointers */
	unsigned relas = 0;
	for (unsigned i = 0; i < FX_BUNDLES; i++) {
		size_t w = data + i * 24, value = vfat + fat.at[i] + f.off,
		       at = FX_RELA + relas * 24;
		bool in_place = f.pointer != FX_RELATIVE && f.pointer != FX_ABS64;
		fx_set(&b, w, 0x48495046, 4);
		fx_set(&b, w + 4, 1, 4);
		if (i >= FX_BUNDLES - f.unnamed)
			continue;
		fx_set(&b, w + 8, in_place ? value : 0, 8);
		if (f.pointer == FX_ABS64) {
			fx_set(&b, FX_SYMBOLS + (i + 1) * 24 + 4, 0x10, 1);
			fx_set(&b, FX_SYMBOLS + (i + 1) * 24 + 6, 1, 2);
			fx_set(&b, FX_SYMBOLS + (i + 1) * 24 + 8, value, 8);
		}
		if (f.pointer == FX_RELR || f.pointer == FX_WORD)
			continue;
		fx_set(&b, at, w + 8 + skew, 8);
		fx_set(&b, at + 8, f.pointer == FX_ABS64 ? (arm ? 257 : 1) : (arm ? 1027 : 8), 4);
		fx_set(&b, at + 12, f.pointer == FX_ABS64 ? i + 1 : 0, 4);
		fx_set(&b, at + 16, f.pointer == FX_ABS64 ? 0 : value, 8);
		relas++;
	}
	fx_set(&b, FX_HASH, 1, 4);
	fx_set(&b, FX_HASH + 4, FX_BUNDLES + 1, 4);
	/* the first wrapper's pointer, and by a bitmap those 3 and 6 words behind it */
	fx_set(&b, FX_RELRS, data + skew + 8, 8);
	fx_set(&b, FX_RELRS + 8, 1 | 1u << 3 | 1u << 6, 8);
	bool relr = f.pointer == FX_RELR;
	const uint64_t tags[][2] = {{6, base + FX_SYMBOLS}, {4, base + FX_HASH},
		{7, base + FX_RELA}, {8, relas * 24}, {36, relr ? base + FX_RELRS : 0},
		{35, relr ? 16 : 0}, {0, 0}};
	for (size_t i = 0; i < 7; i++) {
		fx_set(&b, dynamic + i * 16, tags[i][0], 8);
		fx_set(&b, dynamic + i * 16 + 8, tags[i][1], 8);
	}
	struct fx_built ret = {.wrappers = data + skew, .tail = tail ? tail + base : 0};
	if (!f.stripped) {
		static const char names[] = "\0.hip_fatbin\0.hipFatBinSegment\0.symtab\0.shstrtab";
		size_t symtab = b.n, strings, table;
		fx_pad(&b, b.n + 24);
		fx_le(&b, 0x10, 4 + 2);
		fx_le(&b, 1, 2);
		fx_le(&b, f.symbol ? vfat + fat.at[1] : 0, 8);
		fx_le(&b, 0, 8);
		strings = b.n;
		buf_add(&b, (struct str){names, sizeof(names)});
		fx_pad(&b, (b.n + 7) / 8 * 8);
		table = b.n;
		fx_section(&b, 0, 0, 0, 0);
		fx_section(&b, 1, 1, from, fat.section.n);
		fx_section(&b, 13, 1, data, f.writable ? 24 * FX_BUNDLES : end - data);
		fx_section(&b, 31, 2, symtab, 48);
		fx_section(&b, 39, 3, strings, sizeof(names));
		fx_set(&b, table + 64 + 16, vfat, 8);
		fx_set(&b, 40, table, 8);
		fx_set(&b, 58, 64, 2);
		fx_set(&b, 60, 5, 2);
		fx_set(&b, 62, 4, 2);
	}
	ret.file = buf_str(&b);
	return ret;
}

/* ---- a loader ---- */
static inline uint64_t fx_get(struct str s, uint64_t at, unsigned bytes)
{
	assert_true(at + bytes <= s.n);
	return bytes == 8 ? le64(s.p + at) : bytes == 4 ? le32(s.p + at) : le16(s.p + at);
}

/* The memory of a loaded file, from address 0 on; *ret_holes has 1 for each byte that belongs to no segment. */
static inline struct str fx_load(struct arena *a, struct str file)
{
	uint64_t phoff = fx_get(file, 32, 8), n = fx_get(file, 56, 2), top = 0, dynamic = 0,
		 last = 0;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t h = phoff + i * 56;
		if (fx_get(file, h, 4) == 1)
			top = fx_get(file, h + 16, 8) + fx_get(file, h + 40, 8);
	}
	char *p = arena_alloc(a, top + 16);
	memset(p, 'x', top);
	struct str image = {p, top};
	for (uint64_t i = 0; i < n; i++) {
		uint64_t h = phoff + i * 56, type = fx_get(file, h, 4),
			 offset = fx_get(file, h + 8, 8);
		uint64_t vaddr = fx_get(file, h + 16, 8), size = fx_get(file, h + 32, 8);
		assert_true(!size || (offset <= file.n && size <= file.n - offset));
		if (type == 2)
			dynamic = vaddr;
		if (type == 6) { /* and it is where the kernel looks */
			assert_int_equal(offset, phoff);
			assert_int_equal(size, n * 56);
		}
		if (type != 1)
			continue;
		uint64_t align = fx_get(file, h + 48, 8);
		assert_int_equal((offset - vaddr) % align, 0);
		assert_true(vaddr >= last); /* in order, and no page is of two */
		memcpy(p + vaddr, file.p + offset, size);
		last = (vaddr + size) / 4096 * 4096;
	}
	uint64_t v[40] = {0};
	for (uint64_t at = dynamic; fx_get(image, at, 8); at += 16)
		if (fx_get(image, at, 8) < 40)
			v[fx_get(image, at, 8)] = fx_get(image, at + 8, 8);
	for (uint64_t r = v[7]; r < v[7] + v[8]; r += 24) {
		uint64_t type = fx_get(image, r + 8, 4), symbol = fx_get(image, r + 12, 4);
		uint64_t value = fx_get(image, r + 16, 8), place = fx_get(image, r, 8);
		if (type == 1 || type == 257)
			value += fx_get(image, v[6] + symbol * 24 + 8, 8);
		assert_true(place + 8 <= image.n);
		put_le(p + place, value, 8);
	}
	return image;
}
