// types: atomicAdd of half, half2, bfloat16 and bfloat162
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void scatter(const int *at, const __half *h, __half *sum, __half2 *sum2, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	atomicAdd(&sum[at[i]], h[i]);
	atomicAdd(&sum2[at[i] / 2], __half2half2(h[i]));
}

__global__ void scatter_bf16(const int *at, const __nv_bfloat16 *h, __nv_bfloat16 *sum, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		atomicAdd(sum + at[i], h[i]);
		atomicAdd((__nv_bfloat162 *)sum, __bfloat162bfloat162(h[i]));
	}
}

extern "C" void scatter_run(const int *at, const __half *h, __half *sum, int n)
{
	scatter<<<(n + 255) / 256, 256>>>(at, h, sum, (__half2 *)sum, n);
}
