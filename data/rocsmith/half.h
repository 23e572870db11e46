/* atomicAdd() of 16-bit numbers, which CUDA has and HIP calls unsafeAtomicAdd() or does not have; pairs
 * of bfloat16; a half of a double. Made by rocsmith; a loop over the 32-bit word round the number does for every GPU.
 * Operators and conversions of halves are avoided: extensions of PyTorch are compiled without them. */
#pragma once

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

#ifdef __cplusplus

template <typename T, typename F> static __device__ inline T rocsmith_update(T *p, F f)
{
	unsigned long long at = reinterpret_cast<unsigned long long>(p);
	unsigned *word = reinterpret_cast<unsigned *>(at & ~3ull);
	unsigned shift = sizeof(T) == 2 && (at & 2) ? 16 : 0, mask = sizeof(T) == 2 ? 0xffffu << shift : ~0u;
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

/* Of pairs: __half2, __hip_bfloat162. */
template <typename T> static __device__ inline T rocsmith_hmax2(T a, T b)
{
	return T(__hgt(a.x, b.x) ? a.x : b.x, __hgt(a.y, b.y) ? a.y : b.y);
}

template <typename T> static __device__ inline T rocsmith_hmin2(T a, T b)
{
	return T(__hlt(a.x, b.x) ? a.x : b.x, __hlt(a.y, b.y) ? a.y : b.y);
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

#endif
