// driver API: device pointers as numbers, streams, attributes, primary contexts
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>

struct buffer {
	CUdeviceptr base;
	size_t size;
};

static CUdeviceptr align(CUdeviceptr p, size_t to) { return (p + to - 1) / to * to; }

extern "C" int carve(float *out, size_t bytes)
{
	buffer b = {0, bytes};
	CUcontext primary;
	CUdevice device;
	CUstream stream;
	CUevent event;
	int major = 0;
	size_t spare = 0, all = 0;
	cuDeviceGet(&device, 0);
	cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
	cuDevicePrimaryCtxRetain(&primary, device);
	cuCtxSetCurrent(primary);
	cuMemGetInfo(&spare, &all);
	if (cuMemAlloc(&b.base, b.size) != CUDA_SUCCESS)
		return 1;
	CUdeviceptr at = align(b.base + 100, 256);
	float *typed = reinterpret_cast<float *>(at);
	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
	cuMemsetD8Async(at, 0, 64, stream);
	cuMemcpyDtoHAsync(out, (CUdeviceptr)typed, 64, stream);
	cuMemcpyDtoD(b.base, at, 16);
	cuEventRecord(event, stream);
	cuStreamWaitEvent(stream, event, 0);
	cuStreamSynchronize(stream);
	uintptr_t distance = at - b.base;
	cuMemFree(b.base);
	cuDevicePrimaryCtxRelease(device);
	return distance < 512 && major > 0 ? 0 : 2;
}
