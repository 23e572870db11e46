// runtime: streams with priorities, events, waiting, time between events
#include <cuda_runtime.h>

__global__ void spin(float *p, int n)
{
	float x = threadIdx.x;
	for (int i = 0; i < n; i++)
		x = x * 1.0001f + 0.5f;
	p[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

extern "C" float overlap(float *a, float *b, int n)
{
	int least, greatest;
	float ms = 0;
	cudaStream_t s[2];
	cudaEvent_t start, stop, half;
	cudaDeviceGetStreamPriorityRange(&least, &greatest);
	cudaStreamCreateWithPriority(&s[0], cudaStreamDefault, greatest);
	cudaStreamCreateWithPriority(&s[1], cudaStreamNonBlocking, least);
	cudaEventCreate(&start);
	cudaEventCreateWithFlags(&stop, cudaEventBlockingSync);
	cudaEventCreateWithFlags(&half, cudaEventDisableTiming | cudaEventInterprocess);
	cudaEventRecord(start, s[0]);
	spin<<<64, 128, 0, s[0]>>>(a, n);
	cudaEventRecord(half, s[0]);
	cudaStreamWaitEvent(s[1], half, 0);
	spin<<<64, 128, 0, s[1]>>>(b, n);
	cudaEventRecord(stop, s[1]);
	while (cudaEventQuery(stop) == cudaErrorNotReady)
		continue;
	cudaEventSynchronize(stop);
	cudaEventElapsedTime(&ms, start, stop);
	for (cudaStream_t each : s)
		cudaStreamDestroy(each);
	cudaEventDestroy(start);
	cudaEventDestroy(half);
	cudaEventDestroy(stop);
	return ms;
}
