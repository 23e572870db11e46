// libcu++: cuda::atomic and cuda::atomic_ref with scopes
#include <cuda/atomic>

__global__ void count(const int *in, cuda::atomic<int, cuda::thread_scope_device> *all, int *raw, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n || in[i] <= 0)
		return;
	all->fetch_add(1, cuda::memory_order_relaxed);
	cuda::atomic_ref<int, cuda::thread_scope_block> ref(*raw);
	ref.fetch_max(in[i]);
	int seen = ref.load(cuda::std::memory_order_acquire);
	while (!ref.compare_exchange_weak(seen, seen | 1, cuda::memory_order_acq_rel))
		continue;
	cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}

extern "C" void count_run(const int *in, void *all, int *raw, int n)
{
	count<<<(n + 255) / 256, 256>>>(in, (cuda::atomic<int, cuda::thread_scope_device> *)all, raw, n);
}
