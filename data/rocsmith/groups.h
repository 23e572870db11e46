/* Algorithms of CUDA's cooperative groups that HIP lacks: reduce, scans, memcpy_async (which copies at
 * once) of tiles and coalesced groups. Made by rocsmith from CUDA's documentation; each lane of a group
 * gets the result. Left out where HIP has a header of that name itself.
 */
#pragma once

#include <hip/hip_cooperative_groups.h>

#if defined(__cplusplus) && !__has_include(<hip/cooperative_groups/reduce.h>)

namespace cooperative_groups {

#if HIP_VERSION < 70000000
/* A tile of a tile: the same threads as that tile of the block. */
template <unsigned int SIZE, unsigned int FROM> struct rocsmith_tile : thread_block_tile<SIZE, thread_block> {
	typedef thread_block_tile<SIZE, thread_block> tile;
	__device__ rocsmith_tile() : tile(this_thread_block()) {}
	__device__ unsigned meta_group_rank() const { return tile::meta_group_rank() % (FROM / SIZE); }
	__device__ unsigned meta_group_size() const { return FROM / SIZE; }
};

template <unsigned int SIZE, unsigned int FROM, class P>
__device__ inline rocsmith_tile<SIZE, FROM> tiled_partition(const thread_block_tile<FROM, P> &)
{
	return rocsmith_tile<SIZE, FROM>();
}
#endif

#define ROCSMITH_OPERATION(NAME, EXPRESSION)                                                       \
	template <typename T = void> struct NAME {                                                 \
		__device__ T operator()(T a, T b) const { return EXPRESSION; }                     \
	};
ROCSMITH_OPERATION(plus, a + b)
ROCSMITH_OPERATION(less, a < b ? a : b)
ROCSMITH_OPERATION(greater, a > b ? a : b)
ROCSMITH_OPERATION(bit_and, a &b)
ROCSMITH_OPERATION(bit_or, a | b)
ROCSMITH_OPERATION(bit_xor, a ^ b)
#undef ROCSMITH_OPERATION

template <typename G, typename T, typename F> __device__ inline T reduce(const G &g, T x, F f)
{
	T all = g.shfl(x, 0);
	for (unsigned i = 1; i < g.size(); i++)
		all = f(all, g.shfl(x, i));
	return all;
}

template <typename G, typename T, typename F> __device__ inline T inclusive_scan(const G &g, T x, F f)
{
	T all = g.shfl(x, 0), mine = all;
	for (unsigned i = 1; i < g.size(); i++) {
		all = f(all, g.shfl(x, i));
		mine = g.thread_rank() == i ? all : mine;
	}
	return mine;
}

template <typename G, typename T> __device__ inline T inclusive_scan(const G &g, T x)
{
	return inclusive_scan(g, x, plus<T>());
}

template <typename G, typename T, typename F> __device__ inline T exclusive_scan(const G &g, T x, F f)
{
	T with = inclusive_scan(g, x, f), before = g.shfl_up(with, 1);
	return g.thread_rank() ? before : T();
}

template <typename G, typename T> __device__ inline T exclusive_scan(const G &g, T x)
{
	return exclusive_scan(g, x, plus<T>());
}

template <typename G, typename T>
__device__ inline void memcpy_async(const G &g, T *to, const T *from, size_t bytes)
{
	const char *in = reinterpret_cast<const char *>(from);
	char *out = reinterpret_cast<char *>(to);
	for (size_t i = g.thread_rank(); i < bytes; i += g.size())
		out[i] = in[i];
}

template <typename G> __device__ inline void wait(const G &g) { g.sync(); }
template <unsigned N, typename G> __device__ inline void wait_prior(const G &g) { g.sync(); }

} // namespace cooperative_groups

#endif
