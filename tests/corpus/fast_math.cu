// device: fast and rounded math functions, special values
#include <cuda_runtime.h>
#include <math_constants.h>

__global__ void special(const float *in, float *out, double *d, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float x = in[i], s, c;
	sincospif(x, &s, &c);
	__sincosf(x, &s, &c);
	out[i] = __expf(x) + __logf(x) + __powf(x, 2.0f) + __fdividef(s, c) + rsqrtf(x) + __frsqrt_rn(x);
	out[i] += __fadd_rn(x, 1.0f) + __fmul_rn(x, 2.0f) + __fmaf_rn(x, x, x) + __saturatef(x);
	out[i] += rcbrtf(x) + normcdff(x) + erfcinvf(x) + j0f(x) + cyl_bessel_i0f(x) + lgammaf(x);
	out[i] = isinf(out[i]) ? CUDART_INF_F : fminf(out[i], CUDART_MAX_NORMAL_F);
	d[i] = __dadd_rn(x, CUDART_PI) + __dmul_rn(x, 2.0) + __fma_rn(x, x, x) + norm3d(x, s, c);
	d[i] += __hiloint2double(__double2hiint(d[i]), __double2loint(d[i]));
	d[i] += copysign(1.0, x) + ldexp(x, 3) + nextafterf(x, CUDART_NAN_F) + exp10(x);
}

extern "C" void special_run(const float *in, float *out, double *d, int n)
{
	special<<<(n + 255) / 256, 256>>>(in, out, d, n);
}
