// runtime: kernels launched by function, a table of kernels, template kernels
#include <cuda_runtime.h>

template <typename T, int BLOCK> __global__ void fill(T *p, T value, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;
	if (i < n)
		p[i] = value;
}

typedef void (*fill_fn)(float *, float, int);

extern "C" int launches(float *p, double *q, int n)
{
	static const fill_fn table[] = {fill<float, 64>, fill<float, 128>};
	float value = 1;
	void *args[] = {&p, &value, &n};
	dim3 grid((n + 127) / 128), block(128);
	cudaLaunchKernel((const void *)table[1], grid, block, args, 0, 0);
	table[0]<<<(n + 63) / 64, 64>>>(p, 2.0f, n);
	fill<double, 256><<<(n + 255) / 256, 256>>>(q, 3.0, n);
	return cudaPeekAtLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
}
