// cuBLAS: vectors and matrices of the second interface
#include <cublas_v2.h>
#include <cuda_runtime.h>

extern "C" int blas(const float *a, const float *x, float *y, double *d, cuComplex *c, int n)
{
	cublasHandle_t handle;
	cudaStream_t stream;
	float one = 1.0f, zero = 0.0f, norm = 0;
	double two = 2.0;
	int top = 0;
	if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
		return 1;
	cudaStreamCreate(&stream);
	cublasSetStream(handle, stream);
	cublasSetMathMode(handle, CUBLAS_TENSOR_OP_MATH);
	cublasSgemv(handle, CUBLAS_OP_T, n, n, &one, a, n, x, 1, &zero, y, 1);
	cublasSaxpy(handle, n, &one, x, 1, y, 1);
	cublasSnrm2(handle, n, y, 1, &norm);
	cublasIsamax(handle, n, y, 1, &top);
	cublasDscal_v2(handle, n, &two, d, 1);
	cuComplex i = make_cuComplex(0, 1);
	cublasCaxpy(handle, n, &i, c, 1, c, 1);
	cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
	cublasStatus_t status = cublasStrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER,
		CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, 1, y, a, n, y, n);
	cublasDestroy(handle);
	return status == CUBLAS_STATUS_SUCCESS ? top : -1;
}
