/* Fixtures for device code: tiny ELF code objects and offload bundles, written byte by byte from
 * the format documents, not by the code under test. */
#pragma once

#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/hash.h"
#include "formats/le.h"
#include "unit/test.h"

static inline void fx_le(struct buf *b, uint64_t v, unsigned bytes)
{
	char *p = buf_space(b, bytes);
	put_le(p, v, bytes);
}

static inline void fx_pad(struct buf *b, size_t to)
{
	if (b->n < to)
		buf_space(b, to - b->n);
}

static inline void fx_set(struct buf *b, size_t at, uint64_t v, unsigned bytes)
{
	put_le(b->p + at, v, bytes);
}

/* How a code object looks like; zeroed members get sensible values. */
struct fx_object {
	unsigned flags;     /* e_flags; 0 = gfx1100 (0x41) */
	unsigned abi;       /* EI_ABIVERSION; 0 = 4 (V6), 255 = really 0 */
	unsigned kernels;   /* pairs of NAME and NAME.kd */
	bool gnu_hash;      /* DT_GNU_HASH instead of DT_HASH */
	bool sections;      /* with a section table: .dynsym, .debug_info, .shstrtab */
	struct str note;    /* content of PT_NOTE */
	size_t pad;         /* bytes of .text */
	const char *prefix; /* of kernel names, "k" */
};

enum {
	FX_PHDRS = 64,
	FX_DYNSYM = 0x200,
};

static inline void fx_symbol(struct buf *b, size_t name, unsigned info, size_t size)
{
	fx_le(b, name, 4);
	fx_le(b, info, 1);
	fx_le(b, 3, 1); /* protected */
	fx_le(b, 6, 2);
	fx_le(b, 0x1000, 8);
	fx_le(b, size, 8);
}

static inline void fx_phdr(struct buf *b, size_t i, unsigned type, size_t offset, size_t size)
{
	size_t at = FX_PHDRS + i * 56;
	fx_set(b, at, type, 4);
	fx_set(b, at + 4, 4, 4);
	fx_set(b, at + 8, offset, 8);
	fx_set(b, at + 16, offset, 8);
	fx_set(b, at + 24, offset, 8);
	fx_set(b, at + 32, size, 8);
	fx_set(b, at + 40, size, 8);
	fx_set(b, at + 48, 0x1000, 8);
}

static inline void fx_section(
	struct buf *b, unsigned name, unsigned type, size_t offset, size_t size)
{
	fx_le(b, name, 4);
	fx_le(b, type, 4);
	fx_le(b, 0, 8);
	fx_le(b, 0, 8);
	fx_le(b, offset, 8);
	fx_le(b, size, 8);
	fx_le(b, 0, 8);
	fx_le(b, 1, 8);
	fx_le(b, 0, 8);
}

static inline void fx_sections(struct buf *b, size_t dynsym, size_t nsym)
{
	static const char names[] = "\0.dynsym\0.debug_info\0.debug_line\0.shstrtab";
	size_t debug = b->n;
	fx_le(b, 0x1122334455667788, 8);
	fx_le(b, 0x1122334455667788, 8);
	size_t strings = b->n;
	buf_add(b, (struct str){.p = names, .n = sizeof(names)});
	fx_pad(b, (b->n + 7) / 8 * 8);
	size_t table = b->n;
	fx_section(b, 0, 0, 0, 0);
	fx_section(b, 1, 11, dynsym, nsym * 24);
	fx_section(b, 9, 1, debug, 10);
	fx_section(b, 21, 1, debug + 10, 6);
	fx_section(b, 33, 3, strings, sizeof(names));
	fx_set(b, 40, table, 8);
	fx_set(b, 58, 64, 2);
	fx_set(b, 60, 5, 2);
	fx_set(b, 62, 4, 2);
}

static inline void fx_dynamic(struct buf *b, const struct fx_object *o, const size_t v[4])
{
	size_t from = b->n;
	fx_le(b, 6, 8); /* DT_SYMTAB */
	fx_le(b, v[0], 8);
	fx_le(b, 5, 8); /* DT_STRTAB */
	fx_le(b, v[1], 8);
	fx_le(b, 10, 8); /* DT_STRSZ */
	fx_le(b, v[2], 8);
	fx_le(b, o->gnu_hash ? 0x6ffffef5 : 4, 8);
	fx_le(b, v[3], 8);
	fx_le(b, 0, 16);
	fx_phdr(b, 1, 2, from, b->n - from);
}

static inline void fx_hash(struct buf *b, const struct fx_object *o, size_t nsym)
{
	if (!o->gnu_hash) {
		fx_le(b, 1, 4);
		fx_le(b, nsym, 4);
		fx_pad(b, b->n + 4 + nsym * 4);
		return;
	}
	fx_le(b, 1, 4); /* one bucket */
	fx_le(b, 1, 4); /* first hashed symbol */
	fx_le(b, 1, 4); /* one word of bloom filter */
	fx_le(b, 0, 4);
	fx_le(b, ~UINT64_C(0), 8);
	fx_le(b, nsym > 1 ? 1 : 0, 4);
	for (size_t i = 1; i < nsym; i++)
		fx_le(b, i + 1 == nsym, 4); /* the last one ends the chain */
}

/* A code object with DT_SYMTAB, DT_HASH (or DT_GNU_HASH) and DT_STRTAB. */
static inline struct str fx_code_object(struct arena *a, struct fx_object o)
{
	BUF(b, a);
	BUF(names, a);
	buf_char(&names, 0);
	buf_add(&b, (struct str){.p = "\177ELF\2\1\1\100", .n = 8});
	fx_le(&b, o.abi == 255 ? 0 : o.abi ? o.abi : 4, 8);
	fx_le(&b, 3, 2);   /* ET_DYN */
	fx_le(&b, 224, 2); /* EM_AMDGPU */
	fx_le(&b, 1, 4);
	fx_pad(&b, 32);
	fx_le(&b, FX_PHDRS, 8);
	fx_le(&b, 0, 8);
	fx_le(&b, o.flags ? o.flags : 0x41, 4);
	fx_le(&b, 64, 2);
	fx_le(&b, 56, 2);
	fx_le(&b, 3, 2);
	fx_pad(&b, FX_DYNSYM);
	size_t nsym = 1 + o.kernels * 2u, note, v[4];
	v[0] = b.n;
	fx_symbol(&b, 0, 0, 0);
	for (unsigned i = 0; i < o.kernels; i++) {
		fx_symbol(&b, names.n, 0x12, 256); /* GLOBAL FUNC */
		buf_fmt(&names, "%s%u", o.prefix ? o.prefix : "k", i);
		buf_char(&names, 0);
		fx_symbol(&b, names.n, 0x11, 64); /* GLOBAL OBJECT */
		buf_fmt(&names, "%s%u.kd", o.prefix ? o.prefix : "k", i);
		buf_char(&names, 0);
	}
	v[3] = b.n;
	fx_hash(&b, &o, nsym);
	v[1] = b.n;
	v[2] = names.n;
	buf_add(&b, buf_str(&names));
	fx_pad(&b, (b.n + 7) / 8 * 8);
	note = b.n;
	buf_add(&b, o.note);
	fx_pad(&b, (b.n + 255) / 256 * 256 + o.pad);
	fx_dynamic(&b, &o, v);
	fx_phdr(&b, 0, 1, 0, b.n);
	fx_phdr(&b, 2, o.note.n ? 4 : 0x6474e551, note, o.note.n);
	if (o.sections)
		fx_sections(&b, v[0], nsym);
	return buf_str(&b);
}

struct fx_entry {
	const char *id;
	struct str bytes;
};

/* A SPIR-V module with a shader and with kernels of these names, which end with NULL. */
static inline struct str fx_spirv(struct arena *a, const char *const *names)
{
	enum { CAPABILITY = 17, ENTRY_POINT = 15, FUNCTION = 54, KERNEL = 6, SHADER = 5 };
	BUF(b, a);
	fx_le(&b, 0x07230203, 4);
	fx_le(&b, 0x10600, 4);
	fx_pad(&b, 20);
	fx_le(&b, 2 << 16 | CAPABILITY, 4);
	fx_le(&b, KERNEL, 4);
	fx_le(&b, 4 << 16 | ENTRY_POINT, 4);
	fx_le(&b, SHADER, 4);
	fx_le(&b, 1, 4);
	buf_add(&b, (struct str){.p = "sh\0", .n = 4});
	for (unsigned id = 2; *names; names++, id++) {
		size_t n = strlen(*names) / 4 * 4 + 4, at = b.n;
		fx_le(&b, (unsigned)(3 + n / 4) << 16 | ENTRY_POINT, 4);
		fx_le(&b, KERNEL, 4);
		fx_le(&b, id, 4);
		buf_add(&b, str_from(*names));
		fx_pad(&b, at + 12 + n);
	}
	fx_le(&b, 5 << 16 | FUNCTION, 4);
	fx_pad(&b, b.n + 16);
	return buf_str(&b);
}

/* A raw bundle: table, then the entries at multiples of align. */
static inline struct str fx_bundle(
	struct arena *a, const struct fx_entry *v, size_t n, size_t align)
{
	BUF(b, a);
	size_t at = 32;
	for (size_t i = 0; i < n; i++)
		at += 24 + strlen(v[i].id);
	buf_add(&b, S("__CLANG_OFFLOAD_BUNDLE__"));
	fx_le(&b, n, 8);
	for (size_t i = 0; i < n; i++) {
		at = (at + align - 1) / align * align;
		fx_le(&b, at, 8);
		fx_le(&b, v[i].bytes.n, 8);
		fx_le(&b, strlen(v[i].id), 8);
		buf_add(&b, str_from(v[i].id));
		at += v[i].bytes.n;
	}
	for (size_t i = 0; i < n; i++) {
		if (v[i].bytes.n)
			fx_pad(&b, (b.n + align - 1) / align * align);
		buf_add(&b, v[i].bytes);
	}
	return buf_str(&b);
}

static inline struct str fx_deflate(struct arena *a, struct str raw)
{
	uLongf n = compressBound(raw.n);
	char *p = arena_alloc(a, n);
	assert_int_equal(
		compress2((Bytef *)p, &n, (const Bytef *)raw.p, raw.n, Z_BEST_COMPRESSION), Z_OK);
	return (struct str){.p = p, .n = n};
}

static inline struct str fx_zstd(struct arena *a, struct str raw)
{
	size_t cap = ZSTD_compressBound(raw.n);
	char *p = arena_alloc(a, cap);
	size_t n = ZSTD_compress(p, cap, raw.p, raw.n, 3);
	assert_false(ZSTD_isError(n));
	return (struct str){.p = p, .n = n};
}

/* The header of a compressed bundle, versions 1 to 3. */
static inline struct str fx_ccob(struct arena *a, struct str raw, unsigned version, bool zstd)
{
	BUF(b, a);
	struct str payload = zstd ? fx_zstd(a, raw) : fx_deflate(a, raw);
	unsigned width = version == 3 ? 8 : 4;
	static const unsigned header[] = {0, 20, 24, 32};
	struct digest md5 = hash_bytes(HASH_MD5, raw.p, raw.n);
	buf_add(&b, S("CCOB"));
	fx_le(&b, version, 2);
	fx_le(&b, zstd, 2);
	if (version > 1)
		fx_le(&b, header[version] + payload.n, width);
	fx_le(&b, raw.n, width);
	buf_add(&b, (struct str){.p = (const char *)md5.b, .n = 8});
	buf_add(&b, payload);
	return buf_str(&b);
}

/* ---- host files, as linkers make them ---- */
struct fx_host_section {
	const char *name;
	unsigned type, flags; /* sh_type (0 = PROGBITS), sh_flags (0 = ALLOC) */
	struct str bytes;
	size_t align; /* 0 = 4096 */
};

struct fx_host {
	const struct fx_host_section *v;
	size_t n;
	bool stripped; /* without a section table */
};

static inline struct str host_elf(struct arena *a, struct fx_host h)
{
	BUF(b, a);
	BUF(names, a);
	size_t offsets[16] = {0};
	buf_add(&b, (struct str){.p = "\177ELF\2\1\1\0", .n = 8});
	fx_pad(&b, 16);
	fx_le(&b, 3, 2);
	fx_le(&b, 62, 2); /* EM_X86_64 */
	fx_le(&b, 1, 4);
	fx_pad(&b, 32);
	fx_le(&b, 64, 8);
	fx_pad(&b, 52);
	fx_le(&b, 64, 2);
	fx_le(&b, 56, 2);
	fx_le(&b, 1, 2);
	fx_pad(&b, 64 + 56);
	for (size_t i = 0; i < h.n; i++) {
		size_t align = h.v[i].align ? h.v[i].align : 4096;
		fx_pad(&b, (b.n + align - 1) / align * align);
		offsets[i] = b.n;
		if (h.v[i].type != 8)
			buf_add(&b, h.v[i].bytes);
	}
	fx_phdr(&b, 0, 1, 0, b.n);
	if (h.stripped)
		return buf_str(&b);
	size_t at[16];
	buf_char(&names, 0);
	for (size_t i = 0; i < h.n; i++) {
		at[i] = names.n;
		buf_fmt(&names, "%s", h.v[i].name);
		buf_char(&names, 0);
	}
	size_t strings = b.n;
	buf_add(&b, buf_str(&names));
	fx_pad(&b, (b.n + 7) / 8 * 8);
	size_t table = b.n;
	fx_section(&b, 0, 0, 0, 0);
	for (size_t i = 0; i < h.n; i++) {
		size_t header = b.n;
		fx_section(&b, (unsigned)at[i], h.v[i].type ? h.v[i].type : 1, offsets[i],
			h.v[i].bytes.n);
		fx_set(&b, header + 8, h.v[i].flags ? h.v[i].flags : 2, 8);
		fx_set(&b, header + 16, offsets[i], 8);
	}
	fx_section(&b, 0, 3, strings, names.n);
	fx_set(&b, 40, table, 8);
	fx_set(&b, 58, 64, 2);
	fx_set(&b, 60, h.n + 2, 2);
	fx_set(&b, 62, h.n + 1, 2);
	return buf_str(&b);
}

/* A DLL of these sections, with names of 8 bytes. */
static inline struct str fx_dll(struct arena *a, const struct fx_host_section *v, size_t n)
{
	BUF(b, a);
	buf_add(&b, S("MZ"));
	fx_pad(&b, 60);
	fx_le(&b, 64, 4);
	buf_add(&b, (struct str){"PE\0\0\x64\x86", 6});
	fx_le(&b, n, 2);
	fx_pad(&b, 64 + 24 + 40 * n);
	for (size_t i = 0; i < n; i++) {
		size_t at = 64 + 24 + 40 * i;
		fx_pad(&b, (b.n + 511) / 512 * 512);
		memcpy(b.p + at, v[i].name, strlen(v[i].name));
		fx_set(&b, at + 8, v[i].bytes.n, 4);
		fx_set(&b, at + 16, v[i].bytes.n, 4);
		fx_set(&b, at + 20, b.n, 4);
		buf_add(&b, v[i].bytes);
	}
	return buf_str(&b);
}
