/* YAML and JSON documents: formats/node.h. */
#include "fixture_said.h"
#include "test.h"

#include "base/buf.h"
#include "formats/node.h"

static const struct node *yaml(struct arena *a, const char *text)
{
	const struct node *n = NULL;
	assert_ok(yaml_parse(a, str_from(text), S("t.yaml"), &n));
	return n;
}

static const struct node *json(struct arena *a, const char *text)
{
	const struct node *n = NULL;
	assert_ok(json_parse(a, str_from(text), S("t.json"), &n));
	return n;
}

static void a_recipe_reads_as_a_tree(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *r = yaml(&a, "# a comment\n"
					"name: saxpy\n"
					"version: 1.0\n"
					"sources: [src/a.cu, src/ext/*.cu]\n"
					"options:\n"
					"  fast: true\n"
					"  jobs: 12\n"
					"  note: |\n"
					"    two\n"
					"    lines\n"
					"empty:\n");
	assert_int_equal(r->kind, NODE_MAP);
	assert_int_equal(r->n, 5);
	assert_str(node_text(r, S("name"), S("")), "saxpy");
	assert_str(node_text(r, S("version"), S("")), "1.0");
	assert_int_equal(node_get(r, S("version"))->kind, NODE_NUMBER);
	const struct node *s = node_get(r, S("sources")), *o = node_get(r, S("options"));
	assert_int_equal(s->n, 2);
	assert_str(s->v[1].text, "src/ext/*.cu");
	assert_str(s->v[1].at.path, "t.yaml");
	assert_int_equal(s->v[1].at.line, 4);
	assert_int_equal(s->v[1].at.col, 21);
	assert_int_equal(s->key_at.line, 4);
	assert_int_equal(s->key_at.col, 1);
	assert_true(node_bool(o, S("fast"), false));
	assert_int_equal(node_u64(o, S("jobs"), 0), 12);
	assert_str(node_text(o, S("note"), S("")), "two\nlines\n");
	assert_int_equal(node_get(r, S("empty"))->kind, NODE_NULL);
	assert_str(node_text(r, S("empty"), S("default")), "default");
}

static const struct {
	const char *text;
	enum node_kind kind;
} scalars[] = {
	{.text = "", .kind = NODE_NULL},
	{.text = "~", .kind = NODE_NULL},
	{.text = "null", .kind = NODE_NULL},
	{.text = "'null'", .kind = NODE_STRING},
	{.text = "true", .kind = NODE_BOOL},
	{.text = "FALSE", .kind = NODE_BOOL},
	{.text = "\"true\"", .kind = NODE_STRING},
	{.text = "!!str true", .kind = NODE_STRING},
	{.text = "! 12", .kind = NODE_STRING},
	{.text = "!!int 12", .kind = NODE_NUMBER},
	{.text = "!!bool true", .kind = NODE_BOOL},
	{.text = "!!null ~", .kind = NODE_NULL},
	{.text = "!!float 1.5", .kind = NODE_NUMBER},
	{.text = "no", .kind = NODE_STRING},
	{.text = "on", .kind = NODE_STRING},
	{.text = "0", .kind = NODE_NUMBER},
	{.text = "-12", .kind = NODE_NUMBER},
	{.text = "+1.5e-3", .kind = NODE_NUMBER},
	{.text = "1e5", .kind = NODE_NUMBER},
	{.text = "1.", .kind = NODE_NUMBER},
	{.text = ".5", .kind = NODE_NUMBER},
	{.text = "-.5", .kind = NODE_NUMBER},
	{.text = ".inf", .kind = NODE_NUMBER},
	{.text = "-.INF", .kind = NODE_NUMBER},
	{.text = ".nan", .kind = NODE_NUMBER},
	{.text = "0x1F", .kind = NODE_NUMBER},
	{.text = "0x", .kind = NODE_STRING},
	{.text = "0xg", .kind = NODE_STRING},
	{.text = "0o17", .kind = NODE_NUMBER},
	{.text = "0o18", .kind = NODE_STRING},
	{.text = ".", .kind = NODE_STRING},
	{.text = "+", .kind = NODE_STRING},
	{.text = "1e", .kind = NODE_STRING},
	{.text = "1e+", .kind = NODE_STRING},
	{.text = ".e5", .kind = NODE_STRING},
	{.text = "1.2.3", .kind = NODE_STRING},
	{.text = "12abc", .kind = NODE_STRING},
	{.text = "gfx1100", .kind = NODE_STRING},
};

static void scalars_follow_the_core_schema(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < sizeof(scalars) / sizeof(*scalars); i++) {
		const struct node *n = yaml(&a, str_fmt(&a, "k: %s\n", scalars[i].text).p);
		if (n->v[0].kind != scalars[i].kind)
			print_error("'%s'\n", scalars[i].text);
		assert_int_equal(n->v[0].kind, scalars[i].kind);
	}
	assert_str(yaml(&a, "TRUE")->text, "true");
	assert_int_equal(yaml(&a, "!!map {a: !!seq [b]}")->kind, NODE_MAP);
	assert_int_equal(yaml(&a, "! [b]")->kind, NODE_LIST);
}

static const struct {
	const char *text, *says;
	unsigned line, col;
} broken[] = {
	{.text = "a: 1\nb: [1,\nc: 2\n", .says = "',' or ']'", .line = 4, .col = 1},
	{.text = "a: b: c\n", .says = "mapping values", .line = 1, .col = 5},
	{.text = "a:\n\t- b\n", .says = "cannot start any token", .line = 2, .col = 1},
	{.text = "a: 1\nb: 2\na: 3\n", .says = "'a' is already on line 1", .line = 3, .col = 1},
	{.text = "x: &n [1]\ny: *n\n", .says = "aliases", .line = 2, .col = 4},
	{.text = "x: &n a\n*n : 1\n", .says = "aliases", .line = 2, .col = 1},
	{.text = "a: !!python/object:os.system x\n", .says = "tag", .line = 1, .col = 4},
	{.text = "a: !!int x\n", .says = "tag", .line = 1, .col = 4},
	{.text = "a: !!set {x: ~}\n", .says = "tag", .line = 1, .col = 4},
	{.text = "a: !!float ~\n", .says = "tag", .line = 1, .col = 4},
	{.text = "a: !!bool 1\n", .says = "tag", .line = 1, .col = 4},
	{.text = "a: !!null x\n", .says = "tag", .line = 1, .col = 4},
	{.text = "!!int a: 1\n", .says = "tag", .line = 1, .col = 1},
	{.text = "a: !!seq {x: y}\n", .says = "tag", .line = 1, .col = 4},
	{.text = "a: 1\r\n\r\n  b: 2\n", .says = "mapping values", .line = 3, .col = 4},
	{.text = "a: !!map [x]\n", .says = "tag", .line = 1, .col = 4},
	{.text = "? [a, b]\n: c\n", .says = "key must be plain text", .line = 1, .col = 3},
	{.text = "a: 1\n---\nb: 2\n", .says = "only one document", .line = 2, .col = 1},
	{.text = "a: \"x\\0y\"\n", .says = "NUL", .line = 1, .col = 4},
	{.text = "a: 1\nb: \xff\n", .says = "UTF-8", .line = 2, .col = 4},
	{.text = "a: \x01\n", .says = "control characters", .line = 1, .col = 4},
	{.text = "a: 'x\n", .says = "end of stream", .line = 2, .col = 1},
	{.text = "a: \"\\q\"\n", .says = "unknown escape", .line = 1, .col = 5},
	{.text = "%YAML 9.9\n---\na\n", .says = "incompatible YAML", .line = 1, .col = 1},
	{.text = "\xc3\xa4: \xc3\xa4\n\xc3\xa4\xc3\xa4: [\xc3\x28\n",
		.says = "UTF-8",
		.line = 2,
		.col = 7},
};

static void mistakes_are_located(void **state)
{
	(void)state;
	unsigned bad = 0;
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		ARENA(a);
		const struct node *n;
		CLEANUP(err_freep)
		struct err *e = yaml_parse(&a, str_from(broken[i].text), S("t.yaml"), &n);
		if (!e || e->line != broken[i].line || e->col != broken[i].col ||
			!test_err_says(e, broken[i].says)) {
			print_error("%s\n", broken[i].text);
			test_print_err(e);
			bad++;
		}
		assert_int_equal(e->code, E_SYNTAX);
		assert_string_equal(e->path, "t.yaml");
	}
	assert_int_equal(bad, 0);
}

static void tabs_get_a_hint(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *n;
	CLEANUP(err_freep) struct err *e = yaml_parse(&a, S("a:\n\tb: c\n"), S("t"), &n);
	assert_non_null(e);
	assert_non_null(e->hints);
	assert_non_null(strstr(e->hints->text, "spaces"));
}

static struct str repeat(struct arena *a, const char *piece, size_t n, const char *end)
{
	BUF(b, a);
	for (size_t i = 0; i < n; i++)
		buf_add(&b, str_from(piece));
	buf_add(&b, str_from(end));
	return buf_str(&b);
}

static void deep_nesting_is_refused(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *n;
	struct str open = repeat(&a, "[", 64, ""), shut = repeat(&a, "]", 64, "");
	struct str fits = str_fmt(&a, "%.*s%.*s", STR(open), STR(shut));
	struct str deep = str_fmt(&a, "[%.*s]", STR(fits));
	assert_ok(yaml_parse(&a, fits, S("t"), &n));
	assert_ok(json_parse(&a, fits, S("t"), &n));
	assert_err_says(yaml_parse(&a, deep, S("t"), &n), E_SYNTAX, "64 levels");
	assert_err_says(json_parse(&a, deep, S("t"), &n), E_SYNTAX, "64 levels");
	struct str far = repeat(&a, "[", 200000, ""), maps = repeat(&a, "{a: ", 100000, "");
	assert_err(yaml_parse(&a, far, S("t"), &n), E_SYNTAX);
	assert_err(yaml_parse(&a, maps, S("t"), &n), E_SYNTAX);
	assert_err(yaml_parse(&a, repeat(&a, "- ", 100000, "x"), S("t"), &n), E_SYNTAX);
	assert_err(json_parse(&a, far, S("t"), &n), E_SYNTAX);
	struct str objects = repeat(&a, "{\"a\":", 65, "1"), ends = repeat(&a, "}", 65, "");
	deep = str_fmt(&a, "%.*s%.*s", STR(objects), STR(ends));
	assert_err_says(json_parse(&a, deep, S("t"), &n), E_SYNTAX, "64 levels");
}

static void large_documents_are_read_and_too_large_ones_refused(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *n;
	struct str big = repeat(&a, "x", 8 << 20, "");
	struct str text = str_fmt(&a, "k: %.*s", STR(big));
	assert_ok(yaml_parse(&a, text, S("t"), &n));
	assert_int_equal(n->v[0].text.n, 8 << 20);
	BUF(b, &a);
	for (int i = 0; i < 20000; i++)
		buf_fmt(&b, "key%d: %d\n", i, i);
	assert_ok(yaml_parse(&a, buf_str(&b), S("t"), &n));
	assert_int_equal(n->n, 20000);
	struct str much = repeat(&a, "1,", NODE_COUNT - 10, "1");
	assert_ok(json_parse(&a, str_fmt(&a, "[%.*s]", STR(much)), S("t"), &n));
	assert_ok(yaml_parse(&a, str_fmt(&a, "[%.*s]", STR(much)), S("t"), &n));
	assert_ok(toml_parse(&a, str_fmt(&a, "k=[%.*s]", STR(much)), S("t"), &n));
	assert_ok(json_parse(&a, str_fmt(&a, "[\"%.*s,\\\"[{,,,\"]", STR(much)), S("t"), &n));
	much = repeat(&a, "1,", NODE_COUNT, "1");
	assert_err(json_parse(&a, str_fmt(&a, "[%.*s]", STR(much)), S("t"), &n), E_LIMIT);
	assert_err(yaml_parse(&a, str_fmt(&a, "[%.*s]", STR(much)), S("t"), &n), E_LIMIT);
	assert_err(toml_parse(&a, str_fmt(&a, "k=[%.*s]", STR(much)), S("t"), &n), E_LIMIT);
	much = repeat(&a, "[[a.b]]\n", NODE_COUNT, "");
	assert_err(toml_parse(&a, much, S("t"), &n), E_LIMIT);
	much = repeat(&a, "%TAG !a! x\n", 101, "");
	assert_err(yaml_parse(&a, much, S("t"), &n), E_LIMIT);
	assert_ok(yaml_parse(&a, repeat(&a, "- 1%\n", 1000, ""), S("t"), &n));
	big = repeat(&a, "xxxxxxxxxxxxxxxx", (1 << 20) + 1, "");
	assert_err(yaml_parse(&a, big, S("t"), &n), E_LIMIT);
	assert_err(json_parse(&a, big, S("t"), &n), E_LIMIT);
}

static void empty_documents_are_null(void **state)
{
	(void)state;
	ARENA(a);
	assert_int_equal(yaml(&a, "")->kind, NODE_NULL);
	assert_int_equal(yaml(&a, "# nothing\n")->kind, NODE_NULL);
	assert_int_equal(yaml(&a, "---\n...\n")->kind, NODE_NULL);
	assert_int_equal(yaml(&a, "\xef\xbb\xbf"
				  "a: 1\n")
				 ->kind,
		NODE_MAP);
	assert_null(node_get(yaml(&a, ""), S("x")));
	assert_null(node_get(NULL, S("x")));
}

static void json_reads_into_the_same_tree(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *r = json(&a, "{\"b\": [1, -2.5, true, false, null, \"\\u00e4\"],\n"
					" \"a\": {\"n\": 9223372036854775807}}");
	assert_int_equal(r->n, 2);
	assert_str(r->v[0].key, "b");
	const struct node *l = node_get(r, S("b"));
	assert_int_equal(l->n, 6);
	assert_str(l->v[0].text, "1");
	assert_str(l->v[1].text, "-2.5");
	assert_int_equal(l->v[2].kind, NODE_BOOL);
	assert_str(l->v[3].text, "false");
	assert_int_equal(l->v[4].kind, NODE_NULL);
	assert_str(l->v[5].text, "\xc3\xa4");
	assert_true(node_u64(node_get(r, S("a")), S("n"), 0) == INT64_MAX);
	assert_str(r->at.path, "t.json");
	assert_int_equal(json(&a, "3")->kind, NODE_NUMBER);
}

static const struct {
	const char *text;
	unsigned line;
} bad_json[] = {
	{.text = "", .line = 1},
	{.text = "{\"a\": 1,\n\"a\": 2}", .line = 2},
	{.text = "{\"a\": 1,\n}", .line = 2},
	{.text = "[1\n2]", .line = 2},
	{.text = "[1] x", .line = 1},
	{.text = "[\"\xff\"]", .line = 1},
	{.text = "[\"\\u0000\"]", .line = 1},
	{.text = "{\"a\\u0000b\": 1}", .line = 1},
	{.text = "[99999999999999999999]", .line = 1},
	{.text = "[1e999]", .line = 1},
	{.text = "\n\n{", .line = 3},
	{.text = "{\"a\": {\"b\": [1,, 2]}}", .line = 1},
	{.text = "{\"a\": nul}", .line = 1},
	{.text = "[\"\\ud800\"]", .line = 1},
	{.text = "['a']", .line = 1},
	{.text = "[01]", .line = 1},
	{.text = "// comment\n[1]", .line = 1},
};

static void bad_json_is_located(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_json) / sizeof(*bad_json); i++) {
		ARENA(a);
		const struct node *n;
		CLEANUP(err_freep)
		struct err *e = json_parse(&a, str_from(bad_json[i].text), S("t.json"), &n);
		assert_non_null(e);
		if (e->line != bad_json[i].line)
			print_error("%s: line %u\n", bad_json[i].text, e->line);
		assert_int_equal(e->line, bad_json[i].line);
		assert_true(e->col >= 1);
		assert_int_equal(e->code, E_SYNTAX);
	}
}

static void wanted_members_are_checked(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *r = yaml(&a, "text: x\nlist: [a, 1, true]\nmap: {k: [v]}\n"
					"yes: true\nnum: 3\nneg: -3\nnone:\nnested: [[a]]\n");
	struct str s = S("kept");
	struct strs l = {0};
	bool b = false;
	uint64_t n = 7;
	assert_ok(node_want_text(r, S("absent"), &s));
	assert_ok(node_want_text(r, S("none"), &s));
	assert_str(s, "kept");
	assert_ok(node_want_text(r, S("num"), &s));
	assert_str(s, "3");
	assert_err_says(node_want_text(r, S("list"), &s), E_SYNTAX, "'list' must be text");
	assert_ok(node_want_bool(r, S("yes"), &b));
	assert_true(b);
	assert_ok(node_want_bool(r, S("absent"), &b));
	assert_err(node_want_bool(r, S("text"), &b), E_SYNTAX);
	assert_ok(node_want_u64(r, S("num"), &n));
	assert_int_equal(n, 3);
	assert_ok(node_want_u64(r, S("absent"), &n));
	assert_err_says(node_want_u64(r, S("neg"), &n), E_SYNTAX, "not '-3'");
	assert_err(node_want_u64(r, S("text"), &n), E_SYNTAX);
	assert_ok(node_want_strs(&a, r, S("list"), &l));
	assert_str(str_join(&a, &l, S("+")), "a+1+true");
	assert_ok(node_want_strs(&a, r, S("text"), &l));
	assert_int_equal(l.n, 1);
	assert_ok(node_want_strs(&a, r, S("absent"), &l));
	assert_int_equal(l.n, 1);
	assert_err(node_want_strs(&a, r, S("map"), &l), E_SYNTAX);
	assert_err_says(node_want_strs(&a, r, S("nested"), &l), E_SYNTAX, "expected text");
}

static void loose_accessors_fall_back(void **state)
{
	(void)state;
	ARENA(a);
	const struct node *r = yaml(&a, "t: x\nl: [1]\nn: 2.5\nh: 0x10\nb: false\n");
	assert_str(node_text(r, S("l"), S("fb")), "fb");
	assert_true(node_bool(r, S("t"), true));
	assert_false(node_bool(r, S("b"), true));
	assert_int_equal(node_u64(r, S("n"), 9), 9);
	assert_int_equal(node_u64(r, S("t"), 9), 9);
	assert_true(node_number(r, S("n"), 0) == 2.5);
	assert_true(node_number(r, S("t"), 1) == 1);
	assert_true(node_number(r, S("absent"), 1) == 1);
}

static void unknown_keys_get_a_suggestion(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const known[] = {"name", "version", "sources", NULL};
	assert_ok(node_check_keys(yaml(&a, "name: x\nsources: []\n"), known));
	assert_ok(node_check_keys(yaml(&a, "[a, b]"), known));
	const struct node *r = yaml(&a, "name: x\nsuorces: []\n");
	CLEANUP(err_freep) struct err *e = node_check_keys(r, known);
	assert_string_equal(e->msg, "unknown key 'suorces'");
	assert_string_equal(e->hints->text, "did you mean 'sources'?");
	assert_int_equal(e->line, 2);
	assert_int_equal(e->col, 1);
	CLEANUP(err_freep) struct err *f = node_check_keys(yaml(&a, "zzzzzz: 1\n"), known);
	assert_string_equal(f->hints->text, "known keys: name, version, sources");
}

static void files_are_read_and_named(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("r.yaml"));
	const struct node *n;
	assert_err(yaml_read(&a, path, &n), E_NOENT);
	assert_err(json_read(&a, path, &n), E_NOENT);
	test_put(path, "{\"a\": 1}");
	assert_ok(yaml_read(&a, path, &n));
	assert_ok(json_read(&a, path, &n));
	assert_str(n->at.path, path.p);
	CLEANUP(err_freep) struct err *e = node_error(&n->v[0], E_PROJECT, "bad '%s'", "a");
	assert_string_equal(e->msg, "bad 'a'");
	assert_string_equal(e->path, path.p);
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recipe_reads_as_a_tree),
		cmocka_unit_test(scalars_follow_the_core_schema),
		cmocka_unit_test(mistakes_are_located),
		cmocka_unit_test(tabs_get_a_hint),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(large_documents_are_read_and_too_large_ones_refused),
		cmocka_unit_test(empty_documents_are_null),
		cmocka_unit_test(json_reads_into_the_same_tree),
		cmocka_unit_test(bad_json_is_located),
		cmocka_unit_test(wanted_members_are_checked),
		cmocka_unit_test(loose_accessors_fall_back),
		cmocka_unit_test(unknown_keys_get_a_suggestion),
		cmocka_unit_test(files_are_read_and_named),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("node");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
