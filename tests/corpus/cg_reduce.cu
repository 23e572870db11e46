// cooperative groups: reduce() of a tile and of coalesced threads
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void extremes(const float *in, float *sum, int *most, int n)
{
	auto block = cg::this_thread_block();
	auto warp = cg::tiled_partition<32>(block);
	int i = block.group_index().x * block.size() + block.thread_rank();
	float x = i < n ? in[i] : 0.0f;
	float all = cg::reduce(warp, x, cg::plus<float>());
	int top = cg::reduce(warp, (int)x, cg::greater<int>());
	int low = cg::reduce(warp, (int)x, cg::less<int>());
	int odd = cg::reduce(warp, (int)x, [](int a, int b) { return a ^ b; });
	if (warp.thread_rank() == 0) {
		atomicAdd(sum, all);
		atomicMax(most, top - low + (odd & 1));
	}
	if (x > 0) {
		auto some = cg::coalesced_threads();
		int bits = cg::reduce(some, 1 << (i % 31), cg::bit_or<int>());
		if (some.thread_rank() == 0)
			atomicOr(most, bits);
	}
}

extern "C" void extremes_run(const float *in, float *sum, int *most, int n)
{
	extremes<<<(n + 127) / 128, 128>>>(in, sum, most, n);
}
