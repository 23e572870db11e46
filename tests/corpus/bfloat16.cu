// types: bfloat16 arithmetic and conversions, on the host too
#include <cuda_bf16.h>
#include <vector>

__global__ void rmsnorm(const __nv_bfloat16 *in, const nv_bfloat16 *w, __nv_bfloat16 *out, int n)
{
	__shared__ float total;
	if (threadIdx.x == 0)
		total = 0;
	__syncthreads();
	float sum = 0;
	for (int i = threadIdx.x; i < n; i += blockDim.x) {
		float x = __bfloat162float(in[blockIdx.x * n + i]);
		sum += x * x;
	}
	atomicAdd(&total, sum);
	__syncthreads();
	__nv_bfloat16 scale = __float2bfloat16(rsqrtf(total / n + 1e-6f));
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		out[blockIdx.x * n + i] = __hmul(__hmul(in[blockIdx.x * n + i], scale), w[i]);
	__nv_bfloat162 two = __floats2bfloat162_rn(1.0f, 2.0f);
	if (__hgt(__low2bfloat16(two), __high2bfloat16(two)))
		out[0] = __float2bfloat16_rn(__low2float(two));
}

extern "C" void rmsnorm_run(const __nv_bfloat16 *in, __nv_bfloat16 *w, __nv_bfloat16 *out, int n)
{
	std::vector<__nv_bfloat16> ones(n, __float2bfloat16(1.0f));
	cudaMemcpy(w, ones.data(), n * sizeof(ones[0]), cudaMemcpyHostToDevice);
	rmsnorm<<<64, 256>>>(in, w, out, n);
}
