// CUB: a project that knows hipCUB as well, by an alias of the namespace
#ifdef __HIP_PLATFORM_AMD__
#include <hipcub/hipcub.hpp>
namespace cub = hipcub;
#else
#include <cub/cub.cuh>
#endif
namespace primitives = cub;

__global__ void sum(const int *a, int *b)
{
	typedef cub::BlockReduce<int, 128> Reduce;
	__shared__ typename Reduce::TempStorage space;
	int all = Reduce(space).Sum(a[threadIdx.x]);
	if (threadIdx.x == 0)
		*b = all;
}

extern "C" cudaError_t total(void *space, size_t bytes, const int *a, int *b, int n)
{
	return primitives::DeviceReduce::Sum(space, bytes, a, b, n);
}
