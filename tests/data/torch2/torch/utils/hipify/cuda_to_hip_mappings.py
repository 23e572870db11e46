"""A few pairs, written for the tests."""
import collections

MATH_TRANSPILATIONS = collections.OrderedDict([
    ("std::max", ("::max")),
    ("std::min", ("::min")),
])

CUDA_TYPE_NAME_MAP = collections.OrderedDict([
    ("cudaStream_t", "hipStream_t"),
    ("cudaError_t", "hipError_t"),
])

CUDA_INCLUDE_MAP = collections.OrderedDict([
    ("include <cuda_runtime.h", "include <hip/hip_runtime.h"),
    ("curand.h", "hiprand/hiprand.h"),
    ("library_types.h", "hip/library_types.h"),
])

CUDA_IDENTIFIER_MAP = collections.OrderedDict([
    ("cudaMalloc", "hipMalloc"),
    ("cudaFree", "hipFree"),
    ("cudaMemcpyAsync", "hipMemcpyAsync"),
])

PYTORCH_SPECIFIC_MAPPINGS = collections.OrderedDict([
    ("ATen/cuda/CUDAContext.h", "ATen/hip/HIPContext.h"),
])

CAFFE2_PATH_MAPPINGS = collections.OrderedDict([
    ("hip/hip/", "hip/"),
])

CUDA_TO_HIP_MAPPINGS = [
    CUDA_IDENTIFIER_MAP,
    CUDA_TYPE_NAME_MAP,
    CUDA_INCLUDE_MAP,
    PYTORCH_SPECIFIC_MAPPINGS,
    CAFFE2_PATH_MAPPINGS,
]
