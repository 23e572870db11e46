// warps: ballots, any, all, match, active masks
#include <cuda_runtime.h>
#include <cstdint>

__global__ void compact(const int *in, int *out, int *count, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned lane = threadIdx.x % warpSize;
	bool keep = i < n && in[i] > 0;
	unsigned active = __activemask();
	unsigned votes = __ballot_sync(active, keep);
	int base = 0, leader = __ffs(votes) - 1;
	if (__any_sync(active, keep) && (int)lane == leader)
		base = atomicAdd(count, __popc(votes));
	base = __shfl_sync(active, base, leader < 0 ? 0 : leader);
	if (keep)
		out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
	if (__all_sync(active, !keep))
		return;
	int same = 0;
	unsigned peers = __match_any_sync(active, i < n ? in[i] : -1);
	unsigned whole = __match_all_sync(active, 7, &same);
	if (same && peers == whole)
		atomicMax(count, 0 * __ffsll(uint64_t(peers)));
}

extern "C" void compact_run(const int *in, int *out, int *count, int n)
{
	compact<<<(n + 255) / 256, 256>>>(in, out, count, n);
}
