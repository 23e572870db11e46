// inline PTX: a matrix instruction of NVIDIA's tensor cores, which no other GPU has
#include <cuda_fp16.h>

__device__ void mma(float c[4], const unsigned a[4], const unsigned b[2])
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " // refused: mma
				 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
				 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
				 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void load(unsigned r[4], const void *p)
{
	unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(p)); // refused: __cvta_generic_to_shared
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" // refused: ldmatrix
				 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}

__global__ void product(const half *a, float *out)
{
	__shared__ half tile[256];
	tile[threadIdx.x] = a[threadIdx.x];
	__syncthreads();
	unsigned x[4], y[2] = {0, 0};
	float c[4] = {0, 0, 0, 0};
	load(x, tile);
	mma(c, x, y);
	out[threadIdx.x] = c[0] + c[1];
}

extern "C" void product_run(const half *a, float *out) { product<<<1, 256>>>(a, out); }
