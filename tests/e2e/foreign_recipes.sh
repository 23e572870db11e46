#!/usr/bin/env bash
# A build of another build system whose sources have a known stop: it is cured in the build's copy, the
# project stays as it is, and a second build runs nothing.
set -eu
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; cat log; exit 1; }
sum() { (cd "$1" && find . -printf '%p %m %T@ ' -type f -exec sha256sum {} \; | sort); }
for program in cmake ninja c++; do
	command -v $program >/dev/null || { echo "skip recipes in a build: no $program"; exit 0; }
done
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1; then
	echo "skip recipes in a build: no SDK ($(tail -1 log))"
	exit 0
fi

# PyTorch's shape, without Composable Kernel: the lists of sources and the headers of 2.6.
mkdir -p t/torch/csrc t/aten/src/ATen/native/hip/bgemm_kernels t/include/ATen/native t/include/c10/util
echo 2.6.0 >t/version.txt && echo x >t/torch/csrc/x.h
cat >t/aten/src/ATen/CMakeLists.txt <<'CMAKE'
file(GLOB native_hip_hip "native/hip/*.hip" "native/hip/bgemm_kernels/*.hip")
file(GLOB native_hip_cpp "native/hip/*.cpp")
add_library(aten SHARED ${native_hip_hip} ${native_hip_cpp})
target_include_directories(aten PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/aten/src)
install(TARGETS aten DESTINATION lib)
CMAKE
cat >t/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(t VERSION 1.0 LANGUAGES CXX HIP)
add_subdirectory(aten/src/ATen)
add_library(more SHARED more.hip)
install(TARGETS more DESTINATION lib)
CMAKE
cat >t/more.hip <<'HIP'
#include <hip/hip_runtime.h>
__global__ void add(const float *a, float *b) { b[threadIdx.x] += a[threadIdx.x]; }
extern "C" void more(const float *a, float *b) { add<<<1, 64>>>(a, b); }
HIP
echo '#include "no_composable_kernel.h"' >t/aten/src/ATen/native/hip/ck_gemm_half.hip
cat >t/include/c10/util/Exception.h <<'EOF'
#include <stdexcept>
#define TORCH_CHECK(good, text) do { if (!(good)) throw std::runtime_error(text); } while (0)
EOF
for name in gemm bgemm; do
	cat >t/aten/src/ATen/native/hip/ck_$name.h <<EOF
#pragma once
namespace at { struct Half; struct BFloat16; }
#define CUDABLAS_$(echo $name | tr a-z A-Z)_ARGTYPES(T) const T *a, T *b
namespace at::native {
template <typename T> void ${name}_internal_ck(const T *a, T *b);
template <> void ${name}_internal_ck<at::BFloat16>(const at::BFloat16 *a, at::BFloat16 *b);
}
EOF
done
sum t >before
build="$ROCSMITH build t --gpu gfx1201 -o out --build-dir b"
$build >log 2>&1 || fail 'a build whose sources are cured'
grep -q 'torch-ck-missing' log || fail 'the recipe is told'
grep -q 'without Composable Kernel' out/t/lib/libaten.so || fail 'the cure is in the result'
sum t | cmp -s - before || fail 'the project was modified'
echo 'ok a known stop is cured in the copy; the project is as before'
stamp=$(stat -c %Y.%Z b/cmake/build.ninja)
$build >log 2>&1 || fail 'second build'
[ "$stamp" = "$(stat -c %Y.%Z b/cmake/build.ninja)" ] && ! grep -q 'configured anew' log || fail 'a second build ran something'
echo 'ok a second build runs nothing'

# Patches of the user's own, saved from a checkout of the same sources: below the recipes' changes, in the copy.
cp -a t g && (
	cd g && export HOME=$PWD/.. GIT_CONFIG_NOSYSTEM=1 && git init -q && git add . && export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c \
		GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c && git commit -qm base && git tag base &&
		echo 'extern "C" const char *by_queue() { return "patched by a queue"; }' >>more.hip && git commit -qam more &&
		git rm -q torch/csrc/x.h && echo new >new.txt && mkdir -p torch/csrc && echo y >torch/csrc/y.h && git add . &&
		git commit -qm "a file goes, others come" && git rm -q CMakeLists.txt && git commit -qm "one goes for a while" &&
		cp ../t/CMakeLists.txt . && echo tmp >tmp.txt && git add . && git commit -qm "and is back, another comes for a while" &&
		git rm -q tmp.txt && git commit -qm "it goes"
)
"$ROCSMITH" patch save g -o q --base base >log 2>&1 || fail 'a queue'
mv q/2.6.0/g q/2.6.0/t
$build --patches q >log 2>&1 || fail 'a build with a queue of patches'
grep -q 'patched by a queue' out/t/lib/libmore.so || fail 'the patch is in the result'
grep -q 'without Composable Kernel' out/t/lib/libaten.so || fail 'the cure is in it, too'
[ -e b/tree/torch/csrc/y.h ] && [ -e b/tree/new.txt ] && [ ! -e b/tree/torch/csrc/x.h ] && [ ! -e b/tree/tmp.txt ] ||
	fail 'files that come and go'
sum t | cmp -s - before || fail 'the project was modified by patches'
stamp=$(stat -c %Y.%Z b/cmake/build.ninja)
$build --patches q >log 2>&1 || fail 'a second build with patches'
[ "$stamp" = "$(stat -c %Y.%Z b/cmake/build.ninja)" ] || fail 'a second build with patches ran something'
echo 'ok a queue of patches is applied to the copy'
sed -i 's/^ extern "C" void more/ extern "C" void less/' q/2.6.0/t/base/0001-more.patch
if $build --patches q >log 2>&1; then fail 'a patch that does not fit'; fi
grep -q "0001-more.patch' does not fit 'more.hip'" log || fail 'it is named'
$build >log 2>&1 || fail 'a build without the queue again'
if grep -q 'patched by a queue' out/t/lib/libmore.so; then fail 'the patch is still there'; fi
echo 'ok a patch that does not fit is named, and without the queue the patches are gone'
