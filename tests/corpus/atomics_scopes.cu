// device: atomics of a block, of the device, of the system; compare-and-swap loops
#include <cuda_runtime.h>

__device__ double add_double(double *p, double x)
{
	unsigned long long *bits = (unsigned long long *)p, old = *bits, seen;
	do {
		seen = old;
		old = atomicCAS(bits, seen, __double_as_longlong(x + __longlong_as_double(seen)));
	} while (seen != old);
	return __longlong_as_double(old);
}

__global__ void count(const int *in, int *bins, int *flag, double *sum, int n)
{
	__shared__ int local[64];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (threadIdx.x < 64)
		local[threadIdx.x] = 0;
	__syncthreads();
	if (i < n) {
		atomicAdd_block(&local[in[i] & 63], 1);
		atomicMax_block(&local[0], in[i] & 1);
		add_double(sum, in[i]);
	}
	__threadfence_block();
	__syncthreads();
	if (threadIdx.x < 64)
		atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
	__threadfence_system();
	atomicExch_system(flag, 1);
	atomicAdd_system(flag, 1);
	atomicCAS_block(flag, 2, 3);
	atomicInc((unsigned *)flag, 100u);
	atomicSub(flag, 1);
	atomicOr_block(flag, 4);
}

extern "C" void count_run(const int *in, int *bins, int *flag, double *sum, int n)
{
	count<<<(n + 255) / 256, 256>>>(in, bins, flag, sum, n);
}
