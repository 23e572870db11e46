// driver API: address ranges reserved, mapped and grown
#include <cuda.h>

extern "C" CUresult grow(CUdeviceptr *ret, size_t bytes, int device)
{
	CUmemAllocationProp prop = {};
	CUmemGenericAllocationHandle handle;
	CUmemAccessDesc access = {};
	size_t granularity = 0;
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = device;
	cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
	bytes = (bytes + granularity - 1) / granularity * granularity;
	CUresult r = cuMemCreate(&handle, bytes, &prop, 0);
	if (r == CUDA_SUCCESS)
		r = cuMemAddressReserve(ret, bytes, 0, 0, 0);
	if (r == CUDA_SUCCESS)
		r = cuMemMap(*ret, bytes, 0, handle, 0);
	access.location = prop.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	if (r == CUDA_SUCCESS)
		r = cuMemSetAccess(*ret, bytes, &access, 1);
	cuMemRelease(handle);
	return r;
}
