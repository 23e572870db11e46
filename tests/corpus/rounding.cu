// device: arithmetic rounded up, down and toward zero; comparisons, averages and sums of packed bytes
__global__ void interval(float *low, float *high, const double *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	double d = __dadd_rd(x[i], __dmul_ru(x[i], 0.1)), r = __fma_rz(d, d, __dsqrt_rd(d));
	float f = static_cast<float>(r);
	low[i] = __fsub_rd(__fdiv_rd(f, 3.0f), __frcp_ru(f));
	high[i] = __fmaf_ru(f, f, __fsqrt_ru(f));
	float q;
	asm("div.rz.f32 %0, %1, %2;" : "=f"(q) : "f"(f), "f"(3.0f));
	high[i] += q;
}

__global__ void packed(unsigned *p, const unsigned *q)
{
	unsigned i = threadIdx.x, first;
	p[i] = __vcmpgtu4(p[i], q[i]) & __vavgu4(p[i], q[i]);
	p[i] += __vaddss2(p[i], q[i]) + __vabsss4(q[i]) + __vseteq2(p[i], q[i]) + __vsadu4(p[i], q[i]);
	asm("bfind.u32 %0, %1;" : "=r"(first) : "r"(q[i]));
	p[i] ^= first;
}
