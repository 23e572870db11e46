#!/usr/bin/env bash
# slow: five versions of CMake, scikit-build-core, scikit-build, meson-python and FindCUDA, each with a build of its own
# CUDA by all build systems that have a way for it: find_package(CUDA) with separable compilation, scikit-build-core and
# scikit-build, Meson's language cuda, and the language CUDA of CMake from 3.18 on, with each form of
# CMAKE_CUDA_ARCHITECTURES and both generators. The oracles are LLVM's programs and pip.
set -eu
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; tail -40 log; exit 1; }

if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1; then
	echo "skip CUDA by other build systems: no SDK ($(tail -1 log))"
	exit 0
fi
for tool in cmake ninja c++ make; do
	command -v $tool >/dev/null || { echo "skip CUDA by other build systems: no $tool"; exit 0; }
done

mkdir src
cat >src/twice.cuh <<'CU'
#pragma once
#include <cuda_runtime.h>
__device__ float twice(float x);
CU
cat >src/twice.cu <<'CU'
#include "twice.cuh"
__device__ float twice(float x) { return 2 * x; }
CU
cat >src/sum.cu <<'CU'
#include "twice.cuh"
__global__ void sum(const float *in, float *out) { atomicAdd(out, twice(in[threadIdx.x])); }
int launch_sum(const float *in, float *out)
{
	sum<<<1, 32>>>(in, out);
	return cudaGetLastError() == cudaSuccess;
}
CU
cat >src/host.cpp <<'CPP'
#include <cuda_runtime.h>
int launch_sum(const float *in, float *out);
extern "C" int tiles_sum(float *result)
{
	float *in;
	int gpus = 0;
	if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0)
		return -1;
	if (cudaMalloc(&in, 33 * sizeof(float)) != cudaSuccess || !launch_sum(in, in + 32))
		return -2;
	return cudaMemcpy(result, in + 32, sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess ? 0 : -3;
}
CPP
# Both GPUs have the kernel, and nothing in their code is missing: by the programs of LLVM.
whole() {
	local llvm=$1 file=$2 gpu object
	rm -rf code && mkdir code && cp "$file" code/lib.so
	(cd code && "$llvm/llvm-objdump" --offloading lib.so >../log 2>&1) || fail "the code objects of $file"
	for gpu in gfx90a gfx1201; do
		: >all
		for object in code/*hipv4*"$gpu"*; do
			"$llvm/llvm-readelf" --dyn-syms "$object" >>all
		done
		grep -q ' _Z3sumPKfPf\.kd$' all || fail "the kernel for $gpu in $file"
		[ -z "$(awk '$7 == "UND" && NF > 7' all)" ] || fail "undefined symbols for $gpu in $file"
	done
}

# ---- FindCUDA ----
cp -r src old
cat >old/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.5...3.26)
project(old CXX)
find_package(CUDA REQUIRED)
set(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} -fPIC -Wall")
set(CUDA_SEPARABLE_COMPILATION ON)
set(CUDA_NVCC_FLAGS "${CUDA_NVCC_FLAGS};-O3;-std=c++17;-gencode;arch=compute_70,code=sm_70")
include_directories(${CUDA_INCLUDE_DIRS})
cuda_add_library(old SHARED sum.cu twice.cu host.cpp)
install(TARGETS old DESTINATION lib)
CMAKE
"$ROCSMITH" build old --gpu gfx90a,gfx1201 -o out --build-dir b1 >path 2>log || fail 'FindCUDA'
whole "$PWD/b1/rocm/llvm/bin" out/old/lib/libold.so
echo 'ok find_package(CUDA): cuda_add_library() with separable compilation'

# ---- CMake's versions, generators and architectures ----
"$ROCSMITH" sdk shims --cuda --gpu gfx90a,gfx1201 rocm >environment 2>log || fail 'the shim folder'
cp -r src new
cat >new/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
if(ARCHS)
  set(CMAKE_CUDA_ARCHITECTURES ${ARCHS})
endif()
project(new LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_library(new SHARED sum.cu twice.cu host.cpp)
target_compile_features(new PUBLIC cuda_std_14)
target_link_libraries(new PRIVATE CUDA::cudart_static)
set_target_properties(new PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
CMAKE
python3 -m venv venv >log 2>&1
while read -r version generator archs; do
	venv/bin/pip install -q "cmake==$version" >log 2>&1 || { echo "skip CMake $version: pip has none"; continue; }
	rm -rf b2
	(. ./environment && export CUDAARCHS=75 && { [ "$archs" = - ] || unset CUDAARCHS; } &&
		venv/bin/cmake -G "${generator/_/ }" -DCMAKE_CUDA_ARCHITECTURES_NATIVE=80-real \
			-DARCHS="${archs#-}" -S new -B b2 && venv/bin/cmake --build b2) >log 2>&1 || fail "CMake $version, $archs"
	whole "$PWD/rocm/llvm/bin" b2/libnew.so
	echo "ok CMake $(venv/bin/cmake --version | sed -n 's/.*version //p'), $generator, architectures $archs"
done <<'VERSIONS'
3.18.4.post1 Ninja -
3.22.* Unix_Makefiles 70;80-real
3.27.* Ninja all-major
3.31.* Unix_Makefiles OFF
4.* Ninja native
VERSIONS

# ---- Python's back ends ----
python3 -c 'import sysconfig, os, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
	{ echo 'skip back ends: no Python.h'; exit 0; }
mkdir -p skcore skold mes
for name in skcore skold mes; do
	cp src/* $name/
	mkdir $name/$name
	cat >$name/$name/__init__.py <<PY
import ctypes, os
lib = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "lib$name.so"))
PY
done
for name in skcore skold; do
	sed -e "s/^project(new/project($name/; s/(new /($name /; /ARCHS/,/endif/d" new/CMakeLists.txt >$name/CMakeLists.txt
	echo "install(TARGETS $name LIBRARY DESTINATION $name)" >>$name/CMakeLists.txt
done
cat >skcore/pyproject.toml <<'TOML'
[build-system]
requires = ["scikit-build-core"]
build-backend = "scikit_build_core.build"
[project]
name = "skcore"
version = "1.0"
TOML
cat >skold/pyproject.toml <<'TOML'
[build-system]
requires = ["setuptools<80", "scikit-build", "cmake", "ninja"]
build-backend = "setuptools.build_meta"
TOML
cat >skold/setup.py <<'PY'
from skbuild import setup
setup(name="skold", version="1.0", packages=["skold"])
PY
cat >mes/pyproject.toml <<'TOML'
[build-system]
requires = ["meson-python", "ninja"]
build-backend = "mesonpy"
[project]
name = "mes"
version = "1.0"
TOML
cat >mes/meson.build <<'MESON'
project('mes', 'cpp', 'cuda', version: '1.0', default_options: ['cpp_std=c++17'])
cuda = dependency('cuda', version: '>=11', modules: ['cudart'])
py = import('python').find_installation(pure: false)
py.install_sources('mes/__init__.py', subdir: 'mes')
shared_library('mes', 'sum.cu', 'twice.cu', 'host.cpp', cuda_args: ['-rdc=true'], dependencies: cuda,
  install: true, install_dir: py.get_install_dir() / 'mes')
MESON
for name in skcore skold mes; do
	"$ROCSMITH" build $name --gpu gfx90a,gfx1201 -o out --build-dir b-$name >path 2>log || fail "$name"
	rm -rf site && python3 -m zipfile -e out/$name-1.0-*.whl site
	whole "$PWD/b-$name/rocm/llvm/bin" site/$name/lib$name.so
	"$ROCSMITH" verify --require gfx90a,gfx1201 out/$name-1.0-*.whl >log 2>&1 || fail "verify of $name"
	venv/bin/pip install -q --no-index out/$name-1.0-*.whl >log 2>&1 || fail "pip and $name"
	"$ROCSMITH" sdk run --host venv/bin/python -c "
import ctypes, $name
print($name.lib.tiles_sum(ctypes.byref(ctypes.c_float())))" >log 2>&1 || fail "import of $name"
	n=$(wc -l <b-$name/log/cc.jsonl)
	"$ROCSMITH" build $name --gpu gfx90a,gfx1201 -o out --build-dir b-$name >path 2>log || fail "$name again"
	[ "$(wc -l <b-$name/log/cc.jsonl)" = "$n" ] || fail "a second build of $name compiled something"
	echo "ok $name: a wheel with code for both GPUs, which pip installs and Python imports; the second build does nothing"
done
