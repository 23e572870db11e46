/* Surface functions with CUDA's last argument, which says what becomes of an access outside of the surface, and those that
 * return what they read. The hardware drops such a write and reads 0, as cudaBoundaryModeZero asks; what asks for the
 * nearest texel ends the kernel, since that would be another result. Made by rocsmith. */
#pragma once

#include <hip/hip_runtime.h>

#ifdef __cplusplus

static __device__ inline void rocsmith_boundary(hipSurfaceBoundaryMode mode)
{
	if (mode == hipBoundaryModeClamp)
		__builtin_trap();
}

#define ROCSMITH_SURFACE(NAME, PARAMETERS, ...)                                                    \
	template <typename T>                                                                      \
	static __device__ inline void NAME##write(                                                 \
		T x_, hipSurfaceObject_t surface, PARAMETERS, hipSurfaceBoundaryMode mode)         \
	{                                                                                          \
		rocsmith_boundary(mode);                                                           \
		NAME##write(x_, surface, __VA_ARGS__);                                             \
	}                                                                                          \
	template <typename T>                                                                      \
	static __device__ inline void NAME##read(                                                  \
		T *x_, hipSurfaceObject_t surface, PARAMETERS, hipSurfaceBoundaryMode mode)        \
	{                                                                                          \
		rocsmith_boundary(mode);                                                           \
		NAME##read(x_, surface, __VA_ARGS__);                                              \
	}                                                                                          \
	template <typename T>                                                                      \
	static __device__ inline T NAME##read(hipSurfaceObject_t surface, PARAMETERS,              \
		hipSurfaceBoundaryMode mode = hipBoundaryModeTrap)                                 \
	{                                                                                          \
		T x_;                                                                              \
		rocsmith_boundary(mode);                                                           \
		NAME##read(&x_, surface, __VA_ARGS__);                                             \
		return x_;                                                                         \
	}
#define ROCSMITH_AND ,
ROCSMITH_SURFACE(surf1D, int x, x)
ROCSMITH_SURFACE(surf2D, int x ROCSMITH_AND int y, x, y)
ROCSMITH_SURFACE(surf3D, int x ROCSMITH_AND int y ROCSMITH_AND int z, x, y, z)
ROCSMITH_SURFACE(surf1DLayered, int x ROCSMITH_AND int layer, x, layer)
ROCSMITH_SURFACE(surf2DLayered, int x ROCSMITH_AND int y ROCSMITH_AND int layer, x, y, layer)
#undef ROCSMITH_AND
#undef ROCSMITH_SURFACE

#endif
