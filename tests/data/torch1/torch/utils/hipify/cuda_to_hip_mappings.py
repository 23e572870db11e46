"""A few entries, written for the tests."""
import collections

from .constants import (API_PYTORCH, API_CAFFE2, API_RUNTIME, API_SPECIAL, CONV_INCLUDE, CONV_TYPE)

MATH_TRANSPILATIONS = collections.OrderedDict([
    ("std::max", ("::max")),
])

CUDA_TYPE_NAME_MAP = collections.OrderedDict([
    ("cudaStream_t", ("hipStream_t", CONV_TYPE, API_RUNTIME)),
])

CUDA_INCLUDE_MAP = collections.OrderedDict([
    ("include <cuda_runtime.h", ("include <hip/hip_runtime.h", CONV_INCLUDE, API_RUNTIME)),
])

CUDA_IDENTIFIER_MAP = collections.OrderedDict([
    ("cudaMalloc", ("hipMalloc", CONV_TYPE, API_RUNTIME)),
    ("cudaFree", ("hipFree", CONV_TYPE, API_RUNTIME)),
    ("cusparseCreate", ("hipsparseCreate", CONV_TYPE, API_RUNTIME)),
])

CUDA_SPECIAL_MAP = collections.OrderedDict([
    ("cusparseCreate", ("hipsparseCreateSpecial", CONV_TYPE, API_SPECIAL)),
])

PYTORCH_SPECIFIC_MAPPINGS = collections.OrderedDict([
    ("cuda::CUDAStream", ("hip::HIPStreamMasqueradingAsCUDA", CONV_TYPE, API_PYTORCH)),
])

CAFFE2_SPECIFIC_MAPPINGS = collections.OrderedDict([
    ("cuda_stream", ("hip_stream", CONV_TYPE, API_CAFFE2)),
])

CUDA_TO_HIP_MAPPINGS = [
    CUDA_IDENTIFIER_MAP,
    CUDA_TYPE_NAME_MAP,
    CUDA_INCLUDE_MAP,
    CUDA_SPECIAL_MAP,
    PYTORCH_SPECIFIC_MAPPINGS,
    CAFFE2_SPECIFIC_MAPPINGS,
]
