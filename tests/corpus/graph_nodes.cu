// runtime: a graph made of kernel, memcpy, memset and host nodes
#include <cuda_runtime.h>
#include <cstdio>

__global__ void twice(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] *= 2;
}

static void CUDART_CB report(void *data) { printf("first: %g\n", *static_cast<float *>(data)); }

extern "C" int by_hand(float *host, float *dev, int n)
{
	cudaGraph_t graph;
	cudaGraphNode_t in, kernel, out, say, zero;
	cudaGraphCreate(&graph, 0);
	cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, dev, host, n * 4, cudaMemcpyHostToDevice);
	void *args[] = {&dev, &n};
	cudaKernelNodeParams k = {};
	k.func = reinterpret_cast<void *>(twice);
	k.gridDim = dim3((n + 255) / 256);
	k.blockDim = dim3(256);
	k.kernelParams = args;
	cudaGraphAddKernelNode(&kernel, graph, &in, 1, &k);
	cudaGraphAddMemcpyNode1D(&out, graph, &kernel, 1, host, dev, n * 4, cudaMemcpyDeviceToHost);
	cudaHostNodeParams h = {};
	h.fn = report;
	h.userData = host;
	cudaGraphAddHostNode(&say, graph, &out, 1, &h);
	cudaMemsetParams m = {};
	m.dst = dev;
	m.elementSize = 4;
	m.width = n;
	m.height = 1;
	cudaGraphAddMemsetNode(&zero, graph, &say, 1, &m);
	cudaGraphExec_t exec;
	cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
	cudaGraphLaunch(exec, 0);
	cudaStreamSynchronize(0);
	cudaGraphExecDestroy(exec);
	return cudaGraphDestroy(graph);
}
