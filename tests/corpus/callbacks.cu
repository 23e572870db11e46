// runtime: host functions in a stream, with CUDART_CB
#include <cuda_runtime.h>
#include <atomic>

static std::atomic<int> done;

static void CUDART_CB on_host(void *data)
{
	done += *static_cast<int *>(data);
}

static void CUDART_CB on_stream(cudaStream_t stream, cudaError_t status, void *data)
{
	(void)stream;
	if (status == cudaSuccess)
		done += *static_cast<int *>(data);
}

extern "C" int callbacks(int times)
{
	static int one = 1;
	cudaHostFn_t fn = on_host;
	cudaStream_t s;
	cudaStreamCreate(&s);
	for (int i = 0; i < times; i++) {
		cudaLaunchHostFunc(s, fn, &one);
		cudaStreamAddCallback(s, on_stream, &one, 0);
	}
	cudaStreamSynchronize(s);
	cudaStreamDestroy(s);
	return done;
}
