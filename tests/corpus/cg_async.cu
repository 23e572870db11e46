// cooperative groups: memcpy_async into shared memory
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

__global__ void staged(const float *in, float *out, int n)
{
	extern __shared__ float tile[];
	auto block = cg::this_thread_block();
	for (int base = blockIdx.x * blockDim.x; base < n; base += gridDim.x * blockDim.x) {
		int count = min((int)blockDim.x, n - base);
		cg::memcpy_async(block, tile, in + base, sizeof(float) * count);
		cg::wait(block);
		if (threadIdx.x < count)
			out[base + threadIdx.x] = tile[count - 1 - threadIdx.x];
		block.sync();
	}
}

extern "C" void staged_run(const float *in, float *out, int n)
{
	staged<<<16, 256, 256 * sizeof(float)>>>(in, out, n);
}
