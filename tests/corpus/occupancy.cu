// runtime: occupancy, attributes of kernels and devices
#include <cuda_runtime.h>
#include <cstdio>

__global__ void __launch_bounds__(256, 2) work(float *p)
{
	extern __shared__ float tile[];
	tile[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	p[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

extern "C" int best_block(size_t shared)
{
	int blocks = 0, grid = 0, block = 0, device = 0, sms = 0;
	cudaFuncAttributes attributes;
	cudaDeviceProp prop;
	cudaGetDevice(&device);
	cudaGetDeviceProperties(&prop, device);
	cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
	cudaFuncGetAttributes(&attributes, work);
	cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
	cudaOccupancyMaxPotentialBlockSize(&grid, &block, work, shared, 0);
	cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, work, block, shared);
	printf("%s: %d SMs, warp %d, %zu bytes of shared memory, %d registers\n", prop.name, sms,
		prop.warpSize, prop.sharedMemPerBlock, attributes.numRegs);
	return blocks * block;
}
