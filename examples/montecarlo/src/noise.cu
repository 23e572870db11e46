/* Normal noise from the cuRAND library, and its moments by block-wide sums. */
#include <curand.h>

#include "montecarlo/api.h"
#include "montecarlo/reduce.cuh"

namespace
{

__global__ void sum_moments(const float *values, size_t n, double *sums)
{
	double sum = 0, squares = 0;
	size_t threads = gridDim.x * (size_t)blockDim.x;
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += threads) {
		double v = values[i];
		sum += v;
		squares += v * v;
	}
	sum = block_sum(sum);
	squares = block_sum(squares);
	if (threadIdx.x == 0) {
		atomicAdd(&sums[0], sum);
		atomicAdd(&sums[1], squares);
	}
}

struct generator {
	curandGenerator_t g = nullptr;
	curandStatus_t status;

	generator(unsigned long long seed)
	{
		status = curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10);
		if (status == CURAND_STATUS_SUCCESS)
			status = curandSetPseudoRandomGeneratorSeed(g, seed);
	}
	~generator()
	{
		if (g)
			curandDestroyGenerator(g);
	}
	generator(const generator &) = delete;
	generator &operator=(const generator &) = delete;
};

} // namespace

const char *mc_noise(unsigned long long seed, size_t samples, struct mc_moments *ret)
{
	size_t even = samples + samples % 2; /* normal numbers come in pairs */
	device_array<float> values(even ? even : 2);
	MC_TRY(values.error);
	device_array<double> sums(2);
	MC_TRY(sums.error);
	MC_TRY(cudaMemset(sums.p, 0, 2 * sizeof(double)));
	generator gen(seed);
	if (gen.status != CURAND_STATUS_SUCCESS)
		return "cannot make a random number generator";
	if (even && curandGenerateNormal(gen.g, values.p, even, 0.0f, 1.0f) != CURAND_STATUS_SUCCESS)
		return "cannot generate random numbers";
	sum_moments<<<64, BLOCK>>>(values.p, samples, sums.p);
	MC_TRY(cudaGetLastError());
	double s[2];
	MC_TRY(cudaMemcpy(s, sums.p, sizeof(s), cudaMemcpyDeviceToHost));
	ret->mean = samples ? s[0] / (double)samples : 0.0;
	ret->variance = samples ? s[1] / (double)samples - ret->mean * ret->mean : 0.0;
	return nullptr;
}
