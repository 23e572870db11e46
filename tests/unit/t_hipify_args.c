/* Arguments that HIP wants in another form: where they begin and end in every shape of a call, and
 * what is no call. A second translation changes nothing. */
#include "test.h"

#include "base/buf.h"
#include "hipify/hipify.h"

static void check(const char *source, const char *want)
{
	ARENA(a);
	struct hipify_text t, again;
	assert_ok(hipify_text(&a, str_from(source), S("t.cuh"), NULL, &t));
	assert_str(t.text, want);
	assert_ok(hipify_text(&a, t.text, S("t.cuh"), NULL, &again));
	assert_str(again.text, want);
}

struct pair {
	const char *source, *want;
};

static void check_all(const struct pair *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(v[i].source, v[i].want);
}

#define CHECK_ALL(v) check_all((v), sizeof(v) / sizeof(*(v)))

static void the_argument_ends_at_its_own_comma(void **state)
{
	(void)state;
	static const struct pair calls[] = {
		{"cudaMemcpyToSymbol(a, p, 4)", "hipMemcpyToSymbol(HIP_SYMBOL(a), p, 4)"},
		{"cudaMemcpyToSymbol( a , p, 4 )", "hipMemcpyToSymbol( HIP_SYMBOL(a ), p, 4 )"},
		{"cudaMemcpyToSymbol\n(\na\n,\np, 4)",
			"hipMemcpyToSymbol\n(\nHIP_SYMBOL(a\n),\np, 4)"},
		{"cudaMemcpyToSymbol(a[f(1, 2)], p, 4)",
			"hipMemcpyToSymbol(HIP_SYMBOL(a[f(1, 2)]), p, 4)"},
		{"cudaMemcpyToSymbol(a[{1, 2}.x], p, 4)",
			"hipMemcpyToSymbol(HIP_SYMBOL(a[{1, 2}.x]), p, 4)"},
		{"cudaMemcpyToSymbol(t<int, 4>, p, 4)",
			"hipMemcpyToSymbol(HIP_SYMBOL(t<int, 4>), p, 4)"},
		{"cudaMemcpyToSymbol(t<u<1>, v<2, 3>>::a, p, 4)",
			"hipMemcpyToSymbol(HIP_SYMBOL(t<u<1>, v<2, 3>>::a), p, 4)"},
		{"cudaMemcpyToSymbol(x->a, p, 4)", "hipMemcpyToSymbol(HIP_SYMBOL(x->a), p, 4)"},
		{"cudaMemcpyToSymbol(::a, p, 4)", "hipMemcpyToSymbol(HIP_SYMBOL(::a), p, 4)"},
		{"cudaMemcpyToSymbol(\"a\", p, 4)", "hipMemcpyToSymbol(HIP_SYMBOL(\"a\"), p, 4)"},
		{"cudaMemcpyToSymbol(/*,*/a, \",\", ',')",
			"hipMemcpyToSymbol(/*,*/HIP_SYMBOL(a), \",\", ',')"},
		{"cudaMemcpyToSymbol<int>(a, p, 4)", "hipMemcpyToSymbol<int>(a, p, 4)"},
	};
	CHECK_ALL(calls);
}

static void the_second_argument_is_wrapped_where_it_is_the_symbol(void **state)
{
	(void)state;
	static const struct pair calls[] = {
		{"cudaMemcpyFromSymbol(&h[f(1, 2)], a, 4)",
			"hipMemcpyFromSymbol(&h[f(1, 2)], HIP_SYMBOL(a), 4)"},
		{"cudaGetSymbolAddress(&p, a)", "hipGetSymbolAddress(&p, HIP_SYMBOL(a))"},
		{"cudaGetSymbolSize(&n, a)", "hipGetSymbolSize(&n, HIP_SYMBOL(a))"},
		{"cudaGetSymbolAddress((void **)&p, HIP_SYMBOL(a))",
			"hipGetSymbolAddress((void **)&p, HIP_SYMBOL(a))"},
		{"cudaMemcpyFromSymbol(p)", "hipMemcpyFromSymbol(p)"},
	};
	CHECK_ALL(calls);
}

static void calls_nest(void **state)
{
	(void)state;
	static const struct pair calls[] = {
		{"CHECK(cudaMemcpyToSymbol(a, p, 4));",
			"CHECK(hipMemcpyToSymbol(HIP_SYMBOL(a), p, 4));"},
		{"cudaMemcpyToSymbol(f(cudaGetSymbolAddress(&p, b)), p, 4)",
			"hipMemcpyToSymbol(HIP_SYMBOL(f(hipGetSymbolAddress(&p, HIP_SYMBOL(b)))), "
			"p, 4)"},
		{"if (cudaMemcpyToSymbol(a, p, 4) == cudaSuccess && cudaGetSymbolSize(&n, a))",
			"if (hipMemcpyToSymbol(HIP_SYMBOL(a), p, 4) == hipSuccess && "
			"hipGetSymbolSize(&n, HIP_SYMBOL(a)))"},
		{"[&] { return cudaMemcpyToSymbol(a, p, 4); }()",
			"[&] { return hipMemcpyToSymbol(HIP_SYMBOL(a), p, 4); }()"},
		{"__shfl_sync(__ballot_sync(m, 1), __shfl_sync(n, v, 0), 0)",
			"__shfl_sync((unsigned long long)(__ballot_sync((unsigned long long)(m), "
			"1)), "
			"__shfl_sync((unsigned long long)(n), v, 0), 0)"},
	};
	CHECK_ALL(calls);
}

static void kernels_become_addresses(void **state)
{
	(void)state;
	static const struct pair calls[] = {
		{"cudaFuncSetAttribute(k, cudaFuncAttributePreferredSharedMemoryCarveout, 50);",
			"hipFuncSetAttribute(reinterpret_cast<const void*>(k), "
			"hipFuncAttributePreferredSharedMemoryCarveout, 50);"},
		{"cudaFuncSetCacheConfig(k<T>, cudaFuncCachePreferL1);",
			"hipFuncSetCacheConfig(reinterpret_cast<const void*>(k<T>), "
			"hipFuncCachePreferL1);"},
		{"cudaFuncSetCacheConfig(&k, cudaFuncCachePreferL1);",
			"hipFuncSetCacheConfig(reinterpret_cast<const void*>(&k), "
			"hipFuncCachePreferL1);"},
		{"cudaFuncSetCacheConfig((void *)k, c);", "hipFuncSetCacheConfig((void *)k, c);"},
		{"cudaFuncSetCacheConfig((const void *)k, c);",
			"hipFuncSetCacheConfig((const void *)k, c);"},
		{"cudaFuncSetCacheConfig(reinterpret_cast<void *>(k), c);",
			"hipFuncSetCacheConfig(reinterpret_cast<void *>(k), c);"},
		{"cudaFuncSetCacheConfig(nullptr, c);", "hipFuncSetCacheConfig(nullptr, c);"},
	};
	CHECK_ALL(calls);
}

static void what_is_no_call_stays(void **state)
{
	(void)state;
	static const struct pair texts[] = {
		{"auto f = cudaMemcpyToSymbol;", "auto f = hipMemcpyToSymbol;"},
		{"auto f = &cudaMemcpyToSymbol, g(x, y);", "auto f = &hipMemcpyToSymbol, g(x, y);"},
		{"cudaMemcpyToSymbol; (a, b)", "hipMemcpyToSymbol; (a, b)"},
		{"int __shfl_sync(unsigned m, int v);", "int __shfl_sync(unsigned m, int v);"},
		{"cudaError_t cudaMemcpyToSymbol(T a, const void *p, size_t n);",
			"hipError_t hipMemcpyToSymbol(T a, const void *p, size_t n);"},
		{"x.__shfl_sync_(m, v)", "x.__shfl_sync_(m, v)"},
		{"__syncthreads();", "__syncthreads();"},
		{"__syncthreads_or(m);", "__syncthreads_or(m);"},
		/* a file that another one includes within a call */
		{"__shfl_sync(m\n#include \"more.h\"", "__shfl_sync(m\n#include \"more.h\""},
		{"__shfl_sync(m\n#define A \\\n x", "__shfl_sync(m\n#define A \\\n x"},
	};
	CHECK_ALL(texts);
}

static void uses_behind_keywords_are_calls(void **state)
{
	(void)state;
	static const struct pair texts[] = {
		{"return __any_sync(m, p);", "return __any_sync((unsigned long long)(m), p);"},
		{"else __any_sync(m, p);", "else __any_sync((unsigned long long)(m), p);"},
		{"case 1: __any_sync(m, p);", "case 1: __any_sync((unsigned long long)(m), p);"},
		{"not __any_sync(m, p)", "not __any_sync((unsigned long long)(m), p)"},
		{"do __any_sync(m, p); while (0);",
			"do __any_sync((unsigned long long)(m), p); while (0);"},
		{"x = y ? __any_sync(m, p) : __all_sync(m, p);",
			"x = y ? __any_sync((unsigned long long)(m), p) : "
			"__all_sync((unsigned long long)(m), p);"},
	};
	CHECK_ALL(texts);
}

static void defaults_are_written_out_once(void **state)
{
	(void)state;
	static const struct pair calls[] = {
		{"cudaMemcpyToSymbolAsync(a, p, f(1, 2))", "hipMemcpyToSymbolAsync(HIP_SYMBOL(a), "
							   "p, f(1, 2), 0, hipMemcpyHostToDevice)"},
		{"cudaMemcpyToSymbolAsync(a, p, 4, 0)",
			"hipMemcpyToSymbolAsync(HIP_SYMBOL(a), p, 4, 0, hipMemcpyHostToDevice)"},
		{"cudaMemcpyToSymbolAsync(a, p, 4, 0, k)",
			"hipMemcpyToSymbolAsync(HIP_SYMBOL(a), p, 4, 0, k)"},
		{"cudaMemcpyToSymbolAsync(a, p, 4, 0, k, s)",
			"hipMemcpyToSymbolAsync(HIP_SYMBOL(a), p, 4, 0, k, s)"},
		{"cudaMemcpyToSymbolAsync()", "hipMemcpyToSymbolAsync()"},
		{"#define C(a, ...) cudaMemcpyToSymbolAsync(a, __VA_ARGS__, 4)\nx",
			"#define C(a, ...) hipMemcpyToSymbolAsync(HIP_SYMBOL(a), __VA_ARGS__, 4, "
			"0, "
			"hipMemcpyHostToDevice)\nx"},
	};
	CHECK_ALL(calls);
}

static void unpaired_brackets_do_no_harm(void **state)
{
	(void)state;
	static const struct pair texts[] = {
		{")))} cudaMemcpyToSymbol(a, p, 4)", ")))} hipMemcpyToSymbol(HIP_SYMBOL(a), p, 4)"},
		{"cudaMemcpyToSymbol(a", "hipMemcpyToSymbol(HIP_SYMBOL(a)"},
		{"cudaMemcpyToSymbol(a[f(1)", "hipMemcpyToSymbol(a[f(1)"},
		{"cudaMemcpyToSymbol(", "hipMemcpyToSymbol("},
		{"cudaMemcpyToSymbol(a)) , 4)", "hipMemcpyToSymbol(HIP_SYMBOL(a))) , 4)"},
		{"#define BEGIN cudaMemcpyToSymbol(\n#define END , p, 4)\ncudaFree(0)",
			"#define BEGIN hipMemcpyToSymbol(\n#define END , p, 4)\nhipFree(0)"},
		{"f(\n#if A\n(\n#endif\n, cudaGetSymbolSize(&n, a))",
			"f(\n#if A\n(\n#endif\n, hipGetSymbolSize(&n, HIP_SYMBOL(a)))"},
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		ARENA(a);
		struct hipify_text t;
		assert_ok(hipify_text(&a, str_from(texts[i].source), S("t.cuh"), NULL, &t));
		assert_str(t.text, texts[i].want);
	}
}

/* Every call of a warp function is one edit more in front and one behind, and each opens and
 * closes. */
static void wrappers_open_and_close(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	struct hipify_text t;
	for (unsigned i = 0; i < 500; i++)
		buf_fmt(&b, "v += __shfl_xor_sync(m%u[%u], f(v, %u), 1);\n", i % 7, i, i);
	assert_ok(hipify_text(&a, buf_str(&b), S("t.cuh"), NULL, &t));
	assert_int_equal(t.edits.n, 1000);
	assert_true(t.warp_sync);
	for (size_t i = 0; i < t.edits.n; i += 2) {
		assert_str(t.edits.v[i].with, "(unsigned long long)(");
		assert_str(t.edits.v[i + 1].with, ")");
		assert_int_equal(t.edits.v[i].line, i / 2 + 1);
		assert_int_equal(t.edits.v[i + 1].line, i / 2 + 1);
	}
}

static void overloads_are_told_by_their_arguments(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *source, *want;
	} rows[] = {
		{"cudaEventCreate(&e);", "hipEventCreate(&e);"},
		{"cudaEventCreate(&e, cudaEventDisableTiming);",
			"hipEventCreateWithFlags(&e, hipEventDisableTiming);"},
		{"cudaEventCreate (f(a, b), g<1, 2>(3) | 1)",
			"hipEventCreateWithFlags (f(a, b), g<1, 2>(3) | 1)"},
		{"cudaEventCreate(p[a, b]);", "hipEventCreate(p[a, b]);"},
		{"x = cudaEventCreate;", "x = hipEventCreate;"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hipify_text t;
		assert_ok(hipify_text(&a, str_from(rows[i].source), S("t.h"), NULL, &t));
		assert_str(t.text, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_argument_ends_at_its_own_comma),
		cmocka_unit_test(the_second_argument_is_wrapped_where_it_is_the_symbol),
		cmocka_unit_test(calls_nest),
		cmocka_unit_test(kernels_become_addresses),
		cmocka_unit_test(what_is_no_call_stays),
		cmocka_unit_test(uses_behind_keywords_are_calls),
		cmocka_unit_test(defaults_are_written_out_once),
		cmocka_unit_test(unpaired_brackets_do_no_harm),
		cmocka_unit_test(wrappers_open_and_close),
		cmocka_unit_test(overloads_are_told_by_their_arguments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
