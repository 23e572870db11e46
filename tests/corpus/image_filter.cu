// runtime: an image filter with main(), events and command line
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

__global__ void blur(const uchar3 *in, uchar3 *out, int w, int h, int r)
{
	const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w || y >= h)
		return;
	int3 sum = make_int3(0, 0, 0);
	int n = 0;
	for (int v = max(y - r, 0); v <= min(y + r, h - 1); v++)
		for (int u = max(x - r, 0); u <= min(x + r, w - 1); u++, n++) {
			uchar3 p = in[v * w + u];
			sum.x += p.x;
			sum.y += p.y;
			sum.z += p.z;
		}
	out[y * w + x] = make_uchar3(sum.x / n, sum.y / n, sum.z / n);
}

int main(int argc, char *argv[])
{
	int w = argc > 1 ? atoi(argv[1]) : 640, h = argc > 2 ? atoi(argv[2]) : 480;
	uchar3 *in, *out;
	cudaEvent_t start, stop;
	float ms;
	if (cudaMallocManaged(&in, w * h * sizeof(*in)) != cudaSuccess ||
		cudaMallocManaged(&out, w * h * sizeof(*out)) != cudaSuccess)
		return EXIT_FAILURE;
	for (int i = 0; i < w * h; i++)
		in[i] = make_uchar3(i, i >> 8, 7);
	cudaEventCreate(&start);
	cudaEventCreate(&stop);
	cudaEventRecord(start);
	blur<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(in, out, w, h, 3);
	cudaEventRecord(stop);
	cudaEventSynchronize(stop);
	cudaEventElapsedTime(&ms, start, stop);
	printf("%.3f ms, %d\n", ms, out[0].x);
	cudaFree(in);
	cudaFree(out);
	return EXIT_SUCCESS;
}
