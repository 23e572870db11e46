/* min() and max() of two integer types, which CUDA compares as C++ adds them. HIP's for the device compare such pairs as
 * numbers of type double, which are no index, and have -1 below 5u. And CUDA's umin() and its kin. Made by rocsmith; included by translated sources that
 * call min() or max(); the host has its own (__HIP_DEFINE_MIXED_HOST_MIN_MAX__). */
#pragma once

#include <hip/hip_runtime.h>

#ifdef __cplusplus

#define ROCSMITH_PAIR(A, B)                                                                        \
	static __device__ inline auto min(A a, B b)->decltype(a + b)                               \
	{                                                                                          \
		decltype(a + b) x = a, y = b;                                                      \
		return x < y ? x : y;                                                              \
	}                                                                                          \
	static __device__ inline auto max(A a, B b)->decltype(a + b)                               \
	{                                                                                          \
		decltype(a + b) x = a, y = b;                                                      \
		return x > y ? x : y;                                                              \
	}
#define ROCSMITH_PAIRS(A, B)                                                                       \
	ROCSMITH_PAIR(A, B)                                                                        \
	ROCSMITH_PAIR(B, A)
#define ROCSMITH_SMALL(A)                                                                          \
	ROCSMITH_PAIRS(A, int)                                                                     \
	ROCSMITH_PAIRS(A, unsigned)
ROCSMITH_SMALL(char)
ROCSMITH_SMALL(signed char)
ROCSMITH_SMALL(unsigned char)
ROCSMITH_SMALL(short)
ROCSMITH_SMALL(unsigned short)
ROCSMITH_PAIRS(int, unsigned)
ROCSMITH_PAIRS(long, unsigned long)
ROCSMITH_PAIRS(long long, unsigned long long)
#define ROCSMITH_NAMED(NAME, T, OPERATOR)                                                          \
	static __host__ __device__ inline T NAME(T a, T b) { return a OPERATOR b ? a : b; }
ROCSMITH_NAMED(umin, unsigned, <)
ROCSMITH_NAMED(umax, unsigned, >)
ROCSMITH_NAMED(llmin, long long, <)
ROCSMITH_NAMED(llmax, long long, >)
ROCSMITH_NAMED(ullmin, unsigned long long, <)
ROCSMITH_NAMED(ullmax, unsigned long long, >)
#undef ROCSMITH_NAMED
#undef ROCSMITH_SMALL
#undef ROCSMITH_PAIRS
#undef ROCSMITH_PAIR

#endif
