// runtime: errors by name, a C++ exception, the versions of runtime and driver
#include <cuda_runtime.h>
#include <stdexcept>
#include <string>

class cuda_error : public std::runtime_error {
public:
	cuda_error(cudaError_t e, const char *what)
		: std::runtime_error(std::string(what) + ": " + cudaGetErrorName(e)), code(e)
	{
	}
	cudaError_t code;
};

static void check(cudaError_t e, const char *what)
{
	if (e != cudaSuccess)
		throw cuda_error(e, what);
}

extern "C" int versions(int *runtime, int *driver)
{
	try {
		check(cudaRuntimeGetVersion(runtime), "runtime");
		check(cudaDriverGetVersion(driver), "driver");
		check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "flags");
		void *p;
		check(cudaMalloc(&p, size_t(1) << 60), "too much");
	} catch (const cuda_error &e) {
		switch (e.code) {
		case cudaErrorMemoryAllocation: return 1;
		case cudaErrorNoDevice: return 2;
		case cudaErrorInsufficientDriver: return 3;
		default: return cudaErrorUnknown;
		}
	}
	return cudaDeviceReset();
}
