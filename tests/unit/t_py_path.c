/* Paths and patterns as Python has them: cases that once mattered, and many random ones for which
 * the real Python says what is right. */
#include "test.h"

#include "base/buf.h"
#include "base/proc.h"
#include "lang/python/fnmatch.h"
#include "lang/python/path.h"
#include "lang/python/text.h"

struct check {
	const char *op, *a, *b, *c, *want;
};

/* op of up to three arguments, as tests/oracle/pypath.py names them. */
static struct str apply(struct arena *a, struct str op, const struct str *arg)
{
	if (str_eq(op, S("glob"))) {
		struct py_glob g = py_glob_new(a, arg[0]);
		return py_glob_match(&g, arg[1]) ? S("1") : S("0");
	}
	if (str_eq(op, S("join")))
		return py_join(a, arg[0], arg[1]);
	if (str_eq(op, S("abs")))
		return py_abspath(a, arg[0], arg[1]);
	if (str_eq(op, S("rel")))
		return py_relpath(a, arg[0], arg[1], arg[2]);
	if (str_eq(op, S("dir")))
		return py_dirname(arg[0]);
	if (str_eq(op, S("base")))
		return py_basename(arg[0]);
	if (str_eq(op, S("ext")))
		return py_ext(arg[0]);
	assert_true(str_eq(op, S("lib")));
	return py_pathlib(a, arg[0]);
}

static const struct check checks[] = {
	{"join", "a", "/b", NULL, "/b"},
	{"join", "a/", "b", NULL, "a/b"},
	{"join", "", "b", NULL, "b"},
	{"join", "a", "", NULL, "a/"},
	{"abs", "", "/", NULL, "/"},
	{"abs", "//a/../b", "/", NULL, "//b"},
	{"abs", "///a//./b/", "/", NULL, "/a/b"},
	{"abs", "/../a", "/", NULL, "/a"},
	{"abs", "x/../../y", "/p/q", NULL, "/p/y"},
	{"rel", "/p/a_hip.h", "/p/q/", "/", "../a_hip.h"},
	{"rel", "/p", "/p", "/", "."},
	{"dir", "/a", NULL, NULL, "/"},
	{"dir", "a//b", NULL, NULL, "a"},
	{"base", "a/", NULL, NULL, ""},
	{"ext", "d/.cu", NULL, NULL, ""},
	{"ext", "..a.cu", NULL, NULL, ".cu"},
	{"ext", "a.d/b", NULL, NULL, ""},
	{"lib", "a/../b/./c//d/", NULL, NULL, "a/../b/c/d"},
	{"lib", "", NULL, NULL, "."},
	{"lib", "//a", NULL, NULL, "//a"},
	{"glob", "/p/*", "/p/a/b.cu", NULL, "1"},
	{"glob", "/p/**/*_test*", "/p/a_test", NULL, "0"},
	{"glob", "/p/**/*_test*", "/p/x/y/a_test.cc", NULL, "1"},
	{"glob", "*/hip/*", "a/hip/", NULL, "1"},
	{"glob", "[!a]", "a", NULL, "0"},
	{"glob", "[a-c]x", "bx", NULL, "1"},
	{"glob", "[", "[", NULL, "1"},
	{"glob", "a[b", "a[b", NULL, "1"},
	{"glob", "[]-a]", "^", NULL, "1"},
	{"glob", "[b-a]", "a", NULL, "0"},
	{"glob", "[!b-a]", "q", NULL, "1"},
	{"glob", "[--0]", ".", NULL, "1"},
	{"glob", "\\*", "\\x", NULL, "1"},
	{"glob", "?", "\xc3\xa9", NULL, "1"},
	{"glob", "?", "\xff", NULL, "1"},
	{"glob", "??", "\xc3\xa9", NULL, "0"},
	{"glob", "[\xc3\xa0-\xc3\xaf]", "\xc3\xa9", NULL, "1"},
	{"glob", "", "", NULL, "1"},
	{"glob", "*", "", NULL, "1"},
	{"glob", "a", "ab", NULL, "0"},
	{"glob", "*.cu", "x.cu\n", NULL, "0"},
};

static void known_cases_hold(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		const struct check *c = &checks[i];
		struct str arg[] = {str_from(c->a), str_from(c->b), str_from(c->c)};
		assert_str(apply(&a, str_from(c->op), arg), c->want);
	}
}

static void check_line(struct arena *a, struct str line)
{
	struct str field[5] = {0}, rest = line;
	size_t n = 0;
	while (n < 5 && str_next(&rest, '\t', &field[n]))
		n++;
	/* str_next() gives no empty piece at the end */
	if (str_ends(line, S("\t")) && n < 5)
		field[n++] = S("");
	assert_true(n >= 3);
	struct str got = apply(a, field[0], field + 1);
	if (!str_eq(got, field[n - 1]))
		fail_msg("%.*s: got '%.*s'", STR(line), STR(got));
}

static void python_agrees_on_random_ones(void **state)
{
	(void)state;
	ARENA(a);
	if (!proc_find(&a, S("python3")).n)
		skip();
	struct proc p = {.limit = 64 << 20};
	struct proc_result r = {0};
	proc_arg(&a, &p, "python3", "-I", "tests/oracle/pypath.py", "7", "20000", NULL);
	assert_ok(proc_check(&a, &p, &r));
	struct str rest = r.out, line;
	size_t n = 0;
	for (; str_next(&rest, '\n', &line); n++)
		check_line(&a, line);
	assert_int_equal(n, 20000);
}

static void replacing_takes_every_occurrence_from_the_left(void **state)
{
	(void)state;
	ARENA(a);
	assert_str(py_str_replace(&a, S("barracuda/cudacuda"), S("cuda"), S("hip")),
		"barrahip/hiphip");
	assert_str(py_str_replace(&a, S("aaa"), S("aa"), S("b")), "ba");
	assert_str(py_str_replace(&a, S("x"), S("cuda"), S("hip")), "x");
}

static void a_folder_is_passed_over_only_when_nothing_below_can_match(void **state)
{
	(void)state;
	ARENA(a);
	struct py_glob all = py_glob_new(&a, S("/p/torch/*"));
	struct py_glob one = py_glob_new(&a, S("/p/c10/CMakeLists.txt"));
	struct py_glob any = py_glob_new(&a, S("/p/*/hip/*"));
	assert_true(py_glob_possible(&all, S("/p/")));
	assert_true(py_glob_possible(&all, S("/p/torch/csrc/")));
	assert_false(py_glob_possible(&all, S("/p/torchgen/")));
	assert_true(py_glob_possible(&one, S("/p/c10/")));
	assert_false(py_glob_possible(&one, S("/p/c10/cuda/")));
	assert_true(py_glob_possible(&any, S("/p/x/")));
	assert_true(py_glob_certain(&all, S("/p/torch/csrc/")));
	assert_false(py_glob_certain(&all, S("/p/")));
	assert_false(py_glob_certain(&any, S("/p/x/hip/")));
}

static void many_stars_take_no_long_time(void **state)
{
	(void)state;
	ARENA(a);
	BUF(pattern, &a);
	BUF(name, &a);
	for (int i = 0; i < 200; i++)
		buf_add(&pattern, S("*a"));
	buf_char(&pattern, 'b');
	for (int i = 0; i < 4000; i++)
		buf_char(&name, 'a');
	struct py_glob g = py_glob_new(&a, buf_str(&pattern));
	assert_false(py_glob_match(&g, buf_str(&name)));
	buf_char(&name, 'b');
	assert_true(py_glob_match(&g, buf_str(&name)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_cases_hold),
		cmocka_unit_test(python_agrees_on_random_ones),
		cmocka_unit_test(replacing_takes_every_occurrence_from_the_left),
		cmocka_unit_test(a_folder_is_passed_over_only_when_nothing_below_can_match),
		cmocka_unit_test(many_stars_take_no_long_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
