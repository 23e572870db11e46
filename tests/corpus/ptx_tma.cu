// inline PTX: bulk copies and memory barriers of Hopper
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>

__device__ void barrier_init(uint64_t *bar, int count)
{
	uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(bar)); // refused: __cvta_generic_to_shared
	asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at), "r"(count)); // refused: mbarrier
}

__global__ void bulk(const __grid_constant__ CUtensorMap map, float *out) // refused: CUtensorMap
{
	__shared__ alignas(128) float tile[1024];
	__shared__ uint64_t bar;
	if (threadIdx.x == 0)
		barrier_init(&bar, 1);
	__syncthreads();
	asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes " // refused: cp.async
				 "[%0], [%1, {%2}], [%3];" :: "l"(tile), "l"(&map), "r"(0), "l"(&bar));
	out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" void bulk_run(const CUtensorMap *map, float *out) { bulk<<<1, 32>>>(*map, out); } // refused: CUtensorMap
