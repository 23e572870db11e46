#!/usr/bin/env bash
# slow: jaxlib is large
# Our own build with requirements in an environment of its own (pybind11, nanobind, jaxlib), a folder of headers outside of
# the project, and headers that pyproject.toml puts into the wheel.
set -eu
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; cat log; exit 1; }
skip() { echo "skip requirements of our own build: $1"; exit 0; }
python3 -c 'import os, sysconfig as s, venv
os.stat(s.get_path("include") + "/Python.h")' 2>/dev/null || skip 'python3 has no venv or no Python.h'
"$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1 || skip "no SDK ($(tail -1 log))"

mkdir -p common/deep both/both/include/both ffi
printf '#pragma once\n#include <cuda_runtime.h>\n#include "deep/inner.h"\ninline cudaError_t make(int **p, int n) { return cudaMalloc(p, sizeof(int) * n); }\n' >common/helper.cuh
printf '#include <cuda_runtime.h>\ninline int code() { return cudaSuccess == 0 ? NO_SUCH : 1; }\n' >common/deep/inner.h
cat >both/k.cu <<'CUDA'
#include "helper.cuh"
#include <both/api.h>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
int on_device(int n)
{
	int *p = nullptr;
	if (make(&p, n) != cudaSuccess)
		return code();
	twice<<<1, n>>>(p);
	return cudaFree(p) == cudaSuccess ? 0 : -1;
}
CUDA
echo 'int on_device(int n);' >both/both/include/both/api.h
touch both/both/__init__.py both/both/private.h
cat >both/pb.cpp <<'CXX'
#include <pybind11/pybind11.h>
#include <both/api.h>
PYBIND11_MODULE(_pb, m) { m.def("on_device", &on_device); m.def("three", [] { return 3; }); }
CXX
cat >both/nb.cpp <<'CXX'
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <both/api.h>
NB_MODULE(_nb, m) { m.def("on_device", &on_device); m.def("word", [] { return std::string("word"); }); }
CXX
cat >both/pyproject.toml <<'TOML'
[project]
name = "both"
version = "1.0"
[tool.setuptools]
packages = ["both"]
[tool.setuptools.package-data]
both = ["include/**/*.h"]
TOML
cat >both/rocsmith.yaml <<'YAML'
includes: [../common, both/include]
build: {system: own, requires: [pybind11, nanobind]}
YAML
build="$ROCSMITH build both --gpu gfx1201 -o out --build-dir b"
status=0
$build >log 2>&1 || status=$?
if grep -q 'cannot install what the build' log; then skip 'no package index'; fi
[ $status = 5 ] && grep -q 'NO_SUCH' log && grep -q 'at .*/common/deep/inner.h:2:' log || fail 'the place of a mistake outside of the project'
sed -i 's/NO_SUCH/4/' common/deep/inner.h
$build >log 2>&1 || fail 'a build with requirements of its own'
"$ROCSMITH" verify --require gfx1201 out/*.whl >log || fail 'the wheel'
python3 -m venv env >log 2>&1 && env/bin/pip install -q --no-deps out/*.whl >log 2>&1 || fail 'pip does not install it'
site=$(echo env/lib/python3*/site-packages)
got=$(PYTHONPATH=$site "$ROCSMITH" sdk run --host -- python3 -c 'from both import _pb, _nb; print(_pb.three(), _nb.word())' 2>log) || fail 'import'
[ "$got" = '3 word' ] || fail "the modules say '$got'"
[ -e "$site/both/include/both/api.h" ] && [ ! -e "$site/both/private.h" ] || fail 'headers in the wheel'
grep -q '^pybind11==.*--hash=sha256:' b/requirements.txt || fail 'the record of what was installed'
echo 'ok pybind11 and nanobind of an environment of the build, headers outside of the project, headers in the wheel'
$build -v >log 2>&1 || fail 'a second build'
if grep -q 'Compiled\|Preparing' log; then fail 'a second build does something'; fi
sed -i 's/? 4/? 5/' common/deep/inner.h
$build >log 2>&1 && grep -q Compiled log || fail 'a header outside of the project that changed'
for dir in / "$HOME" "$E2E_TMP/.hidden"; do
	mkdir -p "$dir"
	sed -i "s|^includes: .*|includes: [$dir]|" both/rocsmith.yaml
	status=0
	$build >log 2>&1 || status=$?
	[ $status != 0 ] && grep -q 'do not get to see it' log || fail "the folder $dir"
done
echo 'ok a second build does nothing, a changed header outside compiles; homes and hidden folders are refused'

cat >ffi/kernel.cu <<'CUDA'
// As in JAX's documentation of its foreign function interface: y = 2 x.
#include "xla/ffi/api/c_api.h"
#include "xla/ffi/api/ffi.h"
#include <cuda_runtime.h>
namespace ffi = xla::ffi;
__global__ void twice_kernel(const float *x, float *y, size_t n)
{
	size_t i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = 2 * x[i];
}
static ffi::Error twice(cudaStream_t stream, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y)
{
	size_t n = x.element_count();
	twice_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x.typed_data(), y->typed_data(), n);
	return cudaGetLastError() == cudaSuccess ? ffi::Error::Success() : ffi::Error::Internal("launch");
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Twice, twice,
	ffi::Ffi::Bind().Ctx<ffi::PlatformStream<cudaStream_t>>().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
CUDA
printf 'name: ffi-twice\nversion: 1.0\nbuild: {system: own, requires: [jaxlib]}\n' >ffi/rocsmith.yaml
"$ROCSMITH" build ffi --gpu gfx1201 -o out --build-dir f >log 2>&1 || fail 'a handler of JAX'
python3 -m zipfile -e out/ffi_twice-1.0-*.whl ffi-site
nm -D ffi-site/ffi_twice/libffi_twice.so | grep -q ' T Twice$' || fail 'the handler is not exported'
"$ROCSMITH" verify --require gfx1201 out/ffi_twice-*.whl >log || fail 'the wheel of the handler'
echo "ok a handler of JAX's foreign function interface, with the headers of jaxlib"
