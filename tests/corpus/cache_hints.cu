// device: loads and stores with hints for the caches
#include <cuda_runtime.h>
#include <cuda_fp16.h>

__global__ void copy(const float4 *a, float4 *b, const int *n, volatile int *done, const __half *h, __half *g)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	while (__ldcv(n) == 0)
		;
	if (i >= __ldg(n))
		return;
	float4 x = __ldcs(a + i), y = __ldcg(a + i), z = __ldca(a + i);
	__stcs(b + i, make_float4(x.x + y.x + z.x, __ldlu((const float *)a), 0, 0));
	__stcg((int *)b + i, 0);
	__stwb((double *)b + i, 1.0);
	__stwt((int *)done, 1);
	g[i] = __ldcg(h + i);
}
