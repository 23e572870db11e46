/* CUDA's numbers of 16 bits: what HIP lacks of their functions, or computes otherwise. HIP 6.4 and 7.2 cut where __half2int_rn()
 * rounds, round to nearest where __int2half_rz() does not, call NaN unequal in __hne(), keep it in __hadd_sat(), and take only the
 * first number of a pair in some functions for pairs. The results are those of an H200 (tests/data/cuda_values.txt). And
 * atomicAdd(), which HIP calls unsafeAtomicAdd() or does not have: a loop over the 32-bit word round the number does for every
 * GPU. Made by rocsmith. Operators and conversions of halves are avoided: extensions of PyTorch are compiled without them. */
#pragma once

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <rocsmith/device.h>

#ifdef __cplusplus

template <typename T, typename F> static __device__ inline T rocsmith_update(T *p, F f)
{
	unsigned long long at = reinterpret_cast<unsigned long long>(p);
	unsigned *word = reinterpret_cast<unsigned *>(at & ~3ull);
	unsigned shift = sizeof(T) == 2 && (at & 2) ? 16 : 0,
		 mask = sizeof(T) == 2 ? 0xffffu << shift : ~0u;
	unsigned old = *word, seen;
	T before, after;
	do {
		seen = old;
		unsigned bits = (seen & mask) >> shift;
		__builtin_memcpy(static_cast<void *>(&before), &bits, sizeof(T));
		after = f(before);
		bits = 0;
		__builtin_memcpy(&bits, &after, sizeof(T));
		old = atomicCAS(word, seen, (seen & ~mask) | bits << shift);
	} while (old != seen);
	return before;
}

#define ROCSMITH_ATOMIC_ADD(T)                                                                     \
	static __device__ inline T atomicAdd(T *p, T x)                                            \
	{                                                                                          \
		return rocsmith_update(p, [x](T y) { return T(__hadd(x, y)); });                   \
	}
#define ROCSMITH_ATOMIC_ADD2(T)                                                                    \
	static __device__ inline T atomicAdd(T *p, T x)                                            \
	{                                                                                          \
		return rocsmith_update(p, [x](T y) { return T(__hadd2(x, y)); });                  \
	}
ROCSMITH_ATOMIC_ADD(__half)
ROCSMITH_ATOMIC_ADD2(__half2)
ROCSMITH_ATOMIC_ADD(__hip_bfloat16)
ROCSMITH_ATOMIC_ADD2(__hip_bfloat162)
#undef ROCSMITH_ATOMIC_ADD
#undef ROCSMITH_ATOMIC_ADD2

static __host__ __device__ inline float rocsmith_wide(__half x)
{
	return __half2float(x);
}
static __host__ __device__ inline float rocsmith_wide(__hip_bfloat16 x)
{
	return __bfloat162float(x);
}
static __host__ __device__ inline void rocsmith_narrow(float x, __half *to)
{
	*to = __float2half(x);
}
static __host__ __device__ inline void rocsmith_narrow(float x, __hip_bfloat16 *to)
{
	*to = __float2bfloat16(x);
}

template <typename T> static __host__ __device__ inline T rocsmith_narrow(float x)
{
	T y;
	rocsmith_narrow(x, &y);
	return y;
}

/* A number of 16 bits, FRACTION of them its fraction, from any double; rounded once. A NaN stays one. */
template <typename T, int FRACTION, int TO>
static __host__ __device__ inline T rocsmith_round16(double x)
{
	const int bias = (1 << (14 - FRACTION)) - 1;
	unsigned long long bits;
	__builtin_memcpy(&bits, &x, sizeof(bits));
	int exponent = static_cast<int>(bits >> 52 & 2047) - 1023, shift = 52 - FRACTION;
	unsigned sign = static_cast<unsigned>(bits >> 63) << 15,
		 infinity = (2 * bias + 1) << FRACTION, r;
	unsigned long long all = bits & ((1ull << 52) - 1);
	if (exponent == 1024) {
		r = all ? 0x7fff : infinity;
	} else {
		bool normal = exponent > -bias;
		if (exponent > -1023)
			all |= 1ull << 52;
		if (!normal)
			shift += 1 - bias - exponent;
		if (shift > 60) { /* far below the smallest: its sign, and whether it is zero */
			all = all != 0;
			shift = 60;
		}
		unsigned long long rest = all & ((1ull << shift) - 1), half = 1ull << (shift - 1),
				   kept = all >> shift;
		bool up = TO == ROCSMITH_UP ? rest && !sign
			  : TO == ROCSMITH_DOWN
				  ? rest && sign
				  : TO == ROCSMITH_NEAREST &&
					    (rest > half || (rest == half && (kept & 1)));
		r = exponent > bias ? infinity + 1
				    : static_cast<unsigned>(kept + up) +
					      (normal ? static_cast<unsigned>(exponent + bias - 1)
								      << FRACTION
						      : 0);
		if (r >= infinity)
			r = TO == ROCSMITH_NEAREST || TO == (sign ? ROCSMITH_DOWN : ROCSMITH_UP)
				    ? infinity
				    : infinity - 1;
	}
	unsigned short value = static_cast<unsigned short>(sign | r);
	T y;
	__builtin_memcpy(static_cast<void *>(&y), &value, sizeof(y));
	return y;
}

/* A double with the bits of an integer that decide how it is rounded to 16 bits: the rest is in the last one. */
template <typename T> static __host__ __device__ inline double rocsmith_sticky(T x)
{
	bool below = x < T(0);
	unsigned long long all = below ? 0ull - static_cast<unsigned long long>(x)
				       : static_cast<unsigned long long>(x);
	if (all >> 53)
		all = (all >> 12 | ((all & 4095) != 0)) << 12;
	return below ? -static_cast<double>(all) : static_cast<double>(all);
}

#define ROCSMITH_INTEGER(NAME, T, SUFFIX, TO)                                                      \
	static __host__ __device__ inline T rocsmith_half2##NAME##_##SUFFIX(__half x)              \
	{                                                                                          \
		return rocsmith_integer<T, TO>(rocsmith_wide(x));                                  \
	}                                                                                          \
	static __host__ __device__ inline T rocsmith_bfloat162##NAME##_##SUFFIX(__hip_bfloat16 x)  \
	{                                                                                          \
		return rocsmith_integer<T, TO>(rocsmith_wide(x));                                  \
	}                                                                                          \
	static __host__ __device__ inline __half rocsmith_##NAME##2half_##SUFFIX(T x)              \
	{                                                                                          \
		return rocsmith_round16<__half, 10, TO>(rocsmith_sticky(x));                       \
	}                                                                                          \
	static __host__ __device__ inline __hip_bfloat16 rocsmith_##NAME##2bfloat16_##SUFFIX(T x)  \
	{                                                                                          \
		return rocsmith_round16<__hip_bfloat16, 7, TO>(rocsmith_sticky(x));                \
	}
#define ROCSMITH_INTEGERS(SUFFIX, TO)                                                              \
	ROCSMITH_INTEGER(char, signed char, SUFFIX, TO)                                            \
	ROCSMITH_INTEGER(uchar, unsigned char, SUFFIX, TO)                                         \
	ROCSMITH_INTEGER(short, short, SUFFIX, TO)                                                 \
	ROCSMITH_INTEGER(ushort, unsigned short, SUFFIX, TO)                                       \
	ROCSMITH_INTEGER(int, int, SUFFIX, TO)                                                     \
	ROCSMITH_INTEGER(uint, unsigned, SUFFIX, TO)                                               \
	ROCSMITH_INTEGER(ll, long long, SUFFIX, TO)                                                \
	ROCSMITH_INTEGER(ull, unsigned long long, SUFFIX, TO)                                      \
	static __host__ __device__ inline __hip_bfloat16 rocsmith_float2bfloat16_##SUFFIX(float x) \
	{                                                                                          \
		return rocsmith_round16<__hip_bfloat16, 7, TO>(x);                                 \
	}
ROCSMITH_INTEGERS(rn, ROCSMITH_NEAREST)
ROCSMITH_INTEGERS(rz, ROCSMITH_ZERO)
ROCSMITH_INTEGERS(rd, ROCSMITH_DOWN)
ROCSMITH_INTEGERS(ru, ROCSMITH_UP)
#undef ROCSMITH_INTEGERS
#undef ROCSMITH_INTEGER

/* Comparisons of numbers, of pairs, of both numbers of a pair, and masks of pairs; those with a u are true for NaN. */
#define ROCSMITH_COMPARED16(NAME, EXPRESSION)                                                      \
	template <typename T> static __host__ __device__ inline bool rocsmith_h##NAME(T a, T b)    \
	{                                                                                          \
		float x = rocsmith_wide(a), y = rocsmith_wide(b);                                  \
		return EXPRESSION;                                                                 \
	}                                                                                          \
	template <typename T> static __host__ __device__ inline T rocsmith_h##NAME##2(T a, T b)    \
	{                                                                                          \
		decltype(a.x) one = rocsmith_narrow<decltype(a.x)>(1),                             \
			      zero = rocsmith_narrow<decltype(a.x)>(0);                            \
		return T(rocsmith_h##NAME(a.x, b.x) ? one : zero,                                  \
			rocsmith_h##NAME(a.y, b.y) ? one : zero);                                  \
	}                                                                                          \
	template <typename T>                                                                      \
	static __host__ __device__ inline bool rocsmith_hb##NAME##2(T a, T b)                      \
	{                                                                                          \
		return rocsmith_h##NAME(a.x, b.x) && rocsmith_h##NAME(a.y, b.y);                   \
	}                                                                                          \
	template <typename T>                                                                      \
	static __host__ __device__ inline unsigned rocsmith_h##NAME##2_mask(T a, T b)              \
	{                                                                                          \
		return (rocsmith_h##NAME(a.x, b.x) ? 0xffffu : 0) |                                \
		       (rocsmith_h##NAME(a.y, b.y) ? 0xffff0000u : 0);                             \
	}
ROCSMITH_COMPARED16(eq, x == y)
ROCSMITH_COMPARED16(ne, x<y || x> y)
ROCSMITH_COMPARED16(le, x <= y)
ROCSMITH_COMPARED16(ge, x >= y)
ROCSMITH_COMPARED16(lt, x < y)
ROCSMITH_COMPARED16(gt, x > y)
ROCSMITH_COMPARED16(equ, !(x < y || x > y))
ROCSMITH_COMPARED16(neu, x != y)
ROCSMITH_COMPARED16(leu, !(x > y))
ROCSMITH_COMPARED16(geu, !(x < y))
ROCSMITH_COMPARED16(ltu, !(x >= y))
ROCSMITH_COMPARED16(gtu, !(x <= y))
#undef ROCSMITH_COMPARED16

template <typename T> static __host__ __device__ inline int rocsmith_hisinf(T x)
{
	float y = rocsmith_wide(x);
	return __builtin_isinf(y) ? y < 0 ? -1 : 1 : 0;
}

template <typename T> static __host__ __device__ inline T rocsmith_hisnan2(T a)
{
	return rocsmith_hneu2(a, a);
}

/* Functions of numbers, and of pairs whose numbers they take one by one. _rn is never joined with another operation; _sat is
 * within 0 and 1, and 0 for NaN; _relu is not below 0; _nan is NaN if a number is. */
#define ROCSMITH_NUMBER1(NAME, EXPRESSION)                                                         \
	template <typename T> static __host__ __device__ inline T rocsmith_h##NAME(T a)            \
	{                                                                                          \
		return EXPRESSION;                                                                 \
	}                                                                                          \
	template <typename T> static __host__ __device__ inline T rocsmith_h2##NAME(T a)           \
	{                                                                                          \
		return T(rocsmith_h##NAME(a.x), rocsmith_h##NAME(a.y));                            \
	}
#define ROCSMITH_NUMBER2(NAME, SUFFIX, EXPRESSION)                                                 \
	template <typename T>                                                                      \
	static __host__ __device__ inline T rocsmith_h##NAME##SUFFIX(T a, T b)                     \
	{                                                                                          \
		return EXPRESSION;                                                                 \
	}                                                                                          \
	template <typename T>                                                                      \
	static __host__ __device__ inline T rocsmith_h##NAME##2##SUFFIX(T a, T b)                  \
	{                                                                                          \
		return T(rocsmith_h##NAME##SUFFIX(a.x, b.x), rocsmith_h##NAME##SUFFIX(a.y, b.y));  \
	}
#define ROCSMITH_NUMBER3(SUFFIX, EXPRESSION)                                                       \
	template <typename T> static __device__ inline T rocsmith_hfma##SUFFIX(T a, T b, T c)      \
	{                                                                                          \
		return EXPRESSION;                                                                 \
	}                                                                                          \
	template <typename T> static __device__ inline T rocsmith_hfma2##SUFFIX(T a, T b, T c)     \
	{                                                                                          \
		return T(rocsmith_hfma##SUFFIX(a.x, b.x, c.x),                                     \
			rocsmith_hfma##SUFFIX(a.y, b.y, c.y));                                     \
	}
template <typename T> static __host__ __device__ inline T rocsmith_sat(T x)
{
	float y = rocsmith_wide(x);
	return rocsmith_narrow<T>(y > 0 ? y < 1 ? y : 1 : 0);
}
ROCSMITH_NUMBER1(tanh, rocsmith_narrow<T>(tanhf(rocsmith_wide(a))))
ROCSMITH_NUMBER2(add, _rn, rocsmith_narrow<T>(rocsmith_wide(a) + rocsmith_wide(b)))
ROCSMITH_NUMBER2(sub, _rn, rocsmith_narrow<T>(rocsmith_wide(a) - rocsmith_wide(b)))
ROCSMITH_NUMBER2(mul, _rn, rocsmith_narrow<T>(rocsmith_wide(a) * rocsmith_wide(b)))
ROCSMITH_NUMBER2(add, _sat, rocsmith_sat(rocsmith_hadd_rn(a, b)))
ROCSMITH_NUMBER2(sub, _sat, rocsmith_sat(rocsmith_hsub_rn(a, b)))
ROCSMITH_NUMBER2(mul, _sat, rocsmith_sat(rocsmith_hmul_rn(a, b)))
ROCSMITH_NUMBER2(max, , rocsmith_narrow<T>(__builtin_fmaxf(rocsmith_wide(a), rocsmith_wide(b))))
ROCSMITH_NUMBER2(min, , rocsmith_narrow<T>(__builtin_fminf(rocsmith_wide(a), rocsmith_wide(b))))
ROCSMITH_NUMBER2(max, _nan, rocsmith_hneu(a, a) ? a : rocsmith_hneu(b, b) ? b : rocsmith_hmax(a, b))
ROCSMITH_NUMBER2(min, _nan, rocsmith_hneu(a, a) ? a : rocsmith_hneu(b, b) ? b : rocsmith_hmin(a, b))
ROCSMITH_NUMBER3(_sat, rocsmith_sat(T(__hfma(a, b, c))))
ROCSMITH_NUMBER3(_relu, rocsmith_hmax_nan(T(__hfma(a, b, c)), rocsmith_narrow<T>(0)))
#undef ROCSMITH_NUMBER1
#undef ROCSMITH_NUMBER2
#undef ROCSMITH_NUMBER3

/* Complex numbers: a * b + c. */
template <typename T> static __device__ inline T rocsmith_hcmadd(T a, T b, T c)
{
	auto minus = rocsmith_narrow<decltype(a.x)>(-rocsmith_wide(a.y));
	auto x = __hfma(a.x, b.x, c.x), y = __hfma(a.x, b.y, c.y);
	return T(__hfma(minus, b.y, x), __hfma(a.y, b.x, y));
}

/* Rounds once, which a float between them would not. */
static __host__ __device__ inline __half rocsmith_double2half(double x)
{
	_Float16 y = static_cast<_Float16>(x);
	__half h;
	__builtin_memcpy(static_cast<void *>(&h), &y, sizeof(h));
	return h;
}

static __host__ __device__ inline __hip_bfloat162 rocsmith_floats2bfloat162(float a, float b)
{
	return __hip_bfloat162(__float2bfloat16(a), __float2bfloat16(b));
}

static __host__ __device__ inline __hip_bfloat162 rocsmith_float2bfloat162(float a)
{
	return rocsmith_floats2bfloat162(a, a);
}

/* A template, so that a project's own function of that name goes first. */
template <int = 0>
static __host__ __device__ inline __hip_bfloat162 rocsmith_make_bfloat162(
	__hip_bfloat16 a, __hip_bfloat16 b)
{
	return __hip_bfloat162(a, b);
}

#endif
