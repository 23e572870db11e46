// cuSPARSE: a sparse matrix times a vector, with the generic interface
#include <cusparse.h>
#include <cuda_runtime.h>

extern "C" int spmv(int rows, int cols, int nnz, int *offsets, int *columns, float *values, float *x, float *y)
{
	cusparseHandle_t handle;
	cusparseSpMatDescr_t a;
	cusparseDnVecDescr_t vx, vy;
	float alpha = 1, beta = 0;
	size_t bytes = 0;
	void *space = nullptr;
	if (cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS)
		return 1;
	cusparseCreateCsr(&a, rows, cols, nnz, offsets, columns, values, CUSPARSE_INDEX_32I,
		CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
	cusparseCreateDnVec(&vx, cols, x, CUDA_R_32F);
	cusparseCreateDnVec(&vy, rows, y, CUDA_R_32F);
	cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, vx, &beta, vy,
		CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
	cudaMalloc(&space, bytes);
	cusparseStatus_t s = cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, vx, &beta,
		vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, space);
	cusparseDestroySpMat(a);
	cusparseDestroyDnVec(vx);
	cusparseDestroyDnVec(vy);
	cusparseDestroy(handle);
	cudaFree(space);
	return s != CUSPARSE_STATUS_SUCCESS;
}
