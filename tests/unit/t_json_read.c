/* JSON texts that readers disagree about, each with what ours makes of it: the value written again,
 * or the place of the mistake. Python's json module decides in the end for generated texts: what we
 * write of a tree is what it reads from the same text. */
#include "base/proc.h"
#include "fixture_node.h"
#include "fixture_said.h"
#include "test.h"

static void values_are_read_as_they_are(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} cases[] = {
		{.text = "null", .want = "null"},
		{.text = " \t\r\n true \n", .want = "true"},
		{.text = "\"\"", .want = "\"\""},
		{.text = "0", .want = "0"},
		{.text = "-0", .want = "0"},
		{.text = "-9223372036854775808", .want = "-9223372036854775808"},
		{.text = "9223372036854775807", .want = "9223372036854775807"},
		{.text = "1.5e3", .want = "1500"},
		{.text = "0.1", .want = "0.10000000000000001"},
		{.text = "[]", .want = "[]"},
		{.text = "{}", .want = "{}"},
		{.text = "[[],{},[{}]]", .want = "[[],{},[{}]]"},
		{.text = "{\"b\":1,\"a\":2,\"\":3}", .want = "{\"b\":1,\"a\":2,\"\":3}"},
		{.text = "{\"a\":{\"a\":{\"a\":0}}}", .want = "{\"a\":{\"a\":{\"a\":0}}}"},
		{.text = "\"\\u00e9\\/\\\\\\\"\\t\"", .want = "\"\xc3\xa9/\\\\\\\"\\t\""},
		{.text = "\"\\ud83d\\ude00\"", .want = "\"\xf0\x9f\x98\x80\""},
		{.text = "\"\xf0\x9f\x98\x80\"", .want = "\"\xf0\x9f\x98\x80\""},
		{.text = "[1,2.5,\"x\",false,null]", .want = "[1,2.5,\"x\",false,null]"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		BUF(b, &a);
		const struct node *n;
		assert_ok(json_parse(&a, str_from(cases[i].text), S("x.json"), &n));
		write_node(&b, n, true);
		assert_str(buf_str(&b), cases[i].want);
	}
}

static void mistakes_have_a_place(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		unsigned line;
	} cases[] = {
		{.text = "", .line = 1},
		{.text = " \n\n ", .line = 3},
		{.text = "{", .line = 1},
		{.text = "{\"a\":1\n\n,}", .line = 3},
		{.text = "[1,\n2,]", .line = 2},
		{.text = "[1 2]", .line = 1},
		{.text = "{a:1}", .line = 1},
		{.text = "{'a':1}", .line = 1},
		{.text = "{\"a\":1,\n\"a\":2}", .line = 2},
		{.text = "nul", .line = 1},
		{.text = "NaN", .line = 1},
		{.text = "Infinity", .line = 1},
		{.text = "01", .line = 1},
		{.text = "+1", .line = 1},
		{.text = "1.", .line = 1},
		{.text = ".5", .line = 1},
		{.text = "0x10", .line = 1},
		{.text = "1e999", .line = 1},
		{.text = "99999999999999999999", .line = 1},
		{.text = "\"a\nb\"", .line = 1},
		{.text = "\"\\x41\"", .line = 1},
		{.text = "\"\\ud800\"", .line = 1},
		{.text = "\"\\u0000\"", .line = 1},
		{.text = "\"\xff\"", .line = 1},
		{.text = "\"\xc0\xaf\"", .line = 1},
		{.text = "\"\xed\xa0\x80\"", .line = 1},
		{.text = "{} {}", .line = 1},
		{.text = "[1] // no\n", .line = 1},
		{.text = "\"open", .line = 1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		const struct node *n;
		CLEANUP(err_freep)
		struct err *e = json_parse(&a, str_from(cases[i].text), S("x.json"), &n);
		if (!e)
			fail_msg("'%s' was taken", cases[i].text);
		assert_int_equal(e->code, E_SYNTAX);
		assert_string_equal(e->path, "x.json");
		assert_true(e->col >= 1);
		if (e->line != cases[i].line)
			fail_msg("'%s': line %u", cases[i].text, e->line);
	}
}

static struct str nested(struct arena *a, unsigned depth, char open, char close)
{
	BUF(b, a);
	for (unsigned i = 0; i < depth; i++) {
		buf_char(&b, open);
		if (open == '{')
			buf_add(&b, S("\"k\":"));
	}
	buf_add(&b, S("1"));
	for (unsigned i = 0; i < depth; i++)
		buf_char(&b, close);
	return buf_str(&b);
}

static void nesting_has_a_limit(void **state)
{
	(void)state;
	static const struct {
		unsigned depth;
		bool good;
	} cases[] = {{.depth = 1, .good = true}, {.depth = 64, .good = true}, {.depth = 65},
		{.depth = 1000}, {.depth = 100000}};
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		const struct node *n;
		unsigned depth = cases[i / 2].depth, have = 0;
		struct str text = nested(&a, depth, i % 2 ? '{' : '[', i % 2 ? '}' : ']');
		struct err *e = json_parse(&a, text, S("deep"), &n);
		assert_int_equal(!e, cases[i / 2].good);
		if (e) {
			assert_int_equal(e->code, E_SYNTAX);
			err_free(e);
			continue;
		}
		while (n->n) {
			n = n->v;
			have++;
		}
		assert_int_equal(have, depth);
	}
}

static void texts_need_not_end_in_nul(void **state)
{
	(void)state;
	/* Every prefix in memory of its exact size; only the whole is a value. */
	static const char text[] = "{\"key\":[1,-2.5e1,\"\\u20ac\",true,null]}";
	for (size_t n = 0; n < sizeof(text); n++) {
		ARENA(a);
		const struct node *node;
		char *exact = xmalloc(n);
		if (n)
			memcpy(exact, text, n);
		struct err *e = json_parse(&a, (struct str){.p = exact, .n = n}, S("x"), &node);
		assert_int_equal(!e, n == sizeof(text) - 1);
		err_free(e);
		free(exact);
	}
}

static void too_large_a_text_is_refused(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *n;
	size_t limit = 16 << 20;
	char *p = xmalloc(limit + 1);
	memset(p, ' ', limit + 1);
	p[0] = '7';
	assert_ok(json_parse(&a, (struct str){.p = p, .n = limit}, S("x"), &n));
	assert_str(n->text, "7");
	assert_err_says(json_parse(&a, (struct str){.p = p, .n = limit + 1}, S("x"), &n), E_LIMIT,
		"larger than 16 MiB");
	free(p);
}

/* ---- against Python ---- */

static uint64_t seed = 88172645463325252u;

static unsigned roll(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

static void put_value(struct json *j, unsigned depth)
{
	static const char *const words[] = {"", "a", "\"", "\\", "\xe2\x82\xac", "\x01", "\x7f",
		"line\nline", "\xf0\x9f\x98\x80", "</script>"};
	unsigned kind = roll(depth > 4 ? 5 : 7), n = roll(5);
	switch (kind) {
	case 0:
		json_nothing(j);
		break;
	case 1:
		json_bool(j, roll(2));
		break;
	case 2:
		json_i64(j, (int64_t)(seed >> roll(64)));
		break;
	case 3:
		json_f64(j, (double)roll(100000) / 64 - 500);
		break;
	case 4:
		json_str(j, str_from(words[roll(sizeof(words) / sizeof(*words))]));
		break;
	default:
		json_open(j, kind == 5 ? '[' : '{');
		for (unsigned i = 0; i < n; i++) {
			ARENA(tmp);
			if (kind == 6)
				json_key(j, str_fmt(&tmp, "%s%u", words[roll(10)], i).p);
			put_value(j, depth + 1);
		}
		json_close(j);
	}
}

static const char COMPARE[] = "import json, sys\n"
			      "bad = 0\n"
			      "for line in sys.stdin.buffer.read().decode().split('\\n')[:-1]:\n"
			      "    ours, again = line.split('\\x1f')\n"
			      "    if json.loads(ours) != json.loads(again):\n"
			      "        bad += 1\n"
			      "        print(ours, again)\n"
			      "sys.exit(bad > 0)\n";

static void what_we_write_and_read_is_what_python_reads(void **state)
{
	(void)state;
	ARENA(a);
	BUF(all, &a);
	if (!proc_find(&a, S("python3")).n)
		skip();
	for (unsigned i = 0; i < 400; i++) {
		BUF(text, &a);
		const struct node *n;
		struct json j = {.out = &text};
		put_value(&j, 0);
		assert_ok(json_parse(&a, buf_str(&text), S("x"), &n));
		buf_fmt(&all, "%.*s\x1f", STR(buf_str(&text)));
		write_node(&all, n, true);
		buf_char(&all, '\n');
	}
	struct proc p = {.input = buf_str(&all)};
	struct proc_result r;
	proc_arg(&a, &p, "python3", "-I", "-c", COMPARE, NULL);
	assert_ok(proc_check(&a, &p, &r));
}

/* Reads the member "v" of a text as a list; its elements are written one behind the other, with blanks between. */
static struct err *list_of(struct arena *a, const char *text, struct str *ret)
{
	struct json_list l = {.name = S("x.json"), .key = S("v")};
	const struct node *doc, *n;
	BUF(b, a);
	*ret = S("");
	TRY(json_list_open(a, str_from(text), &l, &doc));
	write_node(&b, doc, true);
	for (;;) {
		TRY(json_list_next(a, &l, &n));
		if (!n)
			break;
		buf_char(&b, ' ');
		write_node(&b, n, true);
	}
	*ret = buf_str(&b);
	return NULL;
}

static void a_list_is_read_element_by_element(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want; /* NULL: an error */
	} cases[] = {
		{"{\"v\":[1,\"a,]\\\"\",{\"x\":[2]}],\"w\":3}",
			"{\"v\":[],\"w\":3} 1 \"a,]\\\"\" {\"x\":[2]}"},
		{" { \"a\" : {\"v\":[9]} , \"v\" : [ 1 , [] ] } ",
			"{\"a\":{\"v\":[9]},\"v\":[]} 1 []"},
		{"{\"v:\":1,\"v\":[]}", "{\"v:\":1,\"v\":[]}"},
		{"{\"v\":{\"v\":[1]}}", "{\"v\":{\"v\":[1]}}"},
		{"{}", "{}"},
		{"[1]", "[1]"},
		{"{\"v\":[1,]}", NULL},
		{"{\"v\":[,1]}", NULL},
		{"{\"v\":[1 2]}", NULL},
		{"{\"v\":[1] [2]}", NULL},
		{"{\"v\":[1}]}", NULL},
		{"{\"v\":[1],\"v\":[2]}", NULL},
		{"{\"v\":[1", NULL},
		{"{\"v\":[1]", NULL},
		{"", NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ARENA(a);
		struct str got;
		struct err *e = list_of(&a, cases[i].text, &got);
		if (cases[i].want)
			assert_ok(e);
		else
			assert_err(e, E_SYNTAX);
		if (cases[i].want)
			assert_str(got, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read_as_they_are),
		cmocka_unit_test(mistakes_have_a_place),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(texts_need_not_end_in_nul),
		cmocka_unit_test(too_large_a_text_is_refused),
		cmocka_unit_test(what_we_write_and_read_is_what_python_reads),
		cmocka_unit_test(all_is_said_as_recorded),
		cmocka_unit_test(a_list_is_read_element_by_element),
	};
	said_begin("json_read");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
