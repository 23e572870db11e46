// device: printf, assert and trap in a kernel
#include <cassert>
#include <cstdio>

__global__ void checked(const int *p, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	assert(n > 0);
	if (i < n && p[i] < 0)
		printf("block %u thread %u: %d\n", blockIdx.x, threadIdx.x, p[i]);
	if (i == 0 && p[0] == -12345)
		__trap();
}

extern "C" int check_all(const int *p, int n)
{
	size_t bytes = 0;
	cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20);
	cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize);
	checked<<<(n + 127) / 128, 128>>>(p, n);
	return cudaDeviceSynchronize();
}
