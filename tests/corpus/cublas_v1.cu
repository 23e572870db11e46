// cuBLAS: the first interface, without handles, which hipBLAS does not have
#include <cublas.h>
#include <cstdio>

extern "C" int old_product(const float *a, const float *b, float *c, int n)
{
	float *da, *db, *dc;
	if (cublasInit() != CUBLAS_STATUS_SUCCESS) // refused: cublasInit
		return 1;
	cublasAlloc(n * n, sizeof(float), (void **)&da); // refused: cublasAlloc
	cublasAlloc(n * n, sizeof(float), (void **)&db); // refused: cublasAlloc
	cublasAlloc(n * n, sizeof(float), (void **)&dc); // refused: cublasAlloc
	cublasSetMatrix(n, n, sizeof(float), a, n, da, n);
	cublasSetMatrix(n, n, sizeof(float), b, n, db, n);
	cublasSgemm('n', 'n', n, n, n, 1.0f, da, n, db, n, 0.0f, dc, n); // refused: cublasSgemm
	if (cublasGetError() != CUBLAS_STATUS_SUCCESS) // refused: cublasGetError
		fprintf(stderr, "no product\n");
	cublasGetMatrix(n, n, sizeof(float), dc, n, c, n);
	float norm = cublasSnrm2(n * n, dc, 1); // refused: cublasSnrm2
	cublasFree(da); // refused: cublasFree
	cublasFree(db); // refused: cublasFree
	cublasFree(dc); // refused: cublasFree
	cublasShutdown(); // refused: cublasShutdown
	return norm > 0;
}
