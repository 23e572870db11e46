/* cuda::atomic and cuda::atomic_ref of libcu++, by clang's scoped atomics. Made by rocsmith; the rest of
 * libcu++ is not here.
 */
#pragma once

#include <hip/hip_runtime.h>

namespace cuda {

enum thread_scope {
	thread_scope_system = __HIP_MEMORY_SCOPE_SYSTEM,
	thread_scope_device = __HIP_MEMORY_SCOPE_AGENT,
	thread_scope_block = __HIP_MEMORY_SCOPE_WORKGROUP,
	thread_scope_thread = __HIP_MEMORY_SCOPE_SINGLETHREAD,
};

namespace std {
enum memory_order {
	memory_order_relaxed = __ATOMIC_RELAXED,
	memory_order_acquire = __ATOMIC_ACQUIRE,
	memory_order_release = __ATOMIC_RELEASE,
	memory_order_acq_rel = __ATOMIC_ACQ_REL,
	memory_order_seq_cst = __ATOMIC_SEQ_CST,
};
} // namespace std
using namespace std;

/* Clang wants the order as a constant: loads, stores and exchanges take the strongest. */
template <typename T, thread_scope SCOPE = thread_scope_system> class atomic_ref {
protected:
	T *p_;

public:
	__host__ __device__ explicit atomic_ref(T &x) : p_(&x) {}
	__host__ __device__ T load(memory_order = memory_order_seq_cst) const
	{
		return __hip_atomic_load(p_, __ATOMIC_SEQ_CST, SCOPE);
	}
	__host__ __device__ void store(T x, memory_order = memory_order_seq_cst) const
	{
		__hip_atomic_store(p_, x, __ATOMIC_SEQ_CST, SCOPE);
	}
	__host__ __device__ bool compare_exchange_strong(T &seen, T x, memory_order = memory_order_seq_cst,
		memory_order = memory_order_seq_cst) const
	{
		return __hip_atomic_compare_exchange_strong(
			p_, &seen, x, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST, SCOPE);
	}
	__host__ __device__ bool compare_exchange_weak(T &seen, T x, memory_order = memory_order_seq_cst,
		memory_order = memory_order_seq_cst) const
	{
		return compare_exchange_strong(seen, x);
	}
#define ROCSMITH_FETCH(NAME, BUILTIN)                                                              \
	__host__ __device__ T NAME(T x, memory_order order = memory_order_seq_cst) const           \
	{                                                                                          \
		return order == memory_order_relaxed ? BUILTIN(p_, x, __ATOMIC_RELAXED, SCOPE)     \
						     : BUILTIN(p_, x, __ATOMIC_SEQ_CST, SCOPE);    \
	}
	ROCSMITH_FETCH(exchange, __hip_atomic_exchange)
	ROCSMITH_FETCH(fetch_add, __hip_atomic_fetch_add)
	ROCSMITH_FETCH(fetch_min, __hip_atomic_fetch_min)
	ROCSMITH_FETCH(fetch_max, __hip_atomic_fetch_max)
	ROCSMITH_FETCH(fetch_and, __hip_atomic_fetch_and)
	ROCSMITH_FETCH(fetch_or, __hip_atomic_fetch_or)
	ROCSMITH_FETCH(fetch_xor, __hip_atomic_fetch_xor)
#undef ROCSMITH_FETCH
	__host__ __device__ T fetch_sub(T x, memory_order order = memory_order_seq_cst) const
	{
		return fetch_add(-x, order);
	}
	__host__ __device__ operator T() const { return load(); }
	__host__ __device__ T operator=(T x) const
	{
		store(x);
		return x;
	}
	__host__ __device__ T operator++(int) const { return fetch_add(1); }
	__host__ __device__ T operator++() const { return fetch_add(1) + 1; }
	__host__ __device__ T operator--(int) const { return fetch_sub(1); }
	__host__ __device__ T operator--() const { return fetch_sub(1) - 1; }
	__host__ __device__ T operator+=(T x) const { return fetch_add(x) + x; }
	__host__ __device__ T operator-=(T x) const { return fetch_sub(x) - x; }
};

template <typename T, thread_scope SCOPE = thread_scope_system> class atomic {
	alignas(sizeof(T)) T value_;
	using ref = atomic_ref<T, SCOPE>;
	__host__ __device__ ref r() { return ref(value_); }
	__host__ __device__ ref r() const { return ref(const_cast<T &>(value_)); }

public:
	atomic() = default;
	__host__ __device__ constexpr atomic(T x) : value_(x) {}
	atomic(const atomic &) = delete;
	__host__ __device__ T load(memory_order o = memory_order_seq_cst) const { return r().load(o); }
	__host__ __device__ void store(T x, memory_order o = memory_order_seq_cst) { r().store(x, o); }
	template <typename... O> __host__ __device__ bool compare_exchange_strong(T &seen, T x, O... o)
	{
		return r().compare_exchange_strong(seen, x, o...);
	}
	template <typename... O> __host__ __device__ bool compare_exchange_weak(T &seen, T x, O... o)
	{
		return r().compare_exchange_strong(seen, x, o...);
	}
#define ROCSMITH_FORWARD(NAME)                                                                     \
	template <typename... O> __host__ __device__ T NAME(T x, O... o) { return r().NAME(x, o...); }
	ROCSMITH_FORWARD(exchange)
	ROCSMITH_FORWARD(fetch_add)
	ROCSMITH_FORWARD(fetch_sub)
	ROCSMITH_FORWARD(fetch_min)
	ROCSMITH_FORWARD(fetch_max)
	ROCSMITH_FORWARD(fetch_and)
	ROCSMITH_FORWARD(fetch_or)
	ROCSMITH_FORWARD(fetch_xor)
#undef ROCSMITH_FORWARD
	__host__ __device__ operator T() const { return load(); }
	__host__ __device__ T operator=(T x) { return r() = x; }
	__host__ __device__ T operator++(int) { return r()++; }
	__host__ __device__ T operator++() { return ++r(); }
	__host__ __device__ T operator--(int) { return r()--; }
	__host__ __device__ T operator--() { return --r(); }
	__host__ __device__ T operator+=(T x) { return r() += x; }
	__host__ __device__ T operator-=(T x) { return r() -= x; }
};

/* As strong as any order wants it. */
__device__ inline void atomic_thread_fence(memory_order, thread_scope scope = thread_scope_system)
{
	if (scope == thread_scope_block || scope == thread_scope_thread)
		__threadfence_block();
	else if (scope == thread_scope_device)
		__threadfence();
	else
		__threadfence_system();
}

} // namespace cuda
