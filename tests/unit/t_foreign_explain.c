/* What builds of other build systems say, and what is told of it: foreign/explain.c. The texts are
 * those of gcc 12, clang 21, GNU ld 2.40, CMake 3.25 to 4.3, ninja 1.11 and torch 2.6 to 2.15. */
#include "foreign/foreign_int.h"
#include "lang/python/requirement.h"
#include "test.h"

struct fixture {
	struct arena a;
	struct str top;
	struct plan plan;
	struct foreign f;
};

static void put(struct fixture *f, struct str dir, const char *name, const char *text)
{
	struct str path = path_join(&f->a, dir, str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, text);
}

static int begin(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){0};
	f->top = test_dir(&f->a);
	f->plan.name = S("ext");
	f->plan.project = path_join(&f->a, f->top, S("p"));
	f->f = (struct foreign){.a = &f->a,
		.plan = &f->plan,
		.tree = path_join(&f->a, f->top, S("b/tree")),
		.log = path_join(&f->a, f->top, S("b/log"))};
	put(f, f->plan.project, "setup.py", "import torch\n");
	put(f, f->plan.project, "CMakeLists.txt", "project(x)\n");
	put(f, f->plan.project, "csrc/a.cpp", "int a;\nint b = c;\n");
	put(f, f->plan.project, "meson.build", "project('x')\n");
	put(f, f->plan.project, "csrc/b.cpp", "#include \"own.h\"\n#include <k_cuda.cu>\n");
	put(f, f->plan.project, "csrc/cuda/k_cuda.cu", "// first\n#include \"x.h\"\nint k = l;\n");
	put(f, f->f.tree, "csrc/hip/k_hip.hip",
		"// !!! made\n#include \"hip/hip_runtime.h\"\n// first\n#include \"x.h\"\nint k = "
		"l;\n");
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	test_dir_remove(f->top);
	arena_free(&f->a);
	free(f);
	return 0;
}

/* TREE in a text stands for the copy. */
static struct str with_tree(struct fixture *f, const char *text)
{
	BUF(b, &f->a);
	struct str s = str_from(text);
	for (size_t i = 0; i < s.n; i++) {
		bool here = str_starts(str_sub(s, i, s.n), S("TREE"));
		buf_add(&b, here ? f->f.tree : str_sub(s, i, i + 1));
		i += here ? 3 : 0;
	}
	return str_dup(&f->a, buf_str(&b));
}

static const struct {
	const char *said;
	enum errcode code;
	const char *msg, *place; /* "" = none */
	const char *hint;        /* part of one */
} cases[] = {
	{"gcc -c csrc/a.cpp\ncsrc/a.cpp:2:9: error: 'c' was not declared in this scope\n"
	 "    2 | int b = c;\n      |         ^\nerror: command '/usr/bin/gcc' failed with exit "
	 "code 1\n",
		E_COMPILE, "'c' was not declared in this scope", "csrc/a.cpp:2:9", "x.log"},
	{"csrc/a.cpp:2:9: error: ‘cuCtxAttach’ was not declared in this scope\n", E_COMPILE,
		"‘cuCtxAttach’ was not declared in this scope", "csrc/a.cpp:2:9",
		"HIP may have no 'cuCtxAttach'"},
	{"csrc/a.cpp:2:9: error: unknown type name 'CUsurfref'\n"
	 "csrc/a.cpp:2:9: error: unknown type name 'cudaTexRef'\n",
		E_COMPILE, "unknown type name 'CUsurfref'", "csrc/a.cpp:2:9",
		"HIP may have no 'CUsurfref'"},
	{"csrc/a.cpp:2:9: error: use of undeclared identifier 'cudaGraphX'\n", E_COMPILE,
		"use of undeclared identifier 'cudaGraphX'", "csrc/a.cpp:2:9",
		"HIP may have no 'cudaGraphX'"},
	{"TREE/csrc/a.cpp:1:1: warning: odd\nTREE/csrc/a.cpp:2:9: error: first\n"
	 "TREE/csrc/a.cpp:1:1: error: second\nTraceback (most recent call last):\n"
	 "  File \"TREE/setup.py\", line 1, in <module>\nRuntimeError: Error compiling objects for "
	 "extension\n",
		E_COMPILE, "first", "csrc/a.cpp:2:9", ""},
	{"TREE/csrc/hip/k_hip.hip:5:9: error: use of undeclared identifier 'l'\n", E_COMPILE,
		"use of undeclared identifier 'l'", "csrc/cuda/k_cuda.cu:3:9", ""},
	{"In file included from TREE/csrc/hip/k_hip.hip:4:\n"
	 "/usr/include/x.h:7:1: fatal error: 'ATen/hip/HIPContext.h' file not found\n",
		E_COMPILE, "'ATen/hip/HIPContext.h' file not found (in /usr/include/x.h:7)",
		"csrc/cuda/k_cuda.cu:2:0", "a torch for ROCm"},
	{"In file included from /usr/include/y.h:3,\n                 from TREE/csrc/a.cpp:1,\n"
	 "                 from TREE/setup.py:9:\n/usr/include/x.h:7:1: error: no\n",
		E_COMPILE, "no (in /usr/include/x.h:7)", "csrc/a.cpp:1:0", ""},
	{"In file included from /usr/include/P.h:44,\n                 from TREE/csrc/a.cpp:1:\n"
	 "/usr/include/object.h:775:29: error: expected '('\n  775 | #define C(t) has\n"
	 "/usr/include/tuple.h:27:18: note: in expansion of macro 'C'\n"
	 "TREE/csrc/a.cpp:2:13: note: in expansion of macro 'T'\n",
		E_COMPILE, "expected '(' (in /usr/include/object.h:775)", "csrc/a.cpp:2:13", ""},
	{"c++ -shared\n/usr/bin/ld: cannot find -lc10_hip: No such file or directory\n"
	 "collect2: error: ld returned 1 exit status\n",
		E_LINK, "/usr/bin/ld: cannot find -lc10_hip: No such file or directory", "",
		"a torch for ROCm"},
	{"-- Found x\nCMake Error at CMakeLists.txt:1 (find_package):\n  Could not find a package\n"
	 "  configuration file.\n\n  Add it.\n\n\n-- Configuring incomplete, errors occurred!\n",
		E_FOREIGN, "Could not find a package configuration file.", "CMakeLists.txt:1:0",
		""},
	{"TREE/csrc/a.cpp:1:10: fatal error: nvml.h: No such file or directory\n", E_COMPILE,
		"nvml.h: No such file or directory", "csrc/a.cpp:1:10",
		"near it: rocm_smi/rocm_smi.h"},
	{"CMake Error at CMakeLists.txt:1 (find_package):\n  By not providing \"FindOpenCV.cmake\" "
	 "in "
	 "CMAKE_MODULE_PATH this project has\n  asked CMake to find a package configuration file "
	 "provided by \"OpenCV\", but\n  CMake did not find one.\n\n",
		E_FOREIGN,
		"By not providing \"FindOpenCV.cmake\" in CMAKE_MODULE_PATH this project has asked "
		"CMake "
		"to find a package configuration file provided by \"OpenCV\", but CMake did not "
		"find one.",
		"CMakeLists.txt:1:0", "apt-cache search OpenCV"},
	{"CMake Error at CMakeLists.txt:1 (find_package):\n  By not providing \"FindTorch.cmake\" "
	 "in "
	 "CMAKE_MODULE_PATH this project has\n  asked CMake to find a package configuration file "
	 "provided by \"Torch\", but\n  CMake did not find one.\n\n",
		E_FOREIGN,
		"By not providing \"FindTorch.cmake\" in CMAKE_MODULE_PATH this project has asked "
		"CMake "
		"to find a package configuration file provided by \"Torch\", but CMake did not "
		"find one.",
		"CMakeLists.txt:1:0", "a torch for ROCm: --with"},
	{"CMake Error at CMakeLists.txt:1 (message):\n  PyTorch installation not found.  Make "
	 "sure it's installed.\n\n",
		E_FOREIGN, "PyTorch installation not found.  Make sure it's installed.",
		"CMakeLists.txt:1:0", "a torch for ROCm: --with"},
	{"CMake Error at /usr/share/cmake/FindPackageHandleStandardArgs.cmake:230 (message):\n  "
	 "Could NOT "
	 "find Boost (missing: Boost_INCLUDE_DIR)\nCall Stack (most recent call first):\n  "
	 "CMakeLists.txt:1 (find_package)\n\n",
		E_FOREIGN, "Could NOT find Boost (missing: Boost_INCLUDE_DIR)",
		"CMakeLists.txt:1:0", "apt-cache search Boost"},
	{"CMake Error at CMakeLists.txt:1 (find_package):\n  Could NOT find HIP (missing: "
	 "HIP_DIR)\n\n",
		E_FOREIGN, "Could NOT find HIP (missing: HIP_DIR)", "CMakeLists.txt:1:0", ""},
	{"FAILED: py/WHEEL\ncd py && python setup.py bdist_wheel\nrunning clean\nerror: invalid "
	 "command "
	 "'bdist_wheel'\nninja: build stopped: subcommand failed.\n",
		E_FOREIGN, "the step 'py/WHEEL' of its build failed", "",
		"lacks the package wheel"},
	{"TREE/csrc/a.cpp:1:10: fatal error: numpy/arrayobject.h: No such file or directory\n",
		E_COMPILE, "numpy/arrayobject.h: No such file or directory", "csrc/a.cpp:1:10",
		"requires: [numpy]"},
	{"CMake Error: The source directory does not exist.\nSpecify --help\n", E_FOREIGN,
		"The source directory does not exist.", "", ""},
	{"Traceback (most recent call last):\n  File \"TREE/../state/driver.py\", line 40, in "
	 "<module>\n"
	 "    answer = x\n  File \"<string>\", line 5, in f\n  File \"TREE/setup.py\", line 1, in "
	 "<module>\n"
	 "    import torch\nModuleNotFoundError: No module named 'torch'\n",
		E_FOREIGN, "ModuleNotFoundError: No module named 'torch'", "setup.py:1:0",
		"--with"},
	{"Traceback (most recent call last):\n  File \"TREE/setup.py\", line 1, in <module>\n"
	 "FileNotFoundError: [Errno 2] No such file or directory: 'TREE/req/base.txt'\n",
		E_FOREIGN, "FileNotFoundError: [Errno 2] No such file or directory: 'req/base.txt'",
		"setup.py:1:0", "x.log"},
	{"CMake Error at CMakeLists.txt:1 (include):\n  include could not find requested file:\n\n"
	 "    TREE/cmake/x.cmake\n\n\n",
		E_FOREIGN, "include could not find requested file:", "CMakeLists.txt:1:0", ""},
	{"CMake Error at CMakeLists.txt:1 (file):\n  file failed to open for reading (No such file "
	 "or\n  directory):\n\n    TREE/a.txt\n\n\n",
		E_FOREIGN, "file failed to open for reading (No such file or directory):",
		"CMakeLists.txt:1:0", ""},
	{"clang++: error: no such file or directory: 'TREE/csrc/gone.cpp'\n", E_FOREIGN,
		"clang++: no such file or directory: 'csrc/gone.cpp'", "", ""},
	{"/usr/bin/ld: cannot find TREE/lib/x.a: No such file or directory\n", E_LINK,
		"/usr/bin/ld: cannot find lib/x.a: No such file or directory", "", ""},
	{"TREE/meson.build:1:2: ERROR: File TREE/gone.c does not exist.\n", E_FOREIGN,
		"File gone.c does not exist.", "meson.build:1:0", ""},
	/* setuptools runs setup.py as a text, which it then names so */
	{"Traceback (most recent call last):\n"
	 "  File \"/v/lib/python3.12/site-packages/setuptools/build_meta.py\", line 317, in "
	 "run_setup\n    exec(code, locals())\n  File \"<string>\", line 1, in <module>\n"
	 "ValueError: no GPU\n",
		E_FOREIGN, "ValueError: no GPU", "setup.py:1:0", "x.log"},
	{"Traceback (most recent call last):\n"
	 "  File \"/v/site-packages/setuptools/build_meta.py\", line 317, in run_setup\n"
	 "  File \"<string>\", line 9, in <module>\n"
	 "  File \"/v/site-packages/setuptools/__init__.py\", line 117, in setup\n"
	 "  File \"<string>\", line 5, in build_extensions\n"
	 "  File \"<string>\", line 2, in <module>\n" /* a version.py, perhaps */
	 "RuntimeError: wrong\n",
		E_FOREIGN, "RuntimeError: wrong", "setup.py:5:0", "x.log"},
	{"Traceback (most recent call last):\n"
	 "  File \"/v/site-packages/setuptools/build_meta.py\", line 317, in run_setup\n"
	 "  File \"<string>\", line 3\n    import\n          ^\nSyntaxError: invalid syntax\n",
		E_FOREIGN, "SyntaxError: invalid syntax", "setup.py:3:0", "x.log"},
	{"Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\n"
	 "ValueError: of python -c\n",
		E_FOREIGN, "ValueError: of python -c", "", "x.log"},
	{"Traceback (most recent call last):\n  File \"/usr/lib/python3/x.py\", line 1, in f\n"
	 "OSError: CUDA_HOME environment variable is not set. Please set it\n",
		E_FOREIGN, "OSError: CUDA_HOME environment variable is not set. Please set it", "",
		"a torch for ROCm"},
	{"Traceback (most recent call last):\n  File \"TREE/setup.py\", line 1, in <module>\n"
	 "ImportError: cannot import name 'msvccompiler' from 'distutils' (x.py)\n",
		E_FOREIGN, "ImportError: cannot import name 'msvccompiler' from 'distutils' (x.py)",
		"setup.py:1:0", "build: {requires: [\"setuptools<74\"]}"},
	{"Traceback (most recent call last):\n  File \"TREE/setup.py\", line 1, in <module>\n"
	 "ModuleNotFoundError: No module named 'skbuild'\n",
		E_FOREIGN, "ModuleNotFoundError: No module named 'skbuild'", "setup.py:1:0",
		"build: {requires: [scikit-build]}"},
	{"csrc/a.cpp:2:9: error: 'PyArray_Descr' {aka 'struct _PyArray_Descr'} has no member "
	 "named 'subarray'\n",
		E_COMPILE,
		"'PyArray_Descr' {aka 'struct _PyArray_Descr'} has no member named 'subarray'",
		"csrc/a.cpp:2:9", "build: {requires: [\"numpy<2\"]}"},
	{"csrc/a.cpp:2:9: error: 'PyThreadState' {aka 'struct _ts'} has no member named "
	 "'exc_type'; did you mean 'curexc_type'?\n",
		E_COMPILE,
		"'PyThreadState' {aka 'struct _ts'} has no member named 'exc_type'; did you mean "
		"'curexc_type'?",
		"csrc/a.cpp:2:9", "--python 3.8"},
	{"The Meson build system\nLibrary cufft found: YES\n../../meson.build:2:12: ERROR: Command "
	 "`/v/bin/python -c "
	 "'import ksgpu; print(ksgpu.__file__)'` failed with status 1.\n",
		E_FOREIGN,
		"Command `/v/bin/python -c 'import ksgpu; print(ksgpu.__file__)'` failed with "
		"status 1.",
		"meson.build:2:0", "build: {requires: [ksgpu]}"},
	{"../../meson.build:1:1: ERROR: \n../../meson.build:2:1: ERROR: no such option\n",
		E_FOREIGN, "no such option", "meson.build:2:0", ""},
	{"csrc/a.cpp:2:9: error: cannot convert ‘const at::DeprecatedTypeProperties’ to "
	 "‘c10::ScalarType’\n",
		E_COMPILE,
		"cannot convert ‘const at::DeprecatedTypeProperties’ to ‘c10::ScalarType’",
		"csrc/a.cpp:2:9", "x.scalar_type() in place of x.type()"},
	{"csrc/a.cpp:2:9: error: 'tex2D<float, nullptr>' is unavailable: The image/texture API not "
	 "supported on the device\n",
		E_COMPILE,
		"'tex2D<float, nullptr>' is unavailable: The image/texture API not supported on "
		"the "
		"device",
		"csrc/a.cpp:2:9", "have no textures: leave them out of --gpu"},
	{"csrc/a.cpp:2:9: error: no matching function for call to 'hipCreateTextureObject'\n",
		E_COMPILE, "no matching function for call to 'hipCreateTextureObject'",
		"csrc/a.cpp:2:9", "HIP's are types of their own"},
	{"lld: error: ld-temp.o <inline asm>:1:2: invalid instruction\n", E_LINK,
		"lld: error: ld-temp.o <inline asm>:1:2: invalid instruction", "",
		"lists the inline PTX that has no counterpart"},
	{"csrc/a.cpp:2:9: error: unknown type name 'Py_buffer'\n", E_COMPILE,
		"unknown type name 'Py_buffer'", "csrc/a.cpp:2:9", "Py_LIMITED_API"},
	{"csrc/a.cpp:2:9: fatal error: 'THH/THHAtomics.cuh' file not found\n", E_COMPILE,
		"'THH/THHAtomics.cuh' file not found", "csrc/a.cpp:2:9", "ATen/cuda/Atomic.cuh"},
	/* as g++ 12 and clang 21 have it */
	{"csrc/a.cpp:2:9: error: variable 'std::ofstream f' has initializer but incomplete type\n",
		E_COMPILE, "variable 'std::ofstream f' has initializer but incomplete type",
		"csrc/a.cpp:2:9", "build: {env: [\"CXXFLAGS=-include fstream\"]}"},
	{"csrc/a.cpp:2:9: error: implicit instantiation of undefined template "
	 "'std::basic_stringstream<char>'\n",
		E_COMPILE,
		"implicit instantiation of undefined template 'std::basic_stringstream<char>'",
		"csrc/a.cpp:2:9", "build: {env: [\"CXXFLAGS=-include sstream\"]}"},
	{"csrc/a.cpp:2:9: error: 'c' was not declared in this scope\n    2 | int b = c;\n"
	 "      |         ^\ncsrc/a.cpp:1:1: note: 'INT_MAX' is defined in header '<climits>'; did "
	 "you forget to '#include <climits>'?\n",
		E_COMPILE, "'c' was not declared in this scope", "csrc/a.cpp:2:9",
		"build: {env: [\"CXXFLAGS=-include climits\"]}"},
	{"csrc/b.cpp:1:10: fatal error: own.h: No such file or directory\n", E_COMPILE,
		"own.h: No such file or directory", "csrc/b.cpp:1:10",
		"no file of the project is called 'own.h'"},
	{"csrc/b.cpp:2:10: fatal error: 'k_cuda.cu' file not found\n", E_COMPILE,
		"'k_cuda.cu' file not found", "csrc/b.cpp:2:10",
		"the project has 'csrc/cuda/k_cuda.cu'"},
	{"csrc/a.cpp:2:9: error: CL/cl.h: No such file or directory\n", E_COMPILE,
		"CL/cl.h: No such file or directory", "csrc/a.cpp:2:9", "ocl-icd-opencl-dev"},
	/* as CPM.cmake of cufinufft 2.5.1 ends without a network, and FetchContent, and urllib */
	{"-- Downloading CPM.cmake to /b/CPM_0.42.0.cmake\nCMake Error at CMakeLists.txt:1 "
	 "(CPMAddPackage):\n  Unknown CMake command \"CPMAddPackage\".\n",
		E_NET, "CPM.cmake did not arrive, which the build downloads", "CMakeLists.txt:1:0",
		"x.log"},
	{"  error: downloading 'https://example.org/a.tar.gz' failed\n"
	 "CMake Error at CMakeLists.txt:1 (message):\n  Build step for a failed: 2\n",
		E_NET, "the build could not download 'https://example.org/a.tar.gz'",
		"CMakeLists.txt:1:0", "x.log"},
	/* as PyTorch's CMake of 2026 ends without a network, and without OpenBLAS */
	{"    error: downloading 'https://example.org/ROCm/aotriton/releases/a.tar.gz' failed\n"
	 "CMake Error at CMakeLists.txt:1 (message):\n  Each download failed!\n",
		E_NET,
		"the build could not download "
		"'https://example.org/ROCm/aotriton/releases/a.tar.gz'",
		"CMakeLists.txt:1:0", "--feature mem-efficient-attention=off"},
	{"-- Could not find OpenBLAS lib. Turning OpenBLAS_FOUND off\n"
	 "CMake Error at CMakeLists.txt:1 (MESSAGE):\n  Could not find OpenBLAS\n",
		E_FOREIGN, "Could not find OpenBLAS", "CMakeLists.txt:1:0",
		"apt install libopenblas-dev"},
	{"urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>\n"
	 "Traceback (most recent call last):\n  File \"TREE/setup.py\", line 1, in <module>\n"
	 "FileNotFoundError: a.tar.gz\n",
		E_NET, "a download of the build failed", "setup.py:1:0", "x.log"},
	/* as GNU ld 2.40 and Python have it on a full disk */
	{"/usr/bin/ld: final link failed: No space left on device\n"
	 "collect2: error: ld returned 1 exit status\n",
		E_NOSPACE, "the step 'wheel' of 'ext' failed", "", "x.log"},
	{"Traceback (most recent call last):\n  File \"TREE/setup.py\", line 1, in <module>\n"
	 "OSError: [Errno 28] No space left on device\n",
		E_NOSPACE, "OSError: [Errno 28] No space left on device", "setup.py:1:0", "x.log"},
	{"csrc/a.cpp:2:9: fatal error: error writing to /tmp/a.s: No space left on device\n",
		E_NOSPACE, "error writing to /tmp/a.s: No space left on device", "csrc/a.cpp:2:9",
		"x.log"},
	{"something\n", E_TOOL_FAILED, "the step 'wheel' of 'ext' failed", "", "x.log"},
	{"", E_TOOL_FAILED, "the step 'wheel' of 'ext' failed", "", "x.log"},
	{"Traceback (most recent call last):\n", E_TOOL_FAILED, "the step 'wheel' of 'ext' failed",
		"", ""},
	{"CMake Error at :", E_FOREIGN, "CMake stopped", "", ""},
};

static bool has_hint(const struct err *e, const char *part)
{
	for (const struct err_hint *h = e->hints; h; h = h->next)
		if (strstr(h->text, part))
			return true;
	return !*part;
}

static void the_first_real_error_is_told_at_its_place(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct proc p = {.cwd = f->f.tree, .log = S("x.log")};
		struct proc_result r = {.status = 1};
		strs_add(&f->a, &p.argv, S("python"));
		struct err *e =
			foreign_explain(&f->f, "wheel", &p, &r, with_tree(f, cases[i].said));
		assert_non_null(e);
		struct str place = S("");
		if (e->path)
			place = str_fmt(&f->a, "%.*s:%u:%u",
				STR(path_rel(&f->a, str_from(e->path), f->plan.project)), e->line,
				e->col);
		assert_int_equal(e->code, cases[i].code);
		assert_string_equal(e->msg, cases[i].msg);
		if (e->code == E_FOREIGN && e->detail)
			assert_null(strstr(e->detail, f->f.tree.p));
		assert_str(place, cases[i].place);
		if (!has_hint(e, cases[i].hint))
			fail_msg("no hint '%s' for '%s'", cases[i].hint, cases[i].msg);
		err_free(e);
	}
}

static void a_nul_in_the_log_cuts_no_message(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *said, *msg;
	} rows[] = {{"csrc/a.cpp:2:9: error: bad @ name\n", "bad   name"},
		{"Traceback (most recent call last):\n  File \"setup.py\", line 1, in f\n"
		 "ValueError: a@b\n",
			"ValueError: a b"},
		{"CMake Error at CMakeLists.txt:1 (project):\n  no @ here\n\n", "no   here"},
		{"ld.lld: error: undefined symbol: a@b\n", "ld.lld: error: undefined symbol: a b"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct proc p = {.cwd = f->f.tree, .log = S("x.log")};
		struct proc_result r = {.status = 1};
		BUF(said, &f->a);
		buf_add(&said, str_from(rows[i].said));
		for (size_t k = 0; k < said.n; k++)
			said.p[k] = said.p[k] == '@' ? 0 : said.p[k];
		strs_add(&f->a, &p.argv, S("python"));
		struct err *e = foreign_explain(&f->f, "wheel", &p, &r, buf_str(&said));
		assert_string_equal(e->msg, rows[i].msg);
		err_free(e);
	}
}

/* A dotted name means that the package is there, and a module of the project is in none. */
static void no_package_is_proposed_for_a_part_of_another(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *module;
		bool proposed;
	} rows[] = {{"pybind11", true}, {"torch.__config__", false}, {"helper", false}};
	put(f, f->plan.project, "helper.py", "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct proc p = {.cwd = f->f.tree, .log = S("x.log")};
		struct proc_result r = {.status = 1};
		struct str text = str_fmt(&f->a,
			"Traceback (most recent call last):\n  File \"x.py\", line 1, in f\n"
			"ModuleNotFoundError: No module named '%s'\n",
			rows[i].module);
		strs_add(&f->a, &p.argv, S("python"));
		struct err *e = foreign_explain(&f->f, "wheel", &p, &r, text);
		assert_int_equal(has_hint(e, "requires: ["), rows[i].proposed);
		err_free(e);
	}
}

/* driver.py runs a back end of the project, whose setup.py imports what no Python without packages has. */
static void all_modules_that_are_surely_missing_are_told_at_once(void **state)
{
	struct fixture *f = *state;
	struct proc p = {
		.cwd = f->f.tree, .log = path_join(&f->a, f->top, S("log")), .merge = true};
	struct proc_result r = {.status = 1};
	struct str driver = path_join(&f->a, f->top, S("driver.py"));
	static const char *const files[][2] = {
		{"back/backend.py",
			"import os, sys\n"
			"class __legacy__:\n"
			"    def get_requires_for_build_wheel(settings=None):\n"
			"        path, sys.path = sys.path, [os.getcwd(), *sys.path]\n"
			"        there = {'__file__': os.path.abspath('setup.py')}\n"
			"        try:\n            exec(open('setup.py').read(), there)\n"
			"        finally:\n            sys.path = path\n"},
		{"setup.py",
			"import os, absent_1\n"
			"from own import x\n"
			"import absent_2.part as two, sys\n"
			"with open(os.devnull) as f:\n    import absent_3\n"
			"try:\n    import optional_1\nexcept ImportError:\n    optional_1 = None\n"
			"try:\n    import absent_4\nfinally:\n    pass\n"
			"if os.name == 'nt':\n    import optional_2\n"
			"def later():\n    import optional_3\n"
			"sys.path.insert(0, 'tools')\n"
			"import tool, torch, unittest.mock, absent_2, skbuild\n"
			"raise SystemExit\n"
			"import optional_4\n"},
		{"own/__init__.py", "from .inner import y\n"},
		{"own/inner.py", "from . import data\nfrom .lost import z\nimport absent_5\n"},
		{"own/data.py", "import optional_5\n"},
		{"tools/tool.py", "import optional_6\n"},
		{"broken.py", "import\n"},
	};
	if (!proc_find(&f->a, S("python3")).n)
		skip();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		put(f, f->f.tree, files[i][0], files[i][1]);
	test_put(driver, foreign_driver.p);
	proc_arg(&f->a, &p, "python3", "-I", "-S", driver.p, "requires",
		path_join(&f->a, f->top, S("answer")).p, "backend=backend:__legacy__", "path=back",
		NULL);
	assert_ok(proc_run(&f->a, &p, &r));
	assert_int_equal(r.status, 1);
	struct err *e = foreign_explain(&f->f, "configure", &p, &r, r.out);
	assert_string_equal(e->msg, "ModuleNotFoundError: No module named 'absent_1'");
	assert_true(has_hint(e,
		"absent_1, absent_2, absent_3, absent_4, absent_5 are not there: name the packages "
		"that have them in rocsmith.yaml: build: {requires: [absent_1, absent_2, absent_3, "
		"absent_4, absent_5]}"));
	assert_true(has_hint(e, "--with torch-2.x.y.whl"));
	assert_true(has_hint(e, "requires: [scikit-build]"));
	assert_false(has_hint(e, "name the package that has it"));
	err_free(e);
	/* one alone is told as before */
	put(f, f->f.tree, "setup.py", "import absent_1\nimport os\n");
	assert_ok(proc_run(&f->a, &p, &r));
	e = foreign_explain(&f->f, "configure", &p, &r, r.out);
	assert_true(has_hint(e, "name the package that has it"));
	err_free(e);
}

/* A library may be made by the project itself, and a requirement may be no package at all: no package is proposed then. */
static void libraries_and_modules_of_the_project_are_told_from_packages(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *said, *msg, *hint, *never;
	} rows[] = {{"/usr/bin/ld: cannot find -ltwed: No such file or directory\n",
			    "cannot find -ltwed", "CMakeLists.txt makes libtwed", "apt install"},
		{"/usr/bin/ld: cannot find -lother: No such file or directory\n",
			"cannot find -lother", "libother-dev", "makes"},
		{"ERROR: Could not find a version that satisfies the requirement gen_x (from "
		 "versions: none)\nERROR: No matching distribution found for gen_x\n",
			"no 'gen_x' for this Python", "lacks that file", "apt"}};
	put(f, f->plan.project, "CMakeLists.txt", "cuda_add_library(twed SHARED a.cu)\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct proc p = {.cwd = f->f.tree, .log = S("x.log")};
		struct proc_result r = {.status = 1};
		strs_add(&f->a, &p.argv, S("python"));
		struct err *e = foreign_explain(&f->f, "wheel", &p, &r, str_from(rows[i].said));
		assert_true(str_contains(str_from(e->msg), str_from(rows[i].msg)));
		assert_true(has_hint(e, rows[i].hint));
		assert_false(has_hint(e, rows[i].never));
		err_free(e);
	}
}

/* The series before the installed release is proposed, of the package that has the folder. */
static void an_older_release_is_proposed_for_a_file_that_has_moved(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *said, *hint;
	} rows[] = {{"clang++: error: no such file or directory: '%.*s/src/D.cu'\n",
			    "lisa_tools<1.2\""},
		{"a.c:1:1: fatal error: %.*s/d.h: No such file or directory\n", "lisa_tools<1.2\""},
		{"a.c:1:1: fatal error: %.*s-other/d.h: No such file or directory\n", NULL},
		{"a.c:1:1: error: %.*s is odd\n", NULL}};
	struct str venv = path_join(&f->a, f->f.tmp.n ? f->f.tmp : f->f.tree, S("venv"));
	const char *site = "lib/python3.11/site-packages";
	f->f.venv = venv;
	put(f, venv, "lib/python3.11/site-packages/other-1.dist-info/RECORD",
		"lisax/__init__.py,,\nother/lisa/__init__.py,,\n");
	put(f, venv, "lib/python3.11/site-packages/lisa_tools-1.2.8.dist-info/RECORD",
		"lisa_tools-1.2.8.dist-info/METADATA,,\nlisa/__init__.py,,\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct proc p = {.cwd = f->f.tree, .log = S("x.log")};
		struct proc_result r = {.status = 1};
		struct str folder = str_fmt(&f->a, "%.*s/%s/lisa", STR(venv), site);
		struct str text = str_replace(&f->a, str_from(rows[i].said), S("%.*s"), folder);
		strs_add(&f->a, &p.argv, S("python"));
		struct err *e = foreign_explain(&f->f, "wheel", &p, &r, text);
		assert_int_equal(has_hint(e, "an older one may have it"), rows[i].hint != NULL);
		if (rows[i].hint)
			assert_true(has_hint(e, rows[i].hint));
		err_free(e);
	}
	put(f, venv, "lib/python3.11/site-packages/given/__init__.py", "");
	for (unsigned given = 0; given < 2; given++) {
		struct proc p = {.cwd = f->f.tree, .log = S("x.log")};
		struct proc_result r = {.status = 1};
		strs_add(&f->a, &p.argv, S("python"));
		struct err *e = foreign_explain(&f->f, "wheel", &p, &r,
			str_fmt(&f->a,
				"meson.build:1:0: ERROR: Command `venv/bin/python -c 'import %s; "
				"print(1)'` failed with status 1.\n",
				given ? "given" : "absent"));
		assert_int_equal(has_hint(e, "requires: [absent]"), !given);
		assert_int_equal(has_hint(e, "'given' is installed, but cannot be"), given);
		err_free(e);
	}
}

/* ---- recorded logs: g++ 12, clang 21 by hipcc, CMake 3.25, ninja 1.11, make 4.3 (-j, -k) ---- */

static const struct {
	const char *log;
	enum errcode code;
	const char *msg, *place, *detail; /* detail: part of it */
} recorded[] = {
	{"ninja", E_COMPILE, "‘c’ was not declared in this scope", "bad.cpp:6:16", ""},
	{"make", E_COMPILE, "‘c’ was not declared in this scope", "bad.cpp:6:16", ""},
	{"gcc_template", E_COMPILE,
		"static assertion failed: result type must be constructible from input type "
		"(in /usr/include/c++/12/bits/stl_uninitialized.h:90)",
		"inc.cpp:3:52", "evaluates to false"},
	{"ninja_python", E_FOREIGN,
		"json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: "
		"line 1 column 2 (char 1)",
		"gen.py:2:0", ""},
	{"ninja_step", E_FOREIGN, "the step 'e.cpp /build/b/e.cpp' of its build failed", "",
		"made\n/bin/sh: 1:  echo nothing was found : not found\n"},
	{"hipcc", E_COMPILE, "member reference base type 'float' is not a structure or union",
		"k.h:3:58", "k.hip:2:38: note: in instantiation"},
	{"hipcc_link", E_LINK, "lld: error: undefined hidden symbol: undefined_one(float*)", "",
		">>> referenced by /tmp/undef-gfx1201-1ce3a9.o:(u(float*))"},
	{"hipcc_option", E_FOREIGN, "clang++: unknown argument: '-no-such-option'", "", ""},
	{"killed", E_FOREIGN, "g++: Killed signal terminated program cc1plus", "", ""},
	{"cmake", E_FOREIGN, "The folder /nothing/here is missing.", "cmake/Checks.cmake:3:0",
		"It has what is needed:\n    one\n    two\n"
		"also: CMakeLists.txt:7: ROCm was asked for, and there is no package hip\n"
		"also: cmake/FindMagma.cmake:3: Could NOT find Magma (missing: "
		"MAGMA_INCLUDE_DIR)\n"},
	{"cmake_compiler", E_FOREIGN,
		"The C++ compiler \"/usr/bin/broken\" is not able to compile a simple test "
		"program.",
		"CMakeLists.txt:2:0", "testCXXCompiler.cxx:1:1: error: this compiler is broken"},
};

/* What a long build says besides: 2 MB of steps that went well, warnings among them. */
static void add_noise(struct buf *b)
{
	for (unsigned i = 0; i < 8000; i++)
		buf_fmt(b,
			"[%u/9000] Building CXX object CMakeFiles/warn.dir/warn%u.cpp.o\n"
			"In file included from /usr/include/x.h:3,\n"
			"                 from TREE/warn.cpp:1:\n"
			"/usr/include/y.h:7:1: \033[01;35m\033[Kwarning: \033[m\033[Kodd\n"
			"   7 | error_of(this);\n",
			i, i);
}

static void recorded_logs_are_understood_however_long(void **state)
{
	struct fixture *f = *state;
	static const char *const files[] = {"bad.cpp", "inc.cpp", "warn.cpp", "lib.h", "gen.py",
		"k.h", "k.hip", "cmake/Checks.cmake", "cmake/FindMagma.cmake"};
	BUF(noise, &f->a);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		put(f, f->plan.project, files[i], "x\n");
	add_noise(&noise);
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
		struct proc p = {.cwd = f->f.tree, .log = S("x.log")};
		struct proc_result r = {.status = 1};
		struct str text,
			path = str_fmt(&f->a, "tests/data/foreign/%s.log", recorded[i].log);
		assert_ok(fs_read(&f->a, path, 1 << 20, &text));
		BUF(all, &f->a);
		buf_fmt(&all, "%.*s\n%.*s\n%.*s", STR(buf_str(&noise)), STR(text),
			STR(buf_str(&noise)));
		strs_add(&f->a, &p.argv, S("python"));
		struct err *e =
			foreign_explain(&f->f, "build", &p, &r, with_tree(f, buf_str(&all).p));
		struct str place = S("");
		if (e->path)
			place = str_fmt(&f->a, "%.*s:%u:%u",
				STR(path_rel(&f->a, str_from(e->path), f->plan.project)), e->line,
				e->col);
		assert_int_equal(e->code, recorded[i].code);
		assert_string_equal(e->msg, recorded[i].msg);
		assert_str(place, recorded[i].place);
		if (!strstr(e->detail ? e->detail : "", recorded[i].detail))
			fail_msg("%s: not in the detail: '%s'", recorded[i].log, e->detail);
		err_free(e);
	}
}

static void a_kill_is_no_error_of_the_source(void **state)
{
	struct fixture *f = *state;
	struct proc p = {.cwd = f->f.tree, .log = S("x.log")};
	struct proc_result r = {.status = 128 + 9};
	strs_add(&f->a, &p.argv, S("python"));
	struct err *e = foreign_explain(&f->f, "wheel", &p, &r, S("csrc/a.cpp:1:1: error: x\n"));
	assert_int_equal(e->code, E_TOOL_FAILED);
	assert_true(has_hint(e, "memory"));
	err_free(e);
}

/* pip would take it for an option, or a folder. */
static void only_a_requirement_is_installed(void **state)
{
	struct fixture *f = *state;
	static const char *const odd[] = {
		"--index-url=http://example.org", "-r x", "./here", "", " setuptools"};
	struct plan_foreign none = {0};
	f->plan.foreign = &none;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct strs list = {0};
		strs_add(&f->a, &list, str_from(odd[i]));
		struct err *e = foreign_install(&f->f, &list);
		assert_non_null(e);
		assert_int_equal(e->code, E_FOREIGN);
		assert_non_null(strstr(e->msg, "is not a requirement"));
		err_free(e);
	}
	assert_str(requirement_name(&f->a, S("My..Pkg-_x[all] >=1")), "my-pkg-x");
}

/* ninja looks for new files and for a changed CMakeLists.txt in runs of their own, with few steps. */
static void the_steps_of_each_ninja_count(void **state)
{
	struct fixture *f = *state;
	struct plan_foreign how = {0};
	struct proc p = {0};
	struct proc_result r;
	f->plan.foreign = &how;
	f->f.rocm = f->f.tmp = f->f.log;
	assert_ok(fs_mkdirs(f->f.log));
	f->f.steps[0].kind = S("build");
	proc_arg(&f->a, &p, "/bin/printf", "%s\\n", "[0/2] Re-checking globbed directories...",
		"[1/2] Re-running CMake...", "[1/3] a.cpp", "[2/3] b.cpp", "[3/3] c.cpp", NULL);
	assert_ok(foreign_run(&f->f, "build", &p, &r));
	assert_int_equal(f->f.compiled, 4);
}

static void rocm_that_is_off_is_an_error(void **state)
{
	struct fixture *f = *state;
	static const char *const off[] = {"--   USE_ROCM              : OFF\n",
		"//x\nhip_DIR:PATH=hip_DIR-NOTFOUND\n", "Building without ROCm\n"};
	static const char *const on[] = {
		"", "--   USE_ROCM              : ON\n", "hip_DIR:PATH=/opt/rocm/lib/cmake/hip\n"};
	for (size_t i = 0; i < 3; i++) {
		struct err *e = foreign_check_rocm(&f->f, str_from(off[i]));
		assert_non_null(e);
		assert_int_equal(e->code, E_FOREIGN);
		err_free(e);
		assert_ok(foreign_check_rocm(&f->f, str_from(on[i])));
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		T(the_first_real_error_is_told_at_its_place),
		T(no_package_is_proposed_for_a_part_of_another),
		T(a_nul_in_the_log_cuts_no_message),
		T(all_modules_that_are_surely_missing_are_told_at_once),
		T(an_older_release_is_proposed_for_a_file_that_has_moved),
		T(libraries_and_modules_of_the_project_are_told_from_packages),
		T(recorded_logs_are_understood_however_long),
		T(a_kill_is_no_error_of_the_source),
		T(only_a_requirement_is_installed),
		T(the_steps_of_each_ninja_count),
		T(rocm_that_is_off_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
