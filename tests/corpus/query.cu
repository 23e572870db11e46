// runtime: a program that lists devices, with main() and no kernel
#include <cuda_runtime.h>
#include <cstdio>

int main()
{
	int count = 0;
	cudaError_t e = cudaGetDeviceCount(&count);
	if (e != cudaSuccess) {
		printf("%s\n", cudaGetErrorString(e));
		return e == cudaErrorNoDevice ? 0 : 1;
	}
	for (int i = 0; i < count; i++) {
		cudaDeviceProp p;
		cudaGetDeviceProperties(&p, i);
		printf("%d: %s, compute capability %d.%d, %zu MiB, %d multiprocessors at %d MHz, bus %x\n", i,
			p.name, p.major, p.minor, p.totalGlobalMem >> 20, p.multiProcessorCount,
			p.clockRate / 1000, p.pciBusID);
		printf("   %d threads in a block, grid %d x %d x %d, %s, %s\n", p.maxThreadsPerBlock,
			p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2],
			p.concurrentKernels ? "concurrent kernels" : "one kernel at a time",
			p.unifiedAddressing ? "unified addresses" : "separate addresses");
	}
	return 0;
}
