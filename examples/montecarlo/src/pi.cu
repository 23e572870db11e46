/* Pi by throwing points at a square: cuRAND's device functions and a block-wide sum. */
#include <curand_kernel.h>

#include "montecarlo/api.h"
#include "montecarlo/reduce.cuh"

namespace
{

__global__ void count_hits(unsigned long long seed, size_t samples, unsigned long long *hits)
{
	size_t thread = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	size_t threads = gridDim.x * (size_t)blockDim.x;
	curandStatePhilox4_32_10_t state;
	curand_init(seed, thread, 0, &state);
	unsigned long long mine = 0;
	for (size_t i = thread; i < samples; i += threads) {
		float x = curand_uniform(&state), y = curand_uniform(&state);
		mine += x * x + y * y <= 1.0f;
	}
	unsigned long long sum = block_sum(mine);
	if (threadIdx.x == 0)
		atomicAdd(hits, sum);
}

} // namespace

const char *mc_pi(unsigned long long seed, size_t samples, double *ret)
{
	device_array<unsigned long long> hits(1);
	MC_TRY(hits.error);
	MC_TRY(cudaMemset(hits.p, 0, sizeof(*hits.p)));
	count_hits<<<64, BLOCK>>>(seed, samples, hits.p);
	MC_TRY(cudaGetLastError());
	unsigned long long n;
	MC_TRY(cudaMemcpy(&n, hits.p, sizeof(n), cudaMemcpyDeviceToHost));
	*ret = samples ? 4.0 * (double)n / (double)samples : 0.0;
	return nullptr;
}

const char *mc_devices(int *ret)
{
	MC_TRY(cudaGetDeviceCount(ret));
	return nullptr;
}
