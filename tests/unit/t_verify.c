/* Verdicts on wheels that are wrong in one thing each: the id that must come, and nothing else of
 * severity error. Here the files of a wheel; t_verify_libs.c has libraries, t_verify_device.c device code. */
#include "fixture_verify.h"

#include <fcntl.h>
#include <unistd.h>

static void a_right_wheel_passes(void **state)
{
	(void)state;
	const struct one cases[] = {
		{.what = "pure", .wheel = {.files = {A_FILE}}, .want = ""},
		{.what = "several tags",
			.wheel = {.file = "demo-1.0-py2.py3-none-any.whl",
				.wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: "
					 "py2-none-any\n"
					 "Tag: py3-none-any\n"},
			.want = ""},
		{.what = "build tag, local version",
			.wheel = {.file = "demo-1.0+rocm7-2-py3-none-any.whl",
				.info = "demo-1.0+rocm7.dist-info",
				.metadata =
					"Metadata-Version: 2.4\nName: Demo\nVersion: 1.0+rocm7\n"},
			.want = ""},
	};
	CHECK(cases);
}

static void names_are_checked(void **state)
{
	(void)state;
	const struct one cases[] = {
		{.what = "no wheel name",
			.wheel = {.file = "demo.whl",
				.wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: "
					 "py3-none-any\n"},
			.want = "wheel-name"},
		{.what = "version",
			.wheel = {.file = "demo-one-py3-none-any.whl"},
			.want = "wheel-name"},
		{.what = "upper case",
			.wheel = {.file = "Demo-1.0-py3-none-any.whl"},
			.want = "wheel-name-form"},
		{.what = "other dist-info",
			.wheel = {.info = "other-1.0.dist-info"},
			.want = "dist-info-name"},
		{.what = "other version",
			.wheel = {.info = "demo-1.1.dist-info"},
			.want = "dist-info-name"},
		{.what = "same version, other form",
			.wheel = {.info = "demo-1.0.0.dist-info"},
			.want = ""},
		{.what = "two of them",
			.wheel = {.files = {{.name = "x-1.dist-info/METADATA",
					  .content = S_INIT("x")}}},
			.want = "dist-info-several dist-info-name"},
	};
	(void)cases;
	check_all(cases, 6);
}

static void metadata_is_checked(void **state)
{
	(void)state;
#define META "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"
	const struct one cases[] = {
		{.what = "none", .wheel = {.metadata = ""}, .want = "metadata-missing"},
		{.what = "no header", .wheel = {.metadata = "hello\n"}, .want = "metadata-syntax"},
		{.what = "not UTF-8",
			.wheel = {.metadata = META "Summary: \xff\n"},
			.want = "metadata-syntax"},
		{.what = "no name",
			.wheel = {.metadata = "Metadata-Version: 2.1\nVersion: 1.0\n"},
			.want = "metadata-field"},
		{.what = "no version",
			.wheel = {.metadata = "Metadata-Version: 2.1\nName: demo\n"},
			.want = "metadata-field"},
		{.what = "future",
			.wheel = {.metadata = "Metadata-Version: 9.1\nName: demo\n"
					      "Version: 1.0\n"},
			.want = "metadata-field"},
		{.what = "name",
			.wheel = {.metadata = "Metadata-Version: 2.1\nName: demon\n"
					      "Version: 1.0\n"},
			.want = "metadata-name"},
		{.what = "version",
			.wheel = {.metadata = "Metadata-Version: 2.1\nName: demo\n"
					      "Version: 1.0.1\n"},
			.want = "metadata-version"},
		{.what = "version that is none",
			.wheel = {.metadata =
					  "Metadata-Version: 2.1\nName: demo\nVersion: 1-x-2\n"},
			.want = "metadata-field"},
		{.what = "twice",
			.wheel = {.metadata = META "name: demo\n"},
			.want = "metadata-field"},
		{.what = "requires",
			.wheel = {.metadata = META
				  "Provides-Extra: x\n"
				  "Requires-Dist: torch (>=2) ; python_version >= '3.8' and extra "
				  "== 'x'\n"
				  "Requires-Dist: numpy[a,b]!=1.3.*,<2\nRequires-Python: >=3.9\n"},
			.want = ""},
		{.what = "bad requires",
			.wheel = {.metadata = META "Requires-Dist: torch >= \n"},
			.want = "metadata-requires"},
		{.what = "bad marker",
			.wheel = {.metadata = META "Requires-Dist: torch; pyton_version < '3'\n"},
			.want = "metadata-requires"},
		{.what = "bad python",
			.wheel = {.metadata = META "Requires-Python: 3.9+\n"},
			.want = "metadata-field"},
		{.what = "license file",
			.wheel = {.metadata = META "License-File: LICENSE\n"},
			.want = "metadata-license-file"},
		{.what = "license file there",
			.wheel = {.metadata = META "License-File: LICENSE\n",
				.files = {{.name = "demo-1.0.dist-info/licenses/LICENSE",
					.content = S_INIT("MIT")}}},
			.want = ""},
		{.what = "body and folded lines",
			.wheel = {.metadata = META
				  "License: a\n        b\n\nText: not a header\nbad line\n"},
			.want = ""},
	};
	CHECK(cases);
}

static void wheel_is_checked(void **state)
{
	(void)state;
#define W "Wheel-Version: 1.0\n"
	const struct one cases[] = {
		{.what = "none", .wheel = {.wheel = ""}, .want = "wheel-missing"},
		{.what = "no version",
			.wheel = {.wheel = "Root-Is-Purelib: true\n"
					   "Tag: py3-none-any\n"},
			.want = "wheel-syntax"},
		{.what = "version 2",
			.wheel = {.wheel = "Wheel-Version: 2.0\n"
					   "Root-Is-Purelib: true\nTag: py3-none-any\n"},
			.want = "wheel-version"},
		{.what = "1.9",
			.wheel = {.wheel = "Wheel-Version: 1.9\n"
					   "Root-Is-Purelib: true\nTag: py3-none-any\n"},
			.want = ""},
		{.what = "purelib",
			.wheel = {.wheel = W "Root-Is-Purelib: maybe\n"
					     "Tag: py3-none-any\n"},
			.want = "wheel-syntax"},
		{.what = "no tag",
			.wheel = {.wheel = W "Root-Is-Purelib: true\n"},
			.want = "wheel-syntax"},
		{.what = "other tag",
			.wheel = {.wheel = W "Root-Is-Purelib: true\n"
					     "Tag: py3-none-linux_x86_64\n"},
			.want = "wheel-tags"},
		{.what = "one tag too many",
			.wheel = {.wheel = W "Root-Is-Purelib: true\n"
					     "Tag: py3-none-any\nTag: py2-none-any\n"},
			.want = "wheel-tags"},
		{.what = "not expanded",
			.wheel = {.file = "demo-1.0-py2.py3-none-any.whl",
				.wheel = W "Root-Is-Purelib: true\nTag: py2.py3-none-any\n"},
			.want = ""},
	};
	CHECK(cases);
}

/* ---- RECORD ---- */

static struct str without_hashes(struct arena *a, struct str text)
{
	BUF(b, a);
	struct str line, name, rest;
	while (str_next(&text, '\n', &line)) {
		str_cut(line, ',', &name, &rest);
		buf_fmt(&b, "%.*s,,\n", STR(name));
	}
	return buf_str(&b);
}

static struct str one_without_hash(struct arena *a, struct str text)
{
	return str_fmt(
		a, "demo/__init__.py,,6%.*s", STR(str_sub(text, str_chr(text, '\n'), text.n)));
}

/* Replaces the first occurrence. */
static struct str swap(struct arena *a, struct str text, const char *from, const char *to)
{
	size_t at = str_find(text, str_from(from));
	assert_true(at < text.n);
	return str_fmt(a, "%.*s%s%.*s", STR(str_sub(text, 0, at)), to,
		STR(str_sub(text, at + strlen(from), text.n)));
}

static struct str other_size(struct arena *a, struct str text)
{
	return swap(a, text, ",6\n", ",7\n");
}

static struct str other_hash(struct arena *a, struct str text)
{
	return swap(a, text, "sha256=", "sha256=A");
}

static struct str md5(struct arena *a, struct str text)
{
	return swap(a, text, "sha256=", "md5=");
}

static struct str sha512(struct arena *a, struct str text)
{
	return swap(a, text, "sha256=", "sha512=");
}

static struct str padded(struct arena *a, struct str text)
{
	return swap(a, text, ",6\n", "=,6\n");
}

static struct str hex(struct arena *a, struct str text)
{
	struct digest d = hash_bytes(HASH_SHA256, "x = 1\n", 6);
	struct str from = str_fmt(a, "sha256=%.*s", STR(digest_base64url(a, &d)));
	return swap(a, text, from.p, str_fmt(a, "sha256=%.*s", STR(digest_hex(a, d))).p);
}

static struct str no_self(struct arena *a, struct str text)
{
	return swap(a, text, "demo-1.0.dist-info/RECORD,,\n", "");
}

static struct str self_hash(struct arena *a, struct str text)
{
	return swap(a, text, "RECORD,,\n", "RECORD,sha256=abc,3\n");
}

static struct str unlisted(struct arena *a, struct str text)
{
	size_t end = str_chr(text, '\n');
	return str_dup(a, str_sub(text, end + 1, text.n));
}

static struct str carriage(struct arena *a, struct str text)
{
	return swap(a, text, ",6\n", ",6\r\n");
}

static void record_is_checked(void **state)
{
	(void)state;
	const struct one cases[] = {
		{.what = "none", .wheel = {.record = ""}, .want = "record-missing"},
		{.what = "no hashes",
			.wheel = {.files = {A_FILE}, .edit = without_hashes},
			.want = "record-no-hash"},
		{.what = "one without a hash",
			.wheel = {.files = {A_FILE}, .edit = one_without_hash},
			.want = "record-no-hash"},
		{.what = "size",
			.wheel = {.files = {A_FILE}, .edit = other_size},
			.want = "record-size-mismatch"},
		{.what = "hash",
			.wheel = {.files = {A_FILE}, .edit = other_hash},
			.want = "record-hash-mismatch"},
		{.what = "md5",
			.wheel = {.files = {A_FILE}, .edit = md5},
			.want = "record-hash-form"},
		{.what = "sha512",
			.wheel = {.files = {A_FILE}, .edit = sha512},
			.want = "record-hash-unchecked"},
		{.what = "padded",
			.wheel = {.files = {A_FILE}, .edit = padded},
			.want = "record-hash-form"},
		{.what = "hex",
			.wheel = {.files = {A_FILE}, .edit = hex},
			.want = "record-hash-form"},
		{.what = "no self", .wheel = {.edit = no_self}, .want = "record-self"},
		{.what = "self with hash", .wheel = {.edit = self_hash}, .want = "record-self"},
		{.what = "unlisted",
			.wheel = {.files = {A_FILE}, .edit = unlisted},
			.want = "record-unlisted-file"},
		{.what = "absent",
			.wheel = {.record = "+demo/gone.py,sha256=abc,1\n"},
			.want = "record-absent-file"},
		{.what = "twice",
			.wheel = {.files = {A_FILE}, .record = "+demo/__init__.py,,\n"},
			.want = "record-duplicate record-no-hash"},
		{.what = "outside",
			.wheel = {.record = "+../../bin/x,sha256=abc,1\n"},
			.want = "record-path"},
		{.what = "absolute",
			.wheel = {.record = "+/etc/passwd,sha256=abc,1\n"},
			.want = "record-path"},
		{.what = "two fields", .wheel = {.record = "+x,y\n"}, .want = "record-syntax"},
		{.what = "four fields", .wheel = {.record = "+x,,,\n"}, .want = "record-syntax"},
		{.what = "open quote", .wheel = {.record = "+\"x,,\n"}, .want = "record-syntax"},
		{.what = "no algorithm",
			.wheel = {.record = "+x,abcdef,1\n"},
			.want = "record-syntax"},
		{.what = "CR LF", .wheel = {.files = {A_FILE}, .edit = carriage}, .want = ""},
	};
	CHECK(cases);
}

/* ---- what is no wheel ---- */

static void files_that_are_no_wheels_fail(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), text = path_join(&a, dir, S("x.whl"));
	struct str cut = path_join(&a, dir, S("demo-1.0-py3-none-any.whl")), bytes;
	struct verify_options o = {.jobs = 1};
	struct strs paths = {0};
	assert_str(verify(&a, dir, o), "no-wheel");
	assert_str(verify(&a, path_join(&a, dir, S("none.whl")), o), "file-not-found wheel-name");
	test_put(text, "hello");
	assert_str(verify(&a, text, o), "not-a-zip wheel-name");
	(void)fx_write(&a, dir, (struct fx_wheel){.files = {A_FILE}});
	assert_ok(fs_read(&a, cut, 1 << 20, &bytes));
	assert_ok(fs_write(cut, str_sub(bytes, 0, bytes.n - 3), 0644));
	assert_str(verify(&a, cut, o), "not-a-zip");
	assert_ok(verify_paths(&a, dir, &paths));
	assert_int_equal(paths.n, 2);
	test_dir_remove(dir);
}

/* Every bit of a wheel that is flipped must make it fail, but for bytes that mean nothing. */
static void a_damaged_wheel_never_passes(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), bytes;
	struct str path = fx_write(&a, dir, (struct fx_wheel){.files = {A_FILE}});
	assert_ok(fs_read(&a, path, 1 << 20, &bytes));
	char *p = (char *)(uintptr_t)bytes.p;
	CLEANUP(fd_closep) int fd = open(path.p, O_RDWR | O_CLOEXEC);
	size_t passed = 0;
	for (size_t i = 0; i < bytes.n; i++) {
		ARENA(tmp);
		struct verify_options o = {.jobs = 1};
		struct verdict v;
		p[i] = (char)(p[i] ^ 0x21);
		assert_int_equal(pwrite(fd, p + i, 1, (off_t)i), 1);
		assert_ok(verify_wheel(&tmp, path, &o, &v));
		passed += v.pass;
		p[i] = (char)(p[i] ^ 0x21);
		assert_int_equal(pwrite(fd, p + i, 1, (off_t)i), 1);
	}
	/* per member: made by and version (4), time (4), internal and external attributes but for
	 * the file type (3), disk (2) in the directory; version and time (6) in the local header;
	 * unused bits of deflate. */
	assert_true(passed <= 4 * 22);
	test_dir_remove(dir);
}

/* ---- ids ---- */

static const char *const finding_ids[] = {
#define X(name, id, severity, meaning) id,
#include "../../data/findings.def"
	NULL,
};

static void ids_are_those_of_the_manual(void **state)
{
	(void)state;
	ARENA(a);
	struct str page;
	size_t n = 0, in_page = 0;
	assert_ok(fs_read(&a, S("doc/man/rocsmith-verify.1.scd"), 1 << 20, &page));
	for (; finding_ids[n]; n++) {
		struct str line = str_fmt(&a, "\n*%s* (", finding_ids[n]);
		if (!str_contains(page, line))
			fail_msg("'%s' is not in rocsmith-verify(1)", finding_ids[n]);
	}
	for (struct str line; str_next(&page, '\n', &line);)
		in_page +=
			str_starts(line, S("*")) && (str_contains(line, S("* (error)")) ||
							    str_contains(line, S("* (warning)")) ||
							    str_contains(line, S("* (info)")));
	assert_int_equal(in_page, n);
}

/* The zip reader names its findings itself. */
static void ids_of_the_zip_reader_are_listed(void **state)
{
	(void)state;
	static const char *const files[] = {"src/formats/zip_read.c", NULL};
	size_t n = 0;
	for (size_t i = 0; files[i]; i++) {
		ARENA(a);
		struct str text, id;
		assert_ok(fs_read(&a, str_from(files[i]), 1 << 20, &text));
		for (size_t at; (at = str_find(text, S("\"zip-"))) < text.n; n++) {
			text = str_sub(text, at + 1, text.n);
			str_cut(text, '"', &id, &text);
			if (!str_is_one_of(id, finding_ids))
				fail_msg("'%.*s' is not in findings.def", STR(id));
		}
	}
	assert_true(n > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_right_wheel_passes),
		cmocka_unit_test(names_are_checked),
		cmocka_unit_test(metadata_is_checked),
		cmocka_unit_test(wheel_is_checked),
		cmocka_unit_test(record_is_checked),
		cmocka_unit_test(files_that_are_no_wheels_fail),
		cmocka_unit_test(a_damaged_wheel_never_passes),
		cmocka_unit_test(ids_are_those_of_the_manual),
		cmocka_unit_test(ids_of_the_zip_reader_are_listed),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("verify");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
