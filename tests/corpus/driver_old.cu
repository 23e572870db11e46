// driver API: launches as before CUDA 4, with a shape and parameters that are set one by one
#include <cuda.h>

CUresult scale(CUmodule module, CUdeviceptr x, int n, float by, CUstream stream)
{
	CUfunction f;
	CUresult e = cuModuleGetFunction(&f, module, "scale");
	int at = 0;
	if (e == CUDA_SUCCESS)
		e = cuFuncSetBlockShape(f, 128, 1, 1);
	if (e == CUDA_SUCCESS)
		e = cuFuncSetCacheConfig(f, CU_FUNC_CACHE_PREFER_L1);
	if (e == CUDA_SUCCESS)
		e = cuParamSetv(f, at, &x, sizeof(x));
	at += sizeof(x);
	cuParamSeti(f, at, n);
	at += sizeof(n);
	cuParamSetf(f, at, by);
	cuParamSetSize(f, at + sizeof(by));
	cuFuncSetSharedSize(f, 0);
	if (e == CUDA_SUCCESS)
		e = cuLaunchGridAsync(f, (n + 127) / 128, 1, stream);
	return e == CUDA_SUCCESS ? cuMemcpyAsync(x, x, 4, stream) : e;
}
