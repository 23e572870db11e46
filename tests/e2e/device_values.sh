#!/usr/bin/env bash
# What the functions of data/rocsmith/device.h, minmax.h and cucomplex.h compute, on the host: its arithmetic needs nothing of a GPU but names, which a
# header here gives. Oracles: this processor's rounding modes for rounded arithmetic, its vector instructions for packed bytes.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
[ "$(uname -m)" = x86_64 ] || { echo 'skip device_values: its oracle is x86-64'; exit 0; }
command -v g++ >/dev/null || { echo 'skip device_values: no g++'; exit 0; }
mkdir -p hip
cat >hip/hip_runtime.h <<'CC'
#pragma once
#include <cfenv>
#include <cmath>
#define __device__
#define __host__
using std::fabs; using std::fma; using std::isinf; using std::nextafter; using std::sqrt;
enum { warpSize = 32 };
#define __builtin_amdgcn_fence(order, scope)
#define __builtin_amdgcn_wave_barrier()
#define __builtin_amdgcn_s_sleep(n)
#define __HIP_MEMORY_SCOPE_WORKGROUP 0
#define __HIP_MEMORY_SCOPE_SYSTEM 0
#define __hip_atomic_compare_exchange_strong(p, old, x, a, b, scope) __atomic_compare_exchange_n(p, old, x, false, a, b)
static inline void __syncthreads() {}
static inline unsigned __lane_id() { return 0; }
template <typename T> static T __shfl(T x, int) { return x; }
static inline int __ffsll(unsigned long long x) { return __builtin_ffsll(x); }
/* what the arithmetic below does not call, but device.h names: cuda_values.sh has its values */
struct short2 { short x, y; }; struct ushort2 { unsigned short x, y; };
struct char4 { signed char x, y, z, w; }; struct uchar4 { unsigned char x, y, z, w; };
static inline unsigned __byte_perm(unsigned x, unsigned, unsigned) { return x; }
#define __builtin_elementwise_floor(x) std::floor(x)
#define __builtin_elementwise_ceil(x) std::ceil(x)
#define __builtin_elementwise_trunc(x) std::trunc(x)
#define __builtin_elementwise_roundeven(x) std::nearbyint(x)
template <typename F> static auto in_mode(int mode, F f)
{
	int before = fegetround();
	fesetround(mode);
	volatile auto x = f();
	fesetround(before);
	return x;
}
#define OCML(T, BITS, NAME, MODE)                                                                  \
	static inline T __ocml_add_##NAME##_f##BITS(T a, T b) { volatile T x = a, y = b; return in_mode(MODE, [&] { return x + y; }); } \
	static inline T __ocml_sub_##NAME##_f##BITS(T a, T b) { volatile T x = a, y = b; return in_mode(MODE, [&] { return x - y; }); } \
	static inline T __ocml_mul_##NAME##_f##BITS(T a, T b) { volatile T x = a, y = b; return in_mode(MODE, [&] { return x * y; }); } \
	static inline T __ocml_fma_##NAME##_f##BITS(T a, T b, T c) { volatile T x = a, y = b, z = c; return in_mode(MODE, [&] { return std::fma(x, y, z); }); }
OCML(float, 32, rtn, FE_DOWNWARD) OCML(float, 32, rtp, FE_UPWARD) OCML(float, 32, rtz, FE_TOWARDZERO)
OCML(double, 64, rtn, FE_DOWNWARD) OCML(double, 64, rtp, FE_UPWARD) OCML(double, 64, rtz, FE_TOWARDZERO)
CC
cat >hip/hip_complex.h <<'CC'
struct hipFloatComplex { float x, y; };
struct hipDoubleComplex { double x, y; };
CC
cat >values.cpp <<'CC'
#include "device.h"
#include "cucomplex.h"
#include <complex>
#include "minmax.h"
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <tmmintrin.h>
static unsigned long wrong, seen;
static uint64_t state = 88172645463325252u;
static uint64_t next() { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
template <typename T> static void same(const char *what, T a, T b, T want, T got)
{
	seen++;
	if ((want != want && got != got) || !std::memcmp(&want, &got, sizeof(T)))
		return;
	if (wrong++ < 20)
		std::printf("%s(%a, %a): %a, not %a\n", what, double(a), double(b), double(got), double(want));
}
template <typename T> struct of;
template <> struct of<float> {
	typedef uint32_t bits;
	static float quotient(int mode, float a, float b) { return mode < 0 ? rocsmith_fdiv_rd(a, b) : mode ? rocsmith_fdiv_ru(a, b) : rocsmith_fdiv_rz(a, b); }
	static float inverse(int mode, float a) { return mode < 0 ? rocsmith_frcp_rd(a) : mode ? rocsmith_frcp_ru(a) : rocsmith_frcp_rz(a); }
	static float root(int mode, float a) { return mode < 0 ? rocsmith_fsqrt_rd(a) : mode ? rocsmith_fsqrt_ru(a) : rocsmith_fsqrt_rz(a); }
	static float sum(int mode, float a, float b) { return mode < 0 ? rocsmith_fadd_rd(a, b) : mode ? rocsmith_fadd_ru(a, b) : rocsmith_fadd_rz(a, b); }
};
template <> struct of<double> {
	typedef uint64_t bits;
	static double quotient(int mode, double a, double b) { return mode < 0 ? rocsmith_ddiv_rd(a, b) : mode ? rocsmith_ddiv_ru(a, b) : rocsmith_ddiv_rz(a, b); }
	static double inverse(int mode, double a) { return mode < 0 ? rocsmith_drcp_rd(a) : mode ? rocsmith_drcp_ru(a) : rocsmith_drcp_rz(a); }
	static double root(int mode, double a) { return mode < 0 ? rocsmith_dsqrt_rd(a) : mode ? rocsmith_dsqrt_ru(a) : rocsmith_dsqrt_rz(a); }
	static double sum(int mode, double a, double b) { return mode < 0 ? rocsmith_dadd_rd(a, b) : mode ? rocsmith_dadd_ru(a, b) : rocsmith_dadd_rz(a, b); }
};
template <typename T> static void rounded(T a, T b)
{
	static const int modes[] = {FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD}, of_mode[] = {0, 1, -1};
	volatile T x = a, y = b, one = 1;
	for (int i = 0; i < 3; i++) {
		int m = of_mode[i];
		same<T>("divide", a, b, in_mode(modes[i], [&] { return x / y; }), of<T>::quotient(m, a, b));
		same<T>("reciprocal", a, b, in_mode(modes[i], [&] { return one / x; }), of<T>::inverse(m, a));
		same<T>("root", a, b, in_mode(modes[i], [&] { return std::sqrt(x); }), of<T>::root(m, a));
		same<T>("sum", a, b, in_mode(modes[i], [&] { return x + y; }), of<T>::sum(m, a, b));
	}
}
template <typename T> static T any(unsigned kind)
{
	static const T edges[] = {0, 1, 3, T(0.1), std::numeric_limits<T>::max(), std::numeric_limits<T>::min(),
		std::numeric_limits<T>::denorm_min(), 3 * std::numeric_limits<T>::denorm_min(),
		std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::epsilon()};
	T x = edges[next() % (sizeof(edges) / sizeof(*edges))];
	typename of<T>::bits bits = static_cast<typename of<T>::bits>(next());
	if (kind % 4)
		std::memcpy(&x, &bits, sizeof(x)); /* of any size, subnormal numbers and NaN too */
	if (kind % 4 == 2)
		x = std::ldexp(x - std::trunc(x), -int(next() % 160)); /* small ones */
	return next() & 1 ? -x : x;
}
static void packed(uint32_t a, uint32_t b)
{
	const __m128i x = _mm_set1_epi32(int(a)), y = _mm_set1_epi32(int(b)), o = _mm_setzero_si128();
	const __m128i s1 = _mm_set1_epi8(char(0x80)), s2 = _mm_set1_epi16(short(0x8000)), e1 = _mm_set1_epi8(1), e2 = _mm_set1_epi16(1);
	auto low = [](__m128i v) { return static_cast<uint32_t>(_mm_cvtsi128_si32(v)); };
	auto is = [&](const char *what, uint32_t want, uint32_t got) { seen++; if (want != got && wrong++ < 20) std::printf("%s(%x, %x): %x, not %x\n", what, a, b, got, want); };
#define IS(NAME, N, V) is(#NAME #N, low(V), rocsmith_v##NAME##N(a, b))
#define IS_ONE(NAME, N, V) is(#NAME #N, low(V), rocsmith_v##NAME##N(a))
	IS(add, 4, _mm_add_epi8(x, y)); IS(add, 2, _mm_add_epi16(x, y)); IS(sub, 4, _mm_sub_epi8(x, y)); IS(sub, 2, _mm_sub_epi16(x, y));
	IS(addss, 4, _mm_adds_epi8(x, y)); IS(addss, 2, _mm_adds_epi16(x, y)); IS(addus, 4, _mm_adds_epu8(x, y)); IS(addus, 2, _mm_adds_epu16(x, y));
	IS(subss, 4, _mm_subs_epi8(x, y)); IS(subss, 2, _mm_subs_epi16(x, y)); IS(subus, 4, _mm_subs_epu8(x, y)); IS(subus, 2, _mm_subs_epu16(x, y));
	IS(avgu, 4, _mm_avg_epu8(x, y)); IS(avgu, 2, _mm_avg_epu16(x, y));
	IS(haddu, 4, _mm_sub_epi8(_mm_avg_epu8(x, y), _mm_and_si128(_mm_xor_si128(x, y), e1)));
	IS(haddu, 2, _mm_sub_epi16(_mm_avg_epu16(x, y), _mm_and_si128(_mm_xor_si128(x, y), e2)));
	IS(minu, 4, _mm_min_epu8(x, y)); IS(maxu, 4, _mm_max_epu8(x, y)); IS(mins, 2, _mm_min_epi16(x, y)); IS(maxs, 2, _mm_max_epi16(x, y));
	IS_ONE(abs, 4, _mm_abs_epi8(x)); IS_ONE(abs, 2, _mm_abs_epi16(x)); IS_ONE(neg, 4, _mm_sub_epi8(o, x)); IS_ONE(neg, 2, _mm_sub_epi16(o, x));
	IS_ONE(negss, 4, _mm_subs_epi8(o, x)); IS_ONE(negss, 2, _mm_subs_epi16(o, x)); IS_ONE(absss, 2, _mm_max_epi16(x, _mm_subs_epi16(o, x)));
	IS_ONE(absss, 4, _mm_min_epu8(_mm_abs_epi8(x), _mm_set1_epi8(127)));
	IS(absdiffu, 4, _mm_or_si128(_mm_subs_epu8(x, y), _mm_subs_epu8(y, x))); IS(absdiffu, 2, _mm_or_si128(_mm_subs_epu16(x, y), _mm_subs_epu16(y, x)));
	IS(absdiffs, 2, _mm_sub_epi16(_mm_max_epi16(x, y), _mm_min_epi16(x, y)));
	is("sadu4", low(_mm_sad_epu8(_mm_cvtsi32_si128(int(a)), _mm_cvtsi32_si128(int(b)))), rocsmith_vsadu4(a, b));
	is("sads4", low(_mm_sad_epu8(_mm_xor_si128(_mm_cvtsi32_si128(int(a)), s1), _mm_xor_si128(_mm_cvtsi32_si128(int(b)), s1))), rocsmith_vsads4(a, b));
	const __m128i full = _mm_cmpeq_epi8(o, o), xu1 = _mm_xor_si128(x, s1), yu1 = _mm_xor_si128(y, s1), xu2 = _mm_xor_si128(x, s2), yu2 = _mm_xor_si128(y, s2);
#define COMPARED(NAME, N, V, E) IS(cmp##NAME, N, V); is("set" #NAME #N, low(_mm_and_si128(V, E)), rocsmith_vset##NAME##N(a, b))
#define NOT(V) _mm_xor_si128(V, full)
	COMPARED(eq, 4, _mm_cmpeq_epi8(x, y), e1); COMPARED(eq, 2, _mm_cmpeq_epi16(x, y), e2); COMPARED(ne, 4, NOT(_mm_cmpeq_epi8(x, y)), e1); COMPARED(ne, 2, NOT(_mm_cmpeq_epi16(x, y)), e2);
	COMPARED(gts, 4, _mm_cmpgt_epi8(x, y), e1); COMPARED(gts, 2, _mm_cmpgt_epi16(x, y), e2); COMPARED(lts, 4, _mm_cmpgt_epi8(y, x), e1); COMPARED(lts, 2, _mm_cmpgt_epi16(y, x), e2);
	COMPARED(les, 4, NOT(_mm_cmpgt_epi8(x, y)), e1); COMPARED(les, 2, NOT(_mm_cmpgt_epi16(x, y)), e2); COMPARED(ges, 4, NOT(_mm_cmpgt_epi8(y, x)), e1); COMPARED(ges, 2, NOT(_mm_cmpgt_epi16(y, x)), e2);
	COMPARED(gtu, 4, _mm_cmpgt_epi8(xu1, yu1), e1); COMPARED(gtu, 2, _mm_cmpgt_epi16(xu2, yu2), e2); COMPARED(ltu, 4, _mm_cmpgt_epi8(yu1, xu1), e1); COMPARED(ltu, 2, _mm_cmpgt_epi16(yu2, xu2), e2);
	COMPARED(leu, 4, NOT(_mm_cmpgt_epi8(xu1, yu1)), e1); COMPARED(leu, 2, NOT(_mm_cmpgt_epi16(xu2, yu2)), e2); COMPARED(geu, 4, NOT(_mm_cmpgt_epi8(yu1, xu1)), e1); COMPARED(geu, 2, NOT(_mm_cmpgt_epi16(yu2, xu2)), e2);
}
/* Quotients whose squares are out of range, beside those of the processor's longer numbers. */
template <typename C, typename T> static void divided(C (*divide)(C, C), int most)
{
	auto number = [&] { return std::ldexp(T(next() % 1000000) / 1000000 - T(0.5), int(next() % (2 * most)) - most); };
	C a = {number(), number()}, b = {number(), number()}, r = divide(a, b);
	std::complex<long double> q = std::complex<long double>(a.x, a.y) / std::complex<long double>(b.x, b.y);
	long double off = std::abs(std::complex<long double>(r.x, r.y) - q), allowed = 8 * std::numeric_limits<T>::epsilon() * std::abs(q);
	seen++;
	if (!(off <= allowed) && std::abs(q) > 16 * std::numeric_limits<T>::min() && wrong++ < 20)
		std::printf("(%g, %g) / (%g, %g): (%g, %g)\n", double(a.x), double(a.y), double(b.x), double(b.y), double(r.x), double(r.y));
}
/* CUDA has functions for these pairs, of the type of a sum. */
static void compared()
{
	const short s = -3;
	const unsigned char c = 200;
	same("min", -1.0, 5.0, 5.0, double(min(-1, 5u)));
	same("max", 5.0, -1.0, 4294967295.0, double(max(5u, -1)));
	same("min", -3.0, 2.0, -3.0, double(min(s, 2)));
	same("max", 200.0, -7.0, 200.0, double(max(c, -7)));
	same("min", -1.0, 1.0, 1.0, double(min(-1L, 1UL)));
	static_assert(std::is_same<decltype(min(c, 1)), int>() && std::is_same<decltype(max(1, 1u)), unsigned>() &&
		std::is_same<decltype(min(1ll, 1ull)), unsigned long long>(), "as CUDA has them");
}
int main()
{
	compared();
	same("abs", 1e30f, 1.0f, 1e30f, rocsmith_cuCabsf({1e30f, 1}));
	for (unsigned i = 0; i < 200000; i++) {
		rounded<float>(any<float>(i), any<float>(i / 4));
		rounded<double>(any<double>(i), any<double>(i / 4));
		divided<hipFloatComplex, float>(rocsmith_cuCdivf, 60);
		divided<hipDoubleComplex, double>(rocsmith_cuCdiv, 500);
		packed(static_cast<uint32_t>(next()), i % 8 ? static_cast<uint32_t>(next()) : 0x7f80ff01);
	}
	std::printf("%lu of %lu are wrong\n", wrong, seen);
	return wrong != 0 || seen < 1000000;
}
CC
g++ -std=c++17 -O1 -mssse3 -mfma -frounding-math -ffp-contract=off -Wall -I. -I"$top/data/rocsmith" -include limits values.cpp -o values >log 2>&1 ||
	{ echo "not ok device.h on the host: $(cat log)"; exit 1; }
./values >log || { echo "not ok values: $(cat log)"; exit 1; }
echo "ok rounded arithmetic and packed integers are those of this processor: $(cat log)"
