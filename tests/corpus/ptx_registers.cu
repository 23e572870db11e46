// inline PTX: special registers that have a counterpart
#include <cuda_runtime.h>

__device__ __forceinline__ unsigned lane_id()
{
	unsigned id;
	asm volatile("mov.u32 %0, %%laneid;" : "=r"(id));
	return id;
}

__device__ unsigned lanes_below()
{
	unsigned mask;
	asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
	return mask;
}

__global__ void ranks(const int *in, unsigned *out, long long *when, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned sm, x, grid;
	long long t;
	asm volatile("mov.u64 %0, %%clock64;" : "=l"(t) :: "memory");
	asm("mov.u32 %0, %%smid;" : "=r"(sm));
	asm("mov.u32 %0, %%tid.x;\n\t" : "=r"(x));
	asm("mov.u32 %0, %%nctaid.x;" : "=r"(grid));
	unsigned votes = __ballot_sync(0xffffffff, i < n && in[i] > 0);
	out[i] = __popc(votes & lanes_below()) + lane_id() * 0 + sm * 0 + x + grid;
	when[i] = t;
}

extern "C" void ranks_run(const int *in, unsigned *out, long long *when, int n)
{
	ranks<<<(n + 255) / 256, 256>>>(in, out, when, n);
}
