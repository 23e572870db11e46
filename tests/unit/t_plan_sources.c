/* Which files of a project are compiled, and what they reach: plan/sources.c. */
#include <unistd.h>

#include "fixture_plan.h"

static const char program[] = "int main(int argc, char **argv) { return argc; }\n";

/* ---- patterns of the description ---- */
static const struct {
	const char *yaml, *want;
} selections[] = {
	{"sources: a.cu\n", "a.cu"},
	{"sources: [a.cu]\n", "a.cu"},
	{"sources: [b.cpp, a.cu]\n", "b.cpp a.cu"},
	{"sources: [./a.cu, a.cu, .//a.cu]\n", "a.cu"},
	{"sources: [\"*.cu\", a.cu]\n", "a.cu"},
	{"sources: [\"**/*.cu\"]\n", "a.cu sub/c.cu sub/deep/d.cu tests/t.cu"},
	{"sources: [\"sub/**\"]\n", "sub/c.cu sub/deep/d.cu"},
	{"sources: [\"sub/*\"]\n", "sub/c.cu"},
	{"sources: [\"*.c*\"]\n", "a.cu b.cpp e.c f.cc g.cxx"},
	{"sources: [\"[ab].*\"]\n", "a.cu b.cpp"},
	{"sources: [\"*.hip\"]\n", "h.hip"},
	{"sources: [\"**\"]\nexclude: [\"**/*.cu\", \"[!h]*\"]\n", "h.hip"},
	{"sources: [\"*.cu\", \"sub/*.cu\"]\nexclude: sub/c.cu\n", "a.cu"},
	{"sources: [\"*.cu\", \"sub/*.cu\"]\nexclude: ./sub/c.cu\n", "a.cu"},
	{"sources: [\"*.cu\", \"sub/*.cu\"]\nexclude: [sub//c.cu]\n", "a.cu"},
	{"exclude: [\"sub/**\", \"*.c*\"]\n", "h.hip"},
	{"", "a.cu b.cpp e.c f.cc g.cxx h.hip sub/c.cu sub/deep/d.cu"},
	{"sources:\n", "a.cu b.cpp e.c f.cc g.cxx h.hip sub/c.cu sub/deep/d.cu"},
};

static void names_and_patterns_select_sources(void **state)
{
	struct fixture *f = *state;
	static const char *const files[] = {"a.cu", "b.cpp", "e.c", "f.cc", "g.cxx", "h.hip",
		"sub/c.cu", "sub/deep/d.cu", "sub/k.cuh", "sub/notes.txt", "tests/t.cu"};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		put(f, files[i], "");
	for (size_t i = 0; i < sizeof(selections) / sizeof(selections[0]); i++) {
		put(f, "rocsmith.yaml", selections[i].yaml);
		struct err *e = find_sources(f);
		struct str got = e ? S("an error") : source_list(f);
		test_print_err(e);
		err_free(e);
		if (!str_eq(got, str_from(selections[i].want)))
			fail_msg("%s gives '%.*s', want '%s'", selections[i].yaml, STR(got),
				selections[i].want);
	}
}

static const struct {
	const char *yaml, *says;
	unsigned line, col;
} mistakes[] = {
	{"sources: [a.cu, missing.cu]\n", "no such source 'missing.cu'", 1, 17},
	{"sources:\n  - a.cu\n  - missing/*.cu\n", "'missing/*.cu' matches no file", 3, 5},
	{"sources: [sub]\n", "'sub' is a folder", 1, 11},
	{"sources: [sub/k.cuh]\n", "'sub/k.cuh' is not a source", 1, 11},
	{"sources: [/etc/passwd]\n", "'/etc/passwd' is outside", 1, 11},
	{"sources: [sub/../../x.cu]\n", "is outside of the project", 1, 11},
	{"sources: [\"../*.cu\"]\n", "is outside of the project", 1, 11},
	{"sources: [\"\"]\n", "a file name or a pattern is expected", 1, 11},
	{"sources: [[a.cu]]\n", "a file name or a pattern is expected", 1, 11},
	{"sources: [{a: b}]\n", "a file name or a pattern is expected", 1, 0},
	{"sources: []\n", "names no source", 1, 10},
	{"sources: [\"sub/*.txt\"]\n", "names no source", 1, 10},
	{"sources: {a: b}\n", "must be a list", 1, 0},
	{"exclude: {a: b}\n", "must be a list", 1, 0},
	{"exclude: [[a.cu]]\n", "a file name or a pattern is expected", 1, 0},
	{"exclude: [{a: b}]\n", "a file name or a pattern is expected", 1, 0},
	{"exclude: [\"\"]\n", "a file name or a pattern is expected", 1, 11},
};

static void mistakes_are_located_to_the_column(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "");
	put(f, "sub/k.cuh", "");
	put(f, "sub/n.txt", "");
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		put(f, "rocsmith.yaml", mistakes[i].yaml);
		struct err *e = find_sources(f);
		if (!e)
			fail_msg("accepted: %s", mistakes[i].yaml);
		bool ok = e->code == E_PROJECT && test_err_says(e, mistakes[i].says) &&
			  e->line == mistakes[i].line &&
			  (!mistakes[i].col || e->col == mistakes[i].col);
		if (!ok) {
			print_error("%s", mistakes[i].yaml);
			test_print_err(e);
			fail();
		}
		err_free(e);
	}
}

static void the_language_follows_from_the_name(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *path, *output;
		enum plan_lang lang;
	} rows[] = {
		{"a.cu", "a.hip", PLAN_HIP},
		{"b.hip", "b.hip", PLAN_HIP},
		{"c.cpp", "c.cpp", PLAN_CXX},
		{"d.cc", "d.cc", PLAN_CXX},
		{"e.cxx", "e.cxx", PLAN_CXX},
		{"f.c", "f.c", PLAN_C},
		{"x.y/g.v2.cu", "x.y/g.v2.hip", PLAN_HIP},
	};
	enum { N = sizeof(rows) / sizeof(rows[0]) };
	for (size_t i = 0; i < N; i++)
		put(f, rows[i].path, "");
	assert_ok(find_sources(f));
	assert_int_equal(f->plan.sources.n, N);
	for (size_t i = 0; i < N; i++) {
		assert_str(f->plan.sources.v[i].path, rows[i].path);
		assert_str(f->plan.sources.v[i].output, rows[i].output);
		assert_int_equal(f->plan.sources.v[i].lang, rows[i].lang);
	}
}

static void names_in_capitals_are_no_sources(void **state)
{
	struct fixture *f = *state;
	put(f, "a.CU", "");
	put(f, "b.cu.bak", "");
	put(f, ".hidden.cu", "");
	put(f, ".git/c.cu", "");
	put(f, "__pycache__/d.cu", "");
	put(f, "node_modules/e.cu", "");
	put(f, "venv/pyvenv.cfg", "");
	put(f, "venv/include/f.c", "");
	assert_err_says(find_sources(f), E_PROJECT, "no sources in");
}

static void folders_of_tests_and_examples_count_only_when_named(void **state)
{
	struct fixture *f = *state;
	static const char *const left_out[] = {"test", "tests", "example", "examples", "doc",
		"docs", "bench", "benchmark", "benchmarks", "build", "dist", "out"};
	put(f, "src/a.cu", "");
	put(f, "src/outer/b.cu", ""); /* "out" is no prefix */
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		put(f, str_fmt(&f->a, "src/%s/x.cu", left_out[i]).p, "");
	assert_ok(find_sources(f));
	assert_str(source_list(f), "src/a.cu src/outer/b.cu");
	put(f, "rocsmith.yaml", "sources: [src/bench/x.cu]\n");
	assert_ok(find_sources(f));
	assert_str(source_list(f), "src/bench/x.cu");
}

/* ---- programs and included sources ---- */
static void a_named_program_stays_wherever_a_pattern_finds_it_too(void **state)
{
	struct fixture *f = *state;
	static const char *const orders[] = {
		"sources: [prog.cu, \"*.cu\"]\n", "sources: [\"*.cu\", prog.cu]\n"};
	put(f, "a.cu", "");
	put(f, "prog.cu", program);
	for (size_t i = 0; i < 2; i++) {
		put(f, "rocsmith.yaml", orders[i]);
		assert_ok(find_sources(f));
		assert_int_equal(f->plan.sources.n, 2);
	}
}

static void what_only_a_program_includes_is_still_compiled(void **state)
{
	struct fixture *f = *state;
	put(f, "kernel.cu", "#include \"k.cuh\"\n__global__ void k() {}\n");
	put(f, "k.cuh", "");
	put(f, "main.cu", "#include \"kernel.cu\"\n#include \"only_main.cuh\"\nint main() {}\n");
	put(f, "only_main.cuh", "");
	assert_ok(find_sources(f));
	assert_str(source_list(f), "kernel.cu");
	assert_str(joined(f, &f->plan.headers), "k.cuh");
	assert_says(reason_for(f, "source main.cu"), "main()");
}

static void a_program_with_a_module_is_a_module(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu",
		"#include <Python.h>\nPyObject *PyInit_a(void) { return 0; }\n"
		"int main() { return 0; }\n");
	assert_ok(find_sources(f));
	assert_str(source_list(f), "a.cu");
	assert_true(f->facts[0].has_main);
	assert_str(joined(f, &f->facts[0].modules), "a");
}

static void nothing_but_programs_is_what_the_project_is(void **state)
{
	struct fixture *f = *state;
	put(f, "prog.cu", program);
	put(f, "other.cu", program);
	assert_ok(find_sources(f));
	assert_str(source_list(f), "other.cu prog.cu");
}

static void facts_stay_with_their_source_when_others_are_left_out(void **state)
{
	struct fixture *f = *state;
	put(f, "a_prog.cu", program);
	put(f, "b.cu", "#include <Python.h>\nPyObject *PyInit_b(void) { return 0; }\n");
	put(f, "c.cu", "");
	assert_ok(find_sources(f));
	assert_str(source_list(f), "b.cu c.cu");
	assert_true(f->facts[0].python);
	assert_int_equal(f->facts[0].modules.n, 1);
	assert_false(f->facts[1].python);
	assert_int_equal(f->facts[1].modules.n, 0);
}

static void of_two_sources_for_one_file_one_is_renamed(void **state)
{
	struct fixture *f = *state;
	put(f, "k.cu", "");
	put(f, "k.hip", "");
	assert_ok(find_sources(f));
	assert_str(f->plan.sources.v[0].output, "k.cu.hip");
	assert_str(f->plan.sources.v[1].output, "k.hip");
	put(f, "rocsmith.yaml", "exclude: k.hip\n");
	assert_ok(find_sources(f));
	assert_str(f->plan.sources.v[0].output, "k.hip");
}

/* ---- headers ---- */
static void headers_are_looked_for_as_a_compiler_does(void **state)
{
	struct fixture *f = *state;
	put(f, "rocsmith.yaml", "sources: [src/a.cu]\nincludes: [one, two]\n");
	put(f, "src/a.cu",
		"#include \"near.h\"\n#include <near.h>\n#include <both.h>\n"
		"#include \"../up.h\"\n#include <sub/x.h>\n");
	put(f, "src/near.h", "");
	put(f, "one/both.h", "");
	put(f, "two/both.h", "");
	put(f, "two/near.h", "");
	put(f, "two/sub/x.h", "#include \"y.h\"\n");
	put(f, "two/sub/y.h", "");
	put(f, "up.h", "");
	assert_ok(find_sources(f));
	/* "near.h" is beside the source, <near.h> is not looked for there */
	assert_str(joined(f, &f->plan.headers),
		"one/both.h src/near.h two/near.h two/sub/x.h two/sub/y.h up.h");
	assert_int_equal(f->plan.external.n, 0);
}

static void headers_outside_of_the_project_are_never_read(void **state)
{
	struct fixture *f = *state;
	test_put(path_join(&f->a, f->top, S("secret.h")), "#include <Python.h>\n");
	put(f, "a.cu",
		"#include \"../secret.h\"\n#include \"/etc/hostname\"\n#include <sub>\n"
		"#include MACRO\n#include \"\"\n");
	put(f, "sub/x", "");
	assert_ok(find_sources(f));
	assert_int_equal(f->plan.headers.n, 0);
	assert_false(f->facts[0].python);
	assert_str(joined(f, &f->plan.external), "../secret.h /etc/hostname sub ");
}

static void what_a_header_says_counts_for_the_source(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "#include \"py.h\"\n");
	put(f, "b.cu", "#include \"deep.h\"\n");
	put(f, "c.cu", "");
	put(f, "deep.h", "#include \"py.h\"\n#define Py_LIMITED_API 0x030a0000\n");
	put(f, "py.h", "#define Py_LIMITED_API 0x03080000\n#include <python3.11/Python.h>\n");
	assert_ok(find_sources(f));
	assert_true(f->facts[0].python && f->facts[1].python && !f->facts[2].python);
	assert_int_equal(f->facts[0].limited_api, 0x03080000);
	assert_int_equal(f->facts[1].limited_api, 0x030a0000);
	assert_str(joined(f, &f->plan.external), "python3.11/Python.h");
}

/* They tell which libraries are meant, and no project means so many. */
static void other_headers_have_an_end(void **state)
{
	struct fixture *f = *state;
	BUF(b, &f->a);
	for (unsigned i = 0; i < 20000; i++)
		buf_fmt(&b, "#include <x%u.h>\n", i);
	put(f, "a.cu", str_z(&f->a, buf_str(&b)));
	assert_ok(find_sources(f));
	assert_int_equal(f->plan.external.n, 10000);
}

static void modules_in_headers_do_not_count(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "#include \"mod.h\"\n");
	put(f, "mod.h", "PyObject *PyInit_x(void) { return 0; }\n");
	assert_ok(find_sources(f));
	assert_int_equal(f->facts[0].modules.n, 0);
}

static void bindings_include_python_by_themselves(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cpp", "#include <pybind11/pybind11.h>\nPYBIND11_MODULE(fast, m) {}\n");
	assert_ok(find_sources(f));
	assert_true(f->facts[0].python);
	assert_str(joined(f, &f->facts[0].modules), "fast");
}

static void a_long_chain_of_headers_ends(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "#include \"h0.h\"\n");
	for (unsigned i = 0; i < 260; i++) {
		struct str text = str_fmt(&f->a, "#include \"h%u.h\"\n", i + 1);
		put(f, str_fmt(&f->a, "h%u.h", i).p, text.p);
	}
	assert_ok(find_sources(f));
	assert_true(f->plan.headers.n >= 200);
}

static void a_source_that_is_too_large_is_refused(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "");
	struct str path = path_join(&f->a, f->dir, S("a.cu"));
	assert_int_equal(truncate(path.p, (16 << 20) + 1), 0);
	assert_err(find_sources(f), E_LIMIT);
}

/* ---- reasons ---- */
static void the_plan_tells_where_its_sources_come_from(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "");
	put(f, "part.cu", "");
	put(f, "b.cu", "#include \"part.cu\"\n");
	assert_ok(find_sources(f));
	assert_says(reason_for(f, "sources"), "no 'sources' are named");
	assert_says(reason_for(f, "source part.cu"), "another source includes it");
	put(f, "rocsmith.yaml", "sources: [a.cu]\n");
	assert_ok(find_sources(f));
	assert_says(reason_for(f, "sources"), "'sources' of rocsmith.yaml");
}

static void a_plan_keeps_one_reason_for_a_subject(void **state)
{
	struct fixture *f = *state;
	plan_explain(&f->a, &f->plan, "x", S("1"), "first %d", 1);
	plan_explain(&f->a, &f->plan, "y", S("2"), "other");
	plan_explain(&f->a, &f->plan, "x", S("3"), "second");
	assert_int_equal(f->plan.reasons.n, 2);
	assert_str(f->plan.reasons.v[0].choice, "3");
	assert_str(reason_for(f, "x"), "second");
}

static void what_leads_out_of_the_project_is_not_read(void **state)
{
	struct fixture *f = *state;
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	put(f, "a.cu", "#include \"in.h\"\n#include \"out.h\"\n#embed \"lib/key\"\n");
	put(f, "real/in.h", "");
	put(f, "../key", "#include <secret>\n");
	assert_int_equal(symlink("real/in.h", path_join(&f->a, f->dir, S("in.h")).p), 0);
	assert_int_equal(symlink("../key", path_join(&f->a, f->dir, S("out.h")).p), 0);
	assert_int_equal(symlink("../key", path_join(&f->a, f->dir, S("b.cu")).p), 0);
	assert_int_equal(symlink("..", path_join(&f->a, f->dir, S("lib")).p), 0);
	assert_ok(fs_guard_sources(f->dir, &guard));
	assert_ok(find_sources(f));
	assert_str(source_list(f), "a.cu");
	assert_str(str_join(&f->a, &f->plan.headers, S(" ")), "in.h");
	assert_false(strs_has(&f->plan.external, S("secret")));
	assert_true(str_contains(reason_for(f, "source b.cu"), S("it leads out of the project")));
	put(f, "rocsmith.yaml", "sources: [a.cu, b.cu]\n");
	assert_err_says(find_sources(f), E_PROJECT, "'b.cu' leads out of the project");
}

static void headers_of_folders_that_the_description_names_are_followed(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "#include \"up.cuh\"\n#include <beside.h>\n");
	put(f, "../common/up.cuh", "#include \"in/low.h\"\n#include \"../beside.h\"\n");
	put(f, "../common/in/low.h", "#include <curand.h>\n");
	put(f, "../beside.h", "#include <never>\n");
	read_project(f);
	f->plan.includes.n = 0;
	struct str common = path_join(&f->a, f->top, S("common"));
	strs_add(&f->a, &f->plan.includes, common);
	assert_ok(sources_find(&f->a, &f->project, &f->plan, &f->facts));
	assert_str(joined(f, &f->plan.headers),
		str_fmt(&f->a, "%.*s/in/low.h %.*s/up.cuh", STR(common), STR(common)).p);
	assert_str(joined(f, &f->plan.external), "curand.h ../beside.h beside.h");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(names_and_patterns_select_sources),
		FIXTURE_TEST(mistakes_are_located_to_the_column),
		FIXTURE_TEST(the_language_follows_from_the_name),
		FIXTURE_TEST(names_in_capitals_are_no_sources),
		FIXTURE_TEST(folders_of_tests_and_examples_count_only_when_named),
		FIXTURE_TEST(a_named_program_stays_wherever_a_pattern_finds_it_too),
		FIXTURE_TEST(what_only_a_program_includes_is_still_compiled),
		FIXTURE_TEST(a_program_with_a_module_is_a_module),
		FIXTURE_TEST(nothing_but_programs_is_what_the_project_is),
		FIXTURE_TEST(facts_stay_with_their_source_when_others_are_left_out),
		FIXTURE_TEST(of_two_sources_for_one_file_one_is_renamed),
		FIXTURE_TEST(headers_are_looked_for_as_a_compiler_does),
		FIXTURE_TEST(headers_outside_of_the_project_are_never_read),
		FIXTURE_TEST(what_a_header_says_counts_for_the_source),
		FIXTURE_TEST(other_headers_have_an_end),
		FIXTURE_TEST(modules_in_headers_do_not_count),
		FIXTURE_TEST(bindings_include_python_by_themselves),
		FIXTURE_TEST(a_long_chain_of_headers_ends),
		FIXTURE_TEST(a_source_that_is_too_large_is_refused),
		FIXTURE_TEST(the_plan_tells_where_its_sources_come_from),
		FIXTURE_TEST(a_plan_keeps_one_reason_for_a_subject),
		FIXTURE_TEST(what_leads_out_of_the_project_is_not_read),
		FIXTURE_TEST(headers_of_folders_that_the_description_names_are_followed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
