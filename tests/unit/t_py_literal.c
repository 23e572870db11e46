/* lang/python/literal: what Python's grammar says of literals, and one located error for the rest.
 */
#include "test.h"

#include "base/buf.h"
#include "lang/python/literal.h"

static const struct py_value *get(
	struct arena *a, struct py_module *m, const char *text, const char *name)
{
	const struct py_value *v = NULL;
	assert_ok(py_read(a, str_from(text), S("m.py"), m));
	assert_ok(py_get(a, m, str_from(name), &v));
	assert_non_null(v);
	return v;
}

static void assert_text(const char *source, const char *want)
{
	ARENA(a);
	struct py_module m;
	struct str text = str_fmt(&a, "x = %s\n", source);
	const struct py_value *v = get(&a, &m, text.p, "x");
	assert_int_equal(v->kind, PY_STRING);
	assert_str(v->text, want);
}

static void strings_are_decoded(void **state)
{
	(void)state;
	assert_text("'a\"b'", "a\"b");
	assert_text("\"a'b\"", "a'b");
	assert_text("''", "");
	assert_text("\"\"\"a\n\"b\"\"\"", "a\n\"b");
	assert_text("'''\r\nx\ry'''", "\nx\ny");
	assert_text("'a' \"b\" '''c'''", "abc");
	assert_text("('a'\n  'b')", "ab");
	assert_text("'\\n\\t\\\\\\'\\q\\x41\\101\\u00e9\\U0001F600'",
		"\n\t\\'\\qAA\xC3\xA9\xF0\x9F\x98\x80");
	assert_text("'a\\\nb'", "ab");
	assert_text("'a\\\r\nb\\\rc'", "abc");
	assert_text("r'\\n'", "\\n");
	assert_text("u'x'", "x");
	assert_text("'\xC3\xA9'", "\xC3\xA9");
}

static void assert_fails(const char *source, const char *says, unsigned line, unsigned col)
{
	ARENA(a);
	struct py_module m;
	const struct py_value *v = NULL;
	struct err *e = py_read(&a, str_from(source), S("m.py"), &m);
	if (!e)
		e = py_get(&a, &m, S("x"), &v);
	assert_non_null(e);
	assert_string_equal(e->path, "m.py");
	assert_int_equal(e->line, line);
	assert_int_equal(e->col, col);
	assert_err_says(e, E_TORCH, says);
}

static void what_is_no_literal_is_an_error_with_its_place(void **state)
{
	(void)state;
	assert_fails("\n x = 'a\n", "a string is not closed", 2, 6);
	assert_fails("x = '''a\n\n", "a string is not closed", 1, 5);
	assert_fails("x = f'a'", "prefix 'f'", 1, 5);
	assert_fails("x = b'a'", "prefix 'b'", 1, 5);
	assert_fails("x = '\\ud800'", "escape", 1, 5);
	assert_fails("x = '\\x4'", "escape", 1, 5);
	assert_fails("x = '\\N{DASH}'", "escape", 1, 5);
	assert_fails("x = (1,\n", "'(' is not closed", 1, 5);
	assert_fails("x = (1]\n", "']' does not match the '(' of line 1", 1, 7);
	assert_fails("x = 1)\n", "')' closes nothing", 1, 6);
	assert_fails("x = $\n", "unexpected character '$'", 1, 5);
	assert_fails("x = \x01\n", "unexpected character 0x01", 1, 5);
	assert_fails("x = 1 + 2\n", "the end of the literal expected, not '+'", 1, 7);
	assert_fails("x = [i for i in y]\n", "expected, not 'for'", 1, 8);
	assert_fails("x = [*y]\n", "a literal expected, not '*'", 1, 6);
	assert_fails("x = lambda: 1\n", "a literal expected, not 'lambda'", 1, 5);
	assert_fails("x = f(1)\n", "the result of 'f()' is not known", 1, 5);
	assert_fails("x = OrderedDict([1])\n", "a pair of key and value", 1, 18);
	assert_fails("x = OrderedDict([(1, 2, 3)])\n", "a pair of key and value", 1, 18);
	assert_fails("x = OrderedDict(1)\n", "one list of pairs", 1, 17);
	assert_fails("x = {1}\n", "':' of a dict expected", 1, 7);
	assert_fails("x = 1 if y else 2\n", "cannot be decided", 1, 10);
	assert_fails("x = y == 'a'\n", "cannot be decided", 1, 5);
	assert_fails("if a:\n  x = 1\n", "not certain", 2, 3);
	assert_fails("if a: x = 1\n", "not certain", 1, 7);
	assert_fails("x = -y\n", "a number expected, not 'y'", 1, 6);
	assert_fails("x = -\n", "a number expected behind this", 1, 5);
	assert_fails("x = 1 if\n", "a literal expected behind this", 1, 7);
	assert_fails("x = 1 if True\n", "'else' expected behind this", 1, 10);
	assert_fails("x = {1: 2 3: 4}\n", "',' or '}' expected, not '3'", 1, 11);
	assert_fails("x = [1 2]\n", "',' or the end of the brackets expected", 1, 8);
	assert_fails("x = dict([], y=1)\n", "expected, not '='", 1, 15);
	assert_fails("x = dict([], [])\n", "one list of pairs", 1, 10);
	assert_fails("x = 1 if 2 else 3\n", "cannot be decided", 1, 10);
	assert_fails("x = abc'y'\n", "the end of the literal expected", 1, 8);
	assert_fails("x = OrderedDict([('a', 1)],\n", "'(' is not closed", 1, 16);
	assert_fails("x = [\n", "'[' is not closed", 1, 5);
	assert_fails("x = os.getenv()\n", "environment variable", 1, 5);
}

static void values_have_kinds_items_and_places(void **state)
{
	(void)state;
	ARENA(a);
	struct py_module m;
	const struct py_value *v = get(&a, &m,
		"import os\n# comment\nx = [1, -2.5e-3, None, True,  # more\n  ('a',), (), ('b'), "
		"y.z]\n",
		"x");
	assert_int_equal(v->kind, PY_LIST);
	assert_int_equal(v->n, 8);
	assert_int_equal(v->line, 3);
	assert_int_equal(v->col, 5);
	assert_str(v->v[0].text, "1");
	assert_str(v->v[1].text, "-2.5e-3");
	assert_int_equal(v->v[2].kind, PY_NONE);
	assert_int_equal(v->v[3].kind, PY_BOOL);
	assert_int_equal(v->v[4].kind, PY_TUPLE);
	assert_int_equal(v->v[4].n, 1);
	assert_int_equal(v->v[4].line, 4);
	assert_int_equal(v->v[5].kind, PY_TUPLE);
	assert_int_equal(v->v[5].n, 0);
	assert_int_equal(v->v[6].kind, PY_STRING);
	assert_int_equal(v->v[7].kind, PY_NAME);
	assert_str(v->v[7].text, "y.z");
}

static void dicts_come_as_displays_and_as_pairs(void **state)
{
	(void)state;
	static const char *const forms[] = {
		"x = {'a': 1, 'b': (2,),}\n",
		"x = dict([('a', 1), ('b', (2,))])\n",
		"x: dict[str, int] = collections.OrderedDict(\n  [\n    ('a', 1), ['b', (2,)]])\n",
		"x = OrderedDict({'a': 1, 'b': (2,)})\n",
	};
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		ARENA(a);
		struct py_module m;
		const struct py_value *v = get(&a, &m, forms[i], "x");
		assert_int_equal(v->kind, PY_DICT);
		assert_int_equal(v->n, 2);
		assert_str(v->v[0].v[0].text, "a");
		assert_str(v->v[0].v[1].text, "1");
		assert_int_equal(v->v[1].v[1].kind, PY_TUPLE);
	}
}

static void a_bare_comma_makes_a_tuple(void **state)
{
	(void)state;
	ARENA(a);
	struct py_module m;
	assert_int_equal(get(&a, &m, "x = 1,\n", "x")->n, 1);
	const struct py_value *v = get(&a, &m, "x = 1, 'b', ();; y = 2\n", "x");
	assert_int_equal(v->kind, PY_TUPLE);
	assert_int_equal(v->n, 3);
	assert_str(v->v[1].text, "b");
	assert_int_equal(get(&a, &m, "x = dict()\n", "x")->n, 0);
	assert_int_equal(get(&a, &m, "x = dict()\n", "x")->kind, PY_DICT);
}

static void names_give_what_was_bound_before(void **state)
{
	(void)state;
	ARENA(a);
	struct py_module m;
	const struct py_value *v = get(&a, &m,
		"a = 'one'\nb = [a]; a = 'two'\ndef f():\n    a = 'no'\nx = (a, b, c)\nc = 'late'\n"
		"a = 'three'\n",
		"x");
	assert_str(v->v[0].text, "two");
	assert_str(v->v[1].v[0].text, "one");
	assert_int_equal(v->v[2].kind, PY_NAME);
	assert_int_equal(v->v[0].line, 5);
}

static void strings_of_two_statements_stay_two(void **state)
{
	(void)state;
	ARENA(a);
	struct py_module m;
	assert_str(get(&a, &m, "x = 'a'\n'''about x'''\n", "x")->text, "a");
}

static void conditions_ask_the_environment(void **state)
{
	(void)state;
	static const char text[] = "flag = os.environ.get('RS_PYLIT', '0') == '1'\n"
				   "x = 'yes' if flag else 'no' if never_set else 'other'\n"
				   "y = 'set' if os.getenv('RS_PYLIT') != None else 'unset'\n";
	ARENA(a);
	struct py_module m;
	const struct py_value *v = NULL;
	setenv("RS_PYLIT", "1", 1);
	assert_ok(py_read(
		&a, S("x = 'yes' if os.environ.get('RS_PYLIT') == '1' else 'no'"), S("m.py"), &m));
	assert_ok(py_get(&a, &m, S("x"), &v));
	assert_str(v->text, "yes");
	unsetenv("RS_PYLIT");
	assert_str(get(&a, &m, text, "y")->text, "unset");
	assert_err_says(py_get(&a, &m, S("x"), &v), E_TORCH, "cannot be decided");
	assert_str(get(&a, &m, "x = 'a' if os.environ.get('RS_PYLIT', '0') == '0' else 'b'", "x")
			   ->text,
		"a");
}

static void assignments_are_seen_and_other_statements_are_not(void **state)
{
	(void)state;
	ARENA(a);
	struct py_module m;
	assert_ok(py_read(&a,
		S("a = 1\nb += 2\nc.d = 3\ne == 4\nf(g=5)\nfor h in i: j = 6\nwith k: pass\n"
		  "class L:\n  m = 7\nn = 8 ; o = 9\nmatch = 10\n"),
		S("m.py"), &m));
	static const char *const bound[] = {"a", "j", "n", "o", "match"};
	for (size_t i = 0; i < 5; i++)
		assert_non_null(map_get(&m.targets, str_from(bound[i])));
	assert_int_equal(m.targets.n, 5);
}

static void nesting_is_limited(void **state)
{
	(void)state;
	ARENA(a);
	BUF(text, &a);
	buf_add(&text, S("x = "));
	for (int i = 0; i < 100000; i++)
		buf_char(&text, '[');
	buf_char(&text, '\0');
	assert_fails(text.p, "more than 200 nested brackets", 1, 205);
	struct buf branches = {.a = &a};
	buf_add(&branches, S("x = "));
	for (int i = 0; i < 10000; i++)
		buf_add(&branches, S("1 if None else "));
	buf_add(&branches, S("2\n"));
	assert_fails(branches.p, "less deeply nested", 1, 5 + 255 * 15);
	struct buf names = {.a = &a};
	buf_add(&names, S("n0 = 1\n"));
	for (int i = 1; i < 10000; i++)
		buf_fmt(&names, "n%d = [n%d, n%d]\n", i, i - 1, i - 1);
	buf_add(&names, S("x = n9999\n"));
	struct py_module m;
	const struct py_value *v = NULL;
	assert_ok(py_read(&a, buf_str(&names), S("m.py"), &m));
	assert_err(py_get(&a, &m, S("x"), &v), E_TORCH);
	struct buf chain = {.a = &a};
	buf_add(&chain, S("n0 = 1\n"));
	for (int i = 1; i < 1000; i++)
		buf_fmt(&chain, "n%d = n%d\n", i, i - 1);
	assert_ok(py_read(&a, buf_str(&chain), S("m.py"), &m));
	assert_err_says(py_get(&a, &m, S("n999"), &v), E_TORCH, "names that lead too far");
	assert_ok(py_get(&a, &m, S("n100"), &v));
	assert_str(v->text, "1");
}

static void pairs_are_not_checked_without_end(void **state)
{
	(void)state;
	ARENA(a);
	BUF(text, &a);
	buf_add(&text, S("pairs = ["));
	for (int i = 0; i < 1000; i++)
		buf_add(&text, S("(1, 2),"));
	buf_add(&text, S("]\nx = ["));
	for (int i = 0; i < 1000; i++)
		buf_add(&text, S("dict(pairs),"));
	buf_add(&text, S("]\n"));
	assert_fails(text.p, "again and again", 2, 6 + 22 * 12);
}

static void messages_stay_short(void **state)
{
	(void)state;
	ARENA(a);
	BUF(text, &a);
	struct py_module m;
	const struct py_value *v = NULL;
	buf_add(&text, S("x = "));
	for (int i = 0; i < 1000; i++)
		buf_add(&text, S("long_name."));
	buf_add(&text, S("f()\n"));
	assert_ok(py_read(&a, buf_str(&text), S("m.py"), &m));
	CLEANUP(err_freep) struct err *e = py_get(&a, &m, S("x"), &v);
	assert_non_null(e);
	assert_int_equal(strlen(e->msg), 303);
	struct err *again = py_get(&a, &m, S("x"), &v);
	assert_err_says(again, E_TORCH, "the value of 'x' is not known");
}

static void text_that_is_no_source_is_refused(void **state)
{
	(void)state;
	ARENA(a);
	struct py_module m;
	assert_err_says(py_read(&a, S("x = '\xFF'"), S("m.py"), &m), E_TORCH, "not UTF-8");
	assert_err_says(py_read(&a, S("x = 1\0"), S("m.py"), &m), E_TORCH, "not UTF-8");
	assert_ok(py_read(&a, S(""), S("m.py"), &m));
	assert_int_equal(m.tokens.n, 0);
	assert_ok(py_read(&a, S("\xEF\xBB\xBFx = 1"), S("m.py"), &m));
	assert_int_equal(m.tokens.v[0].col, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_decoded),
		cmocka_unit_test(what_is_no_literal_is_an_error_with_its_place),
		cmocka_unit_test(values_have_kinds_items_and_places),
		cmocka_unit_test(dicts_come_as_displays_and_as_pairs),
		cmocka_unit_test(a_bare_comma_makes_a_tuple),
		cmocka_unit_test(names_give_what_was_bound_before),
		cmocka_unit_test(strings_of_two_statements_stay_two),
		cmocka_unit_test(conditions_ask_the_environment),
		cmocka_unit_test(assignments_are_seen_and_other_statements_are_not),
		cmocka_unit_test(nesting_is_limited),
		cmocka_unit_test(pairs_are_not_checked_without_end),
		cmocka_unit_test(messages_stay_short),
		cmocka_unit_test(text_that_is_no_source_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
