// runtime: cudaLaunchKernelEx with a cluster of blocks, which no AMD GPU has
#include <cuda_runtime.h>

__global__ void part(float *p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

extern "C" int clustered(float *p)
{
	cudaLaunchConfig_t config = {};
	config.gridDim = dim3(16);
	config.blockDim = dim3(128);
	cudaLaunchAttribute attribute[1];
	attribute[0].id = cudaLaunchAttributeClusterDimension; // refused: cudaLaunchAttributeClusterDimension
	attribute[0].val.clusterDim.x = 2;
	attribute[0].val.clusterDim.y = 1;
	attribute[0].val.clusterDim.z = 1;
	config.attrs = attribute;
	config.numAttrs = 1;
	return cudaLaunchKernelEx(&config, part, p); // refused: cudaLaunchKernelEx
}
