// cooperative groups: tiles, their shuffles, votes and coalesced groups
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <int SIZE> __device__ int tile_sum(cg::thread_block_tile<SIZE> g, int x)
{
	for (int i = g.size() / 2; i > 0; i /= 2)
		x += g.shfl_down(x, i);
	return g.shfl(x, 0);
}

__device__ int aggregated_inc(int *counter)
{
	cg::coalesced_group active = cg::coalesced_threads();
	int first = 0;
	if (active.thread_rank() == 0)
		first = atomicAdd(counter, active.size());
	return active.shfl(first, 0) + active.thread_rank();
}

__global__ void tiled(const int *in, int *out, int *counter, int n)
{
	cg::thread_block block = cg::this_thread_block();
	cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
	auto small = cg::tiled_partition<8>(warp);
	unsigned i = block.group_index().x * block.group_dim().x + block.thread_index().x;
	int x = i < n ? in[i] : 0;
	x = tile_sum<32>(warp, x) + tile_sum<8>(small, x);
	if (warp.any(x > 100) && warp.meta_group_rank() == 0 && small.thread_rank() == 0)
		out[aggregated_inc(counter)] = x;
	warp.sync();
	block.sync();
}

extern "C" void tiled_run(const int *in, int *out, int *counter, int n)
{
	tiled<<<(n + 255) / 256, 256>>>(in, out, counter, n);
}
