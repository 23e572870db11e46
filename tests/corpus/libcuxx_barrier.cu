// libcu++: barriers and pipelines of a block
#include <cuda/barrier> // refused: cuda/barrier
#include <cuda/pipeline> // refused: cuda/pipeline

__global__ void staged(const float *in, float *out)
{
	__shared__ float tile[128];
	__shared__ cuda::barrier<cuda::thread_scope_block> bar; // refused: cuda::barrier
	if (threadIdx.x == 0)
		init(&bar, blockDim.x);
	__syncthreads();
	cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float), bar); // refused: cuda::memcpy_async
	bar.arrive_and_wait();
	out[threadIdx.x] = tile[127 - threadIdx.x];
}

extern "C" void staged_run(const float *in, float *out) { staged<<<1, 128>>>(in, out); }
