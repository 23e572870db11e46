/* What is reported as not translated, and what is not: every form in which a project declares names
 * of its own, asm, pasted names, namespaces, types of the driver API, texts in raw strings. */
#include "test.h"

#include "base/buf.h"
#include "hipify/hipify.h"

/* The names reported, as "line:col:name ...". */
static struct str left_of(struct arena *a, const char *source)
{
	BUF(b, a);
	struct hipify_text t;
	assert_ok(hipify_text(a, str_from(source), S("t.cuh"), NULL, &t));
	VEC_EACH (const struct untranslated, l, &t.untranslated)
		buf_fmt(&b, "%s%u:%u:%.*s", b.n ? " " : "", l->line, l->col, STR(l->name));
	return buf_str(&b);
}

static void check(const char *source, const char *want)
{
	ARENA(a);
	struct str got = left_of(&a, source);
	if (!str_eq(got, str_from(want)))
		fail_msg("for '%s': got '%.*s', want '%s'", source, STR(got), want);
}

static void every_form_of_a_declaration_makes_a_name_the_projects(void **state)
{
	(void)state;
	static const char *const forms[] = {
		"int cudaMine;",
		"int cudaMine = 1;",
		"int cudaMine[4];",
		"int cudaMine{4};",
		"int cudaMine(int);",
		"int *cudaMine;",
		"int &cudaMine = x;",
		"std::vector<int> cudaMine;",
		"const char *cudaMine(int s);",
		"#include <x>\n#define X(a) (a)\nT *cudaMine(int s) { }",
		"int a, cudaMine;",
		"static inline T cudaMine() { }",
		"template <typename T> void cudaMine(T t) { }",
		"struct cudaMine { };",
		"struct cudaMine;",
		"class cudaMine : base { };",
		"union cudaMine { };",
		"enum cudaMine { a };",
		"enum class cudaMine { a };",
		"enum { a, cudaMine, b };",
		"enum { cudaMine = 3 };",
		"using cudaMine = int;",
		"typedef int cudaMine;",
		"namespace cudaMine { }",
		"#define cudaMine 1\n",
		"#define cudaMine(x) x\n",
		"void f(int cudaMine) { }",
		"void f(int *cudaMine, int b) { }",
		"for (int cudaMine : list) { }",
		"auto cudaMine = 1;",
	};
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		ARENA(a);
		check(forms[i], "");
		check(str_fmt(&a, "%s\nx = cudaMine + cudaMine(1);", forms[i]).p, "");
		check(str_fmt(&a, "x = cudaMine(1);\n%s", forms[i]).p, "");
	}
}

static void uses_alone_are_reported(void **state)
{
	(void)state;
	check("cudaOther(1);", "1:1:cudaOther");
	check("return cudaOther(1);", "1:8:cudaOther");
	check("x = cudaOther;", "1:5:cudaOther");
	check("f(cudaOther, 1);", "1:3:cudaOther");
	check("if (cudaOther(1)) { }", "1:5:cudaOther");
	check("x = a & cudaOther(1);", "1:9:cudaOther");
	check("case cudaOther: break;", "1:6:cudaOther");
	check("sizeof(cudaOther)", "1:8:cudaOther");
	check("new cudaOther(1)", "1:5:cudaOther");
	check("#ifdef cudaOther\n#endif", "1:8:cudaOther");
	check("#if cudaOther > 1\n#endif", "1:5:cudaOther");
	check("cudaOther x;", "1:1:cudaOther");
	check("std::vector<cudaOther> v;", "1:13:cudaOther");
	check("\n\n\t  cudaOther();", "3:4:cudaOther");
	check("/* a\nb */ cudaOther();", "2:6:cudaOther");
	check("cudaOther(); cudaOther();", "1:1:cudaOther 1:14:cudaOther");
}

static void names_of_every_library_are_known_by_their_form(void **state)
{
	(void)state;
	static const char *const names[] = {"cudaNone", "cuNone", "cublasNone", "cublasLtNone",
		"cufftNone", "curandNone", "curand_None", "cusparseNone", "cusolverNone",
		"cusolverDnNone", "cudnnNone", "cutensorNone", "cuptiNone", "nvrtcNone", "nvmlNone",
		"nvtxNone", "nppNone", "nvjpegNone", "CU_NONE", "CUBLAS_NONE", "CUFFT_NONE",
		"CURAND_NONE", "CUSPARSE_NONE", "CUSOLVER_NONE", "CUDNN_NONE", "CUDART_NONE",
		"NVRTC_NONE", "__nv_none", "__cudaNone", "__nvvm_none"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ARENA(a);
		check(str_fmt(&a, "f(%s);", names[i]).p, str_fmt(&a, "1:3:%s", names[i]).p);
	}
}

static void other_words_are_nobodys_business(void **state)
{
	(void)state;
	static const char *const words[] = {"cudart", "cudaview", "cuda_stream", "CUDA_CHECK",
		"CUDA_ARCH", "CUDA_THREADS", "cube", "cup", "custom", "current", "cursor",
		"curl_easy", "CURLOPT_URL", "CUSTOM", "nvidia", "npp", "npages", "cu", "CU", "C",
		"cuda", "cub", "umin", "umax", "mycudaFoo", "x_cudaFoo", "Cuda", "nvcc"};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		ARENA(a);
		check(str_fmt(&a, "f(%s);", words[i]).p, "");
	}
}

static void types_of_the_driver_api_are_reported(void **state)
{
	(void)state;
	check("CUtensorMap m;", "1:1:CUtensorMap");
	check("const CUgreenCtx *c;", "1:7:CUgreenCtx");
	check("#if CUDA_VERSION >= 12000\n#endif", "1:5:CUDA_VERSION");
	check("#if CUDART_VERSION >= 12000\n#endif", "1:5:CUDART_VERSION");
	check("#define CUDA_VERSION 1\nCUDA_VERSION", "");
	check("CUdevice d; CUcontext c; CUstream s; CUevent e; CUmodule m; CUarray a;", "");
}

static void namespaces_of_cuda_are_reported_where_they_are_used(void **state)
{
	(void)state;
	check("using namespace nvcuda;", "1:17:nvcuda");
	check("nvcuda::wmma::mma_sync(a, b, c, d);", "1:1:nvcuda");
	check("namespace w = nvcuda::wmma;", "1:15:nvcuda");
	check("namespace nvcuda { int x; }\nusing namespace nvcuda;", "");
	check("cuda::std::array<int, 4> a;", "1:1:cuda::std");
	check("::cuda::atomic<int> a;", "");
	check("using namespace cuda::std;", "1:17:cuda::std");
	check("cuda::barrier<int> r(x); cuda::atomic_ref<int> ours(x);", "1:1:cuda::barrier");
	check("cuda::std::memory_order_acquire; cuda::std::array<int, 2> x;", "1:34:cuda::std");
	check("namespace cuda { int own(); }\ncuda::own(); cuda::std::max(1, 2);",
		"2:14:cuda::std");
	check("at::cuda::f(); c10::cuda::g(); x.cuda(); cuda();", "");
	check("using namespace cuda;", "");
}

/* What a kernel launches: the heads that the branches of an #if repeat open one function. */
static void launches_are_reported_in_kernels_alone(void **state)
{
	(void)state;
	check("__global__ void k() { f<<<1, 1>>>(); }\nvoid h() { k<<<1, 1>>>(); }", "1:24:<<<");
	check("#if A\n__global__ void k(int a) {\n#elif B\n__global__ void k(short a) {\n#else\n"
	      "__global__ void k(float a) {\n#endif\n}\nvoid h() { k<<<1, 1>>>(1); }",
		"");
	check("__global__ void k(int a) {\n#ifdef A\nif (a) {\n#else\n{\n#endif\nf<<<1, "
	      "1>>>();\n}\n}\n"
	      "void h() { k<<<1, 1>>>(1); }",
		"7:2:<<<");
	check("__global__ void k(int a) {\n#ifndef A\n#else\nif (a) {\n#endif\n;\n#ifdef "
	      "A\n}\n#endif\n"
	      "f<<<1, 1>>>(); }\nvoid h() { k<<<1, 1>>>(1); }",
		"10:2:<<<");
	check("#if A\n#if B\nvoid g() {\n#endif\n}\n#endif\n#else\n#endif\n#endif\n", "");
}

static void inline_ptx_is_reported_once_a_statement(void **state)
{
	(void)state;
	check("asm(\"mov.u32 %0, %pm0;\" : \"=r\"(x));", "1:5:asm");
	check("asm volatile (\"{ .reg .pred p;\\n\"\n  \"ld.global.u32 %0;\\n\"\n  \"bar.sync "
	      "0;\");",
		"2:3:asm");
	check("__asm__ __volatile__(\"cp.async.ca 4;\");", "1:22:cp.async.ca");
	check("asm(\"a.b\"); asm(\"c.d\");", "1:5:asm 1:17:asm");
	check("asm(R\"(ld.shared.u32 a;)\");", "1:5:asm");
	check("asm volatile(\"s_waitcnt vmcnt(0)\"); asm(\"nop\" ::: \"memory\");", "");
	check("f(\"mov.u32\"); // asm(\"a.b\")", "");
}

static void names_put_together_are_reported(void **state)
{
	(void)state;
	check("#define F(x) cuda##x\n", "1:14:cuda##");
	check("#define F(x) cublas ## x ## gemm\n", "1:14:cublas##");
	check("#define F(x) CUDA_##x\n", "1:14:CUDA_##");
	check("#define F(x) cudaMemcpy##x\n", "");
	check("#define F(x) my##x\n", "");
	check("#define F(x) x##cuda\n", "");
	check("#define F(x) cudaGet##x(y)\n", "1:14:cudaGet##");
}

static void raw_strings_are_looked_into(void **state)
{
	(void)state;
	check("R\"(cudaMalloc(p);\n  cudaFree(p); cudaMalloc(q);)\"",
		"1:4:cudaMalloc 2:3:cudaFree");
	check("u8R\"x(\n)\" curandState s)x\"", "2:4:curandState");
	check("R\"(int main() { return umin(1, 2); } cuda xcudaFree)\"", "");
	check("\"cudaFree(p)\"", "");
}

static void suggestions_say_what_comes_near(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {
		{"cudnnHandle_t h;", "miopenHandle_t"},
		{"#include <mma.h>\n", "rocwmma/rocwmma.hpp"},
		{"#if CUDA_VERSION\n#endif", "HIP_VERSION"},
		{"cudaNoSuchThing();", ""},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		ARENA(a);
		struct hipify_text t;
		assert_ok(hipify_text(&a, str_from(pairs[i][0]), S("t.h"), NULL, &t));
		assert_int_equal(t.untranslated.n, 1);
		assert_str(t.untranslated.v[0].suggestion, pairs[i][1]);
		assert_int_equal(t.untranslated.v[0].unsure, !*pairs[i][1]);
	}
}

static void columns_count_bytes_also_on_long_lines(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	struct hipify_text t;
	for (unsigned i = 0; i < 1000; i++)
		buf_add(&b, S("cudaNone; "));
	assert_ok(hipify_text(&a, buf_str(&b), S("t.h"), NULL, &t));
	assert_int_equal(t.untranslated.n, 1000);
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(t.untranslated.v[i].line, 1);
		assert_int_equal(t.untranslated.v[i].col, 10 * i + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_a_declaration_makes_a_name_the_projects),
		cmocka_unit_test(uses_alone_are_reported),
		cmocka_unit_test(names_of_every_library_are_known_by_their_form),
		cmocka_unit_test(other_words_are_nobodys_business),
		cmocka_unit_test(types_of_the_driver_api_are_reported),
		cmocka_unit_test(namespaces_of_cuda_are_reported_where_they_are_used),
		cmocka_unit_test(launches_are_reported_in_kernels_alone),
		cmocka_unit_test(inline_ptx_is_reported_once_a_statement),
		cmocka_unit_test(names_put_together_are_reported),
		cmocka_unit_test(raw_strings_are_looked_into),
		cmocka_unit_test(suggestions_say_what_comes_near),
		cmocka_unit_test(columns_count_bytes_also_on_long_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
