/* hipify/waves.h: what assumes waves of 32 lanes, and what only looks so. */
#include "test.h"

#include "base/buf.h"
#include "base/proc.h"
#include "hipify/waves.h"

/* "PLACE KIND, ..." */
static struct str waves(struct arena *a, struct str dir, const struct waves_request *q)
{
	struct findings list = {0};
	struct waves_request request = *q;
	request.dir = dir;
	BUF(out, a);
	assert_ok(waves_find(a, &request, &list));
	VEC_EACH (const struct finding, f, &list) {
		assert_int_equal(f->severity, SEV_WARNING);
		assert_int_equal(f->fix.n, strcmp(f->id, "more-findings") ? 1 : 0);
		buf_fmt(&out, "%s%.*s %s", f == list.v ? "" : ", ", STR(f->path), f->id + 5);
	}
	return buf_str(&out);
}

/* One file a.cu of each text; places without "a.cu:". */
static struct str waves_of(struct arena *a, struct str text, bool by_torch)
{
	struct str dir = test_dir(a);
	test_put(path_join(a, dir, S("a.cu")), text.p);
	struct str found = waves(a, dir, &(struct waves_request){.by_torch = by_torch});
	test_dir_remove(dir);
	return str_replace(a, found, S("a.cu:"), S(""));
}

static const struct {
	const char *text, *found;
} rows[] = {
	/* masks */
	{"v = __shfl_sync(0xffffffff, v, 0);", "1:17 mask"},
	{"v = __shfl_xor_sync(0xFFFF'FFFFul, v, 1);", "1:21 mask"},
	{"b = __any_sync(4294967295u, p) || __all_sync(~0u, p);", "1:16 mask, 1:46 mask"},
	{"__syncwarp(0xffffffff); __syncwarp(); __syncwarp(~0ull);", "1:12 mask"},
	{"f(__ballot_sync((unsigned long long)(0xffffffff), p));", "1:38 mask"},
	{"f(__ballot_sync(UINT_MAX, p));", "1:17 mask"},
	{"#define ALL 0xffffffff\nv = __shfl_sync(ALL, v, 0);", "1:9 mask"},
	{"#define ALL (unsigned)(~0u)\nv = WARP_SHFL_SYNC(ALL, v, 0);", "1:9 mask"},
	{"void f(unsigned m = 0xffffffff) { v = __shfl_sync(m, v, 0); }", "1:17 mask"},
	{"v = __shfl_sync(~0ull, v, 0) + __shfl_sync(0xffffffffffffffff, v, 0);", ""},
	{"v = __shfl_sync(0xffff, v, 0) + __shfl_sync(__activemask(), v, 0);", ""},
	{"v = __shfl_sync(-1, v, 0) + __shfl_sync(mask & 0xffffffff, v, 0);", ""},
	{"#define ALL 0xffffffff\nunsigned all = ALL, mask = 0xffffffff;", ""},
	{"n = crc ^ 0xffffffff; int sync = f(0xffffffff); io_sync(0xffffffff, 1);", ""},
	{"/* __shfl_sync(0xffffffff, v, 0) */ s = \"__shfl_sync(0xffffffff, v, 0)\";", ""},
	/* 32 */
	{"int lane = threadIdx.x % 32;", "1:12 size"},
	{"#ifdef USE_CUFILE #ifdef X\n#endif\nint lane = threadIdx.x % 32;", "3:12 size"},
	{"int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;", "1:12 size, 1:37 size"},
	{"int n_warps = (blockDim.x + 31) / 32; __syncwarp();", "1:15 size"},
	{"int tid = threadIdx.y * 8 + threadIdx.x; f(tid & 0x1f); __syncwarp();", "1:44 size"},
	{"int i = threadIdx.x; __syncwarp(); if (i % 32u == 0) f();", "1:40 size"},
	{"int h = threadIdx.x; __syncwarp(); { half_t h = in[h]; e = (h >> 10) & 0x1f; }", ""},
	{"int h = threadIdx.x; __syncwarp(); { h = 0; e = h & 0x1f; }", "1:49 size"},
	{"int h = threadIdx.x; __syncwarp(); if (p) f(); else h = 0; e = h & 0x1f;", "1:64 size"},
	{"const int wid = static_cast<int>(threadIdx.x) / 32;", "1:33 size"},
	{"#define WARP_SIZE 32\n#define LOG_WARP_SIZE 5\n#define WARP_MASK (31)",
		"1:9 size, 2:9 size, 3:9 size"},
	{"constexpr int kWarpSize = 32; template <int WARP_SIZE = 32> void f();",
		"1:15 size, 1:45 size"},
	{"int i = threadIdx.x; bits[i / 32] |= 1 << (i % 32);", ""},
	{"int n = size / 32, tile = 32, plane = f(i) / 32; __syncwarp();", ""},
	{"int k = data[threadIdx.x] % 32 + f(threadIdx.x) / 32; __syncwarp();", ""},
	{"int lane = threadIdx.x % warpSize; #define WARP_SIZE 64", ""},
	{"int block = threadIdx.x % 64 + (threadIdx.x && 31); __syncwarp();", ""},
	/* shuffles */
	{"for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);", "1:10 shuffle"},
	{"for (int o = 16; o; o /= 2) { v += WARP_SHFL_XOR(v, o); }", "1:10 shuffle"},
	{"for (int o = 1; o < 32; o *= 2) v += __shfl_up_sync(m, v, o);", "1:17 shuffle"},
	{"for (int o = 1; o <= 16; o *= 2) v += __shfl_up_sync(m, v, o);", "1:17 shuffle"},
	{"v += __shfl_down(v, 16); v += __shfl_down(v, 8);", "1:21 shuffle"},
	{"for (int o = 16; o; o /= 2) v += __shfl_down_sync(m, v, o, warpSize);", "1:10 shuffle"},
	{"for (int o = 16; o; o /= 2) v += __shfl_down_sync(m, v, o, 32);", ""},
	{"for (int o = warpSize / 2; o; o /= 2) v += __shfl_down(v, o);", ""},
	{"for (int i = 16; i; i--) for (int o = 1; o < w; o++) v += __shfl_up(v, o);", ""},
	{"v = __shfl(v, 16); g.shfl_down(v, 16);", ""},
	/* ballots */
	{"unsigned m = __ballot(p);", "1:14 ballot"},
	{"int m; m = (int)__ballot_sync(~0ull, p);", "1:17 ballot"},
	{"const uint32_t m{}; uint32_t k = __activemask() & 7;", "1:34 ballot"},
	{"unsigned int f(int p) { return __ballot(p); }", "1:32 ballot"},
	{"unsigned long long m = __ballot(p); uint64_t k = __ballot(p); auto j = __ballot(p);", ""},
	{"unsigned long long f(int p) { return __ballot(p); }", ""},
	{"bool b = __ballot(p); int any = __ballot(p) != 0, bit = (__ballot(p) >> l) & 1;", ""},
	{"n = __popc(__ballot(p) & below);", "1:5 count"},
	{"unsigned long long m = __ballot(p); n = __popc(m) + __ffs((int)m);",
		"1:41 count, 1:53 count"},
	{"n = __popcll(__ballot(p)) + __ffsll(__ballot(p)) + __popc(blockDim.x);", ""},
	/* warpSize */
	{"__shared__ float s[warpSize]; static T t[2 * warpSize];", "1:20 constant, 1:46 constant"},
	{"constexpr int half = warpSize / 2;", "1:22 constant"},
	{"static_assert(N % warpSize == 0); f<warpSize>();", "1:19 constant, 1:37 constant"},
	{"x = s[warpSize - 1]; return s[warpSize]; int n = p.warpSize, k = q->warpSize;", ""},
	{"float *s = new float[warpSize]; for (int i = 0; i < warpSize; i++) s[i] = 0;", ""},
	/* what a build does not see, or asks for itself */
	{"#if 0\n#define WARP_SIZE 32\n#endif", ""},
	{"#ifdef __HIP_PLATFORM_AMD__\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif",
		""},
	{"#if defined(__GFX9__)\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif", ""},
	{"#if __AMDGCN_WAVEFRONT_SIZE == 64\n#else\n#define WARP_SIZE 32\n#endif\n"
	 "#define WARP_SIZE 32",
		"5:9 size"},
	{"#ifdef __CUDA_ARCH__\n#define WARP_SIZE 32\n#endif", "2:9 size"},
	/* texts that are none */
	{"", ""},
	{"(", ""},
	{"__shfl_sync(0xffffffff", ""},
	{"% 32 / 32 >> 5 & 31 = 0xffffffff __popc( __ballot( warpSize [", ""},
	{"}}}} return __ballot(1); ]]] warpSize )))", ""},
};

static void each_spot_is_found_and_nothing_else(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str found = waves_of(&a, str_from(rows[i].text), false);
		if (!str_eq(found, str_from(rows[i].found)))
			fail_msg("%s: '%.*s', not '%s'", rows[i].text, STR(found), rows[i].found);
	}
}

static void a_build_with_torch_has_its_own_conditions(void **state)
{
	(void)state;
	ARENA(a);
	const struct str text = S("#ifdef __CUDA_ARCH__\n#define WARP_SIZE 32\n#endif\n"
				  "#ifdef USE_ROCM\n#else\n#define WARP_SIZE 32\n#endif\n");
	assert_str(waves_of(&a, text, true), "");
	assert_str(waves_of(&a, text, false), "2:9 size, 6:9 size");
}

static void a_constant_is_a_mask_where_another_file_says_so(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	test_put(path_join(&a, dir, S("b.cuh")), "#define ALL 0xffffffff\n"
						 "unsigned local = 0xffffffff;\n");
	assert_str(waves(&a, dir, &(struct waves_request){0}), "");
	assert_ok(fs_mkdirs(path_join(&a, dir, S("sub"))));
	test_put(path_join(&a, dir, S("sub/c.cu")),
		"v = __shfl_sync(ALL, v, 1) + __shfl_sync(local, v, 2);\n");
	test_put(path_join(&a, dir, S("note.txt")), "int lane = threadIdx.x % 32;\n");
	assert_str(waves(&a, dir, &(struct waves_request){0}), "b.cuh:1:9 mask");
	struct strs one = {0};
	strs_add(&a, &one, S("sub/c.cu"));
	strs_add(&a, &one, S("gone.cu"));
	assert_str(waves(&a, dir, &(struct waves_request){.files = &one}), "");
	struct waves_request without = {0};
	strs_add(&a, &without.exclude, S("sub"));
	assert_str(waves(&a, dir, &without), "");
	test_dir_remove(dir);
}

static void a_text_that_was_read_already_is_taken(void **state)
{
	(void)state;
	ARENA(a);
	MAP(texts, &a);
	struct str dir = test_dir(&a), text = S("int lane = threadIdx.x % 32;");
	test_put(path_join(&a, dir, S("a.cu")), "");
	map_put(&texts, S("a.cu"), &text);
	assert_str(waves(&a, dir, &(struct waves_request){.texts = &texts}), "a.cu:1:12 size");
	test_dir_remove(dir);
}

static void too_many_of_a_kind_are_counted(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	test_put(path_join(&a, dir, S("a.cu")),
		"#define WARP_SIZE 32\n#define WARP_SIZE 32\n#define WARP_SIZE 32\n"
		"#define WARP_SIZE 32\nfor (o = 16; o; o /= 2) v += __shfl_down(v, o);\n");
	assert_str(waves(&a, dir, &(struct waves_request){.most = 2}),
		"a.cu:1:9 size, a.cu:2:9 size, a.cu:3:9 findings, a.cu:5:6 shuffle");
	test_dir_remove(dir);
}

static void long_texts_take_time_in_proportion(void **state)
{
	(void)state;
	ARENA(a);
	BUF(b, &a);
	for (int i = 0; i < 20000; i++)
		buf_add(&b, S("(x = __ballot(__popc(["));
	double start = mono_now();
	(void)waves_of(&a, buf_str(&b), false);
	assert_true(mono_now() - start < 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_spot_is_found_and_nothing_else),
		cmocka_unit_test(a_build_with_torch_has_its_own_conditions),
		cmocka_unit_test(a_constant_is_a_mask_where_another_file_says_so),
		cmocka_unit_test(a_text_that_was_read_already_is_taken),
		cmocka_unit_test(too_many_of_a_kind_are_counted),
		cmocka_unit_test(long_texts_take_time_in_proportion),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
