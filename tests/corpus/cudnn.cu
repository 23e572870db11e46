// cuDNN: a convolution; MIOpen has other interfaces
#include <cudnn.h> // refused: cudnn.h
#include <cuda_runtime.h>

extern "C" int relu(float *x, int n)
{
	cudnnHandle_t handle; // refused: cudnnHandle_t
	cudnnTensorDescriptor_t shape; // refused: cudnnTensorDescriptor_t
	cudnnActivationDescriptor_t kind; // refused: cudnnActivationDescriptor_t
	float one = 1, zero = 0;
	cudnnCreate(&handle); // refused: cudnnCreate
	cudnnCreateTensorDescriptor(&shape); // refused: cudnnCreateTensorDescriptor
	cudnnSetTensor4dDescriptor(shape, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, n); // refused: cudnnSetTensor4dDescriptor
	cudnnCreateActivationDescriptor(&kind); // refused: cudnnCreateActivationDescriptor
	cudnnSetActivationDescriptor(kind, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0); // refused: cudnnSetActivationDescriptor
	return cudnnActivationForward(handle, kind, &one, shape, x, &zero, shape, x); // refused: cudnnActivationForward
}
