// device: malloc, new and virtual functions in kernels, recursion, function pointers
#include <cuda_runtime.h>

class shape {
public:
	__device__ virtual ~shape() {}
	__device__ virtual float area() const = 0;
};

class square : public shape {
	float a_;

public:
	__device__ explicit square(float a) : a_(a) {}
	__device__ float area() const override { return a_ * a_; }
};

typedef float (*op)(float);
__device__ float inc(float x) { return x + 1; }
__device__ op chosen = inc;
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__global__ void build(float *out)
{
	shape *s = new square(threadIdx.x);
	int *scratch = static_cast<int *>(malloc(16 * sizeof(int)));
	scratch[0] = fib(threadIdx.x % 8);
	out[threadIdx.x] = chosen(s->area()) + scratch[0];
	free(scratch);
	delete s;
}

extern "C" int build_run(float *out)
{
	cudaDeviceSetLimit(cudaLimitStackSize, 4096);
	build<<<1, 64>>>(out);
	return cudaDeviceSynchronize();
}
