// runtime: pinned, mapped, registered and asynchronously allocated memory
#include <cuda_runtime.h>
#include <cstdlib>

__global__ void add_one(int *p, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		p[i]++;
}

extern "C" int memory_kinds(int n)
{
	int *pinned, *mapped, *seen, *async;
	int *plain = static_cast<int *>(aligned_alloc(4096, (n * sizeof(int) + 4095) / 4096 * 4096));
	cudaStream_t stream;
	cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
	cudaMallocHost(&pinned, n * sizeof(int));
	cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped | cudaHostAllocPortable);
	cudaHostGetDevicePointer(&seen, mapped, 0);
	cudaHostRegister(plain, n * sizeof(int), cudaHostRegisterDefault);
	cudaMallocAsync(&async, n * sizeof(int), stream);
	cudaMemsetAsync(async, 0, n * sizeof(int), stream);
	add_one<<<(n + 255) / 256, 256, 0, stream>>>(async, n);
	add_one<<<(n + 255) / 256, 256, 0, stream>>>(seen, n);
	cudaMemcpyAsync(pinned, async, n * sizeof(int), cudaMemcpyDefault, stream);
	cudaMemcpyAsync(plain, async, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
	cudaFreeAsync(async, stream);
	cudaStreamSynchronize(stream);
	cudaPointerAttributes attributes;
	cudaPointerGetAttributes(&attributes, pinned);
	int result = pinned[0] + (attributes.type == cudaMemoryTypeHost);
	cudaHostUnregister(plain);
	cudaFreeHost(pinned);
	cudaFreeHost(mapped);
	cudaStreamDestroy(stream);
	free(plain);
	return result;
}
