// runtime: managed memory, advice, prefetching, a managed variable
#include <cuda_runtime.h>

__managed__ int total;

struct node {
	int value;
	node *next;
};

__global__ void walk(const node *head)
{
	for (const node *n = head; n; n = n->next)
		atomicAdd(&total, n->value);
}

extern "C" int managed_list(int n)
{
	node *nodes;
	int device;
	cudaGetDevice(&device);
	if (cudaMallocManaged(&nodes, n * sizeof(node)) != cudaSuccess)
		return -1;
	for (int i = 0; i < n; i++)
		nodes[i] = {i, i + 1 < n ? &nodes[i + 1] : nullptr};
	cudaMemAdvise(nodes, n * sizeof(node), cudaMemAdviseSetReadMostly, device);
	cudaMemPrefetchAsync(nodes, n * sizeof(node), device);
	total = 0;
	walk<<<1, 1>>>(nodes);
	cudaDeviceSynchronize();
	cudaMemPrefetchAsync(nodes, n * sizeof(node), cudaCpuDeviceId);
	cudaFree(nodes);
	return total;
}
