// runtime: constant and device symbols, of arrays, structs and inside of a namespace
#include <cuda_runtime.h>

namespace filter {
__constant__ float taps[16];
__device__ unsigned calls;
struct shape { int width, height; };
__constant__ shape frame;
} // namespace filter

__global__ void convolve(const float *in, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= filter::frame.width)
		return;
	float sum = 0;
	for (int k = 0; k < 16; k++)
		sum += filter::taps[k] * in[(i + k) % filter::frame.width];
	out[i] = sum;
	atomicAdd(&filter::calls, 1u);
}

extern "C" unsigned convolve_run(const float *taps, const float *in, float *out, int width)
{
	filter::shape s = {width, 1};
	unsigned calls = 0;
	void *where;
	size_t size;
	cudaMemcpyToSymbol(filter::taps, taps, sizeof(filter::taps));
	cudaMemcpyToSymbol(filter::frame, &s, sizeof(s), 0, cudaMemcpyHostToDevice);
	cudaMemcpyToSymbolAsync(filter::calls, &calls, sizeof(calls));
	convolve<<<(width + 63) / 64, 64>>>(in, out);
	cudaMemcpyFromSymbol(&calls, filter::calls, sizeof(calls));
	cudaGetSymbolAddress(&where, filter::taps);
	cudaGetSymbolSize(&size, filter::taps);
	return calls + (size == sizeof(filter::taps)) + (where != nullptr);
}
