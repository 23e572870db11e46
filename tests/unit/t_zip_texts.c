/* What the zip reader says, word by word and how badly it takes it: of members, of names, of what lies where it
 * should not, and of the end records, which two formats share. */
#include "unit/fixture_zip.h"

#include "formats/le.h"

static const char marks[] = {[SEV_INFO] = 'i', [SEV_WARNING] = 'w', [SEV_ERROR] = 'e'};

/* "e zip-gap b: 3 bytes behind it belong to no member (unsafe)", a line for each finding; or the error. */
static struct str told(struct arena *a, struct str bytes)
{
	struct findings found = {0};
	struct zip z;
	BUF(b, a);
	struct bytes src = bytes_mem(bytes);
	struct err *e = zip_open_src(a, &src, S("x.zip"), &found, &z);
	if (e) {
		struct str text = str_dup(a, str_from(e->msg));
		assert_true(e->code == E_ZIP || e->code == E_LIMIT);
		err_free(e);
		return text;
	}
	VEC_EACH (struct finding, f, &found) {
		const struct zip_member *m = zip_find(&z, f->path);
		buf_fmt(&b, "%s%c %s %.*s: %.*s%s", b.n ? "\n" : "", marks[f->severity], f->id,
			STR(f->path), STR(f->message), m && m->unsafe ? " (unsafe)" : "");
	}
	return buf_str(&b);
}

static void says(struct arena *a, const char *what, struct str bytes, const char *want)
{
	struct str got = told(a, bytes);
	if (!str_eq(got, str_from(want)))
		print_error("%s:\n", what);
	assert_str(got, want);
}

#define X(...)                                                                                     \
	{                                                                                          \
		{                                                                                  \
			.name = "a", .data = S_INIT("xyz"), __VA_ARGS__                            \
		}                                                                                  \
	}

static void of_members(void **state)
{
	(void)state;
	static const struct {
		const char *what, *want;
		struct fx_member v[3];
	} cases[] = {
		{"link", "e zip-symlink a: a symbolic link, which wheels must not have (unsafe)",
			X(.mode = 0120777)},
		{"pipe", "e zip-special-file a: a device, pipe or socket (mode 10666) (unsafe)",
			X(.mode = 010666)},
		{"folder by its mode",
			"e zip-special-file a: a folder by its attributes, a file by its name "
			"(unsafe)",
			X(.mode = 040755)},
		{"folder by MS-DOS",
			"e zip-special-file a: a folder by its attributes, a file by its name "
			"(unsafe)",
			X(.dos = 0x10)},
		{"other attributes of MS-DOS", "", X(.dos = 0x0f | 0xe0)},
		{"folder with content", "e zip-special-file a/: a folder with content (unsafe)",
			{{.name = "a/", .data = S_INIT("123"), .mode = 040755}}},
		{"set-user-id",
			"e zip-mode a: its mode is 4755: a set-user-id, set-group-id or sticky bit",
			X(.mode = 0104755)},
		{"sticky folder",
			"w zip-mode a/: its mode is 1777: a set-user-id, set-group-id or sticky "
			"bit",
			{{.name = "a/", .mode = 041777}}},
		{"set-group-id link",
			"e zip-symlink a: a symbolic link, which wheels must not have (unsafe)",
			X(.mode = 0122777)},
		{"encrypted", "e zip-encrypted a: is encrypted (unsafe)", X(.flags = 1)},
		{"strongly", "e zip-encrypted a: is encrypted (unsafe)", X(.flags = 0x40)},
		{"its header, too", "e zip-encrypted a: is encrypted (unsafe)", X(.flags = 0x2000)},
		{"a patch",
			"e zip-method a: method 0: a wheel may have stored (0) and deflated (8) "
			"members only (unsafe)",
			X(.flags = 0x20)},
		{"bzip2",
			"e zip-method a: method 12: a wheel may have stored (0) and deflated (8) "
			"members only (unsafe)",
			X(.method = 12)},
		{"stored, but of two sizes", "e zip-size a: 4 bytes cannot come out of 3 (unsafe)",
			X(.size = 4)},
		{"just what deflate can do", "", X(.method = 8, .size = 4 * 1032 - 1)},
		{"one more", "e zip-size a: 4128 bytes cannot come out of 3 (unsafe)",
			X(.method = 8, .size = 4 * 1032)},
		{"not UTF-8", "e zip-name-encoding \xff: the name is not valid UTF-8",
			{{.name = "\xff", .data = S_INIT("x"), .flags = ZIP_FLAG_UTF8}}},
		{"UTF-8, but not marked",
			"w zip-name-encoding \xc3\xa4: the name is not ASCII, but not marked as "
			"UTF-8 either",
			{{.name = "\xc3\xa4", .data = S_INIT("x")}}},
		{"UTF-8", "", {{.name = "\xc3\xa4", .data = S_INIT("x"), .flags = ZIP_FLAG_UTF8}}},
		{"twice", "e zip-duplicate-name a: the name occurs twice",
			{{.name = "a", .data = S_INIT("x")}, {.name = "a", .data = S_INIT("y")}}},
		{"upper case",
			"w zip-case-duplicate A: differs from another name by upper and lower case "
			"only",
			{{.name = "a", .data = S_INIT("x")}, {.name = "A", .data = S_INIT("y")}}},
		{"file and folder", "e zip-duplicate-name a/b: 'a' is a file as well as a folder",
			{{.name = "a", .data = S_INIT("x")}, {.name = "a/b", .data = S_INIT("y")}}},
		{"nothing at that place",
			"e zip-local-header b: there is no local header at 1 (unsafe)",
			{{.name = "a", .data = S_INIT("xyz")},
				{.name = "b", .at = 2, .no_local = true}}},
		{"no room for a header",
			"e zip-local-header b: there is no local header at 20 (unsafe)",
			{{.name = "a", .data = S_INIT("xyz")},
				{.name = "b", .at = 21, .no_local = true}}},
		{"right at the end of the members",
			"e zip-local-header b: there is no local header at 34 (unsafe)",
			{{.name = "a", .data = S_INIT("xyz")},
				{.name = "b", .at = 35, .no_local = true}}},
		{"behind the members",
			"e zip-local-header b: its offset is behind the members (unsafe)",
			{{.name = "a", .data = S_INIT("xyz")},
				{.name = "b", .at = 36, .no_local = true}}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		says(&a, cases[i].what, archive(&a, cases[i].v), cases[i].want);
	}
}

/* Nothing, deflated, is two bytes. */
static void of_a_folder_that_was_deflated(void **state)
{
	(void)state;
	static const struct fx_member v[2][2] = {
		{{.name = "a/", .data = S_INIT("\3\0"), .method = 8, .mode = 040755}},
		{{.name = "a/", .data = S_INIT("\3\0x"), .method = 8, .mode = 040755}},
	};
	for (size_t i = 0; i < 2; i++) {
		ARENA(a);
		struct str bytes = archive(&a, v[i]);
		put_le((char *)(uintptr_t)bytes.p + 22, 0, 4);
		put_le((char *)(uintptr_t)bytes.p + 32 + v[i][0].data.n + 24, 0, 4);
		says(&a, "folder", bytes,
			i ? "e zip-special-file a/: a folder with content (unsafe)" : "");
	}
}

/* "the ZIP64 extra field ...": of the directory's entry where the three numbers are marks or not. */
static void of_wide_fields(void **state)
{
	(void)state;
	enum { SIZE = 1, STORED = 2, HEADER = 4, CENTRAL = 34 };
	static const struct {
		const char *want;
		unsigned marked;
		struct str extra;
	} cases[] = {
		{"", 0, S_INIT("")},
		{"", SIZE, S_INIT("\1\0\x8\0\3\0\0\0\0\0\0\0")},
		{"", STORED, S_INIT("\1\0\x8\0\3\0\0\0\0\0\0\0")},
		{"", HEADER, S_INIT("\1\0\x8\0\0\0\0\0\0\0\0\0")},
		{"", SIZE | STORED | HEADER,
			S_INIT("\1\0\x18\0\3\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
		{"", SIZE, S_INIT("\x77\x77\1\0x\1\0\x8\0\3\0\0\0\0\0\0\0")},
		{"stands for no value of the header", 0, S_INIT("\1\0\x8\0\3\0\0\0\0\0\0\0")},
		{"has values that the header has already", SIZE,
			S_INIT("\1\0\x9\0\3\0\0\0\0\0\0\0x")},
		{"occurs twice", SIZE,
			S_INIT("\1\0\x8\0\3\0\0\0\0\0\0\0\1\0\x8\0\3\0\0\0\0\0\0\0")},
		{"or another extra field is cut short", SIZE,
			S_INIT("\1\0\x8\0\3\0\0\0\0\0\0\0\1")},
		{"or another extra field is cut short", SIZE,
			S_INIT("\1\0\x8\0\3\0\0\0\0\0\0\0\7\7\1\0")},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		const struct fx_member v[] = {
			{.name = "a", .data = S_INIT("xyz"), .extra = cases[i].extra},
			{.name = NULL}};
		struct str bytes = archive(&a, v);
		char *p = (char *)(uintptr_t)bytes.p + CENTRAL;
		put_le(p + 24, cases[i].marked & SIZE ? UINT32_MAX : 3, 4);
		put_le(p + 20, cases[i].marked & STORED ? UINT32_MAX : 3, 4);
		put_le(p + 42, cases[i].marked & HEADER ? UINT32_MAX : 0, 4);
		says(&a, cases[i].want, bytes,
			*cases[i].want ? str_fmt(&a, "e zip-zip64 a: its ZIP64 extra field %s",
						 cases[i].want)
						 .p
				       : "");
	}
}

/* What a local header may say in the place of the directory's entry, or besides. */
static void of_local_headers(void **state)
{
	(void)state;
	static const struct {
		unsigned at, n;
		uint64_t value;
		const char *want;
	} cases[] = {
		{6, 2, 2, "the flags in the local header and in the central directory differ"},
		{8, 2, 8, "the methods in the local header and in the central directory differ"},
		{14, 4, 0, "the checksums in the local header and in the central directory differ"},
		{18, 4, 2, "the sizes in the local header and in the central directory differ"},
		{22, 4, 2, "the sizes in the local header and in the central directory differ"},
		{30, 1, 'b', "the names in the local header and in the central directory differ"},
		{4, 2, 45, NULL}, /* version and time are nobody's business */
		{10, 4, 1, NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		const struct fx_member v[] = {{.name = "a", .data = S_INIT("xyz")}, {.name = NULL}};
		struct str bytes = archive(&a, v);
		put_le((char *)(uintptr_t)bytes.p + cases[i].at, cases[i].value, cases[i].n);
		says(&a, "local header", bytes,
			cases[i].want ? str_fmt(&a, "e zip-local-header a: %s", cases[i].want).p
				      : "");
	}
	/* A field so long that the first look does not have all of it, and one that is longer than the archive. */
	for (size_t n = 0; n < 200; n++) {
		ARENA(a);
		BUF(extra, &a);
		buf_le(&extra, 0x7777, 2);
		buf_le(&extra, n, 2);
		buf_space(&extra, n);
		const struct fx_member v[] = {
			{.name = "a", .data = S_INIT("xyz"), .local_extra = buf_str(&extra)},
			{.name = NULL}};
		struct str bytes = archive(&a, v);
		says(&a, "long field", bytes, "");
		put_le((char *)(uintptr_t)bytes.p + 28, n + 4 + 3, 2);
		says(&a, "up to the end", bytes,
			str_fmt(&a,
				"e zip-zip64 a: the ZIP64 extra field of its local header or "
				"another extra field is cut short (unsafe)\n"
				"e zip-overlap a: its data runs into the central directory "
				"(unsafe)\n"
				"e zip-gap x.zip: %zu bytes in front of the first member",
				30 + 1 + 4 + n + 3)
				.p);
		put_le((char *)(uintptr_t)bytes.p + 28, n + 4 + 4, 2);
		says(&a, "beyond the end", bytes,
			str_fmt(&a,
				"e zip-local-header a: there is no local header at 0 (unsafe)\n"
				"e zip-gap x.zip: %zu bytes in front of the first member",
				30 + 1 + 4 + n + 3)
				.p);
	}
}

static void of_bytes_that_are_nobodys(void **state)
{
	(void)state;
	ARENA(a);
	static const struct fx_member v[] = {{.name = "a", .data = S_INIT("xyz")},
		{.name = "b", .data = S_INIT("xyz")}, {.name = NULL}};
	enum { SECOND = 34, DIR = 68, END = DIR + 2 * 47 };
	struct str bytes = archive(&a, v), cut;
	BUF(front, &a);
	BUF(b, &a);
	buf_add(&front, S("12345"));
	buf_add(&front, bytes);
	says(&a, "in front", buf_str(&front), "e zip-gap x.zip: 5 bytes in front of the archive");
	buf_add(&b, str_sub(bytes, 0, END));
	buf_add(&b, S("1234567"));
	buf_add(&b, str_sub(bytes, END, bytes.n));
	says(&a, "between", buf_str(&b),
		"e zip-gap x.zip: 7 bytes between central directory and end record");
	cut = str_dup(&a, bytes);
	put_le((char *)(uintptr_t)cut.p + END + 16, DIR + 1, 4);
	says(&a, "the directory is too late", cut,
		"'x.zip' has a central directory beyond its end record");
	put_le((char *)(uintptr_t)cut.p + END + 16, DIR, 4);
	put_le((char *)(uintptr_t)cut.p + END + 12, 94 + 1, 4);
	says(&a, "the directory is too long", cut,
		"'x.zip' has a central directory beyond its end record");
	cut = str_dup(&a, bytes);
	put_le((char *)(uintptr_t)cut.p + END + 8, 0x10001, 4); /* one member of two */
	says(&a, "one is not counted", cut,
		"e zip-directory x.zip: 47 bytes of the central directory belong to no member\n"
		"e zip-gap a: 34 bytes behind it belong to no member");
	put_le((char *)(uintptr_t)cut.p + END + 8, 0x30003, 4);
	says(&a, "one is too many", cut, "'x.zip' has a damaged central directory: entry 3 of 3");
	put_le((char *)(uintptr_t)cut.p + END + 8, 0x20001, 4);
	says(&a, "two counts", cut, "e zip-multi-disk x.zip: it is one part of several");
	cut = str_dup(&a, bytes);
	put_le((char *)(uintptr_t)cut.p + DIR + 42, 1 + SECOND, 4);
	says(&a, "the first one is lost", cut,
		"e zip-local-header a: there is no local header at 35 (unsafe)\n"
		"e zip-gap x.zip: 34 bytes in front of the first member");
	for (uint64_t disk = 1; disk < 0x10000; disk += 0xfffe) {
		for (unsigned at = 4; at <= 6; at += 2) {
			cut = str_dup(&a, bytes);
			put_le((char *)(uintptr_t)cut.p + END + at, disk, 2);
			says(&a, "disks", cut,
				disk < 0xffff ? "e zip-multi-disk x.zip: it is one part of several"
					      : "");
		}
	}
}

/* ---- the two end records ---- */

struct end64 {
	uint64_t gap;                       /* bytes between the record and its locator */
	uint64_t length;                    /* of the record, as it says; 0: right */
	uint64_t disk, here, n, bytes;      /* added to what is right */
	uint64_t locator;                   /* added to where it points */
	uint64_t first_disk, disks;         /* of the locator */
	uint64_t old_n, old_bytes, old_dir; /* 0: marks; else one more than that */
	bool no_record;
};

static struct str with_end64(struct arena *a, const struct end64 *x)
{
	static const struct fx_member v[] = {{.name = "a", .data = S_INIT("xyz")}, {.name = NULL}};
	enum { DIR = 34, BYTES = 47, END = DIR + BYTES };
	BUF(b, a);
	buf_add(&b, str_sub(archive(a, v), 0, END));
	buf_le(&b, x->no_record ? 0 : ZIP_END64, 4);
	buf_le(&b, x->length ? x->length : 44 + x->gap, 8);
	buf_le(&b, 45, 2);
	buf_le(&b, 45, 2);
	buf_le(&b, x->disk, 8); /* two disks of four bytes */
	buf_le(&b, 1 + x->here, 8);
	buf_le(&b, 1 + x->n, 8);
	buf_le(&b, BYTES + x->bytes, 8);
	buf_le(&b, DIR, 8);
	buf_space(&b, (size_t)x->gap);
	buf_le(&b, ZIP_LOCATOR64, 4);
	buf_le(&b, x->first_disk, 4);
	buf_le(&b, END + x->locator, 8);
	buf_le(&b, x->disks, 4);
	put_end(&b, x->old_n ? x->old_n - 1 : 0xffff, x->old_bytes ? x->old_bytes - 1 : UINT32_MAX,
		x->old_dir ? x->old_dir - 1 : UINT32_MAX);
	return buf_str(&b);
}

static void of_two_end_records(void **state)
{
	(void)state;
#define SEVERAL "e zip-multi-disk x.zip: it is one part of several"
#define DISAGREE "e zip-zip64 x.zip: the two end records disagree"
#define LENGTH "e zip-zip64 x.zip: the ZIP64 end record does not end where its locator begins"
#define UNNEEDED "w zip-zip64-unneeded x.zip: a ZIP64 end record that no value needs"
	static const struct {
		const char *what, *want;
		struct end64 x;
	} cases[] = {
		{"right", "", {.disks = 1}},
		{"no disks at all", "", {.disks = 0}},
		{"several disks", SEVERAL, {.disks = 2}},
		{"not on the first", SEVERAL, {.first_disk = 1}},
		{"this disk", SEVERAL, {.disk = 1}},
		{"the directory's disk", SEVERAL, {.disk = UINT64_C(1) << 32}},
		{"more than its fields", "", {.gap = 9}},
		{"more than it says", LENGTH, {.gap = 9, .length = 44 + 8}},
		{"less than it says", LENGTH, {.length = 45}},
		{"endless", LENGTH, {.length = UINT64_MAX - 11}},
		{"the locator points in front", "", {.locator = UINT64_MAX - 4}},
		{"the locator points behind", "", {.locator = 1}},
		{"the locator points far away", "", {.locator = UINT64_MAX / 2}},
		{"behind it with more", "'x.zip' has no ZIP64 end record where its locator points",
			{.gap = 1, .locator = 1}},
		{"none", "'x.zip' has no ZIP64 end record where its locator points",
			{.no_record = true}},
		{"members of this disk", DISAGREE, {.here = 1}},
		{"what the old one says, too", UNNEEDED,
			{.old_n = 2, .old_bytes = 48, .old_dir = 35}},
		{"its count", "", {.old_n = 2}},
		{"its size", "", {.old_bytes = 48}},
		{"its offset", "", {.old_dir = 35}},
		{"two of them", "", {.old_n = 2, .old_dir = 35}},
		{"two others", "", {.old_n = 2, .old_bytes = 48}},
		{"and two others", "", {.old_bytes = 48, .old_dir = 35}},
		{"another count", DISAGREE, {.old_n = 3}},
		{"another size", DISAGREE, {.old_bytes = 47}},
		{"another offset", DISAGREE, {.old_dir = 36}},
		{"too many", "'x.zip' has a damaged central directory: entry 2 of 2",
			{.n = 1, .here = 1}},
		{"too long", "'x.zip' has a central directory beyond its end record", {.bytes = 1}},
		{"more than 1 GiB", "'x.zip' has a central directory beyond its end record",
			{.bytes = 1 << 30}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		says(&a, cases[i].what, with_end64(&a, &cases[i].x), cases[i].want);
	}
	ARENA(a);
	struct end64 right = {.disks = 1};
	struct str bytes = with_end64(&a, &right);
	enum { RECORD = 81, LOCATOR = RECORD + 56 };
	for (size_t n = 0; n < 56; n++)
		says(&a, "a record without its beginning", str_sub(bytes, LOCATOR - n, bytes.n),
			"'x.zip' has no ZIP64 end record");
	static const struct fx_member none[] = {{.name = NULL}};
	for (unsigned at = 12; at <= 16; at += 4) {
		struct str end = archive(&a, none);
		put_le((char *)(uintptr_t)end.p + at, UINT32_MAX, 4);
		says(&a, "marks without a record", end,
			"'x.zip' has no ZIP64 end record, but needs one");
	}
}

/* ---- names ---- */

static void of_names(void **state)
{
	(void)state;
	ARENA(a);
	BUF(deep, &a);
	for (unsigned i = 0; i < 100; i++)
		buf_add(&deep, S("d/"));
	char *most = arena_alloc(&a, 5000);
	memset(most, 'n', 4096);
	const struct {
		struct str name;
		const char *want; /* NULL: a good one */
	} cases[] = {
		{S("a"), NULL},
		{S("a/b.c/d"), NULL},
		{S("a/"), NULL},
		{S("..."), NULL},
		{S(":"), NULL},
		{S("1:"), NULL},
		{S("@:x"), NULL}, /* the characters beside the letters */
		{S("[:x"), NULL},
		{S("`:x"), NULL},
		{S("{:x"), NULL},
		{S("a b~"), NULL},
		{S(""), "is empty"},
		{S("/a"), "is absolute"},
		{S("A:"), "begins with a drive letter"},
		{S("Z:x"), "begins with a drive letter"},
		{S("a:x"), "begins with a drive letter"},
		{S("z:"), "begins with a drive letter"},
		{S("a\\b"), "has a backslash"},
		{S("a\x1f"), "has a control character"},
		{S("a\x7f"), "has a control character"},
		{S("\n"), "has a control character"},
		{S("a//b"), "has an empty path element"},
		{S("a//"), "has an empty path element"},
		{S(".."), "leads out of the folder that it is unpacked in"},
		{S("a/../b"), "leads out of the folder that it is unpacked in"},
		{S("a/.."), "leads out of the folder that it is unpacked in"},
		{S("../"), "leads out of the folder that it is unpacked in"},
		{S("."), "has a '.' path element"},
		{S("a/./b"), "has a '.' path element"},
		{str_sub(buf_str(&deep), 0, deep.n), NULL},
		{str_fmt(&a, "%.*sx", STR(buf_str(&deep))), "is more than 100 folders deep"},
		{str_from(most), NULL},
		{str_fmt(&a, "%sn", most), "is longer than 4096 bytes"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *got = zip_name_problem(cases[i].name);
		if (cases[i].want)
			assert_string_equal(got ? got : "good", cases[i].want);
		else
			assert_null(got);
	}
}

/* More than 1 TiB in all is not unpacked, be it of one or of many. */
static void of_bombs(void **state)
{
	(void)state;
	const uint64_t most = UINT64_C(1) << 40;
	for (uint64_t size = most / 2 - 1; size <= most / 2; size++) {
		ARENA(a);
		BUF(extra, &a);
		struct findings found = {0};
		struct zip z;
		buf_le(&extra, 1, 2);
		buf_le(&extra, 8, 2);
		buf_le(&extra, size, 8);
		const struct fx_member v[] = {{.name = "a",
						      .data = S_INIT("x"),
						      .method = 8,
						      .size = UINT32_MAX,
						      .extra = buf_str(&extra)},
			{.name = "b",
				.data = S_INIT("x"),
				.method = 8,
				.size = UINT32_MAX,
				.extra = buf_str(&extra)},
			{.name = "c", .data = S_INIT("x")}, {.name = NULL}};
		struct bytes src = bytes_mem(archive(&a, v));
		bool bomb = false;
		assert_ok(zip_open_src(&a, &src, S("x.zip"), &found, &z));
		VEC_EACH (const struct finding, f, &found) {
			bomb = bomb || !strcmp(f->id, "zip-bomb");
			if (!strcmp(f->id, "zip-bomb"))
				assert_str(f->message, "it would unpack to more than 1 TiB");
		}
		assert_int_equal(bomb, size == most / 2);
		assert_int_equal(zip_find(&z, S("c"))->unsafe, bomb);
	}
}

/* A directory of more than 1 GiB is not read: the end record of one, and zeros. */
static struct err *read_end_of(const struct bytes *s, void *p, size_t n, uint64_t at)
{
	const struct str *end = s->user;
	memset(p, 0, n);
	for (size_t i = 0; i < n; i++)
		if (at + i >= s->size - end->n)
			((char *)p)[i] = end->p[at + i - (s->size - end->n)];
	return NULL;
}

static void of_a_large_directory(void **state)
{
	(void)state;
	for (uint64_t bytes = 1 << 30; bytes <= (1 << 30) + 1; bytes++) {
		ARENA(a);
		BUF(b, &a);
		struct budget budget = {.work = UINT64_MAX, .memory = 1 << 20};
		struct zip z;
		put_end(&b, 1, bytes, 0);
		struct str end = buf_str(&b);
		struct bytes src = {
			.read = read_end_of, .size = bytes + b.n, .user = &end, .budget = &budget};
		assert_err_says(zip_open_src(&a, &src, S("x.zip"), NULL, &z), E_LIMIT,
			bytes > 1 << 30 ? "'x.zip' has a central directory of 1073741825 bytes"
					: "more memory than a file of its size may cost");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_members),
		cmocka_unit_test(of_a_folder_that_was_deflated),
		cmocka_unit_test(of_wide_fields),
		cmocka_unit_test(of_local_headers),
		cmocka_unit_test(of_bytes_that_are_nobodys),
		cmocka_unit_test(of_two_end_records),
		cmocka_unit_test(of_names),
		cmocka_unit_test(of_bombs),
		cmocka_unit_test(of_a_large_directory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
