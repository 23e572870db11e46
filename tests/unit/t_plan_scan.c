/* What a source says about itself: plan/scan.h. */
#include "test.h"

#include "plan/plan_int.h"

static struct str modules_of(struct arena *a, const char *text)
{
	struct cxx_scan s;
	scan_text(a, str_from(text), &s);
	return str_join(a, &s.modules, S(" "));
}

static void module_definitions_are_found(void **state)
{
	(void)state;
	ARENA(a);
	assert_str(modules_of(&a, "PyMODINIT_FUNC PyInit_saxpy(void)\n{\n}\n"), "saxpy");
	assert_str(
		modules_of(&a, "PyMODINIT_FUNC\nPyInit__x1 ( /* none */ void ) // here\n{"), "_x1");
	assert_str(modules_of(&a, "extern \"C\" PyObject *PyInit_a() noexcept { return 0; }"), "a");
	assert_str(modules_of(&a, "PYBIND11_MODULE(fast, m) { }"), "fast");
	assert_str(modules_of(&a, "NB_MODULE( quick , m) { }"), "quick");
	assert_str(modules_of(&a, "PyObject *PyInit_a(){} PyObject *PyInit_b(){}"), "a b");
}

static void mentions_are_no_definitions(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const texts[] = {
		"PyMODINIT_FUNC PyInit_a(void);",
		"PyImport_AppendInittab(\"a\", PyInit_a);",
		"x = PyInit_a();",
		"// PyObject *PyInit_a(void) {\n",
		"// the line goes on \\\n PyObject *PyInit_a(void) {\n",
		"/* PyObject *PyInit_a(void) { */",
		"const char *s = \"PyInit_a(void) {\";",
		"const char *s = \"\\\" PyInit_a(void) {\";",
		"auto s = R\"(PyInit_a(void) {)\";",
		"auto s = R\"x()\" PyInit_a(void) {)x\";",
		"#if 0\nPyObject *PyInit_a(void) {}\n#endif\n",
		"#if 0\n#ifdef X\n#endif\nPyObject *PyInit_a(void) {}\n#endif\n",
		"#define INIT PyInit_a(void) {\n",
		"PyInit_a(",
		"PyInit_",
		"PYBIND11_MODULE",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct str got = modules_of(&a, texts[i]);
		if (got.n)
			fail_msg("'%s' gave '%.*s'", texts[i], STR(got));
	}
}

static void code_behind_tricky_text_counts(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const texts[] = {
		"char c = '\"'; PyObject *PyInit_a(void) {}",
		"int n = 1'000'000; PyObject *PyInit_a(void) {}",
		"int n = 0xff'ff; char q = '\\''; PyObject *PyInit_a(void) {}",
		"auto s = R\"(\" // )\"; PyObject *PyInit_a(void) {}",
		"auto s = u8R\"y(/*)y\"; PyObject *PyInit_a(void) {}",
		"#if 0\nfoo '\n#else\nPyObject *PyInit_a(void) {}\n#endif",
		"#if 1\nPyObject *PyInit_a(void) {}\n#endif",
		"#error don't\nPyObject *PyInit_a(void) {}",
		"#define X /* a\nb */ 1\nPyObject *PyInit_a(void) {}",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct str got = modules_of(&a, texts[i]);
		if (!str_eq(got, S("a")))
			fail_msg("'%s' gave '%.*s'", texts[i], STR(got));
	}
}

static void includes_are_listed(void **state)
{
	(void)state;
	ARENA(a);
	struct cxx_scan s;
	scan_text(&a,
		S("#include <cuda_runtime.h>\n  #  include \"my/x.cuh\" // yes\n#include MACRO\n"
		  "// #include \"no.h\"\n#if 0\n#include \"no2.h\"\n#endif\n#include \"open\n"
		  "int a; #include \"not_first.h\"\n"),
		&s);
	assert_int_equal(s.includes.n, 2);
	assert_str(s.includes.v[0].name, "cuda_runtime.h");
	assert_false(s.includes.v[0].quoted);
	assert_str(s.includes.v[1].name, "my/x.cuh");
	assert_true(s.includes.v[1].quoted);
}

static void the_stable_abi_level_is_read(void **state)
{
	(void)state;
	ARENA(a);
	struct cxx_scan s;
	scan_text(&a, S("#define Py_LIMITED_API 0x030900f0\n#include <Python.h>\n"), &s);
	assert_int_equal(s.limited_api, 0x030900f0);
	scan_text(&a, S("#define Py_LIMITED_API 3\n"), &s);
	assert_int_equal(s.limited_api, 0x03020000);
	scan_text(&a, S("#define Py_LIMITED_API\n"), &s);
	assert_int_equal(s.limited_api, 0x03020000);
	scan_text(&a, S("#undef Py_LIMITED_API\n#define Py_LIMITED_APIS 4\n"), &s);
	assert_int_equal(s.limited_api, 0);
	assert_int_equal(scan_api_level(S("0x0301ffff")), 0x03020000);
	assert_int_equal(scan_api_level(S("0x03020001")), 0x03020001);
	assert_int_equal(scan_api_level(S("0x")), 0);
	assert_int_equal(scan_api_level(S("PY_VERSION_HEX")), 0);
	assert_int_equal(scan_api_level(S("0xffffffffff")), 0);
}

static void a_program_is_told_from_a_library(void **state)
{
	(void)state;
	ARENA(a);
	struct cxx_scan s;
	scan_text(&a, S("int main(int argc, char **argv)\n{ return 0; }"), &s);
	assert_true(s.has_main);
	scan_text(&a, S("int main(void);\nstruct x { int main() { return 1; } };"), &s);
	assert_false(s.has_main);
}

static void kernels_are_code_not_text(void **state)
{
	static const struct {
		const char *text;
		bool kernels, gpu;
	} rows[] = {
		{"__global__ void k() {}", true, false},
		{"#define KERNEL __global__\nKERNEL void k() {}", true, false},
		{"#include <thrust/sort.h>\n", true, false},
		{"#include <cub/cub.cuh>\n", true, true},
		/* host calls, and kernels for NVRTC */
		{"#include <cublas_v2.h>\nint run() { return cublasCreate(0); }", false, true},
		{"#include <nvrtc.h>\nconst char *s = \"__global__ void k() {}\";", false, true},
		{"const char *s = R\"(\n__global__ void k() {}\n)\"; // __global__", false, false},
		{"#if 0\n__global__ void k() {}\n#endif\n/* __global__ */", false, false},
		{"#include <vector>\n__device__ int f() { return 1; }", false, false},
	};
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cxx_scan s;
		scan_text(&a, str_from(rows[i].text), &s);
		if (s.kernels != rows[i].kernels || s.gpu != rows[i].gpu)
			fail_msg("%s: %d %d", rows[i].text, s.kernels, s.gpu);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(module_definitions_are_found),
		cmocka_unit_test(mentions_are_no_definitions),
		cmocka_unit_test(code_behind_tricky_text_counts),
		cmocka_unit_test(includes_are_listed),
		cmocka_unit_test(the_stable_abi_level_is_read),
		cmocka_unit_test(kernels_are_code_not_text),
		cmocka_unit_test(a_program_is_told_from_a_library),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
