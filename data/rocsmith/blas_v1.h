/* cuBLAS' first interface, whose functions have no handle, over hipBLAS: they take scalars by value and letters for what
 * hipBLAS has an enum for, so C++ tells them apart. The handle belongs to the program, as it did in cuBLAS. Made by rocsmith;
 * <cublas.h> of the folder `cuda` includes it. Left out: rotations, band and packed matrices.
 */
#pragma once

#ifndef HIPBLAS_V2
#define HIPBLAS_V2 1
#endif
#include <hipblas/hipblas.h>

#ifdef __cplusplus

inline hipblasStatus_t &rocsmith_blas_status()
{
	static hipblasStatus_t status = HIPBLAS_STATUS_SUCCESS;
	return status;
}

inline hipblasHandle_t rocsmith_blas()
{
	static hipblasHandle_t handle = nullptr;
	if (!handle)
		rocsmith_blas_status() = hipblasCreate(&handle);
	return handle;
}

inline void rocsmith_blas_note(hipblasStatus_t status)
{
	if (status != HIPBLAS_STATUS_SUCCESS)
		rocsmith_blas_status() = status;
}

inline hipblasStatus_t rocsmith_blas_init()
{
	rocsmith_blas();
	return rocsmith_blas_status();
}

inline hipblasStatus_t rocsmith_blas_error()
{
	hipblasStatus_t status = rocsmith_blas_status();
	rocsmith_blas_status() = HIPBLAS_STATUS_SUCCESS;
	return status;
}

inline hipblasStatus_t rocsmith_blas_alloc(int n, int size, void **p)
{
	return hipMalloc(p, size_t(n) * size_t(size)) == hipSuccess ? HIPBLAS_STATUS_SUCCESS
								   : HIPBLAS_STATUS_ALLOC_FAILED;
}

inline hipblasOperation_t rocsmith_blas_op(char c)
{
	return c == 'n' || c == 'N' ? HIPBLAS_OP_N : c == 't' || c == 'T' ? HIPBLAS_OP_T : HIPBLAS_OP_C;
}

inline hipblasFillMode_t rocsmith_blas_fill(char c)
{
	return c == 'u' || c == 'U' ? HIPBLAS_FILL_MODE_UPPER : HIPBLAS_FILL_MODE_LOWER;
}

inline hipblasDiagType_t rocsmith_blas_diag(char c)
{
	return c == 'u' || c == 'U' ? HIPBLAS_DIAG_UNIT : HIPBLAS_DIAG_NON_UNIT;
}

inline hipblasSideMode_t rocsmith_blas_side(char c)
{
	return c == 'l' || c == 'L' ? HIPBLAS_SIDE_LEFT : HIPBLAS_SIDE_RIGHT;
}

#define cublasInit rocsmith_blas_init
#define cublasShutdown() HIPBLAS_STATUS_SUCCESS
#define cublasGetError rocsmith_blas_error
#define cublasAlloc(n, size, p) rocsmith_blas_alloc(n, size, (void **)(p))
#define cublasFree(p) (hipFree(p) == hipSuccess ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_INTERNAL_ERROR)
#define cublasSetKernelStream(stream) hipblasSetStream(rocsmith_blas(), stream)

#define ROCSMITH_CALL(...) rocsmith_blas_note(__VA_ARGS__)
/* A result comes back to the host, for which hipBLAS waits. */
#define ROCSMITH_RESULT(NAME, R, T)                                                                \
	inline R NAME(int n, const T *x, int incx)                                                 \
	{                                                                                          \
		R ret = 0;                                                                         \
		ROCSMITH_CALL(NAME(rocsmith_blas(), n, x, incx, &ret));                            \
		return ret;                                                                        \
	}
/* X: the letter of the type T */
#define ROCSMITH_ANY(X, T)                                                                         \
	inline void hipblas##X##axpy(int n, T alpha, const T *x, int incx, T *y, int incy)         \
	{                                                                                          \
		ROCSMITH_CALL(hipblas##X##axpy(rocsmith_blas(), n, &alpha, x, incx, y, incy));     \
	}                                                                                          \
	inline void hipblas##X##copy(int n, const T *x, int incx, T *y, int incy)                  \
	{                                                                                          \
		ROCSMITH_CALL(hipblas##X##copy(rocsmith_blas(), n, x, incx, y, incy));             \
	}                                                                                          \
	inline void hipblas##X##swap(int n, T *x, int incx, T *y, int incy)                        \
	{                                                                                          \
		ROCSMITH_CALL(hipblas##X##swap(rocsmith_blas(), n, x, incx, y, incy));             \
	}                                                                                          \
	inline void hipblas##X##scal(int n, T alpha, T *x, int incx)                               \
	{                                                                                          \
		ROCSMITH_CALL(hipblas##X##scal(rocsmith_blas(), n, &alpha, x, incx));              \
	}                                                                                          \
	inline void hipblas##X##gemv(char trans, int m, int n, T alpha, const T *a, int lda,       \
		const T *x, int incx, T beta, T *y, int incy)                                      \
	{                                                                                          \
		ROCSMITH_CALL(hipblas##X##gemv(rocsmith_blas(), rocsmith_blas_op(trans), m, n,     \
			&alpha, a, lda, x, incx, &beta, y, incy));                                 \
	}                                                                                          \
	inline void hipblas##X##gemm(char ta, char tb, int m, int n, int k, T alpha, const T *a,   \
		int lda, const T *b, int ldb, T beta, T *c, int ldc)                               \
	{                                                                                          \
		ROCSMITH_CALL(hipblas##X##gemm(rocsmith_blas(), rocsmith_blas_op(ta),              \
			rocsmith_blas_op(tb), m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));    \
	}                                                                                          \
	inline void hipblas##X##symm(char side, char uplo, int m, int n, T alpha, const T *a,      \
		int lda, const T *b, int ldb, T beta, T *c, int ldc)                               \
	{                                                                                          \
		ROCSMITH_CALL(hipblas##X##symm(rocsmith_blas(), rocsmith_blas_side(side),          \
			rocsmith_blas_fill(uplo), m, n, &alpha, a, lda, b, ldb, &beta, c, ldc));   \
	}                                                                                          \
	inline void hipblas##X##syrk(char uplo, char trans, int n, int k, T alpha, const T *a,     \
		int lda, T beta, T *c, int ldc)                                                    \
	{                                                                                          \
		ROCSMITH_CALL(hipblas##X##syrk(rocsmith_blas(), rocsmith_blas_fill(uplo),          \
			rocsmith_blas_op(trans), n, k, &alpha, a, lda, &beta, c, ldc));            \
	}                                                                                          \
	inline void hipblas##X##trsm(char side, char uplo, char trans, char diag, int m, int n,    \
		T alpha, const T *a, int lda, T *b, int ldb)                                       \
	{                                                                                          \
		ROCSMITH_CALL(hipblas##X##trsm(rocsmith_blas(), rocsmith_blas_side(side),          \
			rocsmith_blas_fill(uplo), rocsmith_blas_op(trans),                         \
			rocsmith_blas_diag(diag), m, n, &alpha, const_cast<T *>(a), lda, b, ldb)); \
	}
ROCSMITH_ANY(S, float)
ROCSMITH_ANY(D, double)
ROCSMITH_ANY(C, hipComplex)
ROCSMITH_ANY(Z, hipDoubleComplex)

#define ROCSMITH_REAL(X, T)                                                                        \
	inline T hipblas##X##dot(int n, const T *x, int incx, const T *y, int incy)                \
	{                                                                                          \
		T ret = 0;                                                                         \
		ROCSMITH_CALL(hipblas##X##dot(rocsmith_blas(), n, x, incx, y, incy, &ret));        \
		return ret;                                                                        \
	}                                                                                          \
	inline void hipblas##X##ger(int m, int n, T alpha, const T *x, int incx, const T *y,       \
		int incy, T *a, int lda)                                                           \
	{                                                                                          \
		ROCSMITH_CALL(hipblas##X##ger(                                                     \
			rocsmith_blas(), m, n, &alpha, x, incx, y, incy, a, lda));                 \
	}
ROCSMITH_REAL(S, float)
ROCSMITH_REAL(D, double)
ROCSMITH_RESULT(hipblasSnrm2, float, float)
ROCSMITH_RESULT(hipblasDnrm2, double, double)
ROCSMITH_RESULT(hipblasScnrm2, float, hipComplex)
ROCSMITH_RESULT(hipblasDznrm2, double, hipDoubleComplex)
ROCSMITH_RESULT(hipblasSasum, float, float)
ROCSMITH_RESULT(hipblasDasum, double, double)
ROCSMITH_RESULT(hipblasScasum, float, hipComplex)
ROCSMITH_RESULT(hipblasDzasum, double, hipDoubleComplex)
ROCSMITH_RESULT(hipblasIsamax, int, float)
ROCSMITH_RESULT(hipblasIdamax, int, double)
ROCSMITH_RESULT(hipblasIsamin, int, float)
ROCSMITH_RESULT(hipblasIdamin, int, double)
#undef ROCSMITH_CALL
#undef ROCSMITH_RESULT
#undef ROCSMITH_ANY
#undef ROCSMITH_REAL

#endif
