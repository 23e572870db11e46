/* Python modules, packages and tags of a project: plan/modules.c. */
#include "fixture_plan.h"

#define HEX_API(level) "#define Py_LIMITED_API " level "\n#include <Python.h>\n"
#define INIT(name) "PyMODINIT_FUNC PyInit_" name "(void) { return 0; }\n"

/* A machine with Python.h of 3.11, or (with_python false) without any. */
static void set_host(struct fixture *f, bool with_python)
{
	f->plan.host = (struct host){.libc = S("2.36")};
	if (!with_python)
		return;
	f->plan.host.python = S("/usr/bin/python3");
	f->plan.host.python_version = S("3.11");
	f->plan.host.python_include = S("/usr/include/python3.11");
	f->plan.host.python_tag = f->plan.host.python_abi = S("cp311");
	f->plan.host.ext_suffix = S(".cpython-311-x86_64-linux-gnu.so");
}

static struct err *find_modules(struct fixture *f)
{
	TRY(find_sources(f));
	TRY(python_find(&f->a, &f->project, &f->plan));
	set_host(f, true);
	return modules_find(&f->a, &f->project, f->facts, &f->plan);
}

/* "name=file" of every module. */
static struct str module_list(struct fixture *f)
{
	struct strs list = {0};
	VEC_EACH (struct plan_module, m, &f->plan.modules)
		strs_add(&f->a, &list, str_fmt(&f->a, "%.*s=%.*s", STR(m->name), STR(m->file)));
	return joined(f, &list);
}

static struct str tags(struct fixture *f)
{
	return str_fmt(&f->a, "%.*s-%.*s %.*s", STR(f->plan.python_tag), STR(f->plan.abi_tag),
		STR(f->plan.requires_python));
}

static void names_become_importable(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *name, *file;
	} rows[] = {{"my-pkg", "my_pkg/libmy_pkg.so"}, {"a.b-c_d", "a_b_c_d/liba_b_c_d.so"},
		{"Plain1", "Plain1/libPlain1.so"}};
	put(f, "a.cu", "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put(f, "rocsmith.yaml", str_fmt(&f->a, "name: %s\n", rows[i].name).p);
		assert_ok(find_modules(f));
		assert_str(f->plan.modules.v[0].file, rows[i].file);
	}
}

/* ---- tags ---- */
static const struct {
	const char *a, *b, *yaml; /* two sources and the description */
	const char *tags, *file;
} abis[] = {
	{HEX_API("0x03080000") INIT("m"), "", "", "cp38-abi3 >=3.8", "m.abi3.so"},
	{HEX_API("0x030b00f0") INIT("m"), "", "", "cp311-abi3 >=3.11", "m.abi3.so"},
	{HEX_API("3") INIT("m"), "", "", "cp32-abi3 >=3.2", "m.abi3.so"},
	{HEX_API("0x03080000") INIT("m"), HEX_API("0x030a0000"), "", "cp310-abi3 >=3.10",
		"m.abi3.so"},
	{HEX_API("0x03080000") INIT("m"), "#include <Python.h>\n", "", "cp311-cp311 ",
		"m.cpython-311-x86_64-linux-gnu.so"},
	{"#include <Python.h>\n" INIT("m"), "", "", "cp311-cp311 ",
		"m.cpython-311-x86_64-linux-gnu.so"},
	{"#include <Python.h>\n" INIT("m"), "", "python: {abi3: \"3.9\"}\n", "cp39-abi3 >=3.9",
		"m.abi3.so"},
	{"#include <Python.h>\n" INIT("m"), "", "python: {abi3: 3.10}\n", "cp310-abi3 >=3.10",
		"m.abi3.so"},
	{"#include <Python.h>\n" INIT("m"), "", "defines: [Py_LIMITED_API=0x03070000]\n",
		"cp37-abi3 >=3.7", "m.abi3.so"},
	{"#include <Python.h>\n" INIT("m"), "", "defines: Py_LIMITED_API\n", "cp32-abi3 >=3.2",
		"m.abi3.so"},
	{HEX_API("0x03080000") INIT("m"), "", "python: {requires: \">=3.9\"}\n", "cp38-abi3 >=3.9",
		"m.abi3.so"},
	{"void f() {}\n", "", "", "py3-none >=3.7", "proj/libproj.so"},
	{"void f() {}\n", "", "python: {requires: \">=3.10\"}\n", "py3-none >=3.10",
		"proj/libproj.so"},
};

static void tags_follow_from_what_the_sources_ask_for(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(abis) / sizeof(abis[0]); i++) {
		put(f, "a.cu", abis[i].a);
		put(f, "b.cu", abis[i].b);
		put(f, "rocsmith.yaml", abis[i].yaml);
		assert_ok(find_modules(f));
		if (!str_eq(tags(f), str_from(abis[i].tags)))
			fail_msg("row %zu: '%.*s'", i, STR(tags(f)));
		assert_str(f->plan.modules.v[0].file, abis[i].file);
	}
}

static void without_python_headers_the_sdks_python_decides(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "#include <Python.h>\n" INIT("m"));
	assert_ok(find_sources(f));
	assert_ok(python_find(&f->a, &f->project, &f->plan));
	set_host(f, false);
	f->plan.host.ext_suffix = S(".cpython-311-x86_64-linux-gnu.so"); /* python3 without -dev */
	assert_ok(modules_find(&f->a, &f->project, f->facts, &f->plan));
	assert_str(f->plan.python_tag, "");
	assert_str(f->plan.modules.v[0].file, "m.so");
	assert_true(f->plan.needs_python);
	assert_says(reason_for(f, "python tag"), "the SDK");
}

static void the_stable_abi_is_defined_once_for_all_sources(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "#include <Python.h>\n" INIT("m"));
	put(f, "rocsmith.yaml", "defines: [A]\npython: {abi3: \"3.12\"}\n");
	assert_ok(find_modules(f));
	assert_str(joined(f, &f->plan.defines), "A Py_LIMITED_API=0x030c0000");
}

static void a_wrong_level_of_the_stable_abi_is_an_error(void **state)
{
	struct fixture *f = *state;
	static const char *const levels[] = {
		"2.7", "3", "3.x", "3.1", "4.0", "3.8.1", "3.100", "yes", "-3.8", "3.-8"};
	put(f, "a.cu", "#include <Python.h>\n" INIT("m"));
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		put(f, "rocsmith.yaml",
			str_fmt(&f->a, "name: m\npython: {into: \"\", abi3: \"%s\"}\n", levels[i])
				.p);
		struct err *e = find_modules(f);
		if (!e)
			fail_msg("accepted abi3: %s", levels[i]);
		assert_int_equal(e->line, 2);
		assert_true(e->hints && strstr(e->hints->text, "3.8"));
		assert_err_says(e, E_PROJECT, "is not a Python version");
	}
}

static void the_reason_names_the_source_that_rules_the_stable_abi_out(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", HEX_API("0x03080000") INIT("m"));
	put(f, "b.cu", "#include \"x.h\"\n");
	put(f, "x.h", "#include <Python.h>\n");
	assert_ok(find_modules(f));
	assert_says(reason_for(f, "python abi"), "'b.cu' includes Python.h");
	assert_says(reason_for(f, "module m"), "'a.cu' defines PyInit_m; 2 sources");
}

/* ---- where modules go ---- */
static const struct {
	const char *yaml, *package; /* package: folder that gets an __init__.py, or NULL */
	const char *modules;
} places[] = {
	{"", NULL, "m=m.abi3.so"},
	{"name: m\n", NULL, "m=m.abi3.so"},
	{"name: pkg\n", "pkg", "pkg.m=pkg/m.abi3.so"},
	{"name: pkg\n", "python/pkg", "pkg.m=pkg/m.abi3.so"},
	{"name: pkg\n", "src/pkg", "pkg.m=pkg/m.abi3.so"},
	{"name: my-pkg\n", "my_pkg", "my_pkg.m=my_pkg/m.abi3.so"},
	{"name: pkg\n", "lib/pkg", "m=m.abi3.so"},
	{"name: pkg\npython: {package: lib/pkg}\n", "lib/pkg", "pkg.m=pkg/m.abi3.so"},
	{"name: pkg\npython: {package: lib/other}\n", "lib/other", "other.m=other/m.abi3.so"},
	{"name: pkg\npython: {package: lib/other/}\n", "lib/other", "other.m=other/m.abi3.so"},
	{"name: pkg\npython: {into: \"\"}\n", "pkg", "m=m.abi3.so"},
	{"name: pkg\npython: {into: pkg.sub}\n", "pkg", "pkg.sub.m=pkg/sub/m.abi3.so"},
	{"name: pkg\npython: {into: other}\n", NULL, "other.m=other/m.abi3.so"},
};

static void modules_go_into_the_package(void **state)
{
	struct fixture *f = *state;
	put(f, "cuda/a.cu", HEX_API("0x03080000") INIT("m"));
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *package = places[i].package;
		put(f, "rocsmith.yaml", places[i].yaml);
		if (package)
			put(f, str_fmt(&f->a, "%s/__init__.py", package).p, "");
		assert_ok(find_modules(f));
		if (!str_eq(module_list(f), str_from(places[i].modules)))
			fail_msg("%s: '%.*s'", places[i].yaml, STR(module_list(f)));
		if (package)
			assert_ok(fs_remove_tree(path_join(&f->a, f->dir, str_from(package))));
	}
}

static void packages_that_cannot_be_are_refused(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *python, *says;
	} rows[] = {
		{"{into: ../evil}", "'../evil'"},
		{"{into: /evil}", "'/evil'"},
		{"{into: a/b}", "'a/b'"},
		{"{into: a..b}", "'a..b'"},
		{"{into: .}", "'.'"},
		{"{into: a-b}", "'a-b'"},
		{"{into: 1a}", "'1a'"},
		{"{package: ..}", "no such package folder '..'"},
		{"{package: .}", "'.'"},
		{"{package: /usr}", "no such package folder '/usr'"},
		{"{package: missing}", "no such package folder 'missing'"},
		{"{package: a.cu}", "no such package folder 'a.cu'"},
		{"{dir: .., files: [x.py]}", "'..' is outside of the project"},
		{"{dir: /etc, files: [passwd]}", "'/etc' is outside of the project"},
		{"{files: [../x.py]}", "'../x.py' is outside of the project"},
		{"{files: [/etc/passwd]}", "'/etc/passwd' is outside of the project"},
		{"{files: [missing.py]}", "'missing.py' matches no file"},
		{"{files: {a: b}}", "must be a list"},
		{"{files: [\"\"]}", "outside of the project"},
	};
	put(f, "a.cu", HEX_API("0x03080000") INIT("m"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put(f, "rocsmith.yaml", str_fmt(&f->a, "name: p\npython: %s\n", rows[i].python).p);
		struct err *e = find_modules(f);
		if (!e || e->code != E_PROJECT || e->line != 2 || !test_err_says(e, rows[i].says)) {
			test_print_err(e);
			fail_msg("%s: want '%s'", rows[i].python, rows[i].says);
		}
		err_free(e);
	}
}

/* ---- several modules, loaders ---- */
static void sources_without_a_module_go_into_all(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", HEX_API("0x03080000") INIT("one") INIT("uno"));
	put(f, "b.cu", "");
	put(f, "c.cu", HEX_API("0x03080000") INIT("two"));
	assert_ok(find_modules(f));
	assert_str(module_list(f), "one=one.abi3.so uno=uno.abi3.so two=two.abi3.so");
	static const char *const want[3][2] = {
		{"a.cu", "b.cu"}, {"a.cu", "b.cu"}, {"c.cu", "b.cu"}};
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(f->plan.modules.v[i].sources.n, 2);
		for (size_t k = 0; k < 2; k++)
			assert_str(f->plan.modules.v[i].sources.v[k], want[i][k]);
		assert_false(f->plan.modules.v[i].loader);
	}
}

static void each_main_is_a_program_of_the_wheels_scripts(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "int main() { return 0; }\n");
	put(f, "b.cu", "int main(int argc, char **argv) { return argc; }\n");
	put(f, "part.cu", "void part() {}\n");
	put(f, "rocsmith.yaml", "sources: [a.cu, b.cu, part.cu]\n");
	assert_ok(find_modules(f));
	assert_int_equal(f->plan.modules.n, 2);
	assert_str(f->plan.modules.v[0].file, "scripts/a");
	assert_true(f->plan.modules.v[0].program && !f->plan.modules.v[0].loader);
	assert_str(str_join(&f->a, &f->plan.modules.v[1].sources, S(" ")), "b.cu part.cu");
	assert_str(tags(f), "py3-none >=3.7");
}

static void a_library_gets_a_loader(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *yaml, *init, *module, *loader;
	} rows[] = {
		{"name: saxpy\n", NULL, "saxpy=saxpy/libsaxpy.so", "saxpy/__init__.py"},
		{"name: my-lib\n", NULL, "my_lib=my_lib/libmy_lib.so", "my_lib/__init__.py"},
		{"name: pkg\n", "pkg/__init__.py", "pkg._native=pkg/libpkg.so", "pkg/_native.py"},
		{"name: pkg\npython: {into: a.b}\n", NULL, "a.b._native=a/b/libpkg.so",
			"a/b/_native.py"},
	};
	put(f, "a.cu", "void f() {}\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put(f, "rocsmith.yaml", rows[i].yaml);
		if (rows[i].init)
			put(f, rows[i].init, "");
		assert_ok(find_modules(f));
		assert_true(f->plan.modules.v[0].loader);
		assert_str(module_list(f), rows[i].module);
		assert_str(f->plan.modules.v[0].loader_file, rows[i].loader);
		if (rows[i].init)
			assert_ok(fs_remove(path_join(&f->a, f->dir, str_from(rows[i].init))));
	}
	assert_says(reason_for(f, "modules"), "no source defines PyInit_NAME");
}

static const struct {
	const char *source, *yaml, *python; /* python: a file that is packed */
	bool clash;
} clashes[] = {
	{INIT("m"), "python: {into: \"\", files: [m.py]}\n", "m.py", true},
	{INIT("m"), "python: {into: \"\", files: [m/__init__.py]}\n", "m/__init__.py", true},
	{INIT("m"), "python: {into: \"\", files: [n.py]}\n", "n.py", false},
	{INIT("m"), "name: p\npython: {package: p}\n", "p/m.py", true},
	{INIT("m"), "name: p\npython: {package: p}\n", "p/m/__init__.py", true},
	{INIT("m"), "name: p\npython: {package: p}\n", "p/sub/m.py", false},
	{"", "name: p\npython: {files: [p.py]}\n", "p.py", true},
	{"", "name: p\npython: {files: [q.py]}\n", "q.py", false},
	{"", "name: p\npython: {into: \"\", files: [p/__init__.py]}\n", "p/__init__.py", true},
	{"", "name: p\npython: {package: p}\n", "p/_native.py", true},
	{"", "name: p\npython: {package: p}\n", "p/_native/__init__.py", true},
	{"", "name: p\npython: {package: p}\n", "p/native.py", false},
};

static void modules_that_python_would_not_see_are_errors(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(clashes) / sizeof(clashes[0]); i++) {
		put(f, "a.cu", clashes[i].source);
		put(f, "rocsmith.yaml", clashes[i].yaml);
		put(f, clashes[i].python, "");
		struct err *e = find_modules(f);
		bool clash = e && e->code == E_MODULE && test_err_says(e, "clash") &&
			     test_err_says(e, clashes[i].python);
		if (clash != clashes[i].clash || (e && !clash)) {
			test_print_err(e);
			fail_msg("row %zu: %s", i, clashes[i].python);
		}
		err_free(e);
		assert_ok(fs_remove(path_join(&f->a, f->dir, str_from(clashes[i].python))));
	}
}

/* ---- packed files ---- */
static void a_package_is_packed_without_what_is_compiled(void **state)
{
	struct fixture *f = *state;
	static const char *const files[] = {"pkg/__init__.py", "pkg/a.py", "pkg/py.typed",
		"pkg/data/t.json", "pkg/k.cu", "pkg/k.cuh", "pkg/b.hip", "pkg/x.h", "pkg/x.hpp",
		"pkg/c.c", "pkg/old.so", "pkg/o.o", "pkg/__pycache__/a.pyc", "pkg/stale.pyc",
		"pkg/.hidden", "pkg/.dir/x.py", "pkgs/no.py", "setup.py"};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		put(f, files[i], "");
	put(f, "rocsmith.yaml", "name: pkg\n");
	assert_ok(find_modules(f));
	assert_str(joined(f, &f->plan.python_files),
		"pkg/__init__.py pkg/a.py pkg/data/t.json pkg/py.typed");
	assert_str(f->plan.python_dir, ".");
	assert_says(reason_for(f, "python files"), "the project's name");
}

static void named_files_are_packed_under_their_folder(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "");
	put(f, "lib/x.py", "");
	put(f, "lib/sub/y.py", "");
	put(f, "lib/sub/z.txt", "");
	put(f, "lib/sub/k.cuh", "");
	put(f, "rocsmith.yaml", "python: {dir: lib, files: [x.py, \"sub/*\", ./x.py]}\n");
	assert_ok(find_modules(f));
	assert_str(joined(f, &f->plan.python_files), "x.py sub/y.py sub/z.txt");
	assert_str(f->plan.python_dir, "lib");
	put(f, "rocsmith.yaml", "python: {dir: lib, files: [x.py, sub/k.cuh]}\n");
	assert_ok(find_modules(f)); /* a pattern skips sources, a name does not */
	assert_str(joined(f, &f->plan.python_files), "x.py sub/k.cuh");
}

static void a_folder_without_init_is_no_package_by_itself(void **state)
{
	struct fixture *f = *state;
	put(f, "rocsmith.yaml", "name: pkg\n");
	put(f, "pkg/a.cu", "");
	put(f, "pkg/a.py", "");
	assert_ok(find_modules(f));
	assert_int_equal(f->plan.python_files.n, 0);
	assert_says(reason_for(f, "python files"), "no folder 'pkg' with an __init__.py");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(names_become_importable),
		FIXTURE_TEST(tags_follow_from_what_the_sources_ask_for),
		FIXTURE_TEST(without_python_headers_the_sdks_python_decides),
		FIXTURE_TEST(the_stable_abi_is_defined_once_for_all_sources),
		FIXTURE_TEST(a_wrong_level_of_the_stable_abi_is_an_error),
		FIXTURE_TEST(the_reason_names_the_source_that_rules_the_stable_abi_out),
		FIXTURE_TEST(modules_go_into_the_package),
		FIXTURE_TEST(packages_that_cannot_be_are_refused),
		FIXTURE_TEST(sources_without_a_module_go_into_all),
		FIXTURE_TEST(each_main_is_a_program_of_the_wheels_scripts),
		FIXTURE_TEST(a_library_gets_a_loader),
		FIXTURE_TEST(modules_that_python_would_not_see_are_errors),
		FIXTURE_TEST(a_package_is_packed_without_what_is_compiled),
		FIXTURE_TEST(named_files_are_packed_under_their_folder),
		FIXTURE_TEST(a_folder_without_init_is_no_package_by_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
