// device: a kernel that launches kernels, which HIP cannot
#include <cuda_runtime.h>

__global__ void leaf(int *p, int depth) { p[threadIdx.x] += depth; }

__global__ void tree(int *p, int depth)
{
	if (threadIdx.x == 0 && depth > 0) {
		tree<<<1, 32>>>(p, depth - 1); // refused: <<<
		leaf<<<1, 32>>>(p, depth); // refused: <<<
	}
}

extern "C" int tree_run(int *p, int depth)
{
	tree<<<1, 32>>>(p, depth);
	return cudaDeviceSynchronize();
}
