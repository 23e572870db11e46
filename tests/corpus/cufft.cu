// cuFFT: plans in one and two dimensions, real and complex, many at once
#include <cufft.h>
#include <cuda_runtime.h>

__global__ void damp(cufftComplex *f, int n, float by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		f[i].x *= by;
		f[i].y *= by;
	}
}

extern "C" int smooth(cufftReal *signal, cufftComplex *spectrum, int n, int batch, cudaStream_t s)
{
	cufftHandle forward, backward, plane;
	int size[] = {n};
	if (cufftPlan1d(&forward, n, CUFFT_R2C, batch) != CUFFT_SUCCESS)
		return 1;
	cufftPlanMany(&backward, 1, size, nullptr, 1, n, nullptr, 1, n, CUFFT_C2R, batch);
	cufftPlan2d(&plane, n, n, CUFFT_Z2Z);
	cufftSetStream(forward, s);
	cufftExecR2C(forward, signal, spectrum);
	damp<<<(n + 255) / 256, 256, 0, s>>>(spectrum, n / 2 + 1, 1.0f / n);
	cufftResult r = cufftExecC2R(backward, spectrum, signal);
	cufftDestroy(forward);
	cufftDestroy(backward);
	cufftDestroy(plane);
	return r == CUFFT_SUCCESS ? 0 : CUFFT_INTERNAL_ERROR;
}
