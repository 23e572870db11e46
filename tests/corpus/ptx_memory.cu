// inline PTX: fences, barriers, cached loads and stores, reductions in memory
#include <cuda_runtime.h>

__device__ __forceinline__ float load_once(const float *p)
{
	float x;
	asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(x) : "l"(p));
	return x;
}

__device__ __forceinline__ void store_once(int *p, int x)
{
	asm volatile("st.global.cs.s32 [%0], %1;" :: "l"(p), "r"(x) : "memory");
}

__device__ __forceinline__ int load_acquire(const int *p)
{
	int x;
	asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
	return x;
}

__global__ void ring(const float *in, float *out, int *flag, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = load_once(in + i);
	asm volatile("membar.gl;" ::: "memory");
	asm volatile("bar.sync 0;");
	if (threadIdx.x == 0) {
		asm volatile("red.global.add.s32 [%0], %1;" :: "l"(flag), "r"(1) : "memory");
		while (load_acquire(flag) < (int)gridDim.x)
			asm volatile("nanosleep.u32 %0;" :: "r"(20));
		asm volatile("fence.acq_rel.gpu;" ::: "memory");
		store_once(flag + 1, 1);
	}
	asm volatile("prefetch.global.L2 [%0];" :: "l"(in));
	asm volatile("" ::: "memory");
	asm volatile("membar.sys;\n\tmembar.cta;");
}

extern "C" void ring_run(const float *in, float *out, int *flag, int n)
{
	ring<<<(n + 255) / 256, 256>>>(in, out, flag, n);
}
