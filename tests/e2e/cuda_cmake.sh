#!/usr/bin/env bash
# A project whose CMakeLists.txt asks for the language CUDA: a static library with separable compilation, whose
# kernel calls a function of another file, a shared library with host code in C++ that calls CUDA's API, a program.
# It is built as it is. The oracles are LLVM's and binutils' programs, which know nothing of rocsmith.
set -eu
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; cat log; exit 1; }
sum() { (cd "$1" && find . -type f -printf '%p %m %T@ ' -exec sha256sum {} \; | sort); }

if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1; then
	echo "skip CMake's language CUDA: no SDK ($(tail -1 log))"
	exit 0
fi
for tool in cmake ninja c++ nm readelf; do
	command -v $tool >/dev/null || { echo "skip CMake's language CUDA: no $tool"; exit 0; }
done

mkdir -p tiles/cmake
cat >tiles/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
project(tiles VERSION 1.0 LANGUAGES CXX)
set(CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/cmake)
set(CMAKE_INSTALL_RPATH "\$ORIGIN/../lib")
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "no CUDA")
endif()
set(CMAKE_CUDA_ARCHITECTURES 70 80-real 90-virtual)
enable_language(CUDA)
find_package(CUDAToolkit 11.0 REQUIRED)
if(NOT CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" OR
   NOT CMAKE_CUDA_COMPILER_VERSION VERSION_EQUAL CUDAToolkit_VERSION)
  message(FATAL_ERROR "${CMAKE_CUDA_COMPILER_ID} ${CMAKE_CUDA_COMPILER_VERSION} ${CUDAToolkit_VERSION}")
endif()
include(FetchContent) # NVIDIA's CCCL is not downloaded: ROCm's Thrust and CUB are in its place
FetchContent_Declare(CCCL URL http://127.0.0.1:9/cccl.tar.gz)
FetchContent_MakeAvailable(CCCL)
find_package(CCCL 3.0 REQUIRED CONFIG)
add_library(parts STATIC sum.cu twice.cu)
target_compile_features(parts PUBLIC cuda_std_17)
set_target_properties(parts PROPERTIES CUDA_SEPARABLE_COMPILATION ON POSITION_INDEPENDENT_CODE ON)
add_library(tiles SHARED tiles.cu host.cpp)
target_link_libraries(tiles PRIVATE parts CUDA::cudart CCCL::CCCL)
set_target_properties(tiles PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
add_executable(show show.cpp)
target_link_libraries(show PRIVATE tiles)
install(TARGETS tiles show)
CMAKE
cat >tiles/twice.cuh <<'CU'
#pragma once
#include <cuda_runtime.h>
__device__ float twice(float x);
CU
cat >tiles/twice.cu <<'CU'
#include "twice.cuh"
__device__ float table[4] = {1, 2, 3, 4};
__device__ float twice(float x) { return 2 * x + table[threadIdx.x & 3]; }
CU
cat >tiles/sum.cu <<'CU'
#include "twice.cuh"
extern __device__ float table[4];
__global__ void sum(const float *in, float *out)
{
	float x = twice(in[threadIdx.x]) + table[1];
	for (int step = 16; step > 0; step /= 2)
		x += __shfl_down_sync(0xffffffff, x, step, 32);
	if (threadIdx.x == 0)
		atomicAdd(out, x);
}
int launch_sum(const float *in, float *out)
{
	sum<<<1, 32>>>(in, out);
	return cudaGetLastError() == cudaSuccess;
}
CU
cat >tiles/tiles.cu <<'CU'
#include <cuda_runtime.h>
__global__ void fill(float *out, float with) { out[blockIdx.x * blockDim.x + threadIdx.x] = with; }
void launch_fill(float *out, cudaStream_t stream) { fill<<<1, 32, 0, stream>>>(out, 1.5f); }
CU
cat >tiles/host.cpp <<'CPP'
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
void launch_fill(float *out, cudaStream_t stream);
int launch_sum(const float *in, float *out);
extern "C" int tiles_sum(float *result)
{
	float *in, *out;
	int gpus = 0;
	if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0)
		return -1;
	if (cudaMalloc(&in, 33 * sizeof(float)) != cudaSuccess)
		return -2;
	out = in + 32;
	cudaMemset(out, 0, sizeof(float));
	launch_fill(in, nullptr);
	launch_sum(in, out);
	cudaError_t e = cudaMemcpy(result, out, sizeof(float), cudaMemcpyDeviceToHost);
	cudaFree(in);
	return e == cudaSuccess ? 0 : -3;
}
CPP
cat >tiles/show.cpp <<'CPP'
#include <cstdio>
extern "C" int tiles_sum(float *result);
int main()
{
	float result = 0;
	int status = tiles_sum(&result);
	std::printf("%d %g\n", status, result);
	return 0;
}
CPP
sum tiles >before
build="$ROCSMITH build tiles --gpu gfx90a,gfx1201 -o out --build-dir b"
$build >path 2>log || fail 'a CMake project in CUDA'
[ "$(cat path)" = "$PWD/out/tiles" ] || fail "the result is $(cat path)"
sum tiles | cmp -s - before || fail 'the project was modified'
echo 'ok a CMake project with the language CUDA is built as it is'

llvm=b/rocm/llvm/bin
lib=$PWD/out/tiles/lib/libtiles.so
mkdir code && cp "$lib" code/ && (cd code && ../$llvm/llvm-objdump --offloading libtiles.so >../log 2>&1) || fail 'the code objects'
for gpu in gfx90a gfx1201; do
	found=0
	for object in code/*hipv4*"$gpu"*; do
		$llvm/llvm-readelf -h --dyn-syms --notes "$object" >log
		grep -q "Machine:.*AMDGPU" log && grep -q "$gpu" log || fail "$object is not for $gpu"
		[ -z "$(awk '$7 == "UND" && NF > 7' log)" ] || fail "undefined symbols in $object"
		! grep -q ' _Z3sumPKfPf\.kd$' log || found=$((found + 1))
		! grep -q ' _Z4fillPff\.kd$' log || found=$((found + 10))
	done
	[ $found = 11 ] || fail "the kernels for $gpu: $found"
done
echo 'ok both GPUs have both kernels; nothing of what was linked across files is missing'
nm -D --undefined-only "$lib" >log
! grep -qE ' (cuda|__cuda|__hip_fatbin|__hip_gpubin)' log && grep -q ' hipMalloc' log || fail 'undefined symbols'
readelf -d "$lib" "$PWD/out/tiles/bin/show" >log
[ "$(grep -c 'NEEDED.*libamdhip64' log)" -ge 1 ] && ! grep -q 'NEEDED.*libcuda' log || fail 'needed libraries'
"$ROCSMITH" sdk run --host "$PWD/out/tiles/bin/show" >log 2>&1 || fail 'the program'
grep -qE '^(-1 0|0 [0-9.]+)$' log || fail 'what the program says'
echo 'ok the library needs HIP only, and the program runs'

lines() { wc -l <b/log/cc.jsonl; }
n=$(lines)
$build >path 2>log || fail 'a second build'
[ "$(lines)" = "$n" ] || fail 'a second build compiled something'
echo '// touched' >>tiles/sum.cu
$build >path 2>log || fail 'a touched source'
python3 - "$n" >log <<'PY' || fail 'what a touched source compiles'
import json, sys
runs = [json.loads(line) for line in open("b/log/cc.jsonl")][int(sys.argv[1]):]
hip = [run["input"].rsplit("/", 1)[-1] for run in runs if run["kind"] == "hip"]
print(hip)
assert hip == ["sum.cu"], hip
PY
sed -i 's/2 \* x/2 * y/' tiles/twice.cu
status=0
$build >path 2>log || status=$?
[ $status = 5 ] && grep -q 'at .*/tiles/twice.cu:3:' log || fail 'the place of a mistake'
sed -i 's/2 \* y/2 * x/' tiles/twice.cu
sed -i '/^__device__ float twice/d' tiles/twice.cu
status=0
$build >path 2>log || status=$?
[ $status = 5 ] && grep -q 'twice(float)' log || fail 'a function that no file has'
echo 'ok a second build does nothing, a touched source is compiled alone; mistakes have their place'

echo '__device__ float twice(float x) { return 2 * x; } __device__ float table[4];' >tiles/twice.cu
"$ROCSMITH" build tiles --gpu gfx1100 -o out --build-dir b >path 2>log || fail 'another GPU'
rm -rf code && mkdir code && cp "$lib" code/ && (cd code && ../$llvm/llvm-objdump --offloading libtiles.so >../log 2>&1)
grep -q hipv4.*gfx1100 log && ! grep -qE 'gfx90a|gfx1201' log || fail 'the code of another GPU'
echo 'ok for another GPU everything is compiled again, although no command changed'
