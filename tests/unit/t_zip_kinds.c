/* Whole archives built by a small assembler of records: names that systems take for one another,
 * members on top of each other, sizes that lie, descriptors and ZIP64 values at the edges of 32
 * bits. Each archive must get exactly its findings, and each finding must be about the right
 * member. */
#include "unit/fixture_said.h"
#include "unit/fixture_zip.h"

#include <sys/stat.h>

#include "formats/le.h"

/* "id@member" of each finding, sorted; "content@member" where a sound member does not unpack. */
static struct str look(struct arena *a, struct str bytes)
{
	struct strs list = {0};
	struct findings found = {0};
	struct zip z;
	struct bytes src = bytes_mem(bytes);
	assert_ok(zip_open_src(a, &src, S("x.zip"), &found, &z));
	VEC_EACH (struct finding, f, &found)
		strs_add(a, &list, str_fmt(a, "%s@%.*s", f->id, STR(f->path)));
	VEC_EACH (struct zip_member, m, &z.members) {
		struct str text;
		if (m->dir || m->unsafe)
			continue;
		struct err *e = zip_read(a, &z, m, 1 << 20, &text);
		if (e)
			strs_add(a, &list, str_fmt(a, "content@%.*s", STR(m->name)));
		err_free(e);
	}
	strs_sort(&list);
	return str_join(a, &list, S(" "));
}

struct kind {
	const char *what, *want;
	struct fx_member v[5];
};

static void check(const struct kind *kinds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ARENA(a);
		struct str got = look(&a, archive(&a, kinds[i].v));
		if (!str_eq(got, str_from(kinds[i].want)))
			print_error("%s:\n", kinds[i].what);
		assert_str(got, kinds[i].want);
	}
}

#define CHECK(kinds) check((kinds), sizeof(kinds) / sizeof((kinds)[0]))
#define FILE_(n, text)                                                                             \
	{                                                                                          \
		.name = (n), .data = S_INIT(text)                                                  \
	}

static void names_that_are_taken_for_one_another(void **state)
{
	(void)state;
	static const struct kind kinds[] = {
		{.what = "different", .want = "", .v = {FILE_("a", "1"), FILE_("b", "2")}},
		{.what = "twice",
			.want = "zip-duplicate-name@a",
			.v = {FILE_("a", "1"), FILE_("a", "2")}},
		{.what = "by case",
			.want = "zip-case-duplicate@A/X.py",
			.v = {FILE_("a/x.py", "1"), FILE_("A/X.py", "2")}},
		{.what = "three by case",
			.want = "zip-case-duplicate@aB zip-case-duplicate@ab",
			.v = {FILE_("AB", "1"), FILE_("aB", "2"), FILE_("ab", "3")}},
		{.what = "letters beyond ASCII are not folded",
			.want = "",
			.v = {{.name = "\xc3\xa4", .data = S_INIT("1"), .flags = ZIP_FLAG_UTF8},
				{.name = "\xc3\x84", .data = S_INIT("2"), .flags = ZIP_FLAG_UTF8}}},
		{.what = "file and folder",
			.want = "zip-duplicate-name@a/b",
			.v = {FILE_("a", "1"), FILE_("a/b", "2")}},
		{.what = "folder first",
			.want = "zip-duplicate-name@a/b/c",
			.v = {FILE_("a/b/c", "1"), FILE_("a/b", "2")}},
		{.what = "a folder and what is in it",
			.want = "",
			.v = {{.name = "a/", .mode = 040755}, FILE_("a/b", "2")}},
	};
	CHECK(kinds);
}

static void names_that_lead_elsewhere(void **state)
{
	(void)state;
	static const char *const bad[] = {"/etc/passwd", "../x", "a/../../x", "a/..", "..", "./x",
		"a/./x", "a//x", "C:/x", "c:x", "a\\b", "..\\x", "a\nb", "a\x7f", "a\x1b[2J",
		"//x"};
	static const char *const good[] = {"...", "..a", "a..", ".hidden", "a/.b/..c", "a b",
		"ab:c", "~x", "-rf", "1:x", "con"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ARENA(a);
		const struct fx_member v[] = {
			{.name = bad[i], .data = S_INIT("x")}, {.name = NULL}};
		assert_str(look(&a, archive(&a, v)), str_fmt(&a, "zip-unsafe-name@%s", bad[i]).p);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ARENA(a);
		const struct fx_member v[] = {FILE_(good[i], "x"), {.name = NULL}};
		assert_str(look(&a, archive(&a, v)), "");
	}
}

static void kinds_of_members(void **state)
{
	(void)state;
	static const struct kind kinds[] = {
		{.what = "no mode at all",
			.want = "",
			.v = {{.name = "a", .data = S_INIT("x"), .mode = 0644}}},
		{.what = "link",
			.want = "zip-symlink@a",
			.v = {{.name = "a", .data = S_INIT("x"), .mode = 0120777}}},
		{.what = "device",
			.want = "zip-special-file@a",
			.v = {{.name = "a", .data = S_INIT("x"), .mode = 020666}}},
		{.what = "pipe",
			.want = "zip-special-file@a",
			.v = {{.name = "a", .data = S_INIT("x"), .mode = 010666}}},
		{.what = "folder with content",
			.want = "zip-special-file@a/",
			.v = {{.name = "a/", .data = S_INIT("xyz"), .mode = 040755}}},
		{.what = "bzip2",
			.want = "zip-method@a",
			.v = {{.name = "a", .data = S_INIT("x"), .method = 12}}},
		{.what = "deflate64",
			.want = "zip-method@a",
			.v = {{.name = "a", .data = S_INIT("x"), .method = 9}}},
		{.what = "encrypted",
			.want = "zip-encrypted@a",
			.v = {{.name = "a", .data = S_INIT("x"), .flags = ZIP_FLAG_ENCRYPTED}}},
		{.what = "stored, with two sizes",
			.want = "zip-size@a",
			.v = {{.name = "a", .data = S_INIT("x"), .size = 2}}},
		{.what = "more than deflate can pack",
			.want = "zip-size@a",
			.v = {{.name = "a", .data = S_INIT("xx"), .method = 8, .size = 3 * 1032}}},
		{.what = "no deflate data",
			.want = "content@a",
			.v = {{.name = "a", .data = S_INIT("\xff\xff"), .method = 8, .size = 9}}},
		{.what = "wrong checksum",
			.want = "content@b",
			.v = {FILE_("a", "x"), {.name = "b", .data = S_INIT("x"), .crc = 1}}},
	};
	CHECK(kinds);
}

/* What some installers read beside name and mode; a second name is version, CRC of the first, name. */
static void what_a_member_is_stands_in_one_place(void **state)
{
	(void)state;
#define A_(...)                                                                                    \
	{                                                                                          \
		{                                                                                  \
			.name = "a", .data = S_INIT("x"), __VA_ARGS__                              \
		}                                                                                  \
	}
#define UP(name_size, name) S_INIT("\x75\x70" name_size "\0\1\0\0\0\0" name)
	static const struct kind kinds[] = {
		{.what = "another name",
			.want = "zip-second-meaning@a",
			.v = A_(.extra = UP("\x06", "b"))},
		{.what = "another name in the local header",
			.want = "zip-second-meaning@a",
			.v = A_(.local_extra = UP("\x06", "b"))},
		{.what = "another name behind another field",
			.want = "zip-extra-field@a zip-second-meaning@a",
			.v = A_(.extra = S_INIT("UT\5\0\1\0\0\0\0up\6\0\1\0\0\0\0b"))},
		{.what = "no name at all",
			.want = "zip-second-meaning@a",
			.v = A_(.extra = UP("\5", ""))},
		{.what = "a field too short for one",
			.want = "zip-second-meaning@a",
			.v = A_(.extra = S_INIT("up\1\0\1"))},
		{.what = "the same name", .want = "", .v = A_(.extra = UP("\x06", "a"))},
		{.what = "a link in a field of PKWARE",
			.want = "zip-second-meaning@a",
			.v = A_(.extra = S_INIT("\x0d\0\1\0x"))},
		{.what = "a link in a field of ASi",
			.want = "zip-second-meaning@a",
			.v = A_(.local_extra = S_INIT("nu\1\0x"))},
		{.what = "times",
			.want = "zip-extra-field@a",
			.v = A_(.extra = S_INIT("UT\5\0\1\0\0\0\0"),
				.local_extra = S_INIT("UT\5\0\1\0\0\0\0"))},
		{.what = "set-user-id", .want = "zip-mode@a", .v = A_(.mode = 0104755)},
		{.what = "set-group-id", .want = "zip-mode@a", .v = A_(.mode = 0102755)},
		{.what = "sticky", .want = "zip-mode@a", .v = A_(.mode = 0101644)},
		{.what = "set-user-id without a kind",
			.want = "zip-mode@a",
			.v = A_(.mode = 04755)},
		{.what = "a link made on MS-DOS",
			.want = "zip-symlink@a",
			.v = A_(.mode = 0120777, .system = 1)},
		{.what = "a folder by its mode",
			.want = "zip-special-file@a",
			.v = A_(.mode = 040755)},
		{.what = "a folder by the attributes of MS-DOS",
			.want = "zip-special-file@a",
			.v = A_(.dos = 0x10)},
		{.what = "a folder",
			.want = "",
			.v = {{.name = "a/", .mode = 040755, .dos = 0x10}}},
	};
	CHECK(kinds);
}

/* Fields that only some readers know, by their ids; each of the harmless is told of once in an archive. */
static void extra_fields_mean_what_their_id_says(void **state)
{
	(void)state;
	static const struct {
		unsigned id;
		const char *finding, *says; /* NULL: no finding */
	} fields[] = {
		{0x7075, "zip-second-meaning", "tells another name for it, which only some"},
		{0x000d, "zip-second-meaning",
			"tells its kind, owner and the target of a link (PKWARE"},
		{0x756e, "zip-second-meaning",
			"tells its mode, owner and the target of a link (ASi"},
		{0x6c78, "zip-second-meaning", "tells its mode once more (libarchive)"},
		{0x9901, "zip-second-meaning", "tells how it is encrypted (AES)"},
		{0x6375, "zip-extra-field", "has another comment, which no wheel needs"},
		{0x000a, "zip-extra-field", "has times (NTFS)"},
		{0x5455, "zip-extra-field", "has times (Info-ZIP)"},
		{0x5855, "zip-extra-field", "has times and its owner (Info-ZIP)"},
		{0x7855, "zip-extra-field", "has its owner (Info-ZIP)"},
		{0x7875, "zip-extra-field", "has its owner (Info-ZIP)"},
		{0x000b, NULL, ""},
		{0x5854, NULL, ""},
		{0xcafe, NULL, ""},
		{0x9902, NULL, ""},
		{0, NULL, ""},
	};
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		ARENA(a);
		BUF(extra, &a);
		struct findings found = {0};
		struct zip z;
		buf_le(&extra, fields[i].id, 2);
		buf_le(&extra, 2, 2);
		buf_add(&extra, S("xy"));
		const struct fx_member v[] = {
			{.name = "a", .data = S_INIT("x"), .extra = buf_str(&extra)},
			{.name = "b", .data = S_INIT("x"), .local_extra = buf_str(&extra)},
			{.name = NULL}};
		struct bytes src = bytes_mem(archive(&a, v));
		assert_ok(zip_open_src(&a, &src, S("x.zip"), &found, &z));
		bool bad = fields[i].finding && !strcmp(fields[i].finding, "zip-second-meaning");
		assert_int_equal(found.n, bad ? 2 : fields[i].finding != NULL);
		for (size_t k = 0; k < found.n; k++) {
			assert_string_equal(found.v[k].id, fields[i].finding);
			assert_str(found.v[k].path, k ? "b" : "a");
			assert_int_equal(found.v[k].severity, bad ? SEV_ERROR : SEV_INFO);
			assert_true(str_starts(
				found.v[k].message, str_fmt(&a, "an extra field (0x%04x) %s",
							    fields[i].id, fields[i].says)));
		}
	}
}

static struct err *nothing(void *user, const void *p, size_t n, bool *stop)
{
	(void)p, (void)stop;
	*(size_t *)user += n;
	return NULL;
}

static void what_is_not_safe_is_not_read(void **state)
{
	(void)state;
	static const struct fx_member v[] = {
		{.name = "link", .data = S_INIT("/etc/passwd"), .mode = 0120777},
		{.name = "secret", .data = S_INIT("x"), .flags = ZIP_FLAG_ENCRYPTED},
		{.name = "bzip2", .data = S_INIT("x"), .method = 12},
		{.name = "sizes", .data = S_INIT("x"), .size = 2}, {.name = NULL}};
	ARENA(a);
	struct findings found = {0};
	struct zip z;
	struct bytes src = bytes_mem(archive(&a, v)), inner;
	assert_ok(zip_open_src(&a, &src, S("x.zip"), &found, &z));
	assert_int_equal(z.members.n, 4);
	VEC_EACH (const struct zip_member, m, &z.members) {
		struct str text;
		size_t n = 0;
		int fd = 0;
		assert_err_says(zip_read(&a, &z, m, 100, &text), E_ZIP, "it is not safe to read");
		assert_err_says(zip_stream(&z, m, nothing, &n), E_ZIP, "it is not safe to read");
		assert_int_equal(n, 0);
		assert_err_says(zip_src(&z, m, &inner, &fd), E_ZIP, "it is not safe to read");
		assert_int_equal(fd, -1);
	}
}

/* Deflated, even nothing takes bytes, and a file that may be read. */
static void nothing_can_be_deflated_too(void **state)
{
	(void)state;
	static const struct fx_member v[] = {
		{.name = "e", .data = S_INIT("\3\0"), .method = 8}, {.name = NULL}};
	ARENA(a);
	struct zip z;
	struct bytes src = bytes_mem(archive(&a, v)), inner;
	CLEANUP(fd_closep) int fd;
	struct findings found = {0};
	struct str text;
	struct stat st;
	assert_ok(zip_open_src(&a, &src, S("x.zip"), &found, &z));
	struct zip_member m = z.members.v[0];
	m.size = m.crc = 0;
	assert_ok(zip_read(&a, &z, &m, 0, &text));
	assert_str(text, "");
	assert_ok(zip_src(&z, &m, &inner, &fd));
	assert_int_equal(inner.size, 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISREG(st.st_mode) && st.st_size == 0);
}

/* The end record is in the last 22 + 65535 bytes: so long is the longest comment. */
static void the_end_is_looked_for_as_far_as_it_may_be(void **state)
{
	(void)state;
	static const struct {
		size_t comment, behind;
		const char *want; /* NULL: no zip file */
	} cases[] = {
		{0, 0, ""},
		{1, 0, "zip-comment"},
		{0xffff, 0, "zip-comment"},
		{0xffff, 1, NULL},
		{0xfffe, 1, "zip-comment zip-trailing-bytes"},
		{0xfffe, 2, NULL},
		{0, 1, "zip-trailing-bytes"},
		{0, 0xffff, "zip-trailing-bytes"},
		{0, 0x10000, NULL},
	};
	static const struct fx_member v[] = {FILE_("a", "x"), {.name = NULL}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		BUF(b, &a);
		struct findings found = {0};
		struct strs ids = {0};
		struct zip z;
		buf_add(&b, archive(&a, v));
		b.n -= 2;
		buf_le(&b, cases[i].comment, 2);
		memset(buf_space(&b, cases[i].comment + cases[i].behind), 'c',
			cases[i].comment + cases[i].behind);
		struct bytes src = bytes_mem(buf_str(&b));
		struct err *e = zip_open_src(&a, &src, S("x.zip"), &found, &z);
		if (!cases[i].want) {
			assert_err_says(
				e, E_ZIP, "'x.zip' is not a zip file: it has no end record");
			continue;
		}
		assert_ok(e);
		VEC_EACH (const struct finding, f, &found)
			strs_add(&a, &ids, str_from(f->id));
		strs_sort(&ids);
		assert_str(str_join(&a, &ids, S(" ")), cases[i].want);
	}
}

/* A bomb needs one heap of data that many members share, or members inside of members. */
static void members_on_top_of_each_other(void **state)
{
	(void)state;
	ARENA(a);
	const struct fx_member shared[] = {FILE_("a", "12345"),
		{.name = "b", .data = S_INIT("12345"), .at = 1, .no_local = true}, {.name = NULL}};
	struct str got = look(&a, archive(&a, shared));
	assert_true(str_contains(got, S("zip-overlap@")));
	assert_true(str_contains(got, S("zip-local-header@b")));
	/* b's local header is inside a's data. */
	BUF(inner, &a);
	const struct fx_member b = FILE_("b", "12345");
	put_record(&inner, false, &b, 0);
	buf_add(&inner, b.data);
	const struct fx_member nested[] = {{.name = "a", .data = buf_str(&inner)},
		{.name = "b", .data = b.data, .at = 30 + 1 + 1, .no_local = true}, {.name = NULL}};
	got = look(&a, archive(&a, nested));
	assert_true(str_contains(got, S("zip-overlap@")));
	/* A member that nobody lists is a gap. */
	struct fx_member three[] = {
		FILE_("a", "1"), FILE_("b", "2"), FILE_("c", "3"), {.name = NULL}};
	struct str whole = archive(&a, three);
	assert_str(look(&a, whole), "");
	three[1].name = "a";
	assert_true(str_contains(look(&a, archive(&a, three)), S("zip-duplicate-name@a")));
}

/* Every length of a member around the piece in which members are read. */
static void members_of_every_length_come_back(void **state)
{
	(void)state;
	static const size_t sizes[] = {
		0, 1, 2, 1023, 4095, 4096, 4097, 65535, 65536, 65537, 131072, 131073, 300000};
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		ARENA(a);
		size_t n = sizes[i / 2];
		struct str dir = test_dir(&a), path = path_join(&a, dir, S("z.zip")), got;
		char *p = arena_alloc(&a, n + 1);
		for (size_t k = 0; k < n; k++) /* even: does not shrink; odd: does */
			p[k] = (char)(i % 2 ? 'x' : (k * 2654435761u) >> 13);
		struct zip_input in = {.name = S("f"), .content = {.p = p, .n = n}, .mode = 0644};
		struct zip_writer w = {.path = path, .jobs = 1, .v = &in, .n = 1};
		struct zip z;
		assert_ok(zip_write(&a, &w, NULL));
		assert_ok(zip_open(&a, path, NULL, &z));
		const struct zip_member *m = zip_find(&z, S("f"));
		assert_ok(zip_read(&a, &z, m, n, &got));
		assert_int_equal(got.n, n);
		assert_memory_equal(got.p, p, n);
		if (n)
			assert_err(zip_read(&a, &z, m, n - 1, &got), E_LIMIT);
		assert_null(zip_find(&z, S("F")));
		zip_close(&z);
		test_dir_remove(dir);
	}
}

/* Members that do not fit into memory are unpacked piece by piece, and checked all the same. */
static void large_members_that_lie_are_told(void **state)
{
	(void)state;
	enum { N = 5000000, PIECE = 1 << 18 };
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("z.zip"));
	char *p = arena_alloc(&a, N), *noise = arena_alloc(&a, N);
	uint32_t x = 1;
	for (size_t i = 0; i < N; i++) {
		x = x * 1664525 + 1013904223;
		noise[i] = (char)(x >> 24);
		p[i] = (char)(i % 64 < 32 ? x >> 24 : 0);
	}
	const struct zip_input v[] = {
		{.name = S("deflated"), .content = {.p = p, .n = N}, .mode = 0644},
		{.name = S("stored"), .content = {.p = noise, .n = N}, .mode = 0644}};
	const struct zip_writer w = {.path = path, .jobs = 1, .v = v, .n = 2};
	static const struct {
		int64_t size, stored; /* changes */
		bool crc;
		const char *deflated, *stored_says; /* "": all is well */
	} cases[] = {
		{0, 0, false, "", ""},
		{0, 0, true, "its checksum is wrong", "its checksum is wrong"},
		{-1, 0, false, "it unpacks to more bytes than it says",
			"it unpacks to more bytes than it says"},
		{1, 0, false, "it unpacks to fewer bytes than it says",
			"it unpacks to fewer bytes than it says"},
		{0, -1, false, "its compressed data is cut short",
			"it unpacks to fewer bytes than it says"},
		{0, -PIECE, false, "its compressed data is cut short",
			"it unpacks to fewer bytes than it says"},
		{0, 1, false, "there are bytes behind its compressed data",
			"it unpacks to more bytes than it says"},
		{0, PIECE, false, "there are bytes behind its compressed data",
			"it unpacks to more bytes than it says"},
	};
	struct zip z;
	assert_ok(zip_write(&a, &w, NULL));
	struct str bytes;
	assert_ok(fs_read(&a, path, 1 << 24, &bytes));
	char *longer = arena_alloc(&a, bytes.n + PIECE); /* whatever is behind can be read */
	memcpy(longer, bytes.p, bytes.n);
	assert_ok(zip_open(&a, path, NULL, &z));
	z.src = bytes_mem((struct str){.p = longer, .n = bytes.n + PIECE});
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		struct zip_member m = z.members.v[i % 2];
		size_t n = 0;
		const char *says = i % 2 ? cases[i / 2].stored_says : cases[i / 2].deflated;
		m.size += (uint64_t)cases[i / 2].size;
		m.stored += (uint64_t)cases[i / 2].stored;
		m.crc ^= cases[i / 2].crc;
		struct err *e = zip_stream(&z, &m, nothing, &n);
		if (says[0])
			assert_err_says(e, E_ZIP, says);
		else
			assert_ok(e);
		assert_true(says[0] ? n <= m.size : n == N);
	}
	size_t n = 0;
	memset(longer + z.members.v[0].data + N / 3, 0xff, 1000);
	assert_err_says(zip_stream(&z, &z.members.v[0], nothing, &n), E_ZIP, "");
	assert_true(n < N);
	zip_close(&z);
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_are_taken_for_one_another),
		cmocka_unit_test(names_that_lead_elsewhere),
		cmocka_unit_test(kinds_of_members),
		cmocka_unit_test(what_a_member_is_stands_in_one_place),
		cmocka_unit_test(extra_fields_mean_what_their_id_says),
		cmocka_unit_test(what_is_not_safe_is_not_read),
		cmocka_unit_test(nothing_can_be_deflated_too),
		cmocka_unit_test(large_members_that_lie_are_told),
		cmocka_unit_test(the_end_is_looked_for_as_far_as_it_may_be),
		cmocka_unit_test(members_on_top_of_each_other),
		cmocka_unit_test(members_of_every_length_come_back),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("zip_kinds");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
