/* TOML texts, each with the tree that it is or the place of the mistake. Python's tomllib decides in
 * the end: the texts of the fuzz corpus and those here are read by both. */
#include "base/proc.h"
#include "fixture_node.h"
#include "fixture_said.h"
#include "test.h"

static const struct {
	const char *text, *want; /* want NULL: a mistake at line:col */
	unsigned line, col;
} cases[] = {
	{"", "{}", 0, 0},
	{"# nothing\n\n", "{}", 0, 0},
	{"a = 1", "{\"a\":\"1\"}", 0, 0},
	{"a = 1 # one\r\nb='x'\r\n", "{\"a\":\"1\",\"b\":\"x\"}", 0, 0},
	{"a.b.c = 1\na.d = true\n", "{\"a\":{\"b\":{\"c\":\"1\"},\"d\":true}}", 0, 0},
	{"\"a b\".'' = \"\"", "{\"a b\":{\"\":\"\"}}", 0, 0},
	{"[a]\nx=1\n[a.b]\ny=2\n[c]\n", "{\"a\":{\"x\":\"1\",\"b\":{\"y\":\"2\"}},\"c\":{}}", 0, 0},
	{"[a.b]\n[a]\nx=1\n", "{\"a\":{\"b\":{},\"x\":\"1\"}}", 0, 0},
	{"[[a]]\nx=1\n[[a]]\n[a.b]\ny=2\n", "{\"a\":[{\"x\":\"1\"},{\"b\":{\"y\":\"2\"}}]}", 0, 0},
	{"[a]\nb.c=1\n[a.b.d]\n", "{\"a\":{\"b\":{\"c\":\"1\",\"d\":{}}}}", 0, 0},
	{"a = [1, [ 'x' , ],\n # no\n]", "{\"a\":[\"1\",[\"x\"]]}", 0, 0},
	{"a = { b = 1, c.d = [{}] }", "{\"a\":{\"b\":\"1\",\"c\":{\"d\":[{}]}}}", 0, 0},
	{"a = \"\\t\\u00e9\\U0001F600\\\\\"", "{\"a\":\"\\t\xc3\xa9\xf0\x9f\x98\x80\\\\\"}", 0, 0},
	{"a = \"\"\"\nx\\\n   y\"\"\"\"\"", "{\"a\":\"xy\\\"\\\"\"}", 0, 0},
	{"a = '''\n\\n''\n'''", "{\"a\":\"\\\\n''\\n\"}", 0, 0},
	{"a = [0x1F, 0o17, 0b1_0, -1_000, +0, 1e5, 1.5E-3, inf, -nan]",
		"{\"a\":[\"0x1F\",\"0o17\",\"0b1_0\",\"-1_000\",\"+0\",\"1e5\",\"1.5E-3\",\"inf\","
		"\"-nan\"]}",
		0, 0},
	{"a = [0x0F, 0o07, 0b01]", "{\"a\":[\"0x0F\",\"0o07\",\"0b01\"]}", 0, 0},
	{"a = [1979-05-27, 07:32:00, 1979-05-27 07:32:00.5, 1979-05-27T07:32:00-07:00]",
		"{\"a\":[\"1979-05-27\",\"07:32:00\",\"1979-05-27 07:32:00.5\","
		"\"1979-05-27T07:32:00-07:00\"]}",
		0, 0},
	{"a", NULL, 1, 2},
	{"a =", NULL, 1, 4},
	{"= 1", NULL, 1, 1},
	{"a = b", NULL, 1, 5},
	{"a = 1 b = 2", NULL, 1, 7},
	{"a = 1\na = 2", NULL, 2, 1},
	{"a = 1\na.b = 2", NULL, 2, 3},
	{"[a]\n[a]", NULL, 2, 1},
	{"[a.b]\nc=1\n[a]\nb.d=1", NULL, 4, 3},
	{"a = {b=1}\n[a.c]", NULL, 2, 4},
	{"a = []\n[[a]]", NULL, 2, 1},
	{"a.b = 1\n[a]", NULL, 2, 1},
	{"a = 01", NULL, 1, 5},
	{"a = 1__0", NULL, 1, 5},
	{"a = 1_", NULL, 1, 5},
	{"a = _1", NULL, 1, 5},
	{"a = 1_.5", NULL, 1, 5},
	{"a = 1._5", NULL, 1, 5},
	{"a = 1.5_", NULL, 1, 5},
	{"a = 1e_5", NULL, 1, 5},
	{"a = 1e5_", NULL, 1, 5},
	{"a = 1e", NULL, 1, 5},
	{"a = 1.", NULL, 1, 5},
	{"a = 1.e5", NULL, 1, 5},
	{"a = 0x_1", NULL, 1, 5},
	{"a = 0x1_", NULL, 1, 5},
	{"a = 0x1g", NULL, 1, 5},
	{"a = 0x", NULL, 1, 5},
	{"a = 0o8", NULL, 1, 5},
	{"a = 0b2", NULL, 1, 5},
	{"a = +0x1", NULL, 1, 5},
	{"a = -01", NULL, 1, 5},
	{"a = 01.5", NULL, 1, 5},
	{"a = +-1", NULL, 1, 5},
	{"a = +", NULL, 1, 5},
	{"a = [0x1_F, 1_0.0_1e1_0, 0.5, 1e+01, +inf]",
		"{\"a\":[\"0x1_F\",\"1_0.0_1e1_0\",\"0.5\",\"1e+01\",\"+inf\"]}", 0, 0},
	{"a = \"\\u0041\\u007e\\u0080\\u07ff\\u0800\\ud7ff\\ue000\\uffff\\U00010000\\U0010ffff\"",
		"{\"a\":\"A~\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"
		"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"}",
		0, 0},
	{"a = \"\\udfff\"", NULL, 1, 8},
	{"a = \"\\U00110000\"", NULL, 1, 8},
	{"a = \"\\u00g0\"", NULL, 1, 8},
	{"a = \"\\u004\"", NULL, 1, 8},
	{"a = [1979-05-27t07:32:00z, 1979-05-27 07:32:00.25Z, 1979-05-27T07:32:00+01:30]",
		"{\"a\":[\"1979-05-27t07:32:00z\",\"1979-05-27 07:32:00.25Z\","
		"\"1979-05-27T07:32:00+01:30\"]}",
		0, 0},
	{"a = 07:32:00.", NULL, 1, 5},
	{"a = 07:32:00.x", NULL, 1, 5},
	{"a = 07:32:0", NULL, 1, 5},
	{"a = 07:32:00Z", NULL, 1, 5},
	{"a = 1979-05-27T", NULL, 1, 5},
	{"a = 1979-05-27x07:32:00", NULL, 1, 5},
	{"a = 1979-5-27", NULL, 1, 5},
	{"a = 1979-05-27T07:32:00+01", NULL, 1, 5},
	{"a = 1979-05-27T+01:00", NULL, 1, 5},
	{"a = \"\"\"x\\ y\"\"\"", NULL, 1, 10},
	{"a = \"\"\"x\"\"y\"\"\"", "{\"a\":\"x\\\"\\\"y\"}", 0, 0},
	{"\xef\xbb\xbf"
	 "a = 1",
		NULL, 1, 4},
	{"a = .5", NULL, 1, 5},
	{"a = 'x\ny'", NULL, 1, 7},
	{"a = \"\\x\"", NULL, 1, 7},
	{"a = \"\\ud800\"", NULL, 1, 8},
	{"a = [1 2]", NULL, 1, 8},
	{"a = {b=1,}", NULL, 1, 10},
	{"a = {b=1\n}", NULL, 1, 9},
	{"\"\"\"a\"\"\" = 1", NULL, 1, 1},
	{"a = \"\"\"x", NULL, 1, 9},
	{"a = 1 # \x01", NULL, 1, 9},
	{"a = \"\xff\"", NULL, 1, 6},
	{"[a", NULL, 1, 3},
	{"[[a]", NULL, 1, 4},
};

static void texts_are_trees_or_located_mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		BUF(b, &a);
		const struct node *n = NULL;
		struct err *e = toml_parse(&a, str_from(cases[i].text), S("x.toml"), &n);
		if (cases[i].want) {
			assert_ok(e);
			write_node(&b, n, false);
			assert_str(buf_str(&b), cases[i].want);
			continue;
		}
		assert_non_null(e);
		said_err(e);
		assert_int_equal(e->code, E_SYNTAX);
		if (e->line != cases[i].line || e->col != cases[i].col)
			fail_msg("'%s': %u:%u, %s", cases[i].text, e->line, e->col, e->msg);
		err_free(e);
	}
}

static void nesting_has_an_end(void **state)
{
	(void)state;
	static const char *const openings[] = {"a = [[[", "x.", "[", "a = {b="};
	ARENA(a);
	const struct node *n;
	BUF(deep, &a);
	buf_add(&deep, S("a = "));
	for (unsigned i = 0; i < 5000; i++)
		buf_char(&deep, '[');
	struct err *e = toml_parse(&a, buf_str(&deep), S("x"), &n);
	assert_int_equal(e->code, E_SYNTAX);
	err_free(e);
	BUF(keys, &a);
	for (unsigned i = 0; i < 200; i++)
		buf_add(&keys, S("k."));
	buf_add(&keys, S("k = 1"));
	e = toml_parse(&a, buf_str(&keys), S("x"), &n);
	assert_int_equal(e->code, E_SYNTAX);
	err_free(e);
	for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++) {
		e = toml_parse(&a, str_from(openings[i]), S("x"), &n);
		assert_int_equal(e->code, E_SYNTAX);
		err_free(e);
	}
}

/* Whatever tomllib takes we take, and the other way round. */
static void tomllib_agrees(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	BUF(want, &a);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str name = str_fmt(&a, "%03zu.toml", i);
		test_put(path_join(&a, dir, name), cases[i].text);
		buf_char(&want, cases[i].want ? '+' : '-');
	}
	struct proc p = {.cwd = dir};
	struct proc_result r;
	proc_arg(&a, &p, "python3", "-c",
		"import os, sys\n"
		"try:\n"
		"    import tomllib\n"
		"except ImportError:\n"
		"    sys.exit(77)\n"
		"for name in sorted(os.listdir('.')):\n"
		"    try:\n"
		"        tomllib.load(open(name, 'rb'))\n"
		"        print('+', end='')\n"
		"    except (tomllib.TOMLDecodeError, UnicodeDecodeError):\n"
		"        print('-', end='')\n",
		NULL);
	struct err *e = proc_run(&a, &p, &r);
	test_dir_remove(dir);
	if (e || r.status == 77) {
		err_free(e);
		skip();
	}
	assert_str(r.out, buf_str(&want).p);
}

static void write_places(const struct node *n, unsigned depth)
{
	buf_fmt(said(), "%*s%.*s %d '%.*s' %u:%u, key %u:%u\n", (int)depth * 2, "", STR(n->key),
		(int)n->kind, STR(n->text), n->at.line, n->at.col, n->key_at.line, n->key_at.col);
	for (size_t i = 0; i < n->n; i++)
		write_places(&n->v[i], depth + 1);
}

/* Each kind of value, table and key, and where each begins. */
static void places_of_all_values(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *n;
	const char *const text =
		"# comment\n\n  a = 1 # one\n\tb=\"t\\u00e4\\n\"\r\n'c d' = '''\n  lines\n'''\n"
		"x.y . \"z\" = [1, [2,\n 3], {p = 4, q.r = true}, ] # end\n"
		"f = -1_0.5e+3\nd = 2024-01-02T03:04:05.6+07:00\n\n"
		"[ t . u ]\nv = \"\"\"\n\\\n   joined\"\"\"\n[[l]]\nm = 1\n[[l]]\n[l.sub]\nk = "
		"inf\n"
		"[t]\nw = 0xff";
	assert_ok(toml_parse(&a, str_from(text), S("x.toml"), &n));
	write_places(n, 0);
}

static struct err *parse_n(const char *open, unsigned n, const char *close)
{
	ARENA(a);
	BUF(b, &a);
	const struct node *tree;
	buf_add(&b, S("a = "));
	for (unsigned i = 0; i < n; i++)
		buf_add(&b, str_from(open));
	buf_add(&b, S("1"));
	for (unsigned i = 0; i < n; i++)
		buf_add(&b, str_from(close));
	return toml_parse(&a, buf_str(&b), S("x.toml"), &tree);
}

/* The deepest, the most and the largest that is read, and what is one more. */
static void trees_have_limits(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *tree;
	static const char *const kinds[][2] = {{"[", "]"}, {"{a=", "}"}, {"[{a=", "}]"}};
	for (size_t i = 0; i < 3; i++) {
		struct err *e = NULL;
		for (unsigned n = 1; !e; n++) {
			e = parse_n(kinds[i][0], n, kinds[i][1]);
			if (e)
				buf_fmt(said(), "%u of %s:\n", n, kinds[i][0]);
		}
		said_err(e);
		err_free(e);
	}
	bool many = false;
	for (size_t n = 249990; n < 250010 && !many; n++) {
		ARENA(tmp);
		char *p = arena_alloc(&tmp, 2 * n + 10);
		memcpy(p, "a = [", 5);
		for (size_t i = 0; i < n; i++)
			memcpy(p + 5 + 2 * i, "1,", 2);
		p[5 + 2 * n] = ']';
		struct err *e = toml_parse(&tmp, (struct str){p, 6 + 2 * n}, S("x.toml"), &tree);
		many = e;
		said_err(e);
		err_free(e);
	}
	assert_true(many);
	for (size_t n = (16 << 20); n <= (16 << 20) + 1; n++) {
		char *p = arena_alloc(&a, n);
		memset(p, ' ', n);
		struct err *e = toml_parse(&a, (struct str){p, n}, S("x.toml"), &tree);
		if (n > 16 << 20)
			assert_err_says(e, E_LIMIT, "'x.toml' is too large");
		else
			assert_ok(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_trees_or_located_mistakes),
		cmocka_unit_test(nesting_has_an_end),
		cmocka_unit_test(tomllib_agrees),
		cmocka_unit_test(places_of_all_values),
		cmocka_unit_test(trees_have_limits),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("toml");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
