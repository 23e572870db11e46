// device: min and max of two integer types, on the host too; a launch as formatters leave it
#include <cstdio>

__global__ void clamp(float *to, const float *from, int n, short last, unsigned char first)
{
	const float *p = &from[min(n - 1, blockIdx.x * 16 + threadIdx.x)];
	to[max(0, threadIdx.x) % 16] = p[min(last, n)] + p[max(first, 3)];
	to[min(-1, 5u) == 5u] += min(1.0f, 2.0);
}

int main()
{
	unsigned big = 4000000000u;
	float *p;
	if (cudaMalloc(&p, 64) != cudaSuccess)
		return 1;
	clamp << < 1, 16 >> > (p, p, max(3, 4), 1, 2);
	std::printf("%u %u\n", min(big, big + 1), min(-1, 5u));
	return cudaDeviceSynchronize() != cudaSuccess;
}
