// cuBLAS: GemmEx with a data type to compute in, as before CUDA 11; SgemmEx and CgemmEx
#include <cublas_v2.h>

extern "C" cublasStatus_t products(cublasHandle_t h, const void *a, const void *b, void *c, int n)
{
	const float alpha = 1.0f, beta = 0.0f;
	const cuComplex one = make_cuComplex(1, 0), zero = make_cuComplex(0, 0);
	cudaDataType compute = CUDA_R_32F;
	cublasStatus_t s = cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, a, CUDA_R_16F, n, b,
		CUDA_R_16F, n, &beta, c, CUDA_R_16F, n, compute, CUBLAS_GEMM_DFALT);
	if (s == CUBLAS_STATUS_SUCCESS)
		s = cublasSgemmEx(h, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &alpha, a, CUDA_R_16F, n, b, CUDA_R_16F, n,
			&beta, c, CUDA_R_32F, n);
	if (s == CUBLAS_STATUS_SUCCESS)
		s = cublasCgemmEx(h, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, a, CUDA_C_32F, n, b, CUDA_C_32F, n,
			&zero, c, CUDA_C_32F, n);
	if (s == CUBLAS_STATUS_SUCCESS)
		s = cublasGemmStridedBatchedEx(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, a, CUDA_R_16F, n, n, b,
			CUDA_R_16F, n, n, &beta, c, CUDA_R_16F, n, n, 4, CUDA_R_32F, CUBLAS_GEMM_DEFAULT);
	return s;
}

extern "C" cublasStatus_t batch(cublasHandle_t h, const void *const *a, const void *const *b, void *const *c, int n)
{
	const double alpha = 1.0, beta = 0.0;
	return cublasGemmBatchedEx(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, a, CUDA_R_64F, n, b, CUDA_R_64F, n,
		&beta, c, CUDA_R_64F, n, 8, CUDA_R_64F, CUBLAS_GEMM_DEFAULT);
}
