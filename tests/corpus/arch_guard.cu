// device: __CUDA_ARCH__, with a path for old GPUs
#include <cuda_runtime.h>

__host__ __device__ int where()
{
#ifdef __CUDA_ARCH__
	return 1;
#else
	return 0;
#endif
}

__device__ double add(double *p, double x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600
	return atomicAdd(p, x);
#else
	unsigned long long *bits = (unsigned long long *)p, old = *bits, seen;
	do {
		seen = old;
		old = atomicCAS(bits, seen, __double_as_longlong(x + __longlong_as_double(seen)));
	} while (seen != old);
	return __longlong_as_double(old);
#endif
}

__global__ void sum(const double *in, double *out, int n)
{
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		add(out, in[i] * where());
}

extern "C" int sum_run(const double *in, double *out, int n)
{
	sum<<<1, 256>>>(in, out, n);
	return where();
}
