// runtime: a graph captured from a stream, instantiated, updated and launched
#include <cuda_runtime.h>

__global__ void step(float *x, float dt) { x[threadIdx.x] += dt * x[threadIdx.x]; }

extern "C" int captured(float *x, int times)
{
	cudaStream_t s;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	size_t nodes = 0;
	cudaStreamCaptureStatus status;
	cudaStreamCreate(&s);
	cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
	for (int i = 0; i < 4; i++)
		step<<<1, 256, 0, s>>>(x, 0.1f);
	cudaStreamIsCapturing(s, &status);
	cudaStreamEndCapture(s, &graph);
	cudaGraphGetNodes(graph, nullptr, &nodes);
	if (cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0) != cudaSuccess)
		return -1;
	cudaGraphUpload(exec, s);
	for (int i = 0; i < times; i++)
		cudaGraphLaunch(exec, s);
	cudaStreamSynchronize(s);
	cudaGraphExecDestroy(exec);
	cudaGraphDestroy(graph);
	cudaStreamDestroy(s);
	return static_cast<int>(nodes);
}
