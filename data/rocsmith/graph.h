/* cudaGraphInstantiate() as CUDA 12 has it, with flags; HIP has the five arguments of CUDA 11. Made by rocsmith;
 * included by translated sources that call it.
 */
#pragma once

#include <hip/hip_runtime_api.h>

#ifdef __cplusplus

static inline hipError_t hipGraphInstantiate(
	hipGraphExec_t *exec, hipGraph_t graph, unsigned long long flags = 0)
{
	return hipGraphInstantiateWithFlags(exec, graph, flags);
}

#endif
