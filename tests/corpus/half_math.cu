// types: half and half2 arithmetic, conversions, comparisons
#include <cuda_fp16.h>

__global__ void gelu(const half *in, half *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	half x = in[i], c = __float2half(0.7978845608f);
	half inner = __hmul(c, __hfma(__hmul(x, __hmul(x, x)), __float2half_rn(0.044715f), x));
	float t = tanhf(__half2float(inner));
	out[i] = __hmul(__hmul(__float2half(0.5f), x), __hadd(__float2half(1.0f), __float2half(t)));
	if (__hgt(out[i], __ushort_as_half(0x7bff)) || __hisnan(out[i]))
		out[i] = hexp(hsqrt(__int2half_rn(4)));
}

__global__ void dot2(const half2 *a, const __half2 *b, float *out, int n)
{
	half2 sum = __float2half2_rn(0.0f);
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		sum = __hfma2(a[i], b[i], sum);
	sum = __hmax2(sum, __halves2half2(__low2half(sum), __high2half(sum)));
	float2 f = __half22float2(sum);
	atomicAdd(out, f.x + f.y + __low2float(sum));
}

extern "C" void half_run(const half *in, half *out, float *sum, int n)
{
	gelu<<<(n + 255) / 256, 256>>>(in, out, n);
	dot2<<<1, 128>>>((const half2 *)in, (const half2 *)out, sum, n / 2);
}
