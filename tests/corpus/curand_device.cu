// cuRAND: generators in kernels
#include <curand_kernel.h>

__global__ void seed(curandStatePhilox4_32_10_t *s, curandState *x, unsigned long long n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	curand_init(n, i, 0, &s[i]);
	curand_init(n, i, 0, &x[i]);
}

__global__ void walk(curandStatePhilox4_32_10_t *s, curandState *x, float *out, int steps)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	curandStatePhilox4_32_10_t mine = s[i];
	float at = 0;
	for (int k = 0; k < steps; k++) {
		float4 four = curand_normal4(&mine);
		at += four.x + four.y + four.z + four.w;
	}
	at += curand_uniform(&x[i]) + curand_normal(&x[i]) + curand_log_normal(&x[i], 0.0f, 1.0f);
	at += curand(&x[i]) % 7 + (float)curand_uniform_double(&x[i]) + curand_poisson(&x[i], 2.0);
	skipahead(10ULL, &mine);
	s[i] = mine;
	out[i] = at;
}

extern "C" void walk_run(curandStatePhilox4_32_10_t *s, curandState *x, float *out, int n)
{
	seed<<<n / 64, 64>>>(s, x, 42);
	walk<<<n / 64, 64>>>(s, x, out, 100);
}
