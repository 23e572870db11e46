// device: vector types, __ldg, wide loads, bit intrinsics, integer dot products
#include <cuda_runtime.h>
#include <vector_types.h>

__device__ __forceinline__ float4 operator+(float4 a, float4 b)
{
	return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void bits(const float4 *in, float4 *out, const unsigned *w, unsigned *r, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	out[i] = __ldg(&in[i]) + make_float4(1, 2, 3, 4);
	unsigned x = __ldg(w + i);
	r[i] = __brev(x) ^ __clz(x) ^ __popc(x) ^ __ffs(x) ^ __byte_perm(x, ~x, 0x5140);
	r[i] += __funnelshift_l(x, x, 7) + __umulhi(x, 0x9e3779b9u) + __usad(x, 5u, 1u);
	r[i] ^= __float_as_uint(__uint_as_float(x)) + (unsigned)__mul24((int)x, 3);
	r[i] += __dp4a((int)x, 0x01010101, (int)r[i]);
	r[i] += __vadd4(x, 0x01010101u);
	longlong2 two = make_longlong2(__popcll(x), __clzll((long long)x));
	r[i] += (unsigned)(two.x + two.y) + __double2int_rn(1.5) + __float2uint_rd(2.5f);
}

extern "C" void bits_run(const float4 *in, float4 *out, const unsigned *w, unsigned *r, int n)
{
	bits<<<(n + 255) / 256, 256>>>(in, out, w, r, n);
}
