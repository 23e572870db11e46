# warpsum DIR: a small extension of PyTorch for CUDA, with its setup.py. It registers its operators, as modern ones do: the headers
# for that take a third of the time of <torch/extension.h>.
warpsum() {
	mkdir -p "$1"/warpsum
	cat >"$1"/setup.py <<'E'
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
args = {"cxx": ["-O0"], "nvcc": ["-O0", "-ccbin", "g++"]}
setup(name="warpsum", version="1.0", packages=["warpsum"], cmdclass={"build_ext": BuildExtension},
      ext_modules=[CUDAExtension("warpsum._C", ["warpsum/sum.cu"], extra_compile_args=args)])
E
	echo 'from . import _C' >"$1"/warpsum/__init__.py
	cat >"$1"/warpsum/sum.cu <<'E'
#include <Python.h>
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAException.h>
#include <torch/library.h>

__global__ void sum_kernel(float *x)
{
	float v = x[threadIdx.x];
	for (int i = 16; i; i >>= 1)
		v += __shfl_down_sync(0xffffffff, v, i);
	x[threadIdx.x] = v;
}

static void sum(at::Tensor x)
{
	sum_kernel<<<1, 32>>>(x.data_ptr<float>());
	C10_CUDA_CHECK(cudaGetLastError());
}

TORCH_LIBRARY(warpsum, m)
{
	m.def("sum", sum);
}

PyMODINIT_FUNC PyInit__C(void)
{
	static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C"};
	return PyModule_Create(&module);
}
E
}
