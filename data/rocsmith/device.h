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
		return BUILTIN(p, static_cast<T>(x), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##SCOPE); \
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

/* bfe.s32: a field, and its sign in front. */
static __device__ inline int rocsmith_bfe(int x, unsigned at, unsigned n)
{
	at &= 255;
	n &= 255;
	if (!n)
		return 0;
	long long wide = static_cast<long long>(x) >> (at < 63 ? at : 63);
	unsigned up = n < 64 ? 64 - n : 0;
	return static_cast<int>(static_cast<long long>(static_cast<unsigned long long>(wide) << up) >> up);
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

#define ROCSMITH_PACKED(NAME, SIGN, EXPRESSION)                                                    \
	static __device__ inline unsigned rocsmith_v##NAME##4(unsigned a, unsigned b)              \
	{                                                                                          \
		return rocsmith_packed<SIGN char, 8>(a, b, [](int x, int y) { return EXPRESSION; }); \
	}                                                                                          \
	static __device__ inline unsigned rocsmith_v##NAME##2(unsigned a, unsigned b)              \
	{                                                                                          \
		return rocsmith_packed<SIGN short, 16>(a, b, [](int x, int y) { return EXPRESSION; }); \
	}
ROCSMITH_PACKED(add, unsigned, x + y)
ROCSMITH_PACKED(sub, unsigned, x - y)
ROCSMITH_PACKED(minu, unsigned, x < y ? x : y)
ROCSMITH_PACKED(maxu, unsigned, x > y ? x : y)
ROCSMITH_PACKED(mins, signed, x < y ? x : y)
ROCSMITH_PACKED(maxs, signed, x > y ? x : y)
ROCSMITH_PACKED(absdiffu, unsigned, x > y ? x - y : y - x)
ROCSMITH_PACKED(cmpeq, unsigned, x == y ? -1 : 0)
#undef ROCSMITH_PACKED

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

#endif
