// cuBLAS: GemmEx, strided batches, with compute types
#include <cublas_v2.h>
#include <cuda_fp16.h>

extern "C" cublasStatus_t products(cublasHandle_t h, const half *a, const half *b, half *c, int n)
{
	const float alpha = 1.0f, beta = 0.0f;
	cublasStatus_t s = cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, a, CUDA_R_16F, n, b,
		CUDA_R_16F, n, &beta, c, CUDA_R_16F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
	if (s != CUBLAS_STATUS_SUCCESS)
		return s;
	s = cublasGemmStridedBatchedEx(h, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &alpha, a, CUDA_R_16F, n,
		(long long)n * n, b, CUDA_R_16F, n, (long long)n * n, &beta, c, CUDA_R_16F, n,
		(long long)n * n, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP);
	return s;
}

extern "C" cublasStatus_t batch(cublasHandle_t h, const float **a, const float **b, float **c, int n, int m)
{
	const float alpha = 1.0f, beta = 0.0f;
	return cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &alpha, a, n, b, n, &beta, c, n, m);
}

extern "C" cublasStatus_t halves(cublasHandle_t h, const half *a, const half *b, half *c, int n)
{
	const half alpha = __float2half(1.0f), beta = __float2half(0.0f);
	return cublasHgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, a, n, b, n, &beta, c, n);
}

extern "C" cublasStatus_t old(cublasHandle_t h, const void *a, const void *b, void *c, int n)
{
	const float alpha = 1.0f, beta = 0.0f;
	cublasComputeType_t compute = CUBLAS_COMPUTE_32F_FAST_16F;
	cudaDataType_t type = CUDA_R_16BF;
	return cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, a, type, n, b, type, n, &beta, c,
		CUDA_R_32F, n, compute, CUBLAS_GEMM_DEFAULT);
}
