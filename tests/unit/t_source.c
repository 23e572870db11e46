/* What a folder is, and what it says about itself: source/. */
#include "source/source.h"

#define KIT_MORE struct source s;
#include "unit/kit.h"

static void look(struct fixture *f)
{
	assert_ok(source_read(&f->a, f->dir, &f->s));
}

static void a_folder_with_nothing_of_others_is_ours(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "");
	put(f, "pyproject.toml", "[tool.black]\nline-length = 100\n");
	look(f);
	assert_int_equal(f->s.system, SOURCE_OWN);
	assert_str(f->s.file, "");
}

static void ours_has_metadata_too(void **state)
{
	struct fixture *f = *state;
	put(f, "PKG-INFO",
		"Metadata-Version: 2.1\nName: first\nVersion: 1.02\nSummary: What it is\n"
		"License-Expression: MIT\nRequires-Python: >=3.9\nRequires-Dist: numpy>=1.2\n"
		"Requires-Dist: pytest; extra == 'test'\n  folded\n\nName: body\n"
		"Requires-Dist: body\n");
	put(f, "setup.cfg",
		"[metadata]\nname = second\nversion = file: VERSION\nlicense = BSD\n[options]\n"
		"python_requires = >=3.8\ninstall_requires =\n  # why\n  numpy>=1.2\n\tpillow\n"
		"packages = find:\n[options.extras_require]\ninstall_requires = none\n");
	look(f);
	assert_int_equal(f->s.system, SOURCE_OWN);
	assert_str(f->s.name, "first");
	assert_str(f->s.version, "1.02");
	assert_str(f->s.summary, "What it is");
	assert_str(f->s.license, "MIT");
	assert_str(f->s.requires_python, ">=3.9");
	assert_str(str_join(&f->a, &f->s.dependencies, S(" ")), "numpy>=1.2 pillow");
}

static void endless_metadata_has_an_end(void **state)
{
	struct fixture *f = *state;
	struct strs lines = {0};
	strs_add(&f->a, &lines, S("[options]\ninstall_requires ="));
	for (int i = 0; i < 100000; i++)
		strs_add(&f->a, &lines, str_fmt(&f->a, " p%d", i));
	put(f, "setup.cfg", str_join(&f->a, &lines, S("\n")).p);
	assert_err(source_read(&f->a, f->dir, &f->s), E_LIMIT);
}

static void a_project_table_beside_cuda_sources_is_metadata_alone(void **state)
{
	struct fixture *f = *state;
	put(f, "pyproject.toml",
		"[project]\nname = 'n'\nversion = '2'\ndescription = 'd'\nlicense = {text = "
		"'MIT'}\n"
		"requires-python = '>=3.9'\ndependencies = ['numpy']\n");
	look(f);
	assert_int_equal(f->s.system, SOURCE_PYTHON);
	put(f, "a.cu", "");
	look(f);
	assert_int_equal(f->s.system, SOURCE_OWN);
	assert_str(f->s.name, "n");
	assert_str(f->s.summary, "d");
	assert_str(f->s.license, "MIT");
	assert_str(str_join(&f->a, &f->s.dependencies, S(" ")), "numpy");
	put(f, "setup.py", "");
	look(f);
	assert_int_equal(f->s.system, SOURCE_PYTHON);
}

static void pyproject_names_the_back_end_and_what_it_needs(void **state)
{
	struct fixture *f = *state;
	put(f, "pyproject.toml",
		"[build-system]\nrequires = ['scikit-build-core', 'torch']\n"
		"build-backend = 'scikit_build_core.build'\nbackend-path = ['tools']\n"
		"[project]\nname = 'Some.Name'\nversion = '1.2'\n");
	put(f, "CMakeLists.txt", "project(other)\n");
	look(f);
	assert_int_equal(f->s.system, SOURCE_PYTHON);
	assert_str(f->s.file, "pyproject.toml");
	assert_str(f->s.backend, "scikit_build_core.build");
	assert_str(str_join(&f->a, &f->s.requires, S(" ")), "scikit-build-core torch");
	assert_str(str_join(&f->a, &f->s.backend_path, S(" ")), "tools");
	assert_str(f->s.name, "Some.Name");
	assert_str(f->s.version, "1.2");
	assert_true(f->s.requires_said);
}

static void a_setup_py_means_setuptools(void **state)
{
	struct fixture *f = *state;
	put(f, "setup.py", "raise SystemExit('nobody runs this')\n");
	put(f, "PKG-INFO",
		"Metadata-Version: 2.1\nName: torch_scatter\nVersion: 2.1.2\n\nName: x\n");
	look(f);
	assert_int_equal(f->s.system, SOURCE_PYTHON);
	assert_str(f->s.backend, SOURCE_SETUPTOOLS);
	assert_str(str_join(&f->a, &f->s.requires, S(" ")), "setuptools wheel");
	assert_false(f->s.requires_said);
	assert_str(f->s.name, "torch_scatter");
	assert_str(f->s.version, "2.1.2");
}

static void setup_cfg_counts_where_it_is_written_out(void **state)
{
	struct fixture *f = *state;
	put(f, "setup.py", "");
	put(f, "setup.cfg",
		"[options]\nname = no\n[metadata]\nname = pkg\nversion = attr: pkg.__version__\n"
		"[other]\nversion = 9\n");
	look(f);
	assert_str(f->s.name, "pkg");
	assert_str(f->s.version, "");
}

static void cmake_says_its_name_in_project(void **state)
{
	static const struct {
		const char *text, *name, *version;
	} cases[] = {
		{"project(vecadd)\n", "vecadd", ""},
		{"# project(no)\n  PROJECT ( \"vec add\" )\n", "vec", ""},
		{"cmake_minimum_required(VERSION 3.21)\nproject(v\n  LANGUAGES CXX HIP\n", "v", ""},
		{"project(v VERSION 1.2.3 LANGUAGES CXX)\n", "v", "1.2.3"},
		{"project(${NAME})\n", "", ""},
		{"set(projects 1)\nmy_project(a)\n", "", ""},
		{"project(", "", ""},
		{"project", "", ""},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(f, "CMakeLists.txt", cases[i].text);
		look(f);
		assert_int_equal(f->s.system, SOURCE_CMAKE);
		assert_str(f->s.name, cases[i].name);
		assert_str(f->s.version, cases[i].version);
	}
}

static void mistakes_have_their_place(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
	} cases[] = {
		{"[build-system]\nrequires = 'x'\n", 2},
		{"build-system = 1\n", 1},
		{"[build-system]\nbuild-backend = ['x']\n", 2},
		{"[build-system]\nbackend-path = ['../x']\n", 2},
		{"[project]\n\nname = \n", 3},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(f, "pyproject.toml", cases[i].text);
		struct err *e = source_read(&f->a, f->dir, &f->s);
		assert_non_null(e);
		assert_int_equal(e->code, E_SYNTAX);
		assert_int_equal(e->line, cases[i].line);
		err_free(e);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_folder_with_nothing_of_others_is_ours),
		T(ours_has_metadata_too),
		T(a_project_table_beside_cuda_sources_is_metadata_alone),
		T(pyproject_names_the_back_end_and_what_it_needs),
		T(a_setup_py_means_setuptools),
		T(endless_metadata_has_an_end),
		T(setup_cfg_counts_where_it_is_written_out),
		T(cmake_says_its_name_in_project),
		T(mistakes_have_their_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
