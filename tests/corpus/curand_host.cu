// cuRAND: numbers made by the host's interface, quasi-random ones too
#include <curand.h>
#include <cuda_runtime.h>

extern "C" int fill_random(float *uniform, float *normal, unsigned *bits, double *sobol, size_t n)
{
	curandGenerator_t g, q;
	if (curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10) != CURAND_STATUS_SUCCESS)
		return 1;
	curandSetPseudoRandomGeneratorSeed(g, 1234ULL);
	curandSetGeneratorOffset(g, 100);
	curandSetStream(g, 0);
	curandGenerateUniform(g, uniform, n);
	curandGenerateNormal(g, normal, n, 0.0f, 1.0f);
	curandGenerate(g, bits, n);
	curandGeneratePoisson(g, bits, n, 4.0);
	curandCreateGenerator(&q, CURAND_RNG_QUASI_SOBOL32);
	curandSetQuasiRandomGeneratorDimensions(q, 4);
	curandGenerateUniformDouble(q, sobol, n);
	curandDestroyGenerator(q);
	return curandDestroyGenerator(g);
}
