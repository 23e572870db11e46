/* cuComplex.h's division, and the absolute value of floats. HIP's (6.4 and 7.2) square what they are given: |1e30 + i| is infinite for them, and
 * 1 / (1e-30 + 1e-30 i) is no number; CUDA's are scaled. Made by rocsmith; for C, too, and for the host's compiler.
 */
#pragma once

#include <hip/hip_complex.h>
#include <math.h>

#define ROCSMITH_DIVIDE(NAME, C, T, ABS)                                                           \
	static __host__ __device__ inline C NAME(C a, C b)                                         \
	{                                                                                          \
		T scale = ABS(b.x) + ABS(b.y), x = b.x / scale, y = b.y / scale,                   \
		  n = x * x + y * y;                                                               \
		T re = a.x / scale, im = a.y / scale;                                              \
		C r = {(re * x + im * y) / n, (im * x - re * y) / n};                              \
		return r;                                                                          \
	}
ROCSMITH_DIVIDE(rocsmith_cuCdivf, hipFloatComplex, float, fabsf)
ROCSMITH_DIVIDE(rocsmith_cuCdiv, hipDoubleComplex, double, fabs)
#undef ROCSMITH_DIVIDE

static __host__ __device__ inline float rocsmith_cuCabsf(hipFloatComplex a)
{
	return hypotf(a.x, a.y);
}
