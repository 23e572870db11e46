// runtime: the first program of everybody, with main(); it becomes a script of the wheel
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                        \
	do {                                                                                   \
		cudaError_t e_ = (call);                                                           \
		if (e_ != cudaSuccess) {                                                           \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));    \
			return 1;                                                                      \
		}                                                                                  \
	} while (0)

__global__ void saxpy(int n, float a, const float *__restrict__ x, float *__restrict__ y)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		y[i] = fmaf(a, x[i], y[i]);
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
	std::vector<float> x(n, 1.0f), y(n, 2.0f);
	float *dx = nullptr, *dy = nullptr;
	CHECK(cudaMalloc(&dx, n * sizeof(float)));
	CHECK(cudaMalloc(&dy, n * sizeof(float)));
	CHECK(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	saxpy<<<256, 256>>>(n, 3.0f, dx, dy);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(dx));
	CHECK(cudaFree(dy));
	printf("y[0] = %g\n", y[0]);
	return y[0] == 5.0f ? 0 : 1;
}
