/* A sum over the threads of a block, in shared memory, and how errors leave a function. */
#pragma once

#include <cuda_runtime.h>

enum { BLOCK = 256 }; /* threads in a block; a power of two */

/* The sum of `value` over all threads of the block, in thread 0. All threads must call it. It asks
 * nothing of the warp size, so it is right for 32 lanes and for 64. */
template <typename T> __device__ T block_sum(T value)
{
	__shared__ T part[BLOCK];
	part[threadIdx.x] = value;
	__syncthreads();
	for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	T sum = part[0];
	__syncthreads(); /* so that the next call may write */
	return sum;
}

/* Device memory that frees itself. */
template <typename T> struct device_array {
	T *p = nullptr;
	cudaError_t error;

	explicit device_array(size_t n) : error(cudaMalloc(&p, n * sizeof(T)))
	{
	}
	~device_array()
	{
		if (p)
			(void)cudaFree(p);
	}
	device_array(const device_array &) = delete;
	device_array &operator=(const device_array &) = delete;
};

#define MC_TRY(call)                                                                               \
	do {                                                                                       \
		cudaError_t mc_error_ = (call);                                                    \
		if (mc_error_ != cudaSuccess)                                                      \
			return cudaGetErrorString(mc_error_);                                      \
	} while (0)
