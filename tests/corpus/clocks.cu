// device: clock(), clock64(), sleeping
#include <cuda_runtime.h>

__global__ void wait(long long cycles, clock_t *took)
{
	clock_t start = clock();
	long long until = clock64() + cycles;
	while (clock64() < until)
		__nanosleep(100);
	if (threadIdx.x == 0)
		took[blockIdx.x] = clock() - start;
}

extern "C" int busy(int blocks, long long cycles, clock_t *took)
{
	int khz = 0;
	cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
	wait<<<blocks, 32>>>(cycles * khz / 1000, took);
	return cudaDeviceSynchronize();
}
