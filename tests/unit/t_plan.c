/* From a project folder to a plan, to JSON and back: plan/plan.h. */
#include "test.h"

#include "know/rule.h"
#include "plan/plan.h"

static const char module_text[] = "#define Py_LIMITED_API 0x03080000\n"
				  "#include <Python.h>\n"
				  "#include \"k.h\"\n"
				  "PyMODINIT_FUNC PyInit_fast(void)\n{\n\treturn 0;\n}\n";

struct fixture {
	struct arena a;
	struct str dir;
	struct plan_request r;
	struct plan p;
};

static int begin(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){0};
	struct str top = test_dir(&f->a);
	f->dir = path_join(&f->a, top, S("My-Proj"));
	assert_ok(fs_mkdirs(f->dir));
	f->r = (struct plan_request){.dir = f->dir};
	strs_add(&f->a, &f->r.gpus, S("gfx1201"));
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	test_dir_remove(path_dir(f->dir));
	arena_free(&f->a);
	free(f);
	return 0;
}

static void put(struct fixture *f, const char *name, const char *text)
{
	struct str path = path_join(&f->a, f->dir, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, text);
}

static struct err *make(struct fixture *f)
{
	struct plan_wish wish;
	TRY(plan_make(&f->a, &f->r, &wish));
	f->p = wish.plan;
	return NULL;
}

static const struct plan_reason *reason(const struct fixture *f, const char *subject)
{
	VEC_EACH (const struct plan_reason, r, &f->p.reasons)
		if (str_eq(r->subject, str_from(subject)))
			return r;
	fail_msg("no reason for '%s'", subject);
	return NULL;
}

static struct str sources(struct fixture *f)
{
	struct strs list = {0};
	VEC_EACH (struct plan_source, s, &f->p.sources)
		strs_add(&f->a, &list, s->path);
	return str_join(&f->a, &list, S(" "));
}

static void a_folder_with_nothing_but_cu_files_is_a_project(void **state)
{
	struct fixture *f = *state;
	put(f, "b.cu", "__global__ void k() {}\n");
	put(f, "deep/a.cu", "#include \"x.cuh\"\n#include <curand.h>\n");
	put(f, "deep/x.cuh", "#pragma once\n");
	put(f, "tests/t.cu", "int main() { return 0; }\n");
	assert_ok(make(f));
	assert_str(sources(f), "b.cu deep/a.cu");
	assert_str(f->p.sources.v[1].output, "deep/a.hip");
	assert_str(str_join(&f->a, &f->p.headers, S(" ")), "deep/x.cuh");
	assert_str(str_join(&f->a, &f->p.external, S(" ")), "curand.h");
	assert_str(f->p.name, "My-Proj");
	assert_str(f->p.version, "0.0.0");
	assert_true(str_contains(reason(f, "name")->why, S("folder")));
	assert_true(str_contains(reason(f, "version")->why, S("no 'version'")));
	assert_int_equal(f->p.modules.n, 1);
	assert_true(f->p.modules.v[0].loader);
	assert_str(f->p.modules.v[0].file, "My_Proj/libMy_Proj.so");
	assert_str(f->p.modules.v[0].loader_file, "My_Proj/__init__.py");
	assert_str(f->p.python_tag, "py3");
	assert_str(f->p.sdk.suite, "sid");
}

static void a_minimal_description_is_understood(void **state)
{
	struct fixture *f = *state;
	put(f, "rocsmith.yaml",
		"name: saxpy\nversion: 1.0\nsources: [src/a.cu, src/ext/*.cu]\n"
		"includes: [include]\n");
	put(f, "src/a.cu", module_text);
	put(f, "src/ext/b.cu", "#include \"k.h\"\n");
	put(f, "src/ext/c.cu", "");
	put(f, "src/left.cu", "");
	put(f, "include/k.h", "");
	assert_ok(make(f));
	assert_str(sources(f), "src/a.cu src/ext/b.cu src/ext/c.cu");
	assert_str(f->p.version, "1.0");
	assert_int_equal(f->p.modules.n, 1);
	assert_str(f->p.modules.v[0].file, "fast.abi3.so");
	assert_int_equal(f->p.modules.v[0].sources.n, 3);
	assert_str(f->p.python_tag, "cp38");
	assert_str(f->p.abi_tag, "abi3");
	assert_str(f->p.requires_python, ">=3.8");
	assert_str(str_join(&f->a, &f->p.headers, S(" ")), "include/k.h");
}

static void a_package_takes_the_module_in(void **state)
{
	struct fixture *f = *state;
	put(f, "rocsmith.yaml", "name: pkg\n");
	put(f, "a.cu", module_text);
	put(f, "k.h", "");
	put(f, "python/pkg/__init__.py", "");
	put(f, "python/pkg/data/x.txt", "");
	put(f, "python/pkg/k.cuh", "");
	put(f, "python/pkg/__pycache__/y.pyc", "");
	assert_ok(make(f));
	assert_str(f->p.modules.v[0].file, "pkg/fast.abi3.so");
	assert_str(f->p.modules.v[0].name, "pkg.fast");
	assert_str(f->p.python_dir, "python");
	assert_str(str_join(&f->a, &f->p.python_files, S(" ")), "pkg/__init__.py pkg/data/x.txt");
}

static void each_init_function_makes_a_module(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "PyObject *PyInit_one(void) {}");
	put(f, "b.cu", "PyObject *PyInit_two(void) {}");
	put(f, "c.cu", "");
	assert_ok(make(f));
	assert_int_equal(f->p.modules.n, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(f->p.modules.v[i].sources.n, 2);
		assert_str(f->p.modules.v[i].sources.v[1], "c.cu");
	}
}

static void included_sources_and_programs_are_left_out(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "#include \"part.cu\"\n");
	put(f, "part.cu", "");
	put(f, "prog.cu", "int main() { return 0; }\n");
	assert_ok(make(f));
	assert_str(sources(f), "a.cu");
	assert_true(str_contains(reason(f, "source part.cu")->why, S("includes it")));
	assert_true(str_contains(reason(f, "source prog.cu")->why, S("main()")));
	put(f, "rocsmith.yaml", "sources: [a.cu, prog.cu]\n");
	assert_ok(make(f));
	assert_str(sources(f), "a.cu prog.cu");
}

static void one_version_of_python_without_the_stable_abi(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", module_text);
	put(f, "b.cu", "#include <Python.h>\n");
	put(f, "k.h", "");
	assert_ok(make(f));
	assert_true(str_contains(reason(f, "python abi")->why, S("'b.cu' includes Python.h")));
	assert_str(f->p.python_tag,
		str_z(&f->a, f->p.host.python_include.n ? f->p.host.python_tag : S("")));
	put(f, "rocsmith.yaml", "python: {abi3: \"3.9\"}\n");
	assert_ok(make(f));
	assert_str(f->p.python_tag, "cp39");
	assert_true(strs_has(&f->p.defines, S("Py_LIMITED_API=0x03090000")));
}

static void headers_that_include_each_other_end(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "#include \"x.h\"\n");
	put(f, "x.h", "#include \"y.h\"\n");
	put(f, "y.h", "#include \"x.h\"\n#include \"y.h\"\n");
	assert_ok(make(f));
	assert_str(str_join(&f->a, &f->p.headers, S(" ")), "x.h y.h");
}

/* What is wrong, with the code and some words of the message; the description is in the file. */
static const struct {
	const char *yaml;
	enum errcode code;
	const char *says;
	unsigned line;
} wrongs[] = {
	{"nam: x\n", E_SYNTAX, "nam", 1},
	{"name: [\n", E_SYNTAX, "", 0},
	{"- a\n", E_PROJECT, "map of keys", 1},
	{"name: x y\n", E_PROJECT, "cannot name", 1},
	{"name: x\nversion: one\n", E_PROJECT, "'one' is not a version", 2},
	{"sources: [no.cu]\n", E_PROJECT, "no such source 'no.cu'", 1},
	{"sources: [\"*.cpp\"]\n", E_PROJECT, "matches no file", 1},
	{"sources:\n  - sub\n", E_PROJECT, "is a folder", 2},
	{"sources: [sub/k.h]\n", E_PROJECT, "is not a source", 1},
	{"sources: [../x.cu]\n", E_PROJECT, "outside of the project", 1},
	{"sources: {a: b}\n", E_PROJECT, "must be a list", 1},
	{"includes: [nowhere]\n", E_PROJECT, "no such include folder", 1},
	{"includes: [/]\n", E_PROJECT, "compilers do not get to see it", 1},
	{"includes: [/proc/nowhere]\n", E_PROJECT, "no such include folder", 1},
	{"sdk: [a]\n", E_PROJECT, "must be a map", 1},
	{"sdk: conda\n", E_PROJECT, "unknown SDK 'conda'", 1},
	{"sdk: prefix:/opt/rocm\n", E_PROJECT, "not for a project to choose", 1},
	{"sdk: ./rocm\n", E_PROJECT, "not for a project to choose", 1},
	{"name: x\nsdk: {use: /opt/rocm}\n", E_PROJECT, "not for a project to choose", 2},
	{"sdk: {uses: x}\n", E_SYNTAX, "uses", 1},
	{"python: yes\n", E_PROJECT, "must be a map", 1},
	{"python: {package: nope}\n", E_PROJECT, "no such package folder", 1},
	{"python: {files: [nope.py]}\n", E_PROJECT, "matches no file", 1},
	{"python: {abi3: 2.7}\n", E_PROJECT, "not a Python version", 1},
	{"exclude: [\"**\"]\n", E_PROJECT, "left out", 0},
};

static void mistakes_in_the_description_are_located(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", module_text);
	put(f, "sub/k.h", "");
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		put(f, "rocsmith.yaml", wrongs[i].yaml);
		struct err *e = make(f);
		if (!e)
			fail_msg("accepted: %s", wrongs[i].yaml);
		if (e->code != wrongs[i].code ||
			!str_contains(str_from(e->msg), str_from(wrongs[i].says)) || !e->path ||
			(wrongs[i].line && e->line != wrongs[i].line)) {
			print_error("%s", wrongs[i].yaml);
			test_print_err(e);
			fail();
		}
		err_free(e);
	}
}

static void clashes_are_errors(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", module_text);
	put(f, "b.cu", module_text);
	assert_err_says(make(f), E_MODULE, "both 'a.cu' and 'b.cu' define the module 'fast'");
	put(f, "b.cu", "");
	put(f, "rocsmith.yaml", "name: fast\npython: {into: \"\"}\n");
	put(f, "fast/__init__.py", "");
	assert_err_says(make(f), E_MODULE, "clash");
	put(f, "rocsmith.yaml", "name: fast\n");
	assert_ok(make(f));
	assert_str(f->p.modules.v[0].file, "fast/fast.abi3.so");
}

static void targets_are_validated(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "");
	f->r.gpus.v[0] = S("gfx1210");
	assert_err(make(f), E_GFX);
	f->r.gpus.n = 0;
	put(f, "rocsmith.yaml", "name: x\ngpu: [gfx90a, gfx9999]\n");
	struct err *e = make(f);
	assert_non_null(e);
	assert_int_equal(e->code, E_GFX);
	assert_int_equal(e->line, 2);
	err_free(e);
	put(f, "rocsmith.yaml", "gpu: [\"gfx90a:xnack-\", gfx11-generic]\n");
	assert_ok(make(f));
	assert_str(str_join(&f->a, &f->p.gpus, S(" ")), "gfx90a:xnack- gfx11-generic");
	put(f, "rocsmith.yaml", "name: x\n");
	f->r.sysroot = f->dir; /* a machine without anything */
	assert_err(make(f), E_NO_GPU);
}

static void native_stands_for_the_gpus_of_the_machine(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *words, *want;
	} rows[] = {
		{"gfx1100", "gfx1100"},
		{"native", "gfx90a"},
		{"gfx1100,native,gfx1201", "gfx1100 gfx90a gfx1201"},
		{"native,native", "gfx90a"},
		{"gfx90a,native", "gfx90a"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strs words = str_split(&f->a, str_from(rows[i].words), ',');
		assert_ok(machine_native(&f->a, S("tests/machines/mi210.machine"), &words));
		assert_str(str_join(&f->a, &words, S(" ")), rows[i].want);
	}
	put(f, "a.cu", "");
	f->r.gpus.n = 0;
	f->r.sysroot = S("tests/machines/mi210.machine");
	assert_ok(make(f));
	assert_str(str_join(&f->a, &f->p.gpus, S(" ")), "gfx90a");
	f->r.sysroot = f->dir;
	f->r.any_gpu = true;
	assert_ok(make(f));
	assert_int_equal(f->p.gpus.n, 0);
}

static void a_project_must_be_a_folder(void **state)
{
	struct fixture *f = *state;
	assert_err_says(make(f), E_PROJECT, "no sources");
	f->r.dir = path_join(&f->a, f->dir, S("nowhere"));
	assert_err(make(f), E_NOENT);
	put(f, "file", "");
	f->r.dir = path_join(&f->a, f->dir, S("file"));
	assert_err_says(make(f), E_PROJECT, "not a project folder");
}

static void another_description_may_be_named(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "");
	put(f, "b.cu", "");
	struct str config = path_join(&f->a, path_dir(f->dir), S("other.yaml"));
	test_put(config, "name: other\nsources: b.cu\n");
	f->r.config = config;
	assert_ok(make(f));
	assert_str(sources(f), "b.cu");
	assert_str(f->p.name, "other");
}

/* ---- saved plans ---- */

static struct str saved(struct fixture *f)
{
	put(f, "rocsmith.yaml", "name: saxpy\nversion: 1.0\ndefines: [A=1]\n");
	put(f, "a.cu", module_text);
	put(f, "k.h", "");
	put(f, "b.cpp", "");
	assert_ok(make(f));
	return json_document(&f->a, 2, plan_fields, &f->p);
}

static struct err *read_back(struct fixture *f, struct str json, struct plan *ret)
{
	struct str path = path_join(&f->a, path_dir(f->dir), S("plan.json"));
	assert_ok(fs_write(path, json, 0644));
	struct plan_wish wish;
	TRY(plan_read(&f->a, path, &wish));
	*ret = wish.plan;
	return NULL;
}

static void a_saved_plan_reads_back_the_same(void **state)
{
	struct fixture *f = *state;
	struct str json = saved(f);
	struct plan back;
	assert_ok(read_back(f, json, &back));
	assert_str(json_document(&f->a, 2, plan_fields, &back), str_z(&f->a, json));
	assert_int_equal(back.modules.v[0].sources.n, 2);
	assert_int_equal(back.sources.v[1].lang, PLAN_CXX);
}

static struct str replaced(struct fixture *f, struct str text, const char *old, const char *with)
{
	size_t at = str_find(text, str_from(old));
	if (at == text.n)
		fail_msg("'%s' is not in the plan", old);
	return str_fmt(&f->a, "%.*s%s%.*s", (int)at, text.p, with,
		STR(str_sub(text, at + strlen(old), text.n)));
}

static void edited_plans_are_checked(void **state)
{
	struct fixture *f = *state;
	struct str json = saved(f);
	static const struct {
		const char *old, *with, *says;
	} edits[] = {
		{"rocsmith.plan/1", "rocsmith.plan/2", "schema"},
		{"rocsmith.plan/1", "rocsmith.build/1", "schema"},
		{"\"gpus\"", "\"gpu\"", "gpu"},
		{"\"gfx1201\"", "", "no GPU target"},
		{"\"suite\"", "\"suit\"", "suit"},
		{"\"a.cu\",\n      \"output\"", "\"../a.cu\",\n      \"output\"", "outside"},
		{"\"a.cu\",\n      \"output\"", "\"gone.cu\",\n      \"output\"", "not one of"},
		{"\"hip\"", "\"rust\"", "'language' does not take 'rust'"},
		{"\"file\": \"fast.abi3.so\"", "\"file\": \"../x.so\"", "no usable 'file'"},
		{"\"native\": true", "\"native\": 7", ""},
	};
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		struct plan back;
		struct err *e = read_back(f, replaced(f, json, edits[i].old, edits[i].with), &back);
		if (!e || !str_contains(str_from(e->msg), str_from(edits[i].says))) {
			test_print_err(e);
			fail_msg("%s -> %s: want '%s'", edits[i].old, edits[i].with, edits[i].says);
		}
		err_free(e);
	}
}

static void a_plan_of_another_world_is_refused(void **state)
{
	struct fixture *f = *state;
	struct str json = saved(f);
	struct plan back;
	assert_err(read_back(f, S("[]"), &back), E_PLAN);
	assert_err(read_back(f, S("{"), &back), E_SYNTAX);
	if (f->p.host_native) {
		struct str libc = str_fmt(&f->a, "\"libc\": \"%.*s\"", STR(f->p.host.libc));
		assert_err_says(
			read_back(f, replaced(f, json, libc.p, "\"libc\": \"2.17\""), &back),
			E_PLAN, "not the one of the plan");
	}
	assert_ok(fs_remove(path_join(&f->a, f->dir, S("b.cpp"))));
	assert_err_says(read_back(f, json, &back), E_PLAN, "'b.cpp' of this plan is gone");
	assert_ok(fs_remove_tree(f->dir));
	assert_err_says(read_back(f, json, &back), E_PLAN, "is gone");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_folder_with_nothing_but_cu_files_is_a_project),
		TEST(a_minimal_description_is_understood),
		TEST(a_package_takes_the_module_in),
		TEST(each_init_function_makes_a_module),
		TEST(included_sources_and_programs_are_left_out),
		TEST(one_version_of_python_without_the_stable_abi),
		TEST(headers_that_include_each_other_end),
		TEST(mistakes_in_the_description_are_located),
		TEST(clashes_are_errors),
		TEST(targets_are_validated),
		TEST(native_stands_for_the_gpus_of_the_machine),
		TEST(a_project_must_be_a_folder),
		TEST(another_description_may_be_named),
		TEST(a_saved_plan_reads_back_the_same),
		TEST(edited_plans_are_checked),
		TEST(a_plan_of_another_world_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
