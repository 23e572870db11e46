// runtime: texture objects of arrays and of linear memory
#include <cuda_runtime.h>
#include <cstring>

__global__ void sample(cudaTextureObject_t image, cudaTextureObject_t row, float *out, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	if (x >= w || y >= h)
		return;
	out[y * w + x] = tex2D<float>(image, (x + 0.5f) / w, (y + 0.5f) / h);
	out[y * w + x] += tex1Dfetch<float>(row, x);
}

extern "C" int sample_image(const float *host, const float *linear, float *out, int w, int h)
{
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaArray_t array;
	if (cudaMallocArray(&array, &format, w, h) != cudaSuccess)
		return 1;
	cudaMemcpy2DToArray(array, 0, 0, host, w * 4, w * 4, h, cudaMemcpyHostToDevice);
	cudaResourceDesc what;
	memset(&what, 0, sizeof(what));
	what.resType = cudaResourceTypeArray;
	what.res.array.array = array;
	cudaTextureDesc how;
	memset(&how, 0, sizeof(how));
	how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
	how.filterMode = cudaFilterModeLinear;
	how.readMode = cudaReadModeElementType;
	how.normalizedCoords = 1;
	cudaTextureObject_t image = 0, row = 0;
	cudaCreateTextureObject(&image, &what, &how, nullptr);
	what.resType = cudaResourceTypeLinear;
	what.res.linear.devPtr = const_cast<float *>(linear);
	what.res.linear.desc = format;
	what.res.linear.sizeInBytes = w * sizeof(float);
	how.normalizedCoords = 0;
	how.filterMode = cudaFilterModePoint;
	cudaCreateTextureObject(&row, &what, &how, nullptr);
	sample<<<dim3((w + 63) / 64, h), 64>>>(image, row, out, w, h);
	cudaDestroyTextureObject(image);
	cudaDestroyTextureObject(row);
	return cudaFreeArray(array);
}
