// runtime: pitched memory, 2D and 3D copies, extents
#include <cuda_runtime.h>

__global__ void scale(cudaPitchedPtr volume, cudaExtent size, float by)
{
	size_t x = blockIdx.x * blockDim.x + threadIdx.x;
	size_t y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= size.width / sizeof(float) || y >= size.height)
		return;
	for (size_t z = 0; z < size.depth; z++) {
		char *slice = static_cast<char *>(volume.ptr) + z * volume.pitch * size.height;
		reinterpret_cast<float *>(slice + y * volume.pitch)[x] *= by;
	}
}

extern "C" int scale_volume(float *host, int w, int h, int d)
{
	cudaExtent size = make_cudaExtent(w * sizeof(float), h, d);
	cudaPitchedPtr volume;
	if (cudaMalloc3D(&volume, size) != cudaSuccess)
		return 1;
	cudaMemset3D(volume, 0, size);
	cudaMemcpy3DParms in = {};
	in.srcPtr = make_cudaPitchedPtr(host, w * sizeof(float), w, h);
	in.dstPtr = volume;
	in.extent = size;
	in.kind = cudaMemcpyHostToDevice;
	cudaMemcpy3D(&in);
	scale<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(volume, size, 2.0f);
	cudaMemcpy2D(host, w * sizeof(float), volume.ptr, volume.pitch, w * sizeof(float), h,
		cudaMemcpyDeviceToHost);
	float *rows;
	size_t pitch;
	cudaMallocPitch(&rows, &pitch, w * sizeof(float), h);
	cudaMemset2D(rows, pitch, 0, w * sizeof(float), h);
	cudaFree(rows);
	cudaFree(volume.ptr);
	return cudaGetLastError() != cudaSuccess;
}
