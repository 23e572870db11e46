#!/usr/bin/env bash
# A project that is translated as PyTorch's own hipify does it is built; what the compiler says about
# the result is led back to the user's source.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; exit 1; }

if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >sdk.log 2>&1; then
	echo "skip build of an extension: no SDK ($(tail -1 sdk.log))"
	exit 0
fi
status=0
torch=$("$top/tools/torch-get" 2.15.0) || status=$?
if [ "$status" = 77 ]; then
	echo "skip build of an extension: no torch"
	exit 0
fi
[ "$status" = 0 ] || fail "tools/torch-get"

mkdir -p p/csrc p/include
cat >p/rocsmith.yaml <<YAML
name: addone
version: 1.0
sources: [csrc/*.cu, csrc/*.cpp]
includes: [include]
hipify:
  torch: $torch
  map: {cudaOurs_t: int}
YAML
cat >p/csrc/add.cu <<'CUDA'
// the first line
#include <cuda_runtime.h>
#include "add.cuh"

extern "C" int add_one(float *host, int n)
{
	cudaOurs_t zero = 0;
	float *p = nullptr;
	cudaError_t e = cudaMalloc(&p, sizeof(float) * n);
	add<<<1, n>>>(p, std::max(n, 1));
	cudaFree(p);
	return e == cudaSuccess ? zero : 1;
}
CUDA
cat >p/include/add.cuh <<'CUDA'
#pragma once
#include <algorithm>
static __global__ void add(float *p, int n) { if (threadIdx.x < n) p[threadIdx.x] += 1; }
static inline cudaError_t check() { return cudaSuccess; }
CUDA
printf 'extern "C" int add_one(float *host, int n);\nextern "C" int two(float *h, int n) { return add_one(h, n); }\n' >p/csrc/host.cpp

"$ROCSMITH" build p --gpu gfx1201 -o out >build.log 2>&1 || { cat build.log; fail "build in mode extension"; }
"$ROCSMITH" verify --require gfx1201 out/*.whl >/dev/null || fail "the wheel of an extension"
"$ROCSMITH" hipify p/ -q --check --json >/dev/null || :
[ ! -e p/.rocsmith ] && [ ! -e p/csrc/add.hip ] || fail "the build wrote into the project"
echo "ok an extension is translated as that torch does it, built and verified"

"$ROCSMITH" build p --gpu gfx1201 -o out -v >again.log 2>&1 || fail "second build"
grep -q 'Compiled' again.log && fail "a second build compiles again"
echo "ok a second build compiles nothing"

# Line 10 holds a launch, which the translation rewrites; the mistake stands behind it.
sed -i 's/std::max(n, 1)/nothing_of_that_name/' p/csrc/add.cu
"$ROCSMITH" build p --gpu gfx1201 -o out >mistake.log 2>&1 && fail "a mistake is no error"
grep -q "undeclared identifier 'nothing_of_that_name'" mistake.log || { cat mistake.log; fail "the compiler's error"; }
grep -q "at .*p/csrc/add.cu:10:" mistake.log || { cat mistake.log; fail "the place of the error"; }
sed -i 's/nothing_of_that_name/n/' p/csrc/add.cu
sed -i 's/return cudaSuccess/return cudaSuccess + wrong_name/' p/include/add.cuh
"$ROCSMITH" build p --gpu gfx1201 -o out >mistake.log 2>&1 && fail "a mistake in a header is no error"
grep -q "at .*p/include/add.cuh:4:58" mistake.log || { cat mistake.log; fail "the place in a header"; }
echo "ok the compiler's errors are shown in the user's sources"
