// device: a matrix product with tiles in shared memory, unrolled loops, launch bounds
#include <cuda_runtime.h>

#define TILE 16

template <typename T>
__global__ __launch_bounds__(TILE *TILE) void matmul(const T *__restrict__ a, const T *__restrict__ b,
	T *__restrict__ c, int n)
{
	__shared__ T as[TILE][TILE + 1], bs[TILE][TILE + 1];
	const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
	T sum = 0;
	for (int t = 0; t < n; t += TILE) {
		as[threadIdx.y][threadIdx.x] = row < n && t + threadIdx.x < n ? a[row * n + t + threadIdx.x] : T(0);
		bs[threadIdx.y][threadIdx.x] = col < n && t + threadIdx.y < n ? b[(t + threadIdx.y) * n + col] : T(0);
		__syncthreads();
#pragma unroll
		for (int k = 0; k < TILE; k++)
			sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
		__syncthreads();
	}
	if (row < n && col < n)
		c[row * n + col] = sum;
}

extern "C" int matmul_f32(const float *a, const float *b, float *c, int n)
{
	dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
	cudaFuncSetCacheConfig(matmul<float>, cudaFuncCachePreferShared);
	matmul<float><<<grid, block>>>(a, b, c, n);
	return cudaGetLastError();
}
