/* cuBLAS' GemmEx functions take the type to compute in as a cudaDataType, too, as all did before CUDA 11; hipBLAS has
 * a type of its own for it. Made by rocsmith; included by translated sources that call them.
 */
#pragma once

#ifndef HIPBLAS_V2
#define HIPBLAS_V2 1
#endif
#ifndef HIPBLAS_USE_HIP_HALF
#define HIPBLAS_USE_HIP_HALF 1
#endif
#include <hipblas/hipblas.h>

#ifdef __cplusplus

static inline hipblasComputeType_t rocsmith_compute_type(hipDataType type)
{
	switch (type) {
	case HIP_R_16F:
	case HIP_C_16F:
		return HIPBLAS_COMPUTE_16F;
	case HIP_R_64F:
	case HIP_C_64F:
		return HIPBLAS_COMPUTE_64F;
	case HIP_R_32I:
	case HIP_C_32I:
		return HIPBLAS_COMPUTE_32I;
	default:
		return HIPBLAS_COMPUTE_32F;
	}
}

static inline hipblasStatus_t hipblasGemmEx(hipblasHandle_t handle, hipblasOperation_t ta,
	hipblasOperation_t tb, int m, int n, int k, const void *alpha, const void *a,
	hipDataType atype, int lda, const void *b, hipDataType btype, int ldb, const void *beta,
	void *c, hipDataType ctype, int ldc, hipDataType compute, hipblasGemmAlgo_t algo)
{
	return hipblasGemmEx(handle, ta, tb, m, n, k, alpha, a, atype, lda, b, btype, ldb, beta, c,
		ctype, ldc, rocsmith_compute_type(compute), algo);
}

static inline hipblasStatus_t hipblasGemmBatchedEx(hipblasHandle_t handle, hipblasOperation_t ta,
	hipblasOperation_t tb, int m, int n, int k, const void *alpha, const void *const a[],
	hipDataType atype, int lda, const void *const b[], hipDataType btype, int ldb,
	const void *beta, void *const c[], hipDataType ctype, int ldc, int count,
	hipDataType compute, hipblasGemmAlgo_t algo)
{
	return hipblasGemmBatchedEx(handle, ta, tb, m, n, k, alpha, (const void **)a, atype, lda,
		(const void **)b, btype, ldb, beta, (void **)c, ctype, ldc, count,
		rocsmith_compute_type(compute), algo);
}

static inline hipblasStatus_t hipblasGemmStridedBatchedEx(hipblasHandle_t handle,
	hipblasOperation_t ta, hipblasOperation_t tb, int m, int n, int k, const void *alpha,
	const void *a, hipDataType atype, int lda, long long stridea, const void *b,
	hipDataType btype, int ldb, long long strideb, const void *beta, void *c, hipDataType ctype,
	int ldc, long long stridec, int count, hipDataType compute, hipblasGemmAlgo_t algo)
{
	return hipblasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, atype, lda, stridea,
		b, btype, ldb, strideb, beta, c, ctype, ldc, stridec, count,
		rocsmith_compute_type(compute), algo);
}

#endif
