// inline PTX: asynchronous copies into shared memory (Ampere)
#include <cuda_runtime.h>

__global__ void staged(const float4 *in, float4 *out)
{
	__shared__ float4 tile[128];
	unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x])); // refused: __cvta_generic_to_shared
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" :: "r"(to), "l"(in + threadIdx.x)); // refused: cp.async
	asm volatile("cp.async.commit_group;\n" ::); // refused: cp.async
	asm volatile("cp.async.wait_group %0;\n" :: "n"(0)); // refused: cp.async
	__syncthreads();
	out[threadIdx.x] = tile[127 - threadIdx.x];
}

extern "C" void staged_run(const float4 *in, float4 *out) { staged<<<1, 128>>>(in, out); }
