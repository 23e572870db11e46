// cooperative groups: inclusive and exclusive scans of a tile
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void offsets(const int *count, int *at, int *top, int n)
{
	auto warp = cg::tiled_partition<32>(cg::this_thread_block());
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int x = i < n ? count[i] : 0;
	int before = cg::exclusive_scan(warp, x);
	int with = cg::inclusive_scan(warp, x, cg::plus<int>());
	int high = cg::inclusive_scan(warp, x, cg::greater<int>());
	if (i < n) {
		at[i] = before;
		top[i] = high + with - before - x;
	}
}

extern "C" void offsets_run(const int *count, int *at, int *top, int n)
{
	offsets<<<(n + 127) / 128, 128>>>(count, at, top, n);
}
