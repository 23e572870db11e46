// runtime: graphs instantiated with flags, as CUDA 12 has it, and as CUDA 11 had it
#include <cuda_runtime.h>

extern "C" cudaError_t instantiate(cudaGraph_t graph, cudaStream_t stream)
{
	cudaGraphExec_t plain, flagged, old;
	cudaGraphNode_t node;
	char log[256];
	cudaError_t e = cudaGraphInstantiate(&plain, graph);
	if (e == cudaSuccess)
		e = cudaGraphInstantiate(&flagged, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
	if (e == cudaSuccess)
		e = cudaGraphInstantiate(&flagged, graph, 0);
	if (e == cudaSuccess)
		e = cudaGraphInstantiate(&old, graph, &node, log, sizeof(log));
	if (e == cudaSuccess)
		e = cudaGraphInstantiate(&old, graph, NULL, NULL, 0);
	return e == cudaSuccess ? cudaGraphLaunch(plain, stream) : e;
}
