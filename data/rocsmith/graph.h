/* cudaGraphInstantiate() as CUDA 12 has it, with flags, and cudaGraphExecUpdate() with a struct for the result; HIP has the
 * arguments of CUDA 11. Made by rocsmith; included by translated sources that call one of them.
 */
#pragma once

#include <hip/hip_runtime_api.h>

#ifdef __cplusplus

static inline hipError_t hipGraphInstantiate(
	hipGraphExec_t *exec, hipGraph_t graph, unsigned long long flags = 0)
{
	return hipGraphInstantiateWithFlags(exec, graph, flags);
}

/* CUDA's with flags, for compilers that see names of CUDA as macros. */
static inline hipError_t hipEventCreate(hipEvent_t *event, unsigned flags)
{
	return hipEventCreateWithFlags(event, flags);
}

struct rocsmith_graphExecUpdateResultInfo {
	hipGraphExecUpdateResult result;
	hipGraphNode_t errorNode, errorFromNode; /* HIP does not say the second */
};

static inline hipError_t hipGraphExecUpdate(
	hipGraphExec_t exec, hipGraph_t graph, rocsmith_graphExecUpdateResultInfo *info)
{
	*info = rocsmith_graphExecUpdateResultInfo();
	return hipGraphExecUpdate(exec, graph, &info->errorNode, &info->result);
}

#endif
