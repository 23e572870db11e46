/* Beginning of the headers that stand in for CUDA's. What HIP's headers give to device compilers alone has its
 * layout here, so that host code can hand such numbers on. Made by rocsmith. */
#pragma once

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#include <hip/hip_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifndef __cplusplus
typedef struct rocsmith_half {
	unsigned short x;
} __half;
#endif

#ifndef __HIPCC__
typedef struct __hip_bfloat16 {
	unsigned short data;
} __hip_bfloat16;
typedef struct __hip_bfloat162 {
	__hip_bfloat16 x, y;
} __hip_bfloat162;
#endif
