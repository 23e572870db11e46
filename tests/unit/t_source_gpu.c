/* Switches of GPU code in setup.py and CMake files, in the styles of projects on the index: source/gpu.h. */
#include "source/gpu.h"

#include "base/buf.h"
#include "base/vec.h"

#define KIT_MORE struct source_gpu g;
#include "unit/kit.h"

static struct str listed(struct fixture *f)
{
	static const char *const kinds[] = {"variable", "option", "none"};
	struct source s;
	struct strs list = {0};
	assert_ok(source_read(&f->a, f->dir, &s));
	assert_ok(source_gpu_read(&f->a, &s, &f->g));
	VEC_EACH (const struct source_switch, w, &f->g)
		strs_add(&f->a, &list,
			str_fmt(&f->a, "%s %.*s=%.*s %.*s%s%s", kinds[w->kind], STR(w->name),
				STR(w->value), STR(w->place), w->hip ? " hip" : "",
				w->on ? " on" : ""));
	return str_join(&f->a, &list, S("\n"));
}

static void a_variable_that_setup_py_reads_is_a_switch(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		/* imate, mmcv, torch-scatter, AutoGPTQ, gsplat in turn */
		{"if ('USE_CUDA' in os.environ) and (os.environ.get('USE_CUDA') == '1'):\n    cuda "
		 "= 1\n",
			"variable USE_CUDA=1 setup.py:1"},
		{"if torch.cuda.is_available() or os.getenv('FORCE_CUDA', '0') == '1':\n    pass\n",
			"variable FORCE_CUDA=1 setup.py:1"},
		{"WITH_CUDA = False\nif os.getenv('FORCE_CUDA', '0') == '1':\n    WITH_CUDA = "
		 "True\n",
			"variable FORCE_CUDA=1 setup.py:2"},
		{"BUILD_CUDA_EXT = int(os.environ.get('BUILD_CUDA_EXT', '1')) == 1\n",
			"variable BUILD_CUDA_EXT=1 setup.py:1 on"},
		{"BUILD_NO_CUDA = os.getenv('BUILD_NO_CUDA', '0') == '1'\n", ""},
		/* other ways to ask */
		{"x = os.environ[\"FORCE_CUDA_EXTENSION\"]\n",
			"variable FORCE_CUDA_EXTENSION=1 setup.py:1"},
		{"x = getenv('MY_WITH_CUDA', 'OFF') == 'ON'\n",
			"variable MY_WITH_CUDA=ON setup.py:1"},
		{"x = os.environ.get('WITH_CUDA', 'true').lower() in ('1', 'true')\n",
			"variable WITH_CUDA=1 setup.py:1 on"},
		{"x = os.environ.get('WITH_CUDA', '').lower() in ('1', 'true')\n",
			"variable WITH_CUDA=1 setup.py:1"},
		{"x = env_flag('USE_ROCM')\n", "variable USE_ROCM=1 setup.py:1 hip"},
		{"x = os.environ.get('USE_CUDA') != '0'\n", "variable USE_CUDA=1 setup.py:1 on"},
		{"x = os.environ.get('USE_CUDA', '0') != '0'\n", "variable USE_CUDA=1 setup.py:1"},
		{"if os.environ.get('A_BUILD_CUDA') != '1':\n\tpass\n",
			"variable A_BUILD_CUDA=1 setup.py:1"},
		{"if os.getenv('USE_CUDA', '1') != '1':\n\tpass\n",
			"variable USE_CUDA=1 setup.py:1 on"},
		{"x = os.environ.get('USE_CUDA') == '0'\n", "variable USE_CUDA=1 setup.py:1 on"},
		{"use = bool(int(os.getenv('X_CUDA_EXT', 0)))\n",
			"variable X_CUDA_EXT=1 setup.py:1"},
		/* one of several */
		{"b = os.environ.get('VK_BACKEND', 'cpu')\nif b == 'cuda': pass\nif b == 'hip': "
		 "pass\n",
			"variable VK_BACKEND=hip setup.py:1 hip"},
		{"if 'VKFFT_BACKEND' in os.environ:\n    v = 'cuda' in "
		 "os.environ['VKFFT_BACKEND']\n",
			"variable VKFFT_BACKEND=cuda setup.py:1 on"},
		{"b = os.environ.get('MPL_BACKEND', 'agg')\n", ""},
		/* names that are none, and texts that nobody reads from the environment */
		{"a = os.environ.get('CUDA_HOME')\nb = os.environ.get('USE_CUDA_FP16') == '1'\n"
		 "c = os.getenv('TORCH_CUDA_ARCH_LIST', '')\nd = os.getenv('SKIP_CUDA_BUILD')\n",
			""},
		{"define_macros += [('WITH_CUDA', None)]\nflags = ['-DUSE_CUDA', 'USE_CUDA']\n"
		 "os.environ['USE_CUDA'] = '1'\n# "
		 "os.environ['USE_CUDA']\n\"\"\"os.environ['USE_CUDA']\"\"\"\n",
			""},
		{"print 'Python 2', os.environ['USE_CUDA']\n(", ""},
		/* torch-llm-kernels, whose extensions the wheel would lack */
		{"if 'build_ext' in sys.argv:\n    pass\n",
			"option --build-option=build_ext setup.py:1"},
		{"x = 'build_ext' not in sys.argv or 'sdist' in sys.argv\n", ""},
		/* torch */
		{"import torch\n", "none torch= setup.py:1 on"},
		{"try:\n    from torch.utils import cpp_extension\nexcept ImportError:\n    pass\n",
			"none torch= setup.py:2 on"},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put(f, "setup.py", rows[i].text);
		struct str got = listed(f);
		if (!str_eq(got, str_from(rows[i].want)))
			fail_msg("%s: '%.*s'", rows[i].text, STR(got));
	}
	assert_str(f->g.torch_at, "");
	put(f, "setup.py", "if True:\n    pass\nfrom torch.utils import cpp_extension\n");
	assert_str(listed(f), "none torch= setup.py:3 on");
	assert_str(f->g.torch_at, "setup.py:3");
}

static void cmake_has_options_and_demands(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		/* LightGBM, graphgp, implicit, bitsandbytes in turn */
		{"option(USE_GPU \"OpenCL\" OFF)\noption(USE_CUDA \"Enable CUDA\" OFF)\n"
		 "option(USE_ROCM \"Enable ROCm\" OFF)\nif(USE_ROCM)\n  "
		 "enable_language(HIP)\nendif()\n",
			"option USE_CUDA=ON CMakeLists.txt:2\noption USE_ROCM=ON CMakeLists.txt:3 "
			"hip\n"
			"none language HIP= CMakeLists.txt:5 hip on"},
		{"cmake_minimum_required(VERSION 3.20)\nproject(${SKBUILD_PROJECT_NAME} LANGUAGES "
		 "CXX CUDA)\n",
			"none language CUDA= CMakeLists.txt:2 on"},
		{"find_package(CUDAToolkit)\nif(CUDAToolkit_FOUND)\n  "
		 "enable_language(CUDA)\nendif()\n",
			"none package CUDAToolkit= CMakeLists.txt:1 on\nnone language CUDA= "
			"CMakeLists.txt:3 on"},
		{"set(COMPUTE_BACKEND \"cpu\" CACHE STRING \"The backend (cpu, cuda, hip, "
		 "mps)\")\n",
			"option COMPUTE_BACKEND=hip CMakeLists.txt:1 hip"},
		/* cuda_memtest, gunrock */
		{"set(T_BACKEND \"cuda\" CACHE STRING \"Select the API.\")\n"
		 "set_property(CACHE T_BACKEND PROPERTY STRINGS \"cuda;hip\")\n"
		 "set_property(CACHE OTHER PROPERTY STRINGS \"hip\")\nset_property(CACHE)\n",
			"option T_BACKEND=hip CMakeLists.txt:1 hip"},
		{"set(T_BACKEND cuda CACHE STRING \"the API\")\n"
		 "set_property(CACHE T_BACKEND PROPERTY STRINGS cpu cuda)\n",
			"option T_BACKEND=cuda CMakeLists.txt:1 on"},
		{"option(E_AMD_BACKEND \"a\" OFF)\noption(E_NVIDIA_BACKEND \"b\" "
		 "OFF)\noption(WITH_AMD \"\" OFF)\n",
			"option E_AMD_BACKEND=ON CMakeLists.txt:1 hip\n"
			"option E_NVIDIA_BACKEND=ON CMakeLists.txt:2"},
		{"set(X_BACKEND cuda CACHE STRING \"cuda or cpu\")\n",
			"option X_BACKEND=cuda CMakeLists.txt:1 on"},
		/* layout, comments, names that are none */
		{"# option(WITH_CUDA \"x\" OFF)\nOPTION( WITH_CUDA # why\n  \"with (a) # in it\"\n "
		 " ON )\n",
			"option WITH_CUDA=ON CMakeLists.txt:2 on"},
		{"option(WITH_CUDA \"no default\")\n", "option WITH_CUDA=ON CMakeLists.txt:1"},
		{"option(Kokkos_ENABLE_CUDA \"\" ${FOUND})\n",
			"option Kokkos_ENABLE_CUDA=ON CMakeLists.txt:1 on"},
		{"option(GGML_CUDA_FORCE_MMQ \"\" OFF)\noption(CUDA_STATIC \"\" OFF)\nset(USE_CUDA "
		 "OFF)\n"
		 "option(BUILD_CUDA_TESTS \"\" OFF)\nproject(CUDA CXX)\nmessage(\"option(USE_CUDA "
		 "OFF)\")\n",
			""},
		{"option(USE_CUDA \"cut", "option USE_CUDA=ON CMakeLists.txt:1"},
		{"option(", ""},
		{"option(\"\" \"\")\noption(_ _)\nfind_package()\nproject()\nset()\n", ""},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put(f, "CMakeLists.txt", rows[i].text);
		struct str got = listed(f);
		if (!str_eq(got, str_from(rows[i].want)))
			fail_msg("%s: '%.*s'", rows[i].text, STR(got));
	}
}

static void the_nearest_files_with_sources_for_gpus_count(void **state)
{
	struct fixture *f = *state;
	put(f, "CMakeLists.txt", "project(p)\nadd_subdirectory(vendor/ggml)\n");
	put(f, "examples/CMakeLists.txt", "project(e LANGUAGES CUDA)\n");
	put(f, "third_party/lib/CMakeLists.txt", "option(LIB_CUDA \"\" OFF)\n");
	put(f, "vendor/ggml/CMakeLists.txt",
		"option(GGML_CUDA \"\" OFF)\noption(GGML_HIP \"\" OFF)\n");
	put(f, "vendor/ggml/src/hip/CMakeLists.txt",
		"option(OTHER_CUDA \"\" OFF)\nenable_language(HIP)\n");
	assert_str(listed(f), ""); /* there is nothing to compile */
	assert_false(f->g.sources);
	put(f, "examples/a.cu", "");
	put(f, "vendor/ggml/src/hip/a.cu", "");
	assert_str(listed(f),
		"option GGML_CUDA=ON vendor/ggml/CMakeLists.txt:1\noption GGML_HIP=ON "
		"vendor/ggml/CMakeLists.txt:2 hip");
	assert_true(f->g.sources && f->g.hip);
}

static void options_that_the_project_sets_itself_are_no_choice(void **state)
{
	struct fixture *f = *state;
	put(f, "CMakeLists.txt", "option(FI_USE_CUDA \"\" OFF)\n");
	put(f, "pyproject.toml",
		"[build-system]\nrequires=[]\nbuild-backend='scikit_build_core.build'\n"
		"[tool.scikit-build]\ncmake.define = {FI_USE_CUDA = 'ON'}\n");
	assert_str(listed(f), "option FI_USE_CUDA=ON CMakeLists.txt:1 on");
	assert_false(f->g.passes_on);
	put(f, "pyproject.toml", "[build-system]\nrequires=['scikit-build']\nbuild-backend='x'\n");
	put(f, "setup.py", "from skbuild import setup\n");
	assert_str(listed(f), "option FI_USE_CUDA=ON CMakeLists.txt:1");
	assert_true(f->g.passes_on);
}

/* Old FindCUDA's variables, CUDAToolkit's targets and ROCm's packages stand for components of the SDK, whatever is included. */
static void libraries_that_cmake_files_link_are_found(void **state)
{
	struct fixture *f = *state;
	put(f, "CMakeLists.txt",
		"project(x LANGUAGES CUDA)\nfind_package(CUDAToolkit)\nfind_package(rocblas "
		"REQUIRED)\nif(USE_RCCL)\nfind_package(rccl REQUIRED)\nendif()\nfind_package("
		"rocfft)\nfind_package(Python REQUIRED)\n");
	put(f, "a.cu", "");
	put(f, "prc/CMakeLists.txt",
		"target_link_libraries(x ${CUDA_LIBRARIES} ${CUDA_curand_LIBRARY})\n"
		"target_link_libraries(x PRIVATE CUDA::cusolver ${CUDA_CUFFT_LIBRARIES} "
		"my_cusparse)\n");
	put(f, "tests/CMakeLists.txt", "target_link_libraries(t CUDA::cusparse)\n");
	(void)listed(f);
	assert_str(str_join(&f->a, &f->g.links, S(" ")), "rocblas hiprand hipsolver hipfft");
}

/* What is asked of each takes a look at the whole script. */
static void a_script_has_so_many_switches_and_no_more(void **state)
{
	enum { SWITCHES = 1000, MOST = 256 };
	struct fixture *f = *state;
	BUF(cmake, &f->a);
	BUF(script, &f->a);
	buf_add(&script, S("import os\n"));
	for (unsigned i = 0; i < SWITCHES; i++) {
		buf_fmt(&cmake, "option(A%u_CUDA \"\" OFF)\n", i);
		buf_fmt(&script, "environ['A%u_CUDA'], environ['B%u_BACKEND']\n", i, i);
	}
	put(f, "CMakeLists.txt", str_z(&f->a, buf_str(&cmake)));
	assert_true(str_starts(listed(f), S("option A0_CUDA=ON CMakeLists.txt:1\n")));
	assert_int_equal(f->g.n, MOST);
	put(f, "setup.py", str_z(&f->a, buf_str(&script)));
	assert_true(str_starts(listed(f), S("variable A0_CUDA=1 setup.py:2")));
	assert_int_equal(f->g.n, MOST);
}

/* A source distribution has its version in PKG-INFO, which scikit-build-core does not read. */
static void a_version_that_nobody_provides_is_noticed(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *text;
		bool lacks;
	} rows[] = {{"", true}, {"[tool.scikit-build.metadata.version]\nprovider = 'x'\n", false},
		{"[[tool.dynamic-metadata]]\nprovider = 'x'\n", false}};
	struct source s;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int core = 0; core < 2; core++) {
			put(f, "pyproject.toml",
				str_fmt(&f->a,
					"[project]\nname = 'x'\ndynamic = ['version']\n"
					"[build-system]\nrequires = []\nbuild-backend = '%s'\n%s",
					core ? "scikit_build_core.build" : "setuptools.build_meta",
					rows[i].text)
					.p);
			assert_ok(source_read(&f->a, f->dir, &s));
			assert_int_equal(s.lacks_version, core && rows[i].lacks);
		}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_variable_that_setup_py_reads_is_a_switch),
		T(cmake_has_options_and_demands),
		T(the_nearest_files_with_sources_for_gpus_count),
		T(options_that_the_project_sets_itself_are_no_choice),
		T(libraries_that_cmake_files_link_are_found),
		T(a_script_has_so_many_switches_and_no_more),
		T(a_version_that_nobody_provides_is_noticed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
