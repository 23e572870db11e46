/* Functions of CUDA's device side that HIP lacks or lacked: warps, atomics with a scope, packed bytes, hints for caches.
 *
 * Made by rocsmith; included by translated sources that use one of them. The names are ours, so that a
 * HIP that has the function is no conflict. A mask names lanes of CUDA's warps of 32; those of a wave64
 * GPU take part by their number in the wave.
 */
#pragma once

#include <hip/hip_runtime.h>

#ifdef __cplusplus

static __device__ inline void rocsmith_syncwarp(unsigned long long = ~0ull)
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
	__builtin_amdgcn_wave_barrier();
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

/* Storage whose constructor does not run, for shared memory. */
template <typename T> struct rocsmith_raw {
	typedef T type;
	alignas(T) unsigned char bytes[sizeof(T)];
};

/* bar.sync: of the barriers of a block HIP has the first. */
template <unsigned ID> static __device__ inline void rocsmith_bar_sync()
{
	static_assert(ID == 0, "HIP has one barrier for a block, number 0");
	__syncthreads();
}

/* At least so long, in steps of 64 clocks. */
static __device__ inline void rocsmith_nanosleep(unsigned ns)
{
	for (unsigned i = 0; i <= ns; i += 64)
		__builtin_amdgcn_s_sleep(1);
}

/* HIP's __ffsll() has two overloads, between which a uint64_t is ambiguous. */
static __device__ inline int rocsmith_ffsll(long long x)
{
	return __builtin_ffsll(x);
}

/* Loads and stores with a hint for the cache: __ldcg() and its kin. The hint is dropped; what CUDA promises to read or
 * write anew each time is not moved by the compiler. */
template <typename T> static __device__ inline T rocsmith_load(const T *p)
{
	return *p;
}

template <typename T> static __device__ inline T rocsmith_load_anew(const T *p)
{
	__asm__ volatile("" ::: "memory");
	T x = *p;
	__asm__ volatile("" ::: "memory");
	return x;
}

template <typename T, typename U> static __device__ inline void rocsmith_store(T *p, U x)
{
	*p = x;
}

template <typename T, typename U> static __device__ inline void rocsmith_store_through(T *p, U x)
{
	*p = x;
	__asm__ volatile("" ::: "memory");
}

/* ---- reductions over the lanes of a mask ---- */

template <typename T, typename F>
static __device__ inline T rocsmith_reduce(unsigned long long mask, T x, F f)
{
	if (warpSize == 64 && !(mask >> 32) && (__lane_id() & 32)) /* the second half of a wave */
		mask <<= 32;
	T all = __shfl(x, __ffsll(mask) - 1);
	for (mask &= mask - 1; mask; mask &= mask - 1)
		all = f(all, __shfl(x, __ffsll(mask) - 1));
	return all;
}

#define ROCSMITH_REDUCE(NAME, EXPRESSION)                                                          \
	template <typename T>                                                                      \
	static __device__ inline T rocsmith_reduce_##NAME(unsigned long long mask, T x)            \
	{                                                                                          \
		return rocsmith_reduce(mask, x, [](T a, T b) -> T { return EXPRESSION; });         \
	}
ROCSMITH_REDUCE(add, a + b)
ROCSMITH_REDUCE(min, a < b ? a : b)
ROCSMITH_REDUCE(max, a > b ? a : b)
ROCSMITH_REDUCE(and, a &b)
ROCSMITH_REDUCE(or, a | b)
ROCSMITH_REDUCE(xor, a ^ b)
#undef ROCSMITH_REDUCE

/* ---- atomics of a block and of the system ---- */

#define ROCSMITH_ATOMIC(NAME, BUILTIN, SCOPE)                                                      \
	template <typename T, typename U>                                                          \
	static __device__ inline T rocsmith_atomic##NAME(T *p, U x)                                \
	{                                                                                          \
		return BUILTIN(                                                                    \
			p, static_cast<T>(x), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##SCOPE);       \
	}
#define ROCSMITH_ATOMICS(SUFFIX, SCOPE)                                                            \
	ROCSMITH_ATOMIC(Add_##SUFFIX, __hip_atomic_fetch_add, SCOPE)                               \
	ROCSMITH_ATOMIC(Exch_##SUFFIX, __hip_atomic_exchange, SCOPE)                               \
	ROCSMITH_ATOMIC(Min_##SUFFIX, __hip_atomic_fetch_min, SCOPE)                               \
	ROCSMITH_ATOMIC(Max_##SUFFIX, __hip_atomic_fetch_max, SCOPE)                               \
	ROCSMITH_ATOMIC(And_##SUFFIX, __hip_atomic_fetch_and, SCOPE)                               \
	ROCSMITH_ATOMIC(Or_##SUFFIX, __hip_atomic_fetch_or, SCOPE)                                 \
	ROCSMITH_ATOMIC(Xor_##SUFFIX, __hip_atomic_fetch_xor, SCOPE)                               \
	template <typename T, typename U>                                                          \
	static __device__ inline T rocsmith_atomicSub_##SUFFIX(T *p, U x)                          \
	{                                                                                          \
		return rocsmith_atomicAdd_##SUFFIX(p, -static_cast<T>(x));                         \
	}                                                                                          \
	template <typename T, typename U, typename V>                                              \
	static __device__ inline T rocsmith_atomicCAS_##SUFFIX(T *p, U seen, V x)                  \
	{                                                                                          \
		T old = static_cast<T>(seen);                                                      \
		__hip_atomic_compare_exchange_strong(p, &old, static_cast<T>(x), __ATOMIC_RELAXED, \
			__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##SCOPE);                             \
		return old;                                                                        \
	}                                                                                          \
	static __device__ inline unsigned rocsmith_atomicInc_##SUFFIX(unsigned *p, unsigned top)   \
	{                                                                                          \
		unsigned old = *p, seen;                                                           \
		do {                                                                               \
			seen = old;                                                                \
			old = rocsmith_atomicCAS_##SUFFIX(p, seen, seen >= top ? 0u : seen + 1);   \
		} while (old != seen);                                                             \
		return old;                                                                        \
	}                                                                                          \
	static __device__ inline unsigned rocsmith_atomicDec_##SUFFIX(unsigned *p, unsigned top)   \
	{                                                                                          \
		unsigned old = *p, seen;                                                           \
		do {                                                                               \
			seen = old;                                                                \
			old = rocsmith_atomicCAS_##SUFFIX(                                         \
				p, seen, seen == 0 || seen > top ? top : seen - 1);                \
		} while (old != seen);                                                             \
		return old;                                                                        \
	}
ROCSMITH_ATOMICS(block, WORKGROUP)
ROCSMITH_ATOMICS(system, SYSTEM)
#undef ROCSMITH_ATOMICS
#undef ROCSMITH_ATOMIC

/* ---- bits and packed integers ---- */

/* The table says what comes out for bits of a (0xf0), b (0xcc) and c (0xaa). */
static __device__ inline unsigned rocsmith_lop3(unsigned a, unsigned b, unsigned c, unsigned table)
{
	unsigned r = 0;
	for (unsigned i = 0; i < 8; i++)
		if (table >> i & 1)
			r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
	return r;
}

/* PTX's shifts, by any count: from the width on, nothing is left, or the sign. */
template <typename T> static __device__ inline T rocsmith_shl(T x, unsigned n)
{
	return n < 8 * sizeof(T) ? x << n : 0;
}
template <typename T> static __device__ inline T rocsmith_shr(T x, unsigned n)
{
	return n < 8 * sizeof(T) ? x >> n : x < 0 ? -1 : 0;
}

/* bfe: a field, and its sign in front if the type has one. Its place and width may be outside of the word, as HIP's may not. */
template <typename T> static __device__ inline T rocsmith_bfe(T x, unsigned at, unsigned n)
{
	T y = rocsmith_shr(x, at & 255);
	n &= 255;
	if (!n || n >= 8 * sizeof(T))
		return n ? y : 0;
	unsigned up = 8 * sizeof(T) - n;
	return static_cast<T>(static_cast<unsigned long long>(y) << up) >> up;
}

/* bfi: the lower bits of x, put into a field of y. */
template <typename T> static __device__ inline T rocsmith_bfi(T x, T y, unsigned at, unsigned n)
{
	n &= 255;
	T mask = rocsmith_shl<T>(n < 8 * sizeof(T) ? (T(1) << n) - 1 : ~T(0), at & 255);
	return (y & ~mask) | (rocsmith_shl(x, at & 255) & mask);
}

/* prmt: bytes of two words; with the highest bit of its number, a byte's sign, eight times. */
static __device__ inline unsigned rocsmith_prmt(unsigned a, unsigned b, unsigned selector)
{
	unsigned r = __byte_perm(a, b, selector);
	for (int i = 0; i < 4; i++)
		if (selector >> 4 * i & 8)
			r = (r & ~(255u << 8 * i)) | (r >> (8 * i + 7) & 1) * 255u << 8 * i;
	return r;
}

template <typename T, int BITS, typename F>
static __device__ inline unsigned rocsmith_packed(unsigned a, unsigned b, F f)
{
	unsigned r = 0, mask = (1u << BITS) - 1;
	for (int i = 0; i < 32; i += BITS) {
		T x = static_cast<T>(a >> i & mask), y = static_cast<T>(b >> i & mask);
		r |= (static_cast<unsigned>(f(x, y)) & mask) << i;
	}
	return r;
}

/* The same with results that stay within the part's range. */
template <typename T, int BITS, typename F>
static __device__ inline unsigned rocsmith_saturated(unsigned a, unsigned b, F f)
{
	return rocsmith_packed<T, BITS>(a, b, [f](int x, int y) {
		int low = static_cast<T>(-1) < 0 ? -(1 << (BITS - 1)) : 0,
		    high = low + (1 << BITS) - 1, r = f(x, y);
		return r < low ? low : r > high ? high : r;
	});
}

#define ROCSMITH_PACKED(NAME, HOW, SIGN, EXPRESSION)                                               \
	static __device__ inline unsigned rocsmith_v##NAME##4(unsigned a, unsigned b = 0)          \
	{                                                                                          \
		return rocsmith_##HOW<SIGN char, 8>(                                               \
			a, b, [](int x, int y) { return EXPRESSION; });                            \
	}                                                                                          \
	static __device__ inline unsigned rocsmith_v##NAME##2(unsigned a, unsigned b = 0)          \
	{                                                                                          \
		return rocsmith_##HOW<SIGN short, 16>(                                             \
			a, b, [](int x, int y) { return EXPRESSION; });                            \
	}
#define ROCSMITH_COMPARED(NAME, SIGN, OPERATOR)                                                    \
	ROCSMITH_PACKED(cmp##NAME, packed, SIGN, x OPERATOR y ? -1 : 0)                            \
	ROCSMITH_PACKED(set##NAME, packed, SIGN, x OPERATOR y ? 1 : 0)
ROCSMITH_PACKED(add, packed, unsigned, x + y)
ROCSMITH_PACKED(sub, packed, unsigned, x - y)
ROCSMITH_PACKED(addss, saturated, signed, x + y)
ROCSMITH_PACKED(addus, saturated, unsigned, x + y)
ROCSMITH_PACKED(subss, saturated, signed, x - y)
ROCSMITH_PACKED(subus, saturated, unsigned, x - y)
ROCSMITH_PACKED(minu, packed, unsigned, x < y ? x : y)
ROCSMITH_PACKED(maxu, packed, unsigned, x > y ? x : y)
ROCSMITH_PACKED(mins, packed, signed, x < y ? x : y)
ROCSMITH_PACKED(maxs, packed, signed, x > y ? x : y)
ROCSMITH_PACKED(absdiffu, packed, unsigned, x > y ? x - y : y - x)
ROCSMITH_PACKED(absdiffs, packed, signed, x > y ? x - y : y - x)
ROCSMITH_PACKED(avgu, packed, unsigned, (x + y + 1) >> 1)
ROCSMITH_PACKED(haddu, packed, unsigned, (x + y) >> 1)
ROCSMITH_PACKED(abs, packed, signed, x < 0 ? y - x : x)
ROCSMITH_PACKED(absss, saturated, signed, x < 0 ? y - x : x)
ROCSMITH_PACKED(neg, packed, signed, y - x)
ROCSMITH_PACKED(negss, saturated, signed, y - x)
ROCSMITH_COMPARED(eq, unsigned, ==)
ROCSMITH_COMPARED(ne, unsigned, !=)
ROCSMITH_COMPARED(geu, unsigned, >=)
ROCSMITH_COMPARED(gtu, unsigned, >)
ROCSMITH_COMPARED(leu, unsigned, <=)
ROCSMITH_COMPARED(ltu, unsigned, <)
ROCSMITH_COMPARED(ges, signed, >=)
ROCSMITH_COMPARED(gts, signed, >)
ROCSMITH_COMPARED(les, signed, <=)
ROCSMITH_COMPARED(lts, signed, <)
ROCSMITH_PACKED(avgs, packed, signed, (x + y + (x + y >= 0)) >> 1)
#undef ROCSMITH_COMPARED
#undef ROCSMITH_PACKED

template <typename T> static __device__ inline T rocsmith_sum(T a, T b)
{
	return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
template <typename T> static __device__ inline T rocsmith_most(T a, T b)
{
	return a > b ? a : b;
}
template <typename T> static __device__ inline T rocsmith_least(T a, T b)
{
	return a < b ? a : b;
}

/* The largest or smallest of three numbers, or of a sum and a number; _relu: not below 0. And of each part of packed ones. */
#define ROCSMITH_OF3(NAME, KIND, T, FIRST, SECOND)                                                 \
	static __device__ inline T rocsmith_vi##NAME##_##KIND(T a, T b, T c)                       \
	{                                                                                          \
		return rocsmith_##SECOND(rocsmith_##FIRST(a, b), c);                               \
	}
#define ROCSMITH_OF3_RELU(NAME, KIND, T, MOST)                                                     \
	static __device__ inline T rocsmith_vi##NAME##_##KIND##_relu(T a, T b, T c)                \
	{                                                                                          \
		return rocsmith_##MOST(rocsmith_vi##NAME##_##KIND(a, b, c), static_cast<T>(0));    \
	}
#define ROCSMITH_OF3_KINDS(NAME, FIRST, FIRST_S2, FIRST_U2, SECOND, SECOND_S2, SECOND_U2)          \
	ROCSMITH_OF3(NAME, s32, int, FIRST, SECOND)                                                \
	ROCSMITH_OF3(NAME, u32, unsigned, FIRST, SECOND)                                           \
	ROCSMITH_OF3(NAME, s16x2, unsigned, FIRST_S2, SECOND_S2)                                   \
	ROCSMITH_OF3(NAME, u16x2, unsigned, FIRST_U2, SECOND_U2)                                   \
	ROCSMITH_OF3_RELU(NAME, s32, int, most)                                                    \
	ROCSMITH_OF3_RELU(NAME, s16x2, unsigned, vmaxs2)
ROCSMITH_OF3_KINDS(addmax, sum, vadd2, vadd2, most, vmaxs2, vmaxu2)
ROCSMITH_OF3_KINDS(addmin, sum, vadd2, vadd2, least, vmins2, vminu2)
ROCSMITH_OF3_KINDS(max3, most, vmaxs2, vmaxu2, most, vmaxs2, vmaxu2)
ROCSMITH_OF3_KINDS(min3, least, vmins2, vminu2, least, vmins2, vminu2)
#undef ROCSMITH_OF3_KINDS
#undef ROCSMITH_OF3_RELU
#undef ROCSMITH_OF3
#define ROCSMITH_OF2_RELU(NAME, KIND, T)                                                           \
	static __device__ inline T rocsmith_vi##NAME##_##KIND##_relu(T a, T b)                     \
	{                                                                                          \
		return rocsmith_vi##NAME##3_##KIND##_relu(a, b, b);                                \
	}
ROCSMITH_OF2_RELU(max, s32, int)
ROCSMITH_OF2_RELU(min, s32, int)
ROCSMITH_OF2_RELU(max, s16x2, unsigned)
ROCSMITH_OF2_RELU(min, s16x2, unsigned)
#undef ROCSMITH_OF2_RELU

/* The sum of the absolute differences of the parts. */
#define ROCSMITH_SAD(NAME)                                                                         \
	static __device__ inline unsigned rocsmith_vsad##NAME##4(unsigned a, unsigned b)           \
	{                                                                                          \
		unsigned d = rocsmith_vabsdiff##NAME##4(a, b);                                     \
		return (d & 255) + (d >> 8 & 255) + (d >> 16 & 255) + (d >> 24);                   \
	}                                                                                          \
	static __device__ inline unsigned rocsmith_vsad##NAME##2(unsigned a, unsigned b)           \
	{                                                                                          \
		unsigned d = rocsmith_vabsdiff##NAME##2(a, b);                                     \
		return (d & 65535) + (d >> 16);                                                    \
	}
ROCSMITH_SAD(s)
ROCSMITH_SAD(u)
#undef ROCSMITH_SAD

static __device__ inline int rocsmith_dp4a(int a, int b, int sum)
{
	for (int i = 0; i < 32; i += 8)
		sum += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
	return sum;
}

static __device__ inline unsigned rocsmith_dp4a(unsigned a, unsigned b, unsigned sum)
{
	for (int i = 0; i < 32; i += 8)
		sum += (a >> i & 255) * (b >> i & 255);
	return sum;
}

/* Two numbers of 16 bits by the lower or upper two of 8. */
template <int FIRST, typename W, typename B, typename T>
static __device__ inline T rocsmith_dp2a(unsigned a, unsigned b, T sum)
{
	for (int i = 0; i < 2; i++)
		sum += static_cast<W>(a >> 16 * i) * static_cast<B>(b >> (FIRST + 8 * i));
	return sum;
}

template <typename TO, typename T> static __device__ inline TO rocsmith_bits_of(T x)
{
	static_assert(sizeof(TO) == sizeof(T), "all bits of a value are its value");
	TO y;
	__builtin_memcpy(&y, &x, sizeof(y));
	return y;
}

#define ROCSMITH_DOTS(W, B, W2, B4, T)                                                             \
	static __device__ inline T rocsmith_dp2a_lo(T a, T b, T sum)                               \
	{                                                                                          \
		return rocsmith_dp2a<0, W, B>(unsigned(a), unsigned(b), sum);                      \
	}                                                                                          \
	static __device__ inline T rocsmith_dp2a_hi(T a, T b, T sum)                               \
	{                                                                                          \
		return rocsmith_dp2a<16, W, B>(unsigned(a), unsigned(b), sum);                     \
	}                                                                                          \
	static __device__ inline T rocsmith_dp2a_lo(W2 a, B4 b, T sum)                             \
	{                                                                                          \
		return rocsmith_dp2a_lo(rocsmith_bits_of<T>(a), rocsmith_bits_of<T>(b), sum);      \
	}                                                                                          \
	static __device__ inline T rocsmith_dp2a_hi(W2 a, B4 b, T sum)                             \
	{                                                                                          \
		return rocsmith_dp2a_hi(rocsmith_bits_of<T>(a), rocsmith_bits_of<T>(b), sum);      \
	}                                                                                          \
	static __device__ inline T rocsmith_dp4a(B4 a, B4 b, T sum)                                \
	{                                                                                          \
		return rocsmith_dp4a(rocsmith_bits_of<T>(a), rocsmith_bits_of<T>(b), sum);         \
	}
ROCSMITH_DOTS(short, signed char, short2, char4, int)
ROCSMITH_DOTS(unsigned short, unsigned char, ushort2, uchar4, unsigned)
#undef ROCSMITH_DOTS

/* ---- rounding: down (rd), up (ru), toward zero (rz), to the nearest, of two to the even (rn) ---- */

enum { ROCSMITH_DOWN = -1, ROCSMITH_ZERO, ROCSMITH_UP, ROCSMITH_NEAREST };

template <int TO, typename F> static __host__ __device__ inline F rocsmith_whole(F x)
{
	return TO == ROCSMITH_DOWN   ? __builtin_elementwise_floor(x)
	       : TO == ROCSMITH_UP   ? __builtin_elementwise_ceil(x)
	       : TO == ROCSMITH_ZERO ? __builtin_elementwise_trunc(x)
				     : __builtin_elementwise_roundeven(x);
}

/* An integer as CUDA has it of a number: rounded first, then brought into the type's range. HIP leaves open what is out of it. */
template <typename T, int TO, typename F> static __host__ __device__ inline T rocsmith_integer(F x)
{
	const bool is_signed = T(-1) < T(0);
	const unsigned long long most = ~0ull >> (64 - 8 * static_cast<int>(sizeof(T)) + is_signed);
	const T top = static_cast<T>(most), bottom = is_signed ? static_cast<T>(~most) : T(0);
	F y = rocsmith_whole<TO>(x);
	if (y != y)
		return sizeof(T) == 8 || (sizeof(T) == 4 && sizeof(F) == 8)
			       ? static_cast<T>(1ull << (8 * sizeof(T) - 1))
			       : T(0);
	return y >= static_cast<F>(top)      ? top
	       : y <= static_cast<F>(bottom) ? bottom
					     : static_cast<T>(y);
}

#define ROCSMITH_WHOLE(SUFFIX, TO)                                                                 \
	static __device__ inline long long rocsmith_float2ll_##SUFFIX(float x)                     \
	{                                                                                          \
		return rocsmith_integer<long long, TO>(x);                                         \
	}                                                                                          \
	static __device__ inline unsigned long long rocsmith_float2ull_##SUFFIX(float x)           \
	{                                                                                          \
		return rocsmith_integer<unsigned long long, TO>(x);                                \
	}                                                                                          \
	static __device__ inline long long rocsmith_double2ll_##SUFFIX(double x)                   \
	{                                                                                          \
		return rocsmith_integer<long long, TO>(x);                                         \
	}                                                                                          \
	static __device__ inline unsigned long long rocsmith_double2ull_##SUFFIX(double x)         \
	{                                                                                          \
		return rocsmith_integer<unsigned long long, TO>(x);                                \
	}
ROCSMITH_WHOLE(rd, ROCSMITH_DOWN)
ROCSMITH_WHOLE(rz, ROCSMITH_ZERO)
ROCSMITH_WHOLE(ru, ROCSMITH_UP)
ROCSMITH_WHOLE(rn, ROCSMITH_NEAREST)
#undef ROCSMITH_WHOLE

/* Within 0 and 1; 0 for NaN, which HIP 6.4 and 7.2 keep. */
static __device__ inline float rocsmith_saturatef(float x)
{
	return x > 0 ? x < 1 ? x : 1 : 0;
}

/* max.NaN, min.NaN: NaN if a number is. */
static __device__ inline float rocsmith_max_nan(float a, float b)
{
	return a != a ? a : b != b ? b : fmaxf(a, b);
}
static __device__ inline float rocsmith_min_nan(float a, float b)
{
	return a != a ? a : b != b ? b : fminf(a, b);
}

/* cvt.rna.tf32: the nearest number of ten bits of fraction, of two the larger one. */
static __device__ inline unsigned rocsmith_tf32(float x)
{
	unsigned bits;
	__builtin_memcpy(&bits, &x, sizeof(bits));
	return x - x == 0 ? (bits + 0x1000) & ~0x1fffu : bits;
}

/* A template, so that a project's own function of that name goes first. */
template <int = 0> static __device__ inline double rocsmith_fdivide(double a, double b)
{
	return a / b;
}

/* The neighbour of a rounded result in the direction of the exact one, where the rounding asks for it. */
template <int TO, typename T>
static __device__ inline T rocsmith_toward(T rounded, T exact_minus_rounded)
{
	bool less = exact_minus_rounded<0, more = exact_minus_rounded> 0;
	T infinity = static_cast<T>(__builtin_inff());
	if (less && (TO < 0 || (TO == 0 && rounded > 0)))
		return nextafter(rounded, -infinity);
	if (more && (TO > 0 || (TO == 0 && rounded < 0)))
		return nextafter(rounded, infinity);
	return rounded;
}

/* A power of two by which the difference between a small operand and a product is scaled, so that it does not become zero. */
template <typename T> static __device__ inline T rocsmith_scale(bool root)
{
	return static_cast<T>(__builtin_ldexp(1.0, (sizeof(T) == 4 ? 120 : 800) / (root ? 2 : 1)));
}

template <int TO, typename T> static __device__ inline T rocsmith_divide(T a, T b)
{
	T q = a / b, y = q;
	if (isinf(q))
		return rocsmith_toward<TO>(q, b == 0 || isinf(a) ? static_cast<T>(0) : -q);
	if (fabs(a) < 1 / rocsmith_scale<T>(true)) {
		a *= rocsmith_scale<T>(false);
		(fabs(b) < 1 ? b : y) *= rocsmith_scale<T>(false);
	}
	T left = fma(-y, b, a); /* exact but for one rounding, which keeps its sign */
	return rocsmith_toward<TO>(q, b < 0 ? -left : left);
}

template <int TO, typename T> static __device__ inline T rocsmith_root(T x)
{
	T q = sqrt(x), y = q;
	if (x < 1 / rocsmith_scale<T>(true)) {
		x *= rocsmith_scale<T>(false);
		y *= rocsmith_scale<T>(true);
	}
	return isinf(q) ? q : rocsmith_toward<TO>(q, fma(-y, y, x));
}

/* AMD's device library sets the GPU's mode for sums and products. */
#define ROCSMITH_ROUNDED(T, P, S, BITS, SUFFIX, MODE, TO)                                          \
	static __device__ inline T rocsmith_##P##add_##SUFFIX(T a, T b)                            \
	{                                                                                          \
		return __ocml_add_##MODE##_f##BITS(a, b);                                          \
	}                                                                                          \
	static __device__ inline T rocsmith_##P##sub_##SUFFIX(T a, T b)                            \
	{                                                                                          \
		return __ocml_sub_##MODE##_f##BITS(a, b);                                          \
	}                                                                                          \
	static __device__ inline T rocsmith_##P##mul_##SUFFIX(T a, T b)                            \
	{                                                                                          \
		return __ocml_mul_##MODE##_f##BITS(a, b);                                          \
	}                                                                                          \
	static __device__ inline T rocsmith_fma##S##_##SUFFIX(T a, T b, T c)                       \
	{                                                                                          \
		return __ocml_fma_##MODE##_f##BITS(a, b, c);                                       \
	}                                                                                          \
	static __device__ inline T rocsmith_##P##div_##SUFFIX(T a, T b)                            \
	{                                                                                          \
		return rocsmith_divide<TO>(a, b);                                                  \
	}                                                                                          \
	static __device__ inline T rocsmith_##P##rcp_##SUFFIX(T x)                                 \
	{                                                                                          \
		return rocsmith_divide<TO>(static_cast<T>(1), x);                                  \
	}                                                                                          \
	static __device__ inline T rocsmith_##P##sqrt_##SUFFIX(T x)                                \
	{                                                                                          \
		return rocsmith_root<TO>(x);                                                       \
	}
#define ROCSMITH_ROUNDINGS(SUFFIX, MODE, TO)                                                       \
	ROCSMITH_ROUNDED(float, f, f, 32, SUFFIX, MODE, TO)                                        \
	ROCSMITH_ROUNDED(double, d, , 64, SUFFIX, MODE, TO)
ROCSMITH_ROUNDINGS(rd, rtn, -1)
ROCSMITH_ROUNDINGS(ru, rtp, 1)
ROCSMITH_ROUNDINGS(rz, rtz, 0)
#undef ROCSMITH_ROUNDINGS
#undef ROCSMITH_ROUNDED

#endif
