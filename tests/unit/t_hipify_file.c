/* hipify/file: single files of a tree, and names to leave out as patterns. */
#include "test.h"

#include "base/buf.h"
#include "hipify/hipify.h"
#include "lang/python/fnmatch.h"

/* ---- names as patterns ---- */

static bool left_out(struct arena *a, const char *name, const char *path)
{
	struct hipify_options o = {.mode = HIPIFY_EXTENSION};
	strs_add(a, &o.exclude, str_from(name));
	hipify_options_complete(a, &o);
	bool hit = false;
	VEC_EACH (const struct str, p, &o.ignore) {
		struct py_glob g = py_glob_new(a, str_fmt(a, "/r/%.*s", STR(*p)));
		hit |= py_glob_match(&g, str_fmt(a, "/r/%s", path));
	}
	return hit;
}

static void a_name_leaves_out_what_bears_it_and_nothing_else(void **state)
{
	(void)state;
	static const struct {
		const char *name, *path;
		bool out;
	} cases[] = {
		{"old", "old/a.cu", true},
		{"old", "src/old/sub/a.cu", true},
		{"old", "older/a.cu", false},
		{"old", "src/bold/a.cu", false},
		{"a.cu", "a.cu", true},
		{"a.cu", "src/a.cu", true},
		{"a.cu", "src/ba.cu", false},
		{"a.cu", "src/a.cuh", false},
		{"src/a.cu", "src/a.cu", true},
		{"src/a.cu", "x/src/a.cu", false},
		{"src/old", "src/old/b/c.h", true},
		{"a[1].cu", "a[1].cu", true},
		{"a[1].cu", "a1.cu", false},
		{"w*t?", "what", false},
		{"w*t?", "x/w*t?/a.cu", true},
		{"gr\303\266\303\237e", "gr\303\266\303\237e/a.cu", true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ARENA(a);
		if (left_out(&a, cases[i].name, cases[i].path) != cases[i].out)
			fail_msg("'%s' and '%s'", cases[i].name, cases[i].path);
	}
}

/* ---- one file ---- */

static void the_project_decides_how_a_file_is_translated(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), source;
	struct hipify_text t;
	test_put(path_join(&a, dir, S("a.cu")), "#include \"curand.h\"\ncudaFree(0);\n");
	test_put(path_join(&a, dir, S("curand.h")), "int own;\n");
	struct hipify_options o = {.dir = dir};
	assert_ok(hipify_file_text(&a, &o, S("a.cu"), &source, &t));
	assert_str(source, "#include \"curand.h\"\ncudaFree(0);\n");
	assert_true(str_contains(t.text, S("#include \"curand.h\"\n"))); /* the project's */
	assert_true(str_contains(t.text, S("hipFree(0);")));
	assert_true(t.edits.n >= 1);
	assert_err_says(hipify_file_text(&a, &o, S("b.cu"), &source, &t), E_NOENT,
		"does not look at 'b.cu'");
	test_dir_remove(dir);
}

static void a_file_that_fails_says_why(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), source;
	struct hipify_text t;
	test_put(path_join(&a, dir, S("a.cu")), "/* never closed\n");
	struct hipify_options o = {.dir = dir};
	assert_err_says(hipify_file_text(&a, &o, S("a.cu"), &source, &t), E_HIPIFY, "does not end");
	test_dir_remove(dir);
}

static void applied(struct arena *a, struct str source, const struct hipify_text *t)
{
	BUF(b, a);
	size_t at = 0;
	VEC_EACH (const struct hipify_edit, e, &t->edits) {
		assert_true(e->from >= at && e->to >= e->from);
		buf_add(&b, str_sub(source, at, e->from));
		buf_add(&b, e->with);
		at = e->to;
	}
	buf_add(&b, str_sub(source, at, source.n));
	assert_true(str_eq(buf_str(&b), t->text));
}

/* Also in a tree that was translated in place: the edits are those of the source as it was. */
static void an_extension_is_looked_at_as_it_was(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), source;
	struct hipify_text t;
	struct hipify_tree tree;
	struct hipify_options o = {.mode = HIPIFY_EXTENSION,
		.dir = dir,
		.torch = S("tests/data/torch2"),
		.in_place = true};
	test_put(path_join(&a, dir, S("a_hip.h")), "theirs\n");
	test_put(path_join(&a, dir, S("a.h")), "static cudaError_t e;\n");
	test_put(path_join(&a, dir, S("b.cpp")),
		"#include \"a.h\"\nint x = cudaNoSuch(cudaFree(0));\n");
	strs_add(&a, &o.sources, path_join(&a, dir, S("b.cpp")));
	strs_add(&a, &o.include_dirs, S("."));
	assert_ok(hipify_run(&a, &o, &tree));
	hipify_tree_free(&tree);
	assert_ok(hipify_source(&a, &o, S("a_hip.h"), &source));
	assert_str(source, "theirs\n");
	assert_ok(hipify_file_text(&a, &o, S("b.cpp"), &source, &t));
	assert_true(
		str_contains(t.text, S("#include \"a_hip.h\"\nint x = cudaNoSuch(hipFree(0));\n")));
	applied(&a, source, &t);
	assert_int_equal(t.untranslated.n, 0);
	o.want_untranslated = true;
	assert_ok(hipify_file_text(&a, &o, S("b.cpp"), &source, &t));
	assert_int_equal(t.untranslated.n, 1);
	assert_str(t.untranslated.v[0].name, "cudaNoSuch");
	assert_int_equal(t.untranslated.v[0].line, 2);
	assert_err(hipify_file_text(&a, &o, S("none.cpp"), &source, &t), E_NOENT);
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_leaves_out_what_bears_it_and_nothing_else),
		cmocka_unit_test(the_project_decides_how_a_file_is_translated),
		cmocka_unit_test(a_file_that_fails_says_why),
		cmocka_unit_test(an_extension_is_looked_at_as_it_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
