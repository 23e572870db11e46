// CUB: reductions and scans of blocks, sorting on the device
#include <cub/block/block_reduce.cuh>
#include <cub/cub.cuh>

template <int THREADS> __global__ void partial(const int *in, int *out, int n)
{
	typedef cub::BlockReduce<int, THREADS> reduce;
	using scan = cub::BlockScan<int, THREADS>;
	__shared__ union {
		typename reduce::TempStorage reduce_;
		typename scan::TempStorage scan_;
	} space;
	int i = blockIdx.x * THREADS + threadIdx.x, before = 0;
	int x = i < n ? in[i] : 0;
	int sum = reduce(space.reduce_).Sum(x);
	__syncthreads();
	scan(space.scan_).ExclusiveSum(x, before);
	if (threadIdx.x == 0)
		out[blockIdx.x] = sum + before;
}

extern "C" cudaError_t sort_keys(const unsigned *in, unsigned *out, int *sum, int n)
{
	void *space = nullptr;
	size_t bytes = 0, more = 0;
	cub::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, n);
	cub::DeviceReduce::Sum(nullptr, more, in, sum, n);
	cudaMalloc(&space, bytes > more ? bytes : more);
	cub::DeviceRadixSort::SortKeys(space, bytes, in, out, n, 0, 32);
	cub::DeviceReduce::Sum(space, more, in, sum, n);
	partial<128><<<(n + 127) / 128, 128>>>((const int *)in, sum, n);
	return cudaFree(space);
}
