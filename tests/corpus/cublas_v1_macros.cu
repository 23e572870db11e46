// cuBLAS: the first interface behind macros of the project
#include <cublas.h>

typedef float real;
#define GEMM cublasSgemm // refused: cublasSgemm
#define NORM(n, x) cublasSnrm2(n, x, 1) // refused: cublasSnrm2

extern "C" float product(const real *a, const real *b, real *c, int n)
{
	GEMM('n', 't', n, n, n, 1, a, n, b, n, 0, c, n);
	return NORM(n, c);
}
