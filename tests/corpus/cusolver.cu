// cuSOLVER: LU and eigenvalues of a dense matrix
#include <cusolverDn.h>
#include <cuda_runtime.h>

extern "C" int solve(double *a, double *b, int n)
{
	cusolverDnHandle_t handle;
	int lwork = 0, *pivots, *info;
	double *work, *w;
	if (cusolverDnCreate(&handle) != CUSOLVER_STATUS_SUCCESS)
		return 1;
	cusolverDnDgetrf_bufferSize(handle, n, n, a, n, &lwork);
	cudaMalloc(&work, lwork * sizeof(double));
	cudaMalloc(&pivots, n * sizeof(int));
	cudaMalloc(&info, sizeof(int));
	cusolverDnDgetrf(handle, n, n, a, n, work, pivots, info);
	cusolverDnDgetrs(handle, CUBLAS_OP_N, n, 1, a, n, pivots, b, n, info);
	cudaFree(work);
	cudaMalloc(&w, n * sizeof(double));
	cusolverDnDsyevd_bufferSize(
		handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, a, n, w, &lwork);
	cudaMalloc(&work, lwork * sizeof(double));
	cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, a, n, w, work, lwork, info);
	cudaFree(work);
	cudaFree(w);
	cudaFree(pivots);
	cudaFree(info);
	return cusolverDnDestroy(handle);
}
