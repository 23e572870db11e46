// cuBLASLt: a product with bias and an activation behind it
#include <cublasLt.h>
#include <cuda_fp16.h>

extern "C" int linear(cublasLtHandle_t lt, const half *w, const half *x, const half *bias, half *y, int m,
	int n, int k, void *space, size_t bytes, cudaStream_t stream)
{
	cublasLtMatmulDesc_t op;
	cublasLtMatrixLayout_t a, b, c;
	cublasLtMatmulPreference_t wish;
	cublasLtMatmulHeuristicResult_t best = {};
	cublasOperation_t t = CUBLAS_OP_T;
	cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
	float alpha = 1, beta = 0;
	int found = 0;
	cublasLtMatmulDescCreate(&op, CUBLAS_COMPUTE_32F, CUDA_R_32F);
	cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof(t));
	cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue));
	cublasLtMatmulDescSetAttribute(op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
	cublasLtMatrixLayoutCreate(&a, CUDA_R_16F, k, m, k);
	cublasLtMatrixLayoutCreate(&b, CUDA_R_16F, k, n, k);
	cublasLtMatrixLayoutCreate(&c, CUDA_R_16F, m, n, m);
	cublasLtMatmulPreferenceCreate(&wish);
	cublasLtMatmulPreferenceSetAttribute(
		wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes));
	cublasLtMatmulAlgoGetHeuristic(lt, op, a, b, c, c, wish, 1, &best, &found);
	cublasStatus_t s = CUBLAS_STATUS_NOT_SUPPORTED;
	if (found)
		s = cublasLtMatmul(lt, op, &alpha, w, a, x, b, &beta, y, c, y, c, &best.algo, space, bytes, stream);
	cublasLtMatmulPreferenceDestroy(wish);
	cublasLtMatrixLayoutDestroy(a);
	cublasLtMatrixLayoutDestroy(b);
	cublasLtMatrixLayoutDestroy(c);
	cublasLtMatmulDescDestroy(op);
	return s;
}
