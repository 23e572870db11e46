/* The small languages of a wheel: RECORD against Python's csv, METADATA and WHEEL headers against
 * its email parser, requirements and file names as tables. */
#include <limits.h>

#include "test.h"

#include "base/buf.h"
#include "base/proc.h"
#include "wheel/wheel.h"

/* What a Python program prints for a text on its standard input. */
static struct str python(struct arena *a, const char *program, struct str input)
{
	struct proc p = {.input = input};
	struct proc_result r;
	proc_arg(a, &p, "python3", "-c", program, NULL);
	assert_ok(proc_check(a, &p, &r));
	return r.out;
}

static bool have_python(struct arena *a)
{
	return proc_find(a, S("python3")).n > 0;
}

static void record_rows_are_those_of_csv(void **state)
{
	(void)state;
	static const char program[] = "import sys, csv, io\n"
				      "text = sys.stdin.buffer.read().decode()\n"
				      "for r in csv.reader(io.StringIO(text, newline='')):\n"
				      "    if r: sys.stdout.write(repr([x.encode() for x in r][0]) "
				      "+ '|' + r[2] + '\\n')\n";
	static const char *const names[] = {"a.py", "a,b.py", "a\"b.py", "\"", ",", "two words",
		"gr\xc3\xb6\xc3\x9f.py", "a'b", "x\ny.py", "a/b/c.so", "\"\"", ",\",\""};
	ARENA(a);
	if (!have_python(&a))
		skip();
	BUF(b, &a);
	BUF(want, &a);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		dist_record_add(&b, str_from(names[i]), S("0a1b"), i * 1000);
	struct dist_record rec;
	assert_ok(dist_record_parse(&a, buf_str(&b), 1000, &rec));
	assert_int_equal(rec.n, sizeof(names) / sizeof(*names));
	for (size_t i = 0; i < rec.n; i++) {
		assert_str(rec.v[i].path, names[i]);
		assert_str(rec.v[i].algorithm, "sha256");
		assert_str(rec.v[i].hash, "0a1b");
		buf_fmt(&want, "|%zu\n", i * 1000);
	}
	struct str rows = python(&a, program, buf_str(&b)), line, wanted = buf_str(&want), tail;
	while (str_next(&rows, '\n', &line) && str_next(&wanted, '\n', &tail))
		assert_true(str_ends(line, tail));
	assert_int_equal(rows.n + wanted.n, 0);
}

static void record_damage_names_its_line(void **state)
{
	(void)state;
	static const char *const texts[][2] = {
		{"a,b\n", "line 1: 2 of three fields"},
		{"a\n", "line 1: 1 of three fields"},
		{"a,sha256=x,1\nb,sha256=x,1,\n", "line 2: more than three fields"},
		{"a,nohash,1\n", "'nohash' is not ALGORITHM=HASH"},
		{"\"a,sha256=x,1\n", "a quote is not closed"},
		{"\"a\"b,sha256=x,1\n", "text behind a closing quote"},
		{"\"a\nb\",,\n\"c\nd,,\n", "a quote is not closed"},
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		ARENA(a);
		struct dist_record rec;
		assert_err_says(dist_record_parse(&a, str_from(texts[i][0]), 1000, &rec), E_SYNTAX,
			texts[i][1]);
	}
}

static void record_ends_of_lines_do_not_matter(void **state)
{
	(void)state;
	static const char *const texts[] = {"a,sha256=x,1\nb,,\n", "a,sha256=x,1\r\nb,,\r\n",
		"a,sha256=x,1\nb,,", "\n\na,sha256=x,1\n\n\nb,,\n\n", "\"a\",sha256=x,1\n\"b\",,"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		ARENA(a);
		struct dist_record rec;
		assert_ok(dist_record_parse(&a, str_from(texts[i]), 1000, &rec));
		assert_int_equal(rec.n, 2);
		assert_str(rec.v[0].path, "a");
		assert_str(rec.v[0].size, "1");
		assert_str(rec.v[1].path, "b");
		assert_str(rec.v[1].hash, "");
	}
}

/* Keys and values as email.parser sees them, one a line. */
static void headers_are_those_of_pythons_email(void **state)
{
	(void)state;
	static const char program[] =
		"import sys, email.parser\n"
		"m = email.parser.BytesParser().parse(sys.stdin.buffer)\n"
		"for k, v in m.items(): print(k + '=' + ' '.join(v.split()))\n"
		"sys.stdout.write('body=' + m.get_payload().replace('\\r', '').strip())\n";
	static const char *const texts[] = {
		"Metadata-Version: 2.1\nName: x\nVersion: 1\n\nThe text: of it\n\nmore\n",
		"Name: x\r\nVersion: 1\r\n\r\nbody\r\n",
		"Name:x\nEmpty:\nSpaces:   a  b   \n",
		"License: one\n two\n\tthree\nName: x\n\n",
		"Requires-Dist: a; extra == 'b'\nRequires-Dist: c (>=1.0)\n\n\n\nbody",
		"X-Y_z: a:b:c\n\n",
	};
	ARENA(a);
	if (!have_python(&a))
		skip();
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		BUF(b, &a);
		struct dist_headers h;
		assert_ok(dist_headers_parse(&a, str_from(texts[i]), &h));
		VEC_EACH (const struct dist_header, it, &h) {
			struct str words = it->value, word;
			BUF(value, &a);
			for (size_t k = 0; k < words.n; k++)
				buf_char(&value, strchr("\n\t", words.p[k]) ? ' ' : words.p[k]);
			buf_fmt(&b, "%.*s=", STR(it->key));
			words = buf_str(&value);
			for (bool first = true; str_next(&words, ' ', &word);)
				if (word.n) {
					buf_fmt(&b, "%s%.*s", first ? "" : " ", STR(word));
					first = false;
				}
			buf_char(&b, '\n');
		}
		buf_fmt(&b, "body=");
		struct str got = buf_str(&b), want = python(&a, program, str_from(texts[i]));
		assert_true(str_starts(want, got));
	}
}

static void header_names_have_no_case(void **state)
{
	(void)state;
	ARENA(a);
	struct dist_headers h;
	assert_ok(dist_headers_parse(&a, S("nAmE: first\nName: second\nNam: x\n"), &h));
	assert_str(dist_header(&h, "Name")->value, "first");
	assert_str(dist_header(&h, "NAME")->value, "first");
	assert_null(dist_header(&h, "Name2"));
	assert_null(dist_header(&h, ""));
	assert_err_says(dist_headers_parse(&a, S("Name: x\nno colon\n"), &h), E_SYNTAX, "line 2");
	assert_err_says(dist_headers_parse(&a, S(" folded first\n"), &h), E_SYNTAX, "line 1");
	assert_err_says(dist_headers_parse(&a, S("two words: x\n"), &h), E_SYNTAX, "line 1");
	assert_err_says(dist_headers_parse(&a, S(": x\n"), &h), E_SYNTAX, "line 1");
}

static void requirements_are_taken_apart(void **state)
{
	(void)state;
	static const char *const good[][6] = {
		/* text, name, extras, specifier, url, marker */
		{"a", "a", "", "", "", ""},
		{"A.b_c-d9", "A.b_c-d9", "", "", "", ""},
		{"  a  ", "a", "", "", "", ""},
		{"a[x]", "a", "x", "", "", ""},
		{"a [x, y-z] >=1", "a", "x, y-z", ">=1", "", ""},
		{"a[]", "a", "", "", "", ""},
		{"a>=1,<2,!=1.5.*", "a", "", ">=1,<2,!=1.5.*", "", ""},
		{"a (>=1)", "a", "", ">=1", "", ""},
		{"a(==1.0+local)", "a", "", "==1.0+local", "", ""},
		{"a ~= 1.4", "a", "", "~= 1.4", "", ""},
		{"a @ https://h/x.whl", "a", "", "", "https://h/x.whl", ""},
		{"a@file:///x ; os_name == 'x'", "a", "", "", "file:///x", "os_name == 'x'"},
		{"a; python_version<'3.8'", "a", "", "", "", "python_version<'3.8'"},
		{"a>=1;(extra=='x')and'y'!=sys_platform", "a", "", ">=1", "",
			"(extra=='x')and'y'!=sys_platform"},
		{"a;'linux' not in sys_platform or os_name in \"a b\"", "a", "", "", "",
			"'linux' not in sys_platform or os_name in \"a b\""},
	};
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct requirement r;
		assert_ok(requirement_parse(str_from(good[i][0]), &r));
		assert_str(r.name, good[i][1]);
		assert_str(r.extras, good[i][2]);
		assert_str(r.specifier, good[i][3]);
		assert_str(r.url, good[i][4]);
		assert_str(r.marker, good[i][5]);
	}
}

/* For CPython 3.12 on x86_64: with no extra, with the extra "gpu-a". Markers that depend on more may hold. */
static void a_marker_holds_with_an_extra(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool none, extra;
	} cases[] = {
		{"a", true, true},
		{"a; extra == 'gpu-a'", false, true},
		{"a; 'GPU_A' == extra", false, true},
		{"a; extra == 'gpu-b'", false, false},
		{"a; extra != 'gpu-a'", true, false},
		{"a; extra == 'gpu-a' and python_version < '3.12'", false, false},
		{"a; extra == 'gpu-a' and platform_release == '6'", false, true},
		{"a; sys_platform == 'win32' or extra == 'gpu.a'", false, true},
		{"a; python_full_version < '3.12.1'", true, true},
		{"a; platform_machine == 'aarch64'", false, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct requirement r;
		assert_ok(requirement_parse(str_from(cases[i].text), &r));
		if (requirement_may_hold(&r, S("3.12"), S("x86_64"), S("")) != cases[i].none ||
			requirement_may_hold(&r, S("3.12"), S("x86_64"), S("gpu-a")) !=
				cases[i].extra)
			fail_msg("%s", cases[i].text);
	}
}

static void requirements_that_installers_refuse(void **state)
{
	(void)state;
	static const char *const bad[] = {"", " ", "-a", "a-", "_a", "a b", "a[", "a[x", "a[x y]",
		"a[,]", "a[x,]", "a[x,,y]", "a[-]", "a,", "a,>=1", "a =1", "a >=", "a (>=1",
		"a >=1)", "a ()x", "a @", "a @ ", "a;", "a ; ", "a; os_name",
		"a; os_name ==", "a; os_name = 'x'", "a; os_name == x", "a; nonsense == 'x'",
		"a; 'x", "a; (os_name=='x'", "a; os_name=='x')", "a; os_name=='x' and",
		"a; os_name=='x' nand os_name=='y'", "a; os_name notin 'x'",
		"a; os_name=='x' orx=='y'", "a\n", "\xc3\xa4"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct requirement r;
		struct err *e = requirement_parse(str_from(bad[i]), &r);
		if (!e && strcmp(bad[i], "a\n"))
			fail_msg("'%s' is taken for a requirement", bad[i]);
		err_free(e);
	}
}

static void nested_markers_have_a_limit(void **state)
{
	(void)state;
	ARENA(a);
	struct requirement r;
	for (unsigned depth = 1; depth < 100000; depth *= 4) {
		BUF(b, &a);
		buf_add(&b, S("a;"));
		for (unsigned i = 0; i < depth; i++)
			buf_char(&b, '(');
		buf_add(&b, S("os_name=='x'"));
		for (unsigned i = 0; i < depth; i++)
			buf_char(&b, ')');
		struct err *e = requirement_parse(buf_str(&b), &r);
		assert_int_equal(!e, depth <= 32);
		err_free(e);
	}
}

static void tags_are_expanded(void **state)
{
	(void)state;
	static const char *const names[][2] = {
		{"a-1-py3-none-any.whl", "py3-none-any"},
		{"a-1-py2.py3-none-any.whl", "py2-none-any py3-none-any"},
		{"a-1-2x-cp38-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
			"cp38-abi3-manylinux_2_17_x86_64 cp38-abi3-manylinux2014_x86_64"},
		{"a-1-cp310.cp311-cp310.cp311-any.whl",
			"cp310-cp310-any cp310-cp311-any cp311-cp310-any cp311-cp311-any"},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ARENA(a);
		struct wheel_name n;
		assert_ok(wheel_name_parse(&a, str_from(names[i][0]), &n));
		struct strs tags = wheel_tags(&a, &n);
		assert_str(str_join(&a, &tags, S(" ")), names[i][1]);
		assert_str(wheel_name_text(&a, &n), names[i][0]);
	}
}

static void names_that_are_none_are_errors(void **state)
{
	(void)state;
	static const char *const names[] = {"", ".whl", "a.whl", "a-1.whl", "a-1-py3-none.whl",
		"a-1-py3-none-any.WHL", "a-1-py3-none-any.zip", "a-x-py3-none-any.whl",
		"a--py3-none-any.whl", "-1-py3-none-any.whl", "a b-1-py3-none-any.whl",
		"a-1-b2-py3-none-any.whl", "a-1--py3-none-any.whl", "a-1-2-3-py3-none-any.whl",
		"a-1-py3-none-.whl", "a-1-py3..py2-none-any.whl", "a-1-.py3-none-any.whl",
		"a-1-py3-none-any..whl", "a__b-1-py3-none-any.whl", "a/1-py3-none-any.whl",
		"a-1-py3-none-any.whl/"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ARENA(a);
		struct wheel_name n;
		assert_err(wheel_name_parse(&a, str_from(names[i]), &n), E_WHEEL);
	}
}

static void platforms_promise_a_glibc(void **state)
{
	(void)state;
	static const struct {
		const char *tag, *arch;
		unsigned minor;
	} tags[] = {
		{"manylinux1_i686", "i686", 5},
		{"manylinux2010_x86_64", "x86_64", 12},
		{"manylinux2014_aarch64", "aarch64", 17},
		{"manylinux_2_5_x86_64", "x86_64", 5},
		{"manylinux_2_39_ppc64le", "ppc64le", 39},
		{"linux_x86_64", "x86_64", UINT_MAX},
	};
	struct str arch;
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
		assert_int_equal(wheel_tag_glibc(str_from(tags[i].tag), &arch), tags[i].minor);
		assert_str(arch, tags[i].arch);
	}
	static const char *const others[] = {"any", "", "win_amd64", "macosx_11_0_arm64",
		"musllinux_1_2_x86_64", "manylinux_2_x86_64", "manylinux_2_9999_x86_64",
		"manylinux_3_1_x86_64", "manylinux_2_17", "manylinux2014"};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(wheel_tag_glibc(str_from(others[i]), &arch), 0);
}

static void folders_have_a_name_and_a_version(void **state)
{
	(void)state;
	struct str name, version;
	assert_str(dist_stem(S("lib/torch-2.9+rocm7.2.dist-info")), "torch-2.9+rocm7.2");
	assert_str(dist_stem(S("torch-2.9.data")), "");
	assert_true(dist_stem_cut(S("torch-2.9.dist-info"), &name, &version));
	assert_str(name, "torch");
	assert_str(version, "2.9");
	assert_false(dist_stem_cut(S("torch.dist-info"), &name, &version));
	const struct wheel_name wheel = {.dist = S("my_pkg"), .version = S("1.0")};
	assert_true(wheel_owns_info(&wheel, S("My.Pkg-1.dist-info")));
	assert_false(wheel_owns_info(&wheel, S("my_pkg-1.1.dist-info")));
	assert_false(wheel_owns_info(&wheel, S("")));
}

static void values_of_headers_are_their_first_lines(void **state)
{
	(void)state;
	ARENA(a);
	struct dist_headers h;
	assert_ok(dist_headers_parse(&a, S("Name: x\n y\nTAG: z\n"), &h));
	assert_str(dist_header_value(&h, "name"), "x");
	assert_str(dist_header_value(&h, "Version"), "");
	assert_true(dist_header_is(&h.v[1], "tag"));
	assert_false(dist_header_is(&h.v[1], "tags"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folders_have_a_name_and_a_version),
		cmocka_unit_test(values_of_headers_are_their_first_lines),
		cmocka_unit_test(record_rows_are_those_of_csv),
		cmocka_unit_test(record_damage_names_its_line),
		cmocka_unit_test(record_ends_of_lines_do_not_matter),
		cmocka_unit_test(headers_are_those_of_pythons_email),
		cmocka_unit_test(header_names_have_no_case),
		cmocka_unit_test(requirements_are_taken_apart),
		cmocka_unit_test(a_marker_holds_with_an_extra),
		cmocka_unit_test(requirements_that_installers_refuse),
		cmocka_unit_test(nested_markers_have_a_limit),
		cmocka_unit_test(tags_are_expanded),
		cmocka_unit_test(names_that_are_none_are_errors),
		cmocka_unit_test(platforms_promise_a_glibc),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
