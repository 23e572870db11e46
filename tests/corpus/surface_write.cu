// runtime: surfaces, read and written
#include <cuda_runtime.h>

__global__ void invert(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	if (x >= w || y >= h)
		return;
	uchar4 p;
	surf2Dread(&p, in, x * sizeof(p), y);
	p.x = 255 - p.x;
	p.y = 255 - p.y;
	p.z = 255 - p.z;
	surf2Dwrite(p, out, x * sizeof(p), y);
}

extern "C" int invert_image(uchar4 *host, int w, int h)
{
	cudaChannelFormatDesc f = cudaCreateChannelDesc<uchar4>();
	cudaArray_t a[2];
	cudaSurfaceObject_t s[2];
	for (int i = 0; i < 2; i++) {
		cudaMallocArray(&a[i], &f, w, h, cudaArraySurfaceLoadStore);
		cudaResourceDesc d = {};
		d.resType = cudaResourceTypeArray;
		d.res.array.array = a[i];
		cudaCreateSurfaceObject(&s[i], &d);
	}
	cudaMemcpy2DToArray(a[0], 0, 0, host, w * 4, w * 4, h, cudaMemcpyHostToDevice);
	invert<<<dim3((w + 31) / 32, h), 32>>>(s[0], s[1], w, h);
	cudaMemcpy2DFromArray(host, w * 4, a[1], 0, 0, w * 4, h, cudaMemcpyDeviceToHost);
	for (int i = 0; i < 2; i++) {
		cudaDestroySurfaceObject(s[i]);
		cudaFreeArray(a[i]);
	}
	return cudaGetLastError();
}
