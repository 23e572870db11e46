/* Includes: which become HIP's, which stay because the project has such a file, which are reported,
 * and where the runtime header goes. */
#include "test.h"

#include "hipify/hipify.h"

/* Translates as a file of a project that has these files. */
static void translate(
	struct arena *a, const char *source, const char *const *files, struct hipify_text *ret)
{
	struct hipify_context c = {.by_name = {.a = a}};
	for (; files && *files; files++) {
		struct str path = str_from(*files), name = path_base(path);
		struct strs *list = map_get(&c.by_name, name);
		if (!list) {
			list = NEW(a, struct strs);
			map_put(&c.by_name, name, list);
		}
		strs_add(a, list, path);
	}
	assert_ok(hipify_text(a, str_from(source), S("dir/t.cpp"), &c, ret));
}

static void check(const char *source, const char *const *files, const char *want)
{
	ARENA(a);
	struct hipify_text t;
	translate(&a, source, files, &t);
	assert_str(t.text, want);
}

static void headers_of_cuda_become_those_of_hip(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {
		{"cuda.h", "hip/hip_runtime.h"},
		{"cuda_runtime.h", "hip/hip_runtime.h"},
		{"cuda_runtime_api.h", "hip/hip_runtime_api.h"},
		{"cuda_fp16.h", "hip/hip_fp16.h"},
		{"cuda_bf16.h", "hip/hip_bf16.h"},
		{"cuComplex.h", "hip/hip_complex.h"},
		{"cooperative_groups.h", "hip/hip_cooperative_groups.h"},
		{"nvToolsExt.h", "rocsmith/nvtx.h"},
		{"cooperative_groups/reduce.h", "rocsmith/groups.h"},
		{"cublasLt.h", "hipblaslt/hipblaslt.h"},
		{"cufft.h", "hipfft/hipfft.h"},
		{"curand.h", "hiprand/hiprand.h"},
		{"curand_kernel.h", "hiprand/hiprand_kernel.h"},
		{"cusparse.h", "hipsparse/hipsparse.h"},
		{"cusolverDn.h", "hipsolver/hipsolver.h"},
		{"nvrtc.h", "hip/hiprtc.h"},
		{"nccl.h", "rccl/rccl.h"},
		{"cub/cub.cuh", "hipcub/hipcub.hpp"},
		{"cub/warp/warp_reduce.cuh", "hipcub/hipcub.hpp"},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		ARENA(a);
		const char *cuda = pairs[i][0], *hip = pairs[i][1];
		check(str_fmt(&a, "#include <%s>\n", cuda).p, NULL,
			str_fmt(&a, "#include <%s>\n", hip).p);
		check(str_fmt(&a, "#include \"%s\"\n", cuda).p, NULL,
			str_fmt(&a, "#include \"%s\"\n", hip).p);
	}
	check("#include \"/usr/local/cuda-10.1/targets/x86_64-linux/include/cuda_runtime.h\"\n",
		NULL, "#include \"hip/hip_runtime.h\"\n");
	check("#include \"/opt/cuda/include/own.h\"\n#include \"/opt/x/include/cufft.h\"\n", NULL,
		"#include \"/opt/cuda/include/own.h\"\n#include \"/opt/x/include/cufft.h\"\n");
	check(" # include <cublas_v2.h>\n", NULL,
		" #define HIPBLAS_V2 1\n#define HIPBLAS_USE_HIP_HALF 1\n# include "
		"<hipblas/hipblas.h>\n");
}

static void the_form_of_the_line_stays(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {
		{"#include<cuda.h>\n", "#include<hip/hip_runtime.h>\n"},
		{"  #\tinclude  <cuda.h>  // cuda.h\n",
			"  #\tinclude  <hip/hip_runtime.h>  // cuda.h\n"},
		{"#/* a */include/* b */<cuda.h>/* c */\n",
			"#/* a */include/* b */<hip/hip_runtime.h>/* c */\n"},
		{"#include \\\n <cuda.h>\n", "#include \\\n <hip/hip_runtime.h>\n"},
		{"#include_next <cuda.h>\n", "#include_next <hip/hip_runtime.h>\n"},
		{"/*\n*/ #include <cuda.h>\n", "/*\n*/ #include <hip/hip_runtime.h>\n"},
		{"#include <cuda.h\n", "#include <cuda.h\n"},
		{"#include\n<cuda.h>\n", "#include\n<cuda.h>\n"},
		{"x #include <cuda.h>\n", "x #include <cuda.h>\n"},
		{"#define H <cuda.h>\n#include H\n", "#define H <cuda.h>\n#include H\n"},
		{"#include <cuda.h> <cufft.h>\n", "#include <hip/hip_runtime.h> <cufft.h>\n"},
		{"// #include <cuda.h>\n", "// #include <cuda.h>\n"},
		{"s = \"#include <cuda.h>\";\n", "s = \"#include <cuda.h>\";\n"},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		check(pairs[i][0], NULL, pairs[i][1]);
}

static void files_of_the_project_are_its_own(void **state)
{
	(void)state;
	static const char *const files[] = {
		"inc/cuda_fp16.h", "k.cu", "deep/er/curand.h", "xcufft.h", "kernels/k.cu", NULL};
	static const char *const pairs[][2] = {
		{"#include \"cuda_fp16.h\"\n", "#include \"cuda_fp16.h\"\n"},
		{"#include <inc/cuda_fp16.h>\n", "#include <inc/cuda_fp16.h>\n"},
		{"#include \"../../deep/er/curand.h\"\n", "#include \"../../deep/er/curand.h\"\n"},
		{"#include \"./curand.h\"\n", "#include \"./curand.h\"\n"},
		{"#include \"er/curand.h\"\n", "#include \"er/curand.h\"\n"},
		{"#include \"cufft.h\"\n", "#include \"hipfft/hipfft.h\"\n"},
		{"#include \"other/curand_kernel.h\"\n", "#include \"other/curand_kernel.h\"\n"},
		{"#include \"k.cu\"\n", "#include \"k.hip\"\n"},
		{"#include \"kernels/k.cu\"\n", "#include \"kernels/k.hip\"\n"},
		{"#include \"not-here.cu\"\n", "#include \"not-here.cu\"\n"},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		check(pairs[i][0], files, pairs[i][1]);
}

static void what_hip_lacks_is_reported_with_its_place(void **state)
{
	(void)state;
	static const char *const headers[] = {"cudnn.h", "cudnn_frontend.h", "mma.h", "nvml.h",
		"cuda/std/atomic", "cuda/pipeline", "nv/target", "cutlass/cutlass.h",
		"cute/tensor.hpp", "cooperative_groups/details/async.h", "nvtx3/nvToolsExtCuda.h",
		"rmm/mr/device_memory_resource.hpp", "raft/core/handle.hpp", "helper_cuda.h",
		"cupti.h", "cutensor.h"};
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		ARENA(a);
		struct hipify_text t;
		struct str source = str_fmt(&a, "\n  #include <%s>\n", headers[i]);
		translate(&a, source.p, NULL, &t);
		assert_str(t.text, source.p);
		assert_int_equal(t.untranslated.n, 1);
		assert_str(t.untranslated.v[0].name, headers[i]);
		assert_int_equal(t.untranslated.v[0].line, 2);
		assert_int_equal(t.untranslated.v[0].col, 12);
		assert_true(t.untranslated.v[0].suggestion.n > 0);
	}
}

static void a_header_the_project_has_is_not_reported(void **state)
{
	(void)state;
	ARENA(a);
	struct hipify_text t;
	static const char *const files[] = {"common/helper_cuda.h", "third/cutlass/gemm.h", NULL};
	translate(&a, "#include <helper_cuda.h>\n#include <cutlass/gemm.h>\n", files, &t);
	assert_int_equal(t.untranslated.n, 0);
	assert_int_equal(t.headers.n, 0);
}

static void headers_are_listed_once_in_their_order(void **state)
{
	(void)state;
	ARENA(a);
	struct hipify_text t;
	translate(&a,
		"#include <thrust/sort.h>\n#include <curand.h>\n#include <cub/cub.cuh>\n"
		"#include <cub/device/device_scan.cuh>\n#include <hip/hip_runtime.h>\n"
		"#include <thrust/system/cuda/execution_policy.h>\n#include <rocprim/rocprim.hpp>\n"
		"#include <vector>\n#include \"mine.h\"\n#include <curand.h>\n",
		NULL, &t);
	assert_str(str_join(&a, &t.headers, S(" ")),
		"thrust/sort.h hiprand/hiprand.h hipcub/hipcub.hpp hip/hip_runtime.h "
		"thrust/system/hip/execution_policy.h rocprim/rocprim.hpp");
}

/* What comes out of a .cu file in front of its first line. */
static void check_head(const char *source, const char *added)
{
	ARENA(a);
	struct hipify_text t, again;
	assert_ok(hipify_text(&a, str_from(source), S("t.cu"), NULL, &t));
	if (!added) {
		assert_true(!t.edits.n || t.edits.v[0].to > 0);
		return;
	}
	assert_true(t.edits.n > 0);
	assert_str(t.edits.v[0].with, added);
	assert_ok(hipify_text(&a, t.text, S("t.hip"), NULL, &again));
	assert_true(str_eq(again.text, t.text));
}

static void the_runtime_header_is_first_in_program_parts(void **state)
{
	(void)state;
	static const char runtime[] = "#include <hip/hip_runtime.h>\n";
	static const char warp[] = "#define HIP_ENABLE_WARP_SYNC_BUILTINS 1\n";
	ARENA(a);
	check_head("", runtime);
	check_head("int x;\n", runtime);
	check_head("#include <cuda_runtime.h>\n", NULL);
	check_head("#include <cuda.h>\nint x;\n", NULL);
	check_head("#pragma once\n#define A 1\n#include <cuda_runtime.h>\n", NULL);
	check_head("#include <hip/hip_runtime.h>\n", NULL);
	check_head("#include <cuda_runtime_api.h>\n", runtime);
	check_head("#include <stdio.h>\n#include <cuda_runtime.h>\n", runtime);
	check_head("#if A\n#include <cuda_runtime.h>\n#endif\n", runtime);
	check_head("namespace n {\n#include <cuda_runtime.h>\n}\n", runtime);
	check_head("__device__ int x;\n#include <cuda_runtime.h>\n", runtime);
	check_head("#include <cuda_runtime.h>\nint f() { return __any_sync(1, 2); }\n", warp);
	check_head("int f() { return __any_sync(1, 2); }\n", str_fmt(&a, "%s%s", warp, runtime).p);
	check_head("#define HIP_ENABLE_WARP_SYNC_BUILTINS 1\n#include <cuda_runtime.h>\n"
		   "int f() { return __any_sync(1, 2); }\n",
		NULL);
}

static void sources_that_compare_get_the_header_for_it(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const head =
		"#include <hip/hip_runtime.h>\n#include <rocsmith/minmax.h>\n";
	static const char *const none[] = {"x = std::min(1, 2);", "x = fmin(1, 2);",
		"x = a.max(1);", "x = p->max(1);", "int min;",
		"#include <rocsmith/minmax.h>\nx = min(1, 2);"};
	struct hipify_context c = {.by_name = {.a = &a}, .calls = hipify_calls(S("max(1, 2)"))};
	struct hipify_text t;
	assert_ok(hipify_text(&a, S("x = min(n - 1, i);"), S("t.cu"), NULL, &t));
	assert_str(t.text, str_fmt(&a, "%sx = min(n - 1, i);", head).p);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		assert_ok(hipify_text(&a, str_from(none[i]), S("t.cu"), NULL, &t));
		assert_str(t.text, str_fmt(&a, "#include <hip/hip_runtime.h>\n%s", none[i]).p);
	}
	/* a header of the project calls it */
	assert_ok(hipify_text(&a, S("#include \"own.h\"\n"), S("t.cu"), &c, &t));
	assert_str(t.text, str_fmt(&a, "%s#include \"own.h\"\n", head).p);
	assert_ok(hipify_text(&a, S("int x;\n"), S("t.cu"), &c, &t));
	assert_str(t.text, "#include <hip/hip_runtime.h>\nint x;\n");
	assert_ok(hipify_text(&a, S("x = max(1, 2);"), S("t.h"), NULL, &t));
	assert_str(t.text, "x = max(1, 2);");
	/* what was written for HIP has HIP's */
	assert_ok(hipify_text(&a, S("x = max(1, 2);"), S("t.hip"), NULL, &t));
	assert_str(t.text, "#include <hip/hip_runtime.h>\nx = max(1, 2);");
}

/* CUDA's runtime includes the standard's headers, HIP's of ROCm 7 does not. */
static void sources_include_what_nvcc_does(void **state)
{
	(void)state;
	ARENA(a);
	static const char *const has[] = {"#include <cassert>\nvoid f() { assert(1); }",
		"#include <assert.h>\nvoid f() { assert(1); }", "static_assert(1);", "x.memset(1);",
		"std::memcpy(p, q, 1);", "own_printf(1);"};
	struct hipify_context c = {
		.by_name = {.a = &a}, .calls = hipify_calls(S("assert(p); memcpy(p, q, 1);"))};
	struct hipify_text t;
	assert_ok(hipify_text(&a,
		S("#include <cuda_runtime.h>\nvoid f() { assert (memset(p, 0, 1)); printf(\"\"); "
		  "}"),
		S("t.cu"), NULL, &t));
	assert_str(t.text, "#include <assert.h>\n#include <stdio.h>\n#include <string.h>\n"
			   "#include <hip/hip_runtime.h>\n"
			   "void f() { assert (memset(p, 0, 1)); printf(\"\"); }");
	assert_int_equal(t.gives.n, 0);
	for (size_t i = 0; i < sizeof(has) / sizeof(*has); i++) {
		assert_ok(hipify_text(&a, str_from(has[i]), S("t.cu"), NULL, &t));
		assert_str(t.text, str_fmt(&a, "#include <hip/hip_runtime.h>\n%s", has[i]).p);
	}
	/* a header of the project calls them */
	assert_ok(hipify_text(&a, S("#include \"own.h\"\n"), S("t.cu"), &c, &t));
	assert_str(t.text,
		"#include <hip/hip_runtime.h>\n#include <assert.h>\n#include <string.h>\n"
		"#include \"own.h\"\n");
	assert_ok(hipify_text(&a, S("assert(1);"), S("t.h"), &c, &t));
	assert_str(t.text, "assert(1);");
}

/* A stranger's file takes no minutes. */
static void headers_without_end_are_noted_in_time(void **state)
{
	(void)state;
	ARENA(a);
	BUF(source, &a);
	struct hipify_text t;
	for (unsigned i = 0; i < 150000; i++)
		buf_fmt(&source, "#include <x%06u.h>\n", i);
	double began = cpu_seconds();
	translate(&a, str_z(&a, buf_str(&source)), NULL, &t);
	assert_true(cpu_seconds() - began < 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_of_cuda_become_those_of_hip),
		cmocka_unit_test(the_form_of_the_line_stays),
		cmocka_unit_test(files_of_the_project_are_its_own),
		cmocka_unit_test(what_hip_lacks_is_reported_with_its_place),
		cmocka_unit_test(a_header_the_project_has_is_not_reported),
		cmocka_unit_test(headers_are_listed_once_in_their_order),
		cmocka_unit_test(the_runtime_header_is_first_in_program_parts),
		cmocka_unit_test(sources_that_compare_get_the_header_for_it),
		cmocka_unit_test(sources_include_what_nvcc_does),
		cmocka_unit_test(headers_without_end_are_noted_in_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
