/* Host parts of Windows DLLs that are made here, byte by byte: what changes, what stays, and what is refused. */
#include "unit/fixture_elf.h"
#include "unit/kit.h"

#include "formats/kpack.h"
#include "formats/le.h"

enum { LFANEW = 0x40, COFF = LFANEW + 4, OPT = COFF + 20, TABLE = OPT + 240, HEADERS = 0x400 };
enum {
	FAT = 0x2000,
	WRAPPERS = 0x1000,
	DATA = 0x3000,
	DIRS = OPT + 112,
	FILE_WRAPPERS = HEADERS,
	FILE_FAT = 0x600
};
#define BASE 0x180000000u

static void put_section(struct buf *b, unsigned i, const char *name, const uint32_t v[4])
{
	size_t at = TABLE + 40 * i;
	memcpy(b->p + at, name, strlen(name));
	for (unsigned k = 0; k < 4; k++) /* size in memory, address, size and offset in the file */
		put_le(b->p + at + 8 + 4 * k, v[k], 4);
	put_le(b->p + at + 36, 0x40000040, 4);
}

/* Two bundles; wrappers of the second, the first and the second; data behind them, with relocations, a debug directory,
 * and a signature at the end. *ret_data: offset of the data. */
static struct buf make(struct arena *a, size_t *ret_data)
{
	BUF(b, a);
	BUF(fat, a);
	const struct fx_entry v[] = {{.id = "host-x86_64-unknown-windows-msvc-"},
		{.id = "hipv4-amdgcn-amd-amdhsa--gfx1100", .bytes = S("the first code")},
		{.id = "hipv4-amdgcn-amd-amdhsa--gfx1201", .bytes = S("other code")}};
	static const unsigned order[] = {1, 0, 1};
	buf_add(&fat, fx_bundle(a, v, 3, 16));
	fx_pad(&fat, 512);
	buf_add(&fat, fx_bundle(a, v, 2, 16));
	uint32_t inside = (uint32_t)fat.n;
	fx_pad(&fat, 1024);
	buf_space(&b, FILE_FAT);
	buf_add(&b, buf_str(&fat));
	size_t data = b.n;
	buf_space(&b, 0x200 + 0x10);
	memcpy(b.p, "MZ", 2);
	put_le(b.p + 60, LFANEW, 4);
	memcpy(b.p + LFANEW, "PE\0\0\x64\x86\3", 7);
	put_le(b.p + COFF + 16, 240, 2);
	put_le(b.p + OPT, 0x20b, 2);
	put_le(b.p + OPT + 24, BASE, 8);
	put_le(b.p + OPT + 32, 0x1000, 4);
	put_le(b.p + OPT + 36, 0x200, 4);
	put_le(b.p + OPT + 56, 0x4000, 4);
	put_le(b.p + OPT + 60, HEADERS, 4);
	put_le(b.p + OPT + 64, 0x1234, 4);
	put_le(b.p + OPT + 108, 16, 4);
	put_section(&b, 0, ".hipFatB", (uint32_t[]){72, WRAPPERS, 0x200, FILE_WRAPPERS});
	put_section(&b, 1, ".hip_fat", (uint32_t[]){inside, FAT, 1024, FILE_FAT});
	put_section(&b, 2, ".data", (uint32_t[]){0x200, DATA, 0x200, (uint32_t)data});
	for (unsigned i = 0; i < 3; i++) {
		char *w = b.p + FILE_WRAPPERS + 24 * i;
		put_le(w, 0x48495046, 4);
		put_le(w + 4, 1, 4);
		put_le(w + 8, BASE + FAT + 512 * order[i], 8);
	}
	put_le(b.p + DIRS + 8 * 4, b.n - 0x10, 4); /* the signature, by its offset */
	put_le(b.p + DIRS + 8 * 4 + 4, 0x10, 4);
	put_le(b.p + DIRS + 8 * 5, DATA,
		4); /* relocations: three wrappers, and one of the data itself */
	put_le(b.p + DIRS + 8 * 5 + 4, 28, 4);
	static const unsigned blocks[][2] = {{WRAPPERS, 16}, {DATA, 12}};
	static const unsigned places[] = {0xa008, 0xa020, 0xa038, 0, 0xa100, 0};
	size_t at = data, n = 0;
	for (unsigned i = 0; i < 2; i++) {
		put_le(b.p + at, blocks[i][0], 4);
		put_le(b.p + at + 4, blocks[i][1], 4);
		for (size_t k = at + 8; k < at + blocks[i][1]; k += 2)
			put_le(b.p + k, places[n++], 2);
		at += blocks[i][1];
	}
	put_le(b.p + data + 0x100, BASE + DATA, 8);
	put_le(b.p + DIRS + 8 * 6, DATA + 0x40,
		4); /* the debug directory, which leads behind itself */
	put_le(b.p + DIRS + 8 * 6 + 4, 28, 4);
	put_le(b.p + data + 0x40 + 20, DATA + 0x80, 4);
	put_le(b.p + data + 0x40 + 24, data + 0x80, 4);
	*ret_data = data;
	return b;
}

static void a_host_part_has_all_but_its_bundles(void **state)
{
	struct fixture *f = *state;
	size_t data;
	struct buf b = make(&f->a, &data);
	struct bytes src = bytes_mem(buf_str(&b));
	struct kpack_dll d;
	struct kpack_host h;
	struct str now, path = at(f, "host.dll");
	assert_ok(kpack_dll_open(&f->a, &src, &d));
	assert_int_equal(d.bundles.n, 2);
	assert_int_equal(d.bundles.v[0].entries.n, 3);
	assert_str(d.bundles.v[1].entries.v[1].target, "gfx1100");
	struct str mark = kpack_mark(&f->a, S("bin/x.dll"), S("../.kpack/x_@GFXARCH@.kpack"));
	assert_ok(kpack_dll_save(&d, mark, path));
	assert_ok(fs_read(&f->a, path, 1 << 20, &now));
	/* 1,024 bytes and the signature less, the mark more */
	assert_int_equal(now.n, data + 0x200 - 1024 + 0x200);
	src = bytes_mem(now);
	assert_ok(kpack_host_read(&f->a, &src, &h));
	assert_str(h.name, "bin/x.dll");
	assert_int_equal(h.indexes.n, 2);
	static const unsigned order[] = {1, 0, 1};
	for (unsigned i = 0; i < 3; i++) {
		const char *w = now.p + FILE_WRAPPERS + 24 * i;
		assert_int_equal(le32(w), 0x4b504948);
		assert_true(le64(w + 8) == BASE + 0x4000u);
		assert_int_equal(le64(w + 16), order[i]);
	}
	assert_int_equal(le16(now.p + COFF + 2), 4);
	assert_int_equal(le32(now.p + OPT + 56), 0x5000);
	assert_int_equal(le32(now.p + OPT + 64), 0);
	assert_true(le64(now.p + DIRS + 8 * 4) == 0);
	const char *fat = now.p + TABLE + 40;
	assert_true(le32(fat + 8) == le32(b.p + TABLE + 48) && le32(fat + 12) == FAT);
	assert_true(!le32(fat + 16) && !le32(fat + 20));
	size_t moved = data - 1024;
	put_le(b.p + data + 0x40 + 24, moved + 0x80, 4);
	assert_memory_equal(now.p + moved, b.p + data, 0x200);
	assert_memory_equal(now.p + moved + 0x200, mark.p, mark.n);
	assert_ok(kpack_dll_open(&f->a, &src, &d)); /* it has no bundles any more */
	assert_int_equal(d.bundles.n, 0);
}

/* The host part of make(); *ret_code: its bundles. */
static struct str make_host(struct fixture *f, struct str *ret_code)
{
	size_t data;
	struct buf b = make(&f->a, &data);
	struct bytes src = bytes_mem(buf_str(&b));
	struct kpack_dll d;
	struct str now, path = at(f, "host.dll");
	assert_ok(kpack_dll_open(&f->a, &src, &d));
	assert_ok(kpack_dll_save(&d, kpack_mark(&f->a, S("x.dll"), S("x_@GFXARCH@.kpack")), path));
	assert_ok(fs_read(&f->a, path, 1 << 20, &now));
	*ret_code = (struct str){b.p + FILE_FAT, 1024};
	return now;
}

static void a_host_part_is_filled_in_place_of_its_mark(void **state)
{
	struct fixture *f = *state;
	struct str code, host = make_host(f, &code), now;
	struct bytes src = bytes_mem(host), bundles = bytes_mem(code);
	assert_ok(kpack_dll_fill(&f->a, &src, &bundles, at(f, "full.dll")));
	assert_ok(fs_read(&f->a, at(f, "full.dll"), 1 << 20, &now));
	assert_int_equal(now.n, host.n - 0x200 + 1024);
	assert_memory_equal(now.p + host.n - 0x200, code.p, 1024);
	assert_int_equal(le32(now.p + OPT + 56), 0x5000);
	assert_memory_equal(now.p + TABLE + 40, ".hipgone", 8);
	assert_memory_equal(now.p + TABLE + 120, ".hip_fat", 8);
	static const unsigned order[] = {1, 0, 1};
	for (unsigned i = 0; i < 3; i++) {
		const char *w = now.p + FILE_WRAPPERS + 24 * i;
		assert_int_equal(le32(w), 0x48495046);
		assert_true(le64(w + 8) == BASE + 0x4000u + 512 * order[i]);
		assert_true(le64(w + 16) == 0);
	}
	size_t same = FILE_WRAPPERS + 72;
	assert_memory_equal(now.p + same, host.p + same, host.n - 0x200 - same);
}

static void host_parts_that_lie_are_refused(void **state)
{
	struct fixture *f = *state;
	static const struct {
		size_t at;
		uint64_t value;
		unsigned n;
		enum errcode code;
		const char *says;
	} cases[] = {
		{FILE_WRAPPERS, 0x48495046, 4, E_FORMAT, "a wrapper has no bundle"},
		{FILE_WRAPPERS + 16, 2, 4, E_FORMAT, "a wrapper has no bundle"},
		{FILE_WRAPPERS + 16, 0xffffffff, 4, E_FORMAT, "a wrapper has no bundle"},
		{TABLE + 120, 0x58, 1, E_FORMAT, "its last section is no mark"},
		{TABLE, 0x58, 1, E_FORMAT, "or it has no wrappers"},
		{TABLE + 120 + 12, 0x80000000, 4, E_LIMIT, "2 GiB"},
		{OPT + 60, 0x7fffffff, 4, E_FORMAT, "headers are damaged"},
		{OPT + 36, 0, 4, E_FORMAT, "headers are damaged"},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str code, host = make_host(f, &code), to = at(f, "full.dll");
		struct bytes src = bytes_mem(host), bundles = bytes_mem(code);
		put_le((char *)(uintptr_t)host.p + cases[i].at, cases[i].value, cases[i].n);
		assert_err_says(
			kpack_dll_fill(&f->a, &src, &bundles, to), cases[i].code, cases[i].says);
		assert_false(fs_present(to));
	}
	struct str code, host = make_host(f, &code);
	struct bytes bundles = bytes_mem(code);
	for (size_t n = 0; n < host.n; n += 7) {
		ARENA(a);
		struct bytes src = bytes_mem((struct str){host.p, n});
		struct err *e = kpack_dll_fill(&a, &src, &bundles, at(f, "cut.dll"));
		assert_true(e || n > host.n - 0x200);
		err_free(e);
	}
}

static void images_that_lie_are_refused(void **state)
{
	struct fixture *f = *state;
	enum { D = 0x10000 }; /* an offset in the data */
	static const struct {
		size_t at;
		uint64_t value;
		unsigned n;
		const char *says;
	} cases[] = {
		{FILE_WRAPPERS + 8, BASE + FAT + 16, 8, "leads to no bundle"},
		{FILE_WRAPPERS + 8, 0, 8, "leads to no bundle"},
		{FILE_WRAPPERS + 24, 0x11111111, 4, "not all of .hipFatB are wrappers"},
		{TABLE + 8, 8, 4, "there is no wrapper"},
		{TABLE, 0x58, 1, "or no wrappers"},
		{D + 0x100, BASE + FAT + 512, 8, "a pointer at it is in no wrapper"},
		{D + 4, 4, 4, "relocations are damaged"},
		{D + 4, 0xffffffff, 4, "relocations are damaged"},
		{DIRS + 8 * 6, 0x100000, 4, "debug directory is damaged"},
		{DIRS + 8 * 6, FAT, 4, "debug directory is damaged"},
		{DIRS + 8 * 6 + 4, 0x200, 4, "debug directory is damaged"},
		{DIRS + 8 * 6 + 4, 0xffffffff, 4, "debug directory is damaged"},
		{OPT, 0x10b, 2, "no 64-bit image"},
		{OPT + 108, 2, 4, "no 64-bit image"},
		{OPT + 36, 0, 4, "headers are damaged"},
		{OPT + 32, 0, 4, "headers are damaged"},
		{OPT + 60, 0x7fffffff, 4, "headers are damaged"},
		{OPT + 60, TABLE + 3 * 40 + 39, 4, "no room for one more section"},
		{TABLE + 3 * 40 + 8, 1, 1, "no room for one more section"},
		{OPT + 36, 0x400, 4, "not aligned"},
		{TABLE + 2 * 40 + 20, FILE_FAT + 0x200, 4, "sections overlap"},
		{FILE_FAT + 0x1f0, 1, 1, "is no bundle"},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		size_t data;
		struct buf b = make(&a, &data);
		struct kpack_dll d;
		struct bytes src = bytes_mem(buf_str(&b));
		size_t place = cases[i].at >= D ? cases[i].at - D + data : cases[i].at;
		put_le(b.p + place, cases[i].value, cases[i].n);
		assert_err_says(kpack_dll_open(&a, &src, &d), E_FORMAT, cases[i].says);
	}
	size_t data;
	struct buf b = make(&f->a, &data);
	for (size_t n = 0; n < b.n; n += 7) { /* cut off anywhere: an error, or no bundle */
		ARENA(a);
		struct kpack_dll d;
		struct bytes src = bytes_mem((struct str){b.p, n});
		struct err *e = kpack_dll_open(&a, &src, &d);
		assert_true(e || !d.bundles.n || n > data);
		err_free(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_host_part_has_all_but_its_bundles, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_host_part_is_filled_in_place_of_its_mark, setup, teardown),
		cmocka_unit_test_setup_teardown(host_parts_that_lie_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(images_that_lie_are_refused, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
