// types: cuComplex and its functions
#include <cuComplex.h>

__global__ void mandelbrot(unsigned char *out, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	if (x >= w)
		return;
	cuFloatComplex c = make_cuFloatComplex(3.0f * x / w - 2.0f, 2.0f * y / h - 1.0f), z = c;
	int i = 0;
	for (; i < 255 && cuCabsf(z) < 2.0f; i++)
		z = cuCaddf(cuCmulf(z, z), c);
	out[y * w + x] = i;
}

__global__ void phases(cuDoubleComplex *v, int n)
{
	int i = threadIdx.x;
	if (i < n)
		v[i] = cuCdiv(cuCmul(v[i], cuConj(v[i])), make_cuDoubleComplex(cuCreal(v[i]), cuCimag(v[i]) + 1));
}

extern "C" void mandelbrot_run(unsigned char *out, int w, int h, cuDoubleComplex *v)
{
	mandelbrot<<<dim3((w + 63) / 64, h), 64>>>(out, w, h);
	phases<<<1, 64>>>(v, 64);
}
