// driver API: contexts, modules, memory by CUdeviceptr, launches
#include <cuda.h>
#include <cstdio>

extern "C" int run_module(const char *file, const char *kernel, float *host, int n)
{
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction function;
	CUdeviceptr p = 0;
	const char *text = nullptr;
	if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS)
		return 1;
	cuCtxCreate(&context, CU_CTX_SCHED_AUTO, device);
	CUresult r = cuModuleLoad(&module, file);
	if (r == CUDA_SUCCESS)
		r = cuModuleGetFunction(&function, module, kernel);
	if (r != CUDA_SUCCESS) {
		cuGetErrorString(r, &text);
		fprintf(stderr, "%s: %s\n", file, text);
		return 1;
	}
	cuMemAlloc(&p, n * sizeof(float));
	cuMemcpyHtoD(p, host, n * sizeof(float));
	cuMemsetD32(p + 4 * sizeof(float), 0, 4);
	CUdeviceptr half = p + (n / 2) * sizeof(float);
	void *args[] = {&half, &n};
	cuLaunchKernel(function, (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, args, nullptr);
	cuCtxSynchronize();
	cuMemcpyDtoH(host, p, n * sizeof(float));
	cuMemFree(p);
	cuModuleUnload(module);
	return cuCtxDestroy(context);
}
