/* The zip reader on archives that are wrong in one place each, cut at every byte, or fine. The base
 * archive is written out by hand here, so that neither writer nor Python decides what is in it. */
#include "test.h"

#include <unistd.h>

#include "base/proc.h"
#include "formats/le.h"
#include "formats/zip_format.h"

/* Two stored members: local headers at 0 and 40, directory at 80 (2 x 51), end record at 182. */
enum { SECOND = 40, DIR1 = 80, DIR2 = 131, END = 182, SIZE = 204 };
static const uint32_t crc_hello = 0x3610a686, crc_world = 0x3a771143;

static void put_str(struct buf *b, const char *text)
{
	buf_add(b, str_from(text));
}

static void put_header(struct buf *b, bool central, const char *name, uint32_t crc, uint64_t at)
{
	buf_le(b, central ? ZIP_CENTRAL : ZIP_LOCAL, 4);
	if (central)
		buf_le(b, 3 << 8 | 20, 2);
	buf_le(b, 10, 2);
	buf_le(b, 0, 4);
	buf_le(b, 0x21 << 16, 4);
	buf_le(b, crc, 4);
	buf_le(b, 5, 4);
	buf_le(b, 5, 4);
	buf_le(b, strlen(name), 2);
	buf_le(b, 0, 2);
	if (central) {
		buf_le(b, 0, 6);
		buf_le(b, (uint64_t)0100644 << 16, 4);
		buf_le(b, at, 4);
	}
	put_str(b, name);
}

static void put_end(struct buf *b, unsigned n, uint64_t size, uint64_t at)
{
	buf_le(b, ZIP_END, 4);
	buf_le(b, 0, 4);
	buf_le(b, n, 2);
	buf_le(b, n, 2);
	buf_le(b, size, 4);
	buf_le(b, at, 4);
	buf_le(b, 0, 2);
}

static char *base_archive(struct arena *a)
{
	struct buf *b = NEW(a, struct buf);
	b->a = a;
	put_header(b, false, "a.txt", crc_hello, 0);
	put_str(b, "hello");
	put_header(b, false, "b.txt", crc_world, 0);
	put_str(b, "world");
	put_header(b, true, "a.txt", crc_hello, 0);
	put_header(b, true, "b.txt", crc_world, SECOND);
	put_end(b, 2, 102, DIR1);
	assert_int_equal(b->n, SIZE);
	return b->p;
}

/* Opens and reads everything; the ids of all findings, and "content" for what does not unpack. */
static struct str look(struct arena *a, struct str bytes)
{
	struct strs ids = {0};
	struct findings found = {0};
	struct zip z;
	struct bytes src = bytes_mem(bytes);
	struct err *e = zip_open_src(a, &src, S("x.zip"), &found, &z);
	if (e) {
		assert_true(e->code == E_ZIP || e->code == E_LIMIT || e->code == E_ELF);
		err_free(e);
		return S("refused");
	}
	VEC_EACH (struct finding, f, &found)
		if (!strs_has(&ids, str_from(f->id)))
			strs_add(a, &ids, str_from(f->id));
	VEC_EACH (struct zip_member, m, &z.members) {
		struct str text;
		e = m->dir ? NULL : zip_read(a, &z, m, 1 << 20, &text);
		if (e && !m->unsafe && !strs_has(&ids, S("content")))
			strs_add(a, &ids, S("content"));
		err_free(e);
	}
	strs_sort(&ids);
	return str_join(a, &ids, S(" "));
}

static void a_good_archive_has_no_findings(void **state)
{
	(void)state;
	ARENA(a);
	struct str bytes = {.p = base_archive(&a), .n = SIZE}, text;
	struct bytes src = bytes_mem(bytes);
	struct zip z;
	assert_str(look(&a, bytes), "");
	assert_ok(zip_open_src(&a, &src, S("x.zip"), NULL, &z));
	assert_int_equal(z.members.n, 2);
	const struct zip_member *m = zip_find(&z, S("b.txt"));
	assert_non_null(m);
	assert_int_equal(m->mode, 0100644);
	assert_int_equal(m->header, SECOND);
	assert_ok(zip_read(&a, &z, m, 5, &text));
	assert_str(text, "world");
	assert_err_says(zip_read(&a, &z, m, 4, &text), E_LIMIT, "b.txt");
	assert_null(zip_find(&z, S("c.txt")));
}

static void one_wrong_byte_is_found(void **state)
{
	(void)state;
	static const struct {
		const char *what, *want;
		unsigned at, n; /* bytes to replace */
		uint64_t value;
	} cases[] = {
		{.what = "local signature",
			.at = 0,
			.n = 1,
			.value = 'X',
			.want = "zip-gap zip-local-header"},
		{.what = "local flags", .at = 6, .n = 2, .value = 2, .want = "zip-local-header"},
		{.what = "local method", .at = 8, .n = 2, .value = 8, .want = "zip-local-header"},
		{.what = "local crc", .at = 14, .n = 1, .value = 1, .want = "zip-local-header"},
		{.what = "local stored", .at = 18, .n = 4, .value = 6, .want = "zip-local-header"},
		{.what = "local size", .at = 22, .n = 4, .value = 4, .want = "zip-local-header"},
		{.what = "local zip64 without field",
			.at = 22,
			.n = 4,
			.value = 0xffffffff,
			.want = "zip-local-header zip-zip64"},
		{.what = "local name", .at = 30, .n = 1, .value = 'x', .want = "zip-local-header"},
		{.what = "local name length",
			.at = 26,
			.n = 2,
			.value = 4,
			.want = "content zip-gap zip-local-header"},
		{.what = "local name far too long",
			.at = 26,
			.n = 2,
			.value = 999,
			.want = "zip-gap zip-local-header"},
		{.what = "data", .at = 35, .n = 1, .value = 'H', .want = "content"},
		{.what = "crc in both",
			.at = DIR1 + 16,
			.n = 1,
			.value = 9,
			.want = "content zip-local-header"},
		{.what = "version made by DOS", .at = DIR1 + 5, .n = 1, .value = 0, .want = ""},
		{.what = "encrypted",
			.at = DIR1 + 8,
			.n = 2,
			.value = 1,
			.want = "zip-encrypted zip-local-header"},
		{.what = "data descriptor flag",
			.at = DIR1 + 8,
			.n = 2,
			.value = 8,
			.want = "zip-data-descriptor zip-local-header"},
		{.what = "method bzip2",
			.at = DIR1 + 10,
			.n = 2,
			.value = 12,
			.want = "zip-local-header zip-method"},
		{.what = "method deflate",
			.at = DIR1 + 10,
			.n = 2,
			.value = 8,
			.want = "content zip-local-header"},
		{.what = "stored smaller",
			.at = DIR1 + 20,
			.n = 4,
			.value = 4,
			.want = "zip-gap zip-local-header zip-size"},
		{.what = "stored larger",
			.at = DIR1 + 20,
			.n = 4,
			.value = 60,
			.want = "zip-gap zip-local-header zip-overlap zip-size"},
		{.what = "stored beyond",
			.at = DIR2 + 20,
			.n = 4,
			.value = 600,
			.want = "zip-gap zip-local-header zip-overlap zip-size"},
		{.what = "central zip64 without field",
			.at = DIR1 + 24,
			.n = 4,
			.value = 0xffffffff,
			.want = "zip-local-header zip-size zip-zip64"},
		{.what = "name to an absolute one",
			.at = DIR1 + 46,
			.n = 1,
			.value = '/',
			.want = "zip-local-header zip-unsafe-name"},
		{.what = "name with backslash",
			.at = DIR1 + 47,
			.n = 1,
			.value = '\\',
			.want = "zip-local-header zip-unsafe-name"},
		{.what = "name with NUL",
			.at = DIR1 + 47,
			.n = 1,
			.value = 0,
			.want = "zip-local-header zip-unsafe-name"},
		{.what = "name with drive",
			.at = DIR1 + 47,
			.n = 1,
			.value = ':',
			.want = "zip-local-header zip-unsafe-name"},
		{.what = "name not UTF-8",
			.at = DIR1 + 46,
			.n = 1,
			.value = 0xff,
			.want = "zip-local-header zip-name-encoding"},
		{.what = "name twice",
			.at = DIR2 + 46,
			.n = 1,
			.value = 'a',
			.want = "zip-duplicate-name zip-local-header"},
		{.what = "name but for case",
			.at = DIR2 + 46,
			.n = 1,
			.value = 'A',
			.want = "zip-case-duplicate zip-local-header"},
		{.what = "name with dots",
			.at = DIR1 + 46,
			.n = 3,
			.value = 0x2f2e2e,
			.want = "zip-local-header zip-unsafe-name"},
		{.what = "symlink",
			.at = DIR1 + 40,
			.n = 2,
			.value = 0120777,
			.want = "zip-symlink"},
		{.what = "device",
			.at = DIR1 + 40,
			.n = 2,
			.value = 0020666,
			.want = "zip-special-file"},
		{.what = "folder with content",
			.at = DIR1 + 50,
			.n = 1,
			.value = '/',
			.want = "zip-local-header zip-special-file"},
		{.what = "offset into the other",
			.at = DIR2 + 42,
			.n = 4,
			.value = 0,
			.want = "content zip-gap zip-local-header zip-overlap"},
		{.what = "offset to nowhere",
			.at = DIR2 + 42,
			.n = 4,
			.value = 3,
			.want = "zip-gap zip-local-header"},
		{.what = "offset behind all",
			.at = DIR2 + 42,
			.n = 4,
			.value = 0x7fffffff,
			.want = "zip-gap zip-local-header"},
		{.what = "directory signature", .at = DIR2, .n = 1, .value = 0, .want = "refused"},
		{.what = "central name length",
			.at = DIR2 + 28,
			.n = 2,
			.value = 500,
			.want = "refused"},
		{.what = "disk", .at = END + 4, .n = 2, .value = 1, .want = "zip-multi-disk"},
		{.what = "count too small",
			.at = END + 8,
			.n = 4,
			.value = 0x10001,
			.want = "zip-directory zip-gap"},
		{.what = "count too large",
			.at = END + 8,
			.n = 4,
			.value = 0x30003,
			.want = "refused"},
		{.what = "counts differ",
			.at = END + 8,
			.n = 2,
			.value = 1,
			.want = "zip-multi-disk"},
		{.what = "directory beyond",
			.at = END + 16,
			.n = 4,
			.value = 0x1000,
			.want = "refused"},
		{.what = "directory earlier",
			.at = END + 16,
			.n = 4,
			.value = 70,
			.want = "zip-gap zip-local-header"},
		{.what = "directory wide without record",
			.at = END + 16,
			.n = 4,
			.value = 0xffffffff,
			.want = "refused"},
		{.what = "comment length", .at = END + 20, .n = 2, .value = 1, .want = "refused"},
		{.what = "end signature", .at = END, .n = 1, .value = 'Q', .want = "refused"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		char *p = base_archive(&a);
		put_le(p + cases[i].at, cases[i].value, cases[i].n);
		struct str got = look(&a, (struct str){.p = p, .n = SIZE});
		if (!str_eq(got, str_from(cases[i].want)))
			print_error("%s:\n", cases[i].what);
		assert_str(got, cases[i].want);
	}
}

/* Every archive that lost its end is refused: none of the cuts leaves a valid one. */
static void cut_at_every_byte(void **state)
{
	(void)state;
	ARENA(a);
	char *whole = base_archive(&a);
	for (size_t n = 0; n < SIZE; n++) {
		ARENA(tmp);
		char *p = arena_alloc(&tmp, n + 1);
		memcpy(p, whole, n);
		assert_str(look(&tmp, (struct str){.p = p, .n = n}), "refused");
	}
}

/* Whatever a changed byte does, it is found: no byte of a zip file without ZIP64 is free, but for
 * times, versions, attributes. */
static void every_byte_that_matters_is_checked(void **state)
{
	(void)state;
	static const struct {
		unsigned from, to;
	} free_bytes[] = {{4, 6}, {10, 14}, {SECOND + 4, SECOND + 6}, {SECOND + 10, SECOND + 14},
		{DIR1 + 4, DIR1 + 8}, {DIR1 + 12, DIR1 + 16}, {DIR1 + 34, DIR1 + 42},
		{DIR2 + 4, DIR2 + 8}, {DIR2 + 12, DIR2 + 16}, {DIR2 + 34, DIR2 + 42}};
	for (unsigned i = 0; i < SIZE; i++) {
		ARENA(a);
		bool is_free = false;
		for (size_t k = 0; k < sizeof(free_bytes) / sizeof(free_bytes[0]); k++)
			is_free = is_free || (i >= free_bytes[k].from && i < free_bytes[k].to);
		char *p = base_archive(&a);
		p[i] = (char)(p[i] ^ 0x5a);
		struct str got = look(&a, (struct str){.p = p, .n = SIZE});
		if (!is_free && !got.n)
			fail_msg("changing byte %u goes unnoticed", i);
	}
}

static struct str joined(struct arena *a, struct str x, struct str y, struct str z)
{
	BUF(b, a);
	buf_add(&b, x);
	buf_add(&b, y);
	buf_add(&b, z);
	return buf_str(&b);
}

static void bytes_around_and_between_are_found(void **state)
{
	(void)state;
	ARENA(a);
	struct str whole = {.p = base_archive(&a), .n = SIZE}, none = {0};
	assert_str(look(&a, joined(&a, whole, S("extra"), none)), "zip-trailing-bytes");
	assert_str(look(&a, joined(&a, S("#!/bin/sh\n"), whole, none)), "zip-gap");
	assert_str(
		look(&a, joined(&a, str_sub(whole, 0, END), S("gap"), str_sub(whole, END, SIZE))),
		"zip-gap");
	/* a comment that is long enough */
	struct str commented = joined(&a, whole, S("hello"), none);
	put_le((char *)(uintptr_t)commented.p + END + 20, 5, 2);
	assert_str(look(&a, commented), "zip-comment");
	/* one archive behind the other: the first is what nobody sees */
	assert_str(look(&a, joined(&a, whole, whole, none)), "zip-gap");
	assert_str(look(&a, none), "refused");
	assert_str(look(&a, S("PK\5\6 and then some text, but no archive")), "refused");
}

static void an_empty_archive_is_fine(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	put_end(&b, 0, 0, 0);
	assert_str(look(&a, buf_str(&b)), "");
}

/* ---- ZIP64: Python writes, unzip agrees, then one thing is spoilt ---- */

/* A member with a forced ZIP64 local header, and one end record with locator. */
static struct str zip64_archive(struct arena *a, struct zip_limits lim)
{
	struct str dir = test_dir(a), path = path_join(a, dir, S("z.zip")), bytes;
	struct zip_input v[] = {
		{.name = S("a.txt"), .content = S("hello"), .mode = 0644},
		{.name = S("b.txt"), .content = S("world"), .mode = 0644},
	};
	struct zip_writer w = {.path = path, .jobs = 1, .v = v, .n = 2, .limits = lim};
	assert_ok(zip_write(a, &w, NULL));
	assert_ok(fs_read(a, path, 1 << 20, &bytes));
	test_dir_remove(dir);
	return bytes;
}

static void zip64_is_read_and_checked(void **state)
{
	(void)state;
	ARENA(a);
	struct zip_limits lim = {.size = 5, .count = 2, .chunk = 1 << 20};
	struct str bytes = zip64_archive(&a, lim);
	assert_str(look(&a, bytes), "");
	/* local: 30 + 5 + 20 + 5 = 60 each; central: 46 + 5 + 4 + 16 (size, stored), + 8 offset */
	enum { DIR = 120, SECOND_DIR = DIR + 71, END64 = SECOND_DIR + 79, LOCATOR = END64 + 56 };
	static const struct {
		const char *what, *want;
		unsigned at, n;
		uint64_t value;
	} cases[] = {
		{.what = "local field of 8 bytes",
			.at = 37,
			.n = 2,
			.value = 8,
			.want = "zip-local-header zip-zip64"},
		{.what = "local field under another id",
			.at = 35,
			.n = 2,
			.value = 0x9999,
			.want = "zip-local-header zip-zip64"},
		{.what = "local size", .at = 39, .n = 1, .value = 6, .want = "zip-local-header"},
		{.what = "local size not marked",
			.at = 22,
			.n = 4,
			.value = 5,
			.want = "zip-zip64"},
		{.what = "central stored not marked",
			.at = DIR + 20,
			.n = 4,
			.value = 5,
			.want = "zip-zip64"},
		{.what = "central size huge",
			.at = DIR + 55,
			.n = 8,
			.value = UINT64_MAX - 1,
			.want = "zip-bomb zip-local-header zip-size"},
		{.what = "central stored huge",
			.at = DIR + 63,
			.n = 8,
			.value = UINT64_MAX - 1,
			.want = "zip-local-header zip-overlap zip-size"},
		{.what = "central offset huge",
			.at = SECOND_DIR + 71,
			.n = 8,
			.value = UINT64_MAX - 1,
			.want = "zip-gap zip-local-header"},
		{.what = "central field cut short",
			.at = DIR + 53,
			.n = 2,
			.value = 8,
			.want = "zip-zip64"},
		{.what = "end64 length", .at = END64 + 4, .n = 8, .value = 45, .want = "zip-zip64"},
		{.what = "end64 length huge",
			.at = END64 + 4,
			.n = 8,
			.value = UINT64_MAX,
			.want = "zip-zip64"},
		{.what = "end64 count", .at = END64 + 32, .n = 8, .value = 3, .want = "refused"},
		{.what = "end64 counts differ",
			.at = END64 + 24,
			.n = 8,
			.value = 3,
			.want = "zip-zip64"},
		{.what = "end64 directory size huge",
			.at = END64 + 40,
			.n = 8,
			.value = UINT64_MAX,
			.want = "refused"},
		{.what = "end64 directory offset huge",
			.at = END64 + 48,
			.n = 8,
			.value = UINT64_MAX - 100,
			.want = "refused"},
		{.what = "end64 disk",
			.at = END64 + 16,
			.n = 4,
			.value = 1,
			.want = "zip-multi-disk"},
		{.what = "locator disks",
			.at = LOCATOR + 16,
			.n = 4,
			.value = 2,
			.want = "zip-multi-disk"},
		{.what = "locator gone", .at = LOCATOR, .n = 1, .value = 0, .want = "refused"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str copy = str_dup(&a, bytes);
		put_le((char *)(uintptr_t)copy.p + cases[i].at, cases[i].value, cases[i].n);
		struct str got = look(&a, copy);
		if (!str_contains(got, str_from(cases[i].want)))
			print_error(
				"%s: '%.*s', want '%s'\n", cases[i].what, STR(got), cases[i].want);
		assert_true(str_contains(got, str_from(cases[i].want)));
	}
}

/* pypa/wheel#692: the central field (here: the offset) copied into the local header. */
static void a_central_field_in_a_local_header_is_found(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	put_header(&b, false, "a.txt", crc_hello, 0);
	put_le(b.p + 28, 12, 2);
	buf_le(&b, 1, 2);
	buf_le(&b, 8, 2);
	buf_le(&b, 0, 8);
	put_str(&b, "hello");
	uint64_t dir = b.n;
	put_header(&b, true, "a.txt", crc_hello, 0);
	put_end(&b, 1, b.n - dir, dir);
	assert_str(look(&a, buf_str(&b)), "zip-zip64");
}

/* ---- data ---- */

static void descriptors_are_read(void **state)
{
	(void)state;
	static const unsigned sizes[] = {12, 16, 20, 24, 14};
	for (size_t i = 0; i < 5; i++) {
		ARENA(a);
		BUF(b, &a);
		bool sig = sizes[i] == 16 || sizes[i] == 24, wide = sizes[i] >= 20;
		put_header(&b, false, "a.txt", 0, 0);
		put_le(b.p + 6, ZIP_FLAG_DESCRIPTOR, 2);
		put_le(b.p + 18, 0, 8);
		put_str(&b, "hello");
		if (sig)
			buf_le(&b, ZIP_DESCRIPTOR, 4);
		buf_le(&b, crc_hello, 4);
		buf_le(&b, 5, wide ? 8 : 4);
		buf_le(&b, 5, wide ? 8 : 4);
		if (sizes[i] == 14)
			buf_le(&b, 0, 2);
		uint64_t dir = b.n;
		put_header(&b, true, "a.txt", crc_hello, 0);
		put_le(b.p + dir + 8, ZIP_FLAG_DESCRIPTOR, 2);
		put_end(&b, 1, b.n - dir, dir);
		assert_str(look(&a, buf_str(&b)), sizes[i] == 14
							  ? "zip-data-descriptor zip-local-header"
							  : "zip-data-descriptor");
	}
}

struct seen {
	struct buf b;
	size_t pieces, stop_after;
};

static struct err *collect(void *user, const void *p, size_t n, bool *stop)
{
	struct seen *s = user;
	buf_add(&s->b, (struct str){.p = p, .n = n});
	*stop = ++s->pieces == s->stop_after;
	return NULL;
}

static struct str repeated(struct arena *a, size_t n)
{
	BUF(b, a);
	for (unsigned i = 0; b.n < n; i++)
		buf_fmt(&b, "%u,", i * 2654435761u);
	return str_sub(buf_str(&b), 0, n);
}

static void members_come_whole_in_pieces_and_at_random(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("z.zip")), got;
	struct zip_input v[] = {
		{.name = S("deflated"), .content = repeated(&a, 6000000), .mode = 0644},
		{.name = S("small"), .content = repeated(&a, 500), .mode = 0644},
		{.name = S("stored"), .content = S("x"), .mode = 0644},
	};
	struct zip_writer w = {.path = path, .jobs = 2, .v = v, .n = 3};
	assert_ok(zip_write(&a, &w, NULL));
	struct zip z;
	assert_ok(zip_open(&a, path, NULL, &z));
	for (size_t i = 0; i < 3; i++) {
		const struct zip_member *m = zip_find(&z, v[i].name);
		struct seen s = {.b.a = &a}, one = {.b.a = &a, .stop_after = 1};
		assert_ok(zip_read(&a, &z, m, 6000000, &got));
		assert_true(str_eq(got, v[i].content));
		assert_ok(zip_stream(&z, m, collect, &s));
		assert_true(str_eq(buf_str(&s.b), v[i].content));
		assert_true(i || s.pieces > 1);
		assert_ok(zip_stream(&z, m, collect, &one));
		assert_int_equal(one.pieces, 1);
		CLEANUP(zip_view_close) struct zip_view *view;
		char c[5] = "";
		size_t n = v[i].content.n, at = n / 2, k = n - at < 4 ? n - at : 4;
		assert_ok(zip_view_open(&z, m, &(struct zip_pass){0}, &view));
		struct bytes src = zip_view_src(view);
		assert_int_equal(src.size, n);
		assert_ok(bytes_read(&src, c, k, at));
		assert_memory_equal(c, v[i].content.p + at, k);
		assert_err(bytes_read(&src, c, 2, n - 1), E_ELF);
	}
	zip_close(&z);
	test_dir_remove(dir);
}

/* Every changed byte of deflated data gives an error, from both ways of reading. */
static void damaged_data_is_told(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("z.zip")), bytes, got;
	struct zip_input v[] = {{.name = S("d"), .content = repeated(&a, 3000), .mode = 0644}};
	struct zip_writer w = {.path = path, .jobs = 1, .v = v, .n = 1};
	struct zip_output out;
	struct zip z;
	assert_ok(zip_write(&a, &w, &out));
	assert_ok(fs_read(&a, path, 1 << 20, &bytes));
	struct bytes src = bytes_mem(bytes);
	assert_ok(zip_open_src(&a, &src, S("z.zip"), NULL, &z));
	char *data = (char *)(uintptr_t)bytes.p + z.members.v[0].data;
	for (size_t i = 0; i + 1 < out.stored; i++) { /* the last has padding bits */
		ARENA(tmp);
		struct seen s = {.b.a = &tmp};
		data[i] = (char)(data[i] ^ 0x10);
		assert_err(zip_read(&tmp, &z, &z.members.v[0], 1 << 20, &got), E_ZIP);
		assert_err(zip_stream(&z, &z.members.v[0], collect, &s), E_ZIP);
		data[i] = (char)(data[i] ^ 0x10);
	}
	static const struct {
		int64_t size, stored;
		const char *says;
	} cases[] = {
		{.size = -1, .stored = 0, .says = "more bytes than it says"},
		{.size = 1, .stored = 0, .says = "fewer bytes than it says"},
		{.size = 0, .stored = -500, .says = ""},
		{.size = 0, .stored = 1, .says = "behind its compressed data"},
	};
	for (size_t i = 0; i < 4; i++) {
		struct zip_member m = z.members.v[0];
		m.size += (uint64_t)cases[i].size;
		m.stored += (uint64_t)cases[i].stored;
		assert_err_says(zip_read(&a, &z, &m, 1 << 20, &got), E_ZIP, cases[i].says);
	}
	test_dir_remove(dir);
}

/* Python's zipfile in all its ways: none of these may be called wrong. */
static void archives_of_other_writers_are_fine(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("z.zip")), bytes;
	static const char script[] =
		"import sys,zipfile,os\n"
		"z=zipfile.ZipFile(sys.argv[1],'w',zipfile.ZIP_DEFLATED)\n"
		"z.writestr('a.txt','hello'*100)\n"
		"z.writestr(zipfile.ZipInfo('dir/'),'')\n"
		"z.writestr('dir/n\\u00f6.txt','x')\n"
		"z.writestr('empty','')\n"
		/* before 3.11.4 the field was written without marking the 32-bit sizes: gh-103861
		 */
		"if sys.version_info >= (3,11,4):\n"
		"    with z.open('forced64','w',force_zip64=True) as f: f.write(b'y'*10)\n"
		"z.writestr('stored','abc',zipfile.ZIP_STORED)\n"
		"for i in range(int(sys.argv[2])): z.writestr('n/%d'%i,'')\n"
		"z.close()\n";
	static const char *const counts[] = {"0", "65529", "65530", "65531"};
	for (size_t i = 0; i < (SANITIZED ? 1 : 4); i++) {
		struct proc p = {0};
		struct proc_result r;
		proc_arg(&a, &p, "python3", "-c", script, path.p, counts[i], NULL);
		assert_ok(proc_check(&a, &p, &r));
		assert_ok(fs_read(&a, path, 1 << 26, &bytes));
		assert_str(look(&a, bytes), "");
	}
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_archive_has_no_findings),
		cmocka_unit_test(one_wrong_byte_is_found),
		cmocka_unit_test(cut_at_every_byte),
		cmocka_unit_test(every_byte_that_matters_is_checked),
		cmocka_unit_test(bytes_around_and_between_are_found),
		cmocka_unit_test(an_empty_archive_is_fine),
		cmocka_unit_test(zip64_is_read_and_checked),
		cmocka_unit_test(a_central_field_in_a_local_header_is_found),
		cmocka_unit_test(descriptors_are_read),
		cmocka_unit_test(members_come_whole_in_pieces_and_at_random),
		cmocka_unit_test(damaged_data_is_told),
		cmocka_unit_test(archives_of_other_writers_are_fine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
