/* A text through all passes, each rule by itself. Expectations come from reading and running
 * torch/utils/hipify/hipify_python.py; oracle/torch_text.py compares many more with it. */
#include "test.h"

#include "base/buf.h"
#include "hipify/torch/text/text.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

struct pair {
	const char *from, *to;
};

static struct torch_map map_of(struct arena *a, const struct pair *pairs, size_t n)
{
	struct torch_map m = {0};
	for (size_t i = 0; i < n; i++)
		*VEC_PUSH(a, &m) = (struct torch_entry){.from = str_from(pairs[i].from),
			.to = str_from(pairs[i].to),
			.table = S("SOME_MAP"),
			.file = S("maps.py"),
			.line = (unsigned)i + 1};
	return m;
}

static struct torch_engine *engine_of(struct arena *a, enum torch_generation generation)
{
	static const struct pair names[] = {{"cudaMalloc", "hipMalloc"},
		{"cuComplex", "rocComplex"}, {"cuda_runtime.h", "hip/hip_runtime.h"},
		{"driver_types.h", "hip/driver_types.h"},
		{"caffe2/core/common_gpu.h", "caffe2/core/hip/common_gpu.h"},
		{"include <cuda.h", "include <hip/hip_runtime.h"}, {"common_gpu", "hip/hip/x"}};
	static const struct pair special[] = {{"cuComplex", "hipComplex"}};
	static const struct pair caffe2[] = {{"CUDA", "HIP"}, {"/common_gpu", "/hip/common_gpu"},
		{"CUDAContext", "HIPContext"}, {"cudnn", "miopen"}};
	static const struct pair paths[] = {{"math/reduce.cuh", "math/hip/reduce.cuh"},
		{"caffe2/core/common_gpu.h", "caffe2/core/hip/common_gpu.h"}, {"plain", "simple"},
		{"hip/hip/", "hip/"}};
	static const struct pair math[] = {
		{"std::max", "::max"}, {"std::min", "::min"}, {"std::exp", "::exp"}};
	struct torch_tables t = {.generation = generation,
		.names = map_of(a, names, COUNT(names)),
		.special = map_of(a, special, COUNT(special)),
		.math = map_of(a, math, COUNT(math))};
	if (generation == TORCH_V1)
		t.caffe2 = map_of(a, caffe2, COUNT(caffe2));
	t.paths = map_of(a, paths, COUNT(paths));
	return torch_engine_new(a, &t);
}

/* The text that comes out; the edits must give it too. */
static struct str run(
	struct arena *a, const struct torch_engine *e, struct torch_job job, const char *source)
{
	struct hipify_text plain = {0}, traced = {0};
	struct str text = str_from(source);
	assert_ok(torch_text(a, e, &job, text, &plain));
	job.trace = true;
	assert_ok(torch_text(a, e, &job, text, &traced));
	BUF(b, a);
	size_t done = 0;
	VEC_EACH (const struct hipify_edit, edit, &traced.edits) {
		buf_add(&b, str_sub(text, done, edit->from));
		buf_add(&b, edit->with);
		done = edit->to;
	}
	buf_add(&b, str_sub(text, done, text.n));
	assert_true(str_eq(plain.text, buf_str(&b)));
	assert_true(str_eq(plain.text, traced.text));
	assert_int_equal(plain.edits.n, 0);
	return plain.text;
}

static void check(enum torch_generation g, struct torch_job job, const struct pair *cases, size_t n)
{
	ARENA(a);
	const struct torch_engine *e = engine_of(&a, g);
	for (size_t i = 0; i < n; i++)
		assert_str(run(&a, e, job, cases[i].from), cases[i].to);
}

static void an_unchanged_text_is_the_source_itself(void **state)
{
	(void)state;
	ARENA(a);
	const char *source = "#include \"a.h\"\nint x = std::max(1, 2); cudaMalloc";
	struct torch_job job = {.path = S("/p/a.cpp")};
	assert_ptr_equal(run(&a, engine_of(&a, TORCH_V1), job, source).p, source);
	assert_int_equal(run(&a, engine_of(&a, TORCH_V2), job, "").n, 0);
}

/* Traps 3, 5, 6: a BOM is a character that is no word; first and last token stay. */
static void the_ends_of_a_text_are_no_borders(void **state)
{
	(void)state;
	static const struct pair cases[] = {
		{"cudaMalloc(x);", "cudaMalloc(x);"},
		{"\357\273\277cudaMalloc(x);", "\xef\xbb\xbfhipMalloc(x);"},
		{"x = cudaMalloc", "x = cudaMalloc"},
		{"x = cudaMalloc\n", "x = hipMalloc\n"},
		{"// cudaMalloc \"cudaMalloc\"", "// hipMalloc \"hipMalloc\""},
	};
	check(TORCH_V1, (struct torch_job){.path = S("/p/a.h")}, cases, COUNT(cases));
}

/* Trap 8. */
static void the_file_decides_on_the_map(void **state)
{
	(void)state;
	static const struct pair names[] = {{" cuComplex CUDA ", " rocComplex CUDA "}};
	static const struct pair special[] = {{" cuComplex cudaMalloc ", " hipComplex hipMalloc "}};
	static const struct pair caffe2[] = {
		{"CUDA", "HIP"},
		{"xCUDAContextx", "xHIPContextx"},
		{"CUDACUDAContexCUDA", "HIPHIPContexHIP"},
		{"a/common_gpu.h cudaMalloc ", "a/hip/common_gpu.h cudaMalloc "},
	};
	struct torch_job job = {.path = S("/p/a.h")};
	check(TORCH_V1, job, names, COUNT(names));
	job.map = TORCH_SPECIAL;
	check(TORCH_V1, job, special, COUNT(special));
	job.map = TORCH_CAFFE2;
	check(TORCH_V1, job, caffe2, COUNT(caffe2));
}

static void a_users_own_pair_goes_before_a_special_one(void **state)
{
	(void)state;
	ARENA(a);
	static const struct pair names[] = {{"one", "mine"}, {"two", "mine"}};
	static const struct pair special[] = {{"one", "special"}, {"two", "special"}};
	struct torch_tables t = {.generation = TORCH_V1,
		.names = map_of(&a, names, 2),
		.special = map_of(&a, special, 2)};
	t.names.v[1].table = S("custom");
	struct torch_job job = {.path = S("/p/a.h"), .map = TORCH_SPECIAL};
	assert_str(run(&a, torch_engine_new(&a, &t), job, " one two "), " special mine ");
}

/* Trap 9. */
static void path_mappings_keep_what_is_behind_hip(void **state)
{
	(void)state;
	static const struct pair v2[] = {
		{"x/math/reduce.cuh", "x/math/hip/reduce.cuh"},
		{"x/hip/math/reduce.cuh", "x/hip/math/reduce.cuh"},
		{"hip/math/reduce.cuh", "hip/math/hip/reduce.cuh"},
		{"/hip/math/reduce.cuhmath/reduce.cuh", "/hip/math/reduce.cuhmath/hip/reduce.cuh"},
		{"plain /hip/plain", "simple /hip/simple"},
		{"hip/hip/hip/hip/x", "hip/hip/x"},
		{"mathXreduce.cuh math/reduceXcuh", "mathXreduce.cuh math/reduceXcuh"},
		{" common_gpu ", " hip/x "},
		{"\"caffe2/core/common_gpu.h\"", "\"caffe2/core/hip/common_gpu.h\""},
	};
	static const struct pair v1[] = {
		{"plain math/reduce.cuh hip/hip/", "plain math/reduce.cuh hip/hip/"},
		{" common_gpu ", " hip/hip/x "},
	};
	struct torch_job job = {.path = S("/p/a.h")};
	check(TORCH_V2, job, v2, COUNT(v2));
	check(TORCH_V1, job, v1, COUNT(v1));
}

/* re.sub() goes on one character behind a place that its lookbehind refuses. */
static void a_refused_place_may_overlap_a_match(void **state)
{
	(void)state;
	ARENA(a);
	static const struct pair paths[] = {{"a/a", "b/hip/b"}};
	struct torch_tables t = {.generation = TORCH_V2, .paths = map_of(&a, paths, 1)};
	struct torch_job job = {.path = S("/p/a.h")};
	assert_str(run(&a, torch_engine_new(&a, &t), job, "/hip/a/a/a"), "/hip/a/b/hip/b");
}

static void a_path_mapping_that_is_a_template_is_refused(void **state)
{
	(void)state;
	ARENA(a);
	static const struct pair paths[] = {{"a", "/hip/\\1"}};
	static const struct pair plain[] = {{"a", "\\1"}};
	struct torch_tables t = {.generation = TORCH_V2, .paths = map_of(&a, paths, 1)};
	struct torch_job job = {.path = S("/p/a.h")};
	struct hipify_text ret;
	assert_err_says(
		torch_text(&a, torch_engine_new(&a, &t), &job, S("a"), &ret), E_TORCH, "backslash");
	t.paths = map_of(&a, plain, 1);
	assert_str(run(&a, torch_engine_new(&a, &t), job, "a"), "\\1");
}

/* ---- includes ---- */
struct seen {
	struct buf log;
	const char *from;
	struct str to;
};

static struct err *note(void *user, enum torch_form form, struct str path, struct str *ret)
{
	struct seen *s = user;
	buf_fmt(&s->log, "%u[%.*s]", (unsigned)form, STR(path));
	if (str_eq(path, S("error")))
		return err_new(E_HIPIFY, "told to fail");
	if (s->from && str_eq(path, str_from(s->from)))
		*ret = s->to;
	return NULL;
}

/* What the callback saw. */
static struct str directives(struct arena *a, const char *source)
{
	struct seen s = {.log = {.a = a}};
	struct hipify_text ret;
	struct torch_job job = {.path = S("/p/a.h"), .include = note, .user = &s};
	assert_ok(torch_text(a, engine_of(a, TORCH_V2), &job, str_from(source), &ret));
	assert_ptr_equal(ret.text.p, source);
	return buf_str(&s.log);
}

/* Trap 10. */
static void only_exact_directives_are_includes(void **state)
{
	(void)state;
	static const struct pair cases[] = {
		{"#include \"a.h\"\n#include <b.h>\n", "0[a.h]1[b.h]"},
		{"#include <b.h>\n#include \"a.h\"", "0[a.h]1[b.h]"},
		{"#define THC_GENERIC_FILE \"x.cu\"\n", "2[x.cu]"},
		{"#include  \"a.h\"\n# include \"a.h\"\n#include\"a.h\"\n#include\t<a.h>", ""},
		{"// #include \"a.h\" ##include \"b.h\"", "0[a.h]0[b.h]"},
		{"#include \"\"\n#include <>\n", ""},
		{"#include \"\"x\"", ""},
		{"#include \"a\nb\" \"", "0[a\nb]"},
		{"#include \"a\n#include \"b\"", "0[a\n#include ]"},
		{"#include <a\n#include <b>", "1[a\n#include <b]"},
		{"#include \"a\n#include <b>\n", "1[b]"},
		{"#include \"#include <b>\" ", "0[#include <b>]1[b]"},
		{"#include \"a", ""},
		{"#include \"", ""},
		{"#include ", ""},
		{"#", ""},
		{"#include <>#include <c>", "1[c]"},
	};
	ARENA(a);
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_str(directives(&a, cases[i].from), cases[i].to);
}

static void an_answer_takes_the_place_of_the_path(void **state)
{
	(void)state;
	ARENA(a);
	struct seen s = {.log = {.a = &a}, .from = "a.h", .to = S("x\">\n#include <c.h>")};
	struct torch_job job = {.path = S("/p/a.h"), .include = note, .user = &s};
	const char *source = "#include \"a.h\"\n#include <a.h>\n#include \"b.h\"\n";
	struct str got = run(&a, engine_of(&a, TORCH_V2), job, source);
	assert_str(got, "#include \"x\">\n#include <c.h>\"\n#include <x\">\n#include <c.h>>\n"
			"#include \"b.h\"\n");
	/* Each form is a search of its own over what the one before left. */
	assert_str(str_sub(buf_str(&s.log), 0, 20), "0[a.h]0[b.h]1[c.h]1[");
}

static void an_error_of_the_callback_ends_the_text(void **state)
{
	(void)state;
	ARENA(a);
	struct seen s = {.log = {.a = &a}};
	struct torch_job job = {.path = S("/p/a.h"), .include = note, .user = &s};
	struct hipify_text ret;
	assert_err_says(torch_text(&a, engine_of(&a, TORCH_V2), &job,
				S("#include \"error\"\n#include \"b\"\n"), &ret),
		E_HIPIFY, "told to fail");
	assert_str(buf_str(&s.log), "0[error]");
}

static void a_million_directives_take_linear_time(void **state)
{
	(void)state;
	static const char *const lines[] = {"#include <\n", "#include \"a\n", "#include \"a\"\n",
		"#include <>\n", "#define THC_GENERIC_FILE \"\n", "#"};
	for (size_t i = 0; i < COUNT(lines); i++) {
		ARENA(a);
		BUF(b, &a);
		for (unsigned k = 0; k < HUGE_SIZE(1000000); k++)
			buf_add(&b, str_from(lines[i]));
		struct seen s = {.log = {.a = &a}};
		struct torch_job job = {.path = S("/p/a.h"), .include = note, .user = &s};
		struct hipify_text ret;
		struct str source = buf_str(&b);
		assert_ok(torch_text(&a, engine_of(&a, TORCH_V2), &job, source, &ret));
		assert_ptr_equal(ret.text.p, source.p);
	}
}

/* ---- the other passes ---- */
static void cmake_lists_are_rewritten_by_name(void **state)
{
	(void)state;
	static const struct pair cases[] = {
		{"set(CUDA_SRC a.cu b.cuh c.cu)", "set(HIP_SRC a.hip b.cuh c.hip)"},
		{"THCUDA THC", "THHIP THH"},
		{"a.cu", "a.hip"},
		{"a.cu\xc3\xa9 a.cu_ a.cu- .cu.cu", "a.cu\xc3\xa9 a.cu_ a.hip- .hip.hip"},
	};
	struct torch_job job = {.path = S("/p/xCMakeLists.txt")};
	check(TORCH_V1, job, cases, COUNT(cases));
	static const struct pair same[] = {{"CUDA THC a.cu", "CUDA THC a.cu"}};
	job.path = S("/p/CMakeLists.txt.in");
	check(TORCH_V1, job, same, COUNT(same));
}

/* Trap 18: the path counts as it was passed, folders included. */
static void math_functions_lose_std_in_cuda_sources(void **state)
{
	(void)state;
	static const struct pair cases[] = {
		{"std::max(a, std::exp(b))", "::max(a, ::exp(b))"},
		{"mystd::min(a)", "my::min(a)"},
		{"std::max (a) std::max<int>(b) std::maxi(c)",
			"std::max (a) std::max<int>(b) std::maxi(c)"},
		{"std::std::max(1)", "std::::max(1)"},
		{"stdstd::max(1)", "std::max(1)"},
	};
	struct torch_job job = {.path = S("/p/a.cu")};
	check(TORCH_V1, job, cases, COUNT(cases));
	job.path = S("/p/a.cuh");
	check(TORCH_V2, job, cases, COUNT(cases));
	static const struct pair same[] = {{"std::max(a)", "std::max(a)"}};
	job.path = S("/p/PowKernel/a.cu");
	check(TORCH_V1, job, same, COUNT(same));
	job.path = S("/p/a.cpp");
	check(TORCH_V1, job, same, COUNT(same));
}

static void replacements_run_in_the_order_of_the_table(void **state)
{
	(void)state;
	ARENA(a);
	static const struct pair math[] = {{"a", "b"}, {"b", "c"}, {"xb", "y"}, {"c", ""}};
	struct torch_tables t = {.generation = TORCH_V1, .math = map_of(&a, math, COUNT(math))};
	struct torch_job job = {.path = S("/p/a.cu")};
	assert_str(run(&a, torch_engine_new(&a, &t), job, "a(b(c(xb(xa("), "(((x(x(");
}

/* Trap 19, and what counts as device code. */
static void device_code_gets_the_runtime_header(void **state)
{
	(void)state;
#define HIP "#include \"hip/hip_runtime.h\"\n"
	static const struct pair cases[] = {
		{"__global__", HIP "__global__"},
		{"x__shared__x", HIP "x__shared__x"},
		{"xhipLaunchKernelGGL", HIP "xhipLaunchKernelGGL"},
		{"__syncthreads()", HIP "__syncthreads()"},
		{"::__syncthreads()", HIP "::__syncthreads()"},
		{"x__syncthreads()", "x__syncthreads()"},
		{"\xc3\xa9__syncthreads()", "\xc3\xa9__syncthreads()"},
		{"__syncthreads ()", "__syncthreads ()"},
		{"__syncthreads_or()", "__syncthreads_or()"},
		{"a__syncthreads() __syncthreads()", HIP "a__syncthreads() __syncthreads()"},
		{"#include <cuda_runtime.h>\n__global__",
			"#include <hip/hip_runtime.h>\n__global__"},
		{"__global__ // #include <hip/hip_runtime_api.h>",
			"__global__ // #include <hip/hip_runtime_api.h>"},
		{"__global__ #include \"hip/hip_runtimeXh\"",
			"__global__ #include \"hip/hip_runtimeXh\""},
		{"__global__ #include \"hip/hip_runtime\xc3\xa9h\"",
			"__global__ #include \"hip/hip_runtime\xc3\xa9h\""},
		{"__global__ #include \"hip/hip_runtime\nh\"",
			HIP "__global__ #include \"hip/hip_runtime\nh\""},
		{"__global__ #include \"hip/hip_runtime.h>",
			HIP "__global__ #include \"hip/hip_runtime.h>"},
		{"__global__ #include  <hip/hip_runtime.h>",
			HIP "__global__ #include  <hip/hip_runtime.h>"},
		{"__global__ #include <hip/hip_runtime",
			HIP "__global__ #include <hip/hip_runtime"},
		{"__global__ #include <hip/hip_runtime.",
			HIP "__global__ #include <hip/hip_runtime."},
	};
	check(TORCH_V1, (struct torch_job){.path = S("/p/a.py")}, cases, COUNT(cases));
#undef HIP
}

/* The order of passes: launches see translated names, and make device code of a text. */
static void launches_are_rewritten_when_asked_for(void **state)
{
	(void)state;
	static const struct pair kept[] = {
		{" k<<<1, cuComplex >>>(std::max(a));", " k<<<1, rocComplex >>>(::max(a));"}};
	static const struct pair rewritten[] = {{" k<<<1, cuComplex >>>(std::max(a));",
		"#include \"hip/hip_runtime.h\"\nhipLaunchKernelGGL(( k), dim3(1), "
		"dim3(rocComplex) , 0, 0, ::max(a));"}};
	struct torch_job job = {.path = S("/p/a.cu")};
	check(TORCH_V1, job, kept, COUNT(kept));
	job.launches = true;
	check(TORCH_V1, job, rewritten, COUNT(rewritten));
}

static void each_edit_says_why(void **state)
{
	(void)state;
	ARENA(a);
	struct torch_job job = {.path = S("/p/a.cu"), .trace = true};
	struct hipify_text t;
	assert_ok(torch_text(
		&a, engine_of(&a, TORCH_V2), &job, S("__global__\n common_gpu std::max("), &t));
	assert_int_equal(t.edits.n, 3);
	const struct hipify_reason *header = t.edits.v[0].why, *name = t.edits.v[1].why,
				   *math = t.edits.v[2].why;
	assert_string_equal(header->kind, "header");
	assert_str(header->table, "");
	assert_string_equal(name->kind, "name");
	assert_str(name->table, "SOME_MAP");
	assert_int_equal(name->line, 7);
	assert_string_equal(name->next->kind, "path");
	assert_str(name->next->from, "hip/hip/");
	assert_int_equal(t.edits.v[1].line, 2);
	assert_string_equal(math->kind, "math");
	assert_str(math->from, "std::max(");
	assert_str(math->file, "maps.py");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unchanged_text_is_the_source_itself),
		cmocka_unit_test(the_ends_of_a_text_are_no_borders),
		cmocka_unit_test(the_file_decides_on_the_map),
		cmocka_unit_test(a_users_own_pair_goes_before_a_special_one),
		cmocka_unit_test(path_mappings_keep_what_is_behind_hip),
		cmocka_unit_test(a_refused_place_may_overlap_a_match),
		cmocka_unit_test(a_path_mapping_that_is_a_template_is_refused),
		cmocka_unit_test(only_exact_directives_are_includes),
		cmocka_unit_test(an_answer_takes_the_place_of_the_path),
		cmocka_unit_test(an_error_of_the_callback_ends_the_text),
		cmocka_unit_test(a_million_directives_take_linear_time),
		cmocka_unit_test(cmake_lists_are_rewritten_by_name),
		cmocka_unit_test(math_functions_lose_std_in_cuda_sources),
		cmocka_unit_test(replacements_run_in_the_order_of_the_table),
		cmocka_unit_test(device_code_gets_the_runtime_header),
		cmocka_unit_test(launches_are_rewritten_when_asked_for),
		cmocka_unit_test(each_edit_says_why),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
