// runtime: pools of memory and their attributes
#include <cuda_runtime.h>
#include <cstdint>

extern "C" int pool_trim(size_t bytes, int device)
{
	cudaMemPool_t pool;
	cudaMemPoolProps props = {};
	props.allocType = cudaMemAllocationTypePinned;
	props.handleTypes = cudaMemHandleTypeNone;
	props.location.type = cudaMemLocationTypeDevice;
	props.location.id = device;
	if (cudaMemPoolCreate(&pool, &props) != cudaSuccess)
		return -1;
	uint64_t keep = UINT64_MAX, used = 0;
	cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
	void *p = nullptr;
	cudaMallocFromPoolAsync(&p, bytes, pool, 0);
	cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
	cudaFreeAsync(p, 0);
	cudaDeviceSynchronize();
	cudaMemPoolTrimTo(pool, 0);
	cudaMemPoolDestroy(pool);
	cudaDeviceGetDefaultMemPool(&pool, device);
	return used >= bytes ? 0 : 1;
}
