#!/usr/bin/env bash
# Every recipe on a tree that has its problem: real files of PyTorch 2.6.0 where it is about them. The
# compile (or configure step) that fails before passes after, and the tree is taken back to its hash.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP" || exit 1
chmod -R u+w . && rm -rf ./*

hash_of() { (cd "$1" && find . ! -name . -printf '%P %M %l\n' -type f -exec sha256sum {} \; | LC_ALL=C sort | sha256sum); }
seen=" "

# cure NAME TREE RECIPE PROOF WHY [OPTION...]: PROOF is a function that fails before, saying WHY, and
# passes after; it finds the variables that a build gets in its environment, and in "${cmake[@]}".
cure() {
	local name=$1 tree=$2 recipe=$3 proof=$4 why=$5 before after
	shift 5
	seen="$seen$recipe "
	before=$(hash_of "$tree")
	cmake=()
	if (cd "$tree" && $proof) >log 2>&1; then
		echo "not ok $name: there is nothing to cure"
		return
	fi
	if [ -n "$why" ] && ! grep -q -e "$why" log; then
		echo "not ok $name: it fails, but not with '$why': $(tail -n 20 log)"
		return
	fi
	if ! "$ROCSMITH" patch apply "$tree" "$recipe" "$@" --json >answer 2>log; then
		echo "not ok $name: $(cat log)"
		return
	fi
	python3 -c 'import json
d = json.load(open("answer"))
states = [r["state"] for r in d["recipes"] if r["id"] == "'"$recipe"'"]
assert states[0] in ("applied", "build"), states
for line in d["environment"]:
    print("export", "=".join([line.split("=", 1)[0], "\"%s\"" % line.split("=", 1)[1]]))
print("cmake=(", *("-D%s" % line for line in d["cmake"]), ")")' >settings || {
		echo "not ok $name: $(cat answer)"
		return
	}
	if ! (. ./settings && cd "$tree" && $proof) >log 2>&1; then
		echo "not ok $name: $(tail -n 20 log)"
		return
	fi
	"$ROCSMITH" patch status "$tree" "$@" --json >answer 2>/dev/null
	[ ! -e "$tree/.rocsmith-patches" ] || "$ROCSMITH" patch revert -q "$tree"
	after=$(hash_of "$tree")
	if [ "$before" = "$after" ]; then
		echo "ok $name"
	else
		echo "not ok $name: the tree is not what it was"
	fi
}

compile() { g++ -std=c++17 -fsyntax-only -x c++ "$@"; }

# ---- PyTorch 2.6.0 ----
if source=$("$top/tools/debian-source" trixie pytorch 2>log); then
	mkdir -p torch
	(cd "$source" && cp -a --parents version.txt CMakeLists.txt aten/src/ATen/CMakeLists.txt aten/src/ATen/native/hip \
		aten/src/ATen/cuda aten/src/ATen/OpMathType.h c10 cmake torch/csrc/jit/serialization "$E2E_TMP/torch")
	rocm7="--rocm 7.2 --gpu gfx1201,gfx1100"

	# HIP 7's warpSize is no constant expression.
	mkdir -p hip7/hip
	cat >hip7/hip/hip_runtime.h <<'EOF'
struct WarpSize { operator int() const noexcept; };
extern const WarpSize warpSize;
EOF
	warp() {
		printf '%s\n' '#include <hip/hip_runtime.h>' '#include <c10/macros/Macros.h>' \
			'constexpr int kCUDABlockReduceMaxThreads = C10_WARP_SIZE * C10_WARP_SIZE;' |
			compile -I. -I../hip7 -DUSE_ROCM -DC10_USING_CUSTOM_GENERATED_MACROS -
	}
	# shellcheck disable=SC2086
	cure "warpSize is no constant" torch torch-warp-size warp "must have a constant value\|not a constant expression\|not usable in a constant expression\|call to non-.constexpr" $rocm7

	# hipBLAS 3 has no hipblasDatatype_t. The functions of the real header, with its types.
	types() {
		{
			echo 'enum hipDataType { HIP_R_32F, HIP_R_16F, HIP_R_16BF, HIP_R_64F, HIP_R_8F_E4M3_FNUZ, HIP_R_8F_E5M2_FNUZ };'
			echo 'struct Half; struct BFloat16; namespace c10 { struct Float8_e4m3fnuz; struct Float8_e5m2fnuz; }'
			sed -n '/^constexpr hip.*HipDataTypeFor();/,/HIP_R_8F_E5M2_FNUZ/p' aten/src/ATen/cuda/tunable/GemmHipblaslt.h |
				sed '1i template <typename T>'
			echo '}'
		} | compile -
	}
	# shellcheck disable=SC2086
	cure "hipblasDatatype_t is gone" torch torch-hipblas-datatype types "hipblasDatatype_t" $rocm7

	# An SDK without rocm_version.h: configure, and Tunable.cpp's use of ROCM_BUILD_INFO.
	mkdir -p bare/include/hip && echo '#define HIP_VERSION_MAJOR 6' >bare/include/hip/hip_version.h
	version() {
		{
			echo "set(UNIX 1)"
			echo "set(ROCM_INCLUDE_DIRS $E2E_TMP/bare/include)"
			sed -n '/# Find ROCM version for checks/,/file(READ/p' cmake/public/LoadHIP.cmake
			# shellcheck disable=SC2016
			echo 'message("${ROCM_HEADER_CONTENT}")'
		} >../version.cmake
		cmake -P ../version.cmake 2>&1 | tee /dev/stderr | grep 'ROCM_VERSION_MINOR 4' && {
			echo '#include <rocm-core/rocm_version.h>'
			echo 'const char *info = ROCM_BUILD_INFO;'
			grep -o 'ROCM_BUILD_INFO' aten/src/ATen/cuda/tunable/Tunable.cpp | sed 's/^/static_assert(sizeof(/; s/$/) > 3, "");/'
		} | compile -isystem ../bare/include -
	}
	cure "no rocm_version.h" torch torch-rocm-version version "rocm_version.h could not be found" --rocm-dir bare --rocm 6.4
	mkdir -p shim/include/rocm-core shim/include/hip && printf '%s\n' '#define ROCM_VERSION_MAJOR 6' \
		'#define ROCM_VERSION_MINOR 4' '#define ROCM_VERSION_PATCH 3' >shim/include/rocm-core/rocm_version.h
	info() {
		printf '%s\n' '#include <rocm-core/rocm_version.h>' \
			'const char *info = ROCM_BUILD_INFO; int minor = ROCM_VERSION_MINOR;' |
			compile -isystem ../shim/include -
	}
	cure "a rocm_version.h without ROCM_BUILD_INFO" torch torch-rocm-build-info info "ROCM_BUILD_INFO" --rocm-dir shim --rocm 6.4

	# Composable Kernel is stripped: what CMake would compile, each alone. Translated files lie beside them.
	mkdir -p stub/ATen/hip && : >stub/ATen/ATen.h
	echo 'int translated;' >torch/aten/src/ATen/native/hip/Translated.hip
	grep -h -A4 '#define CUDABLAS_B\?GEMM_ARGTYPES' "$source/aten/src/ATen/cuda/CUDABlas.h" | sed '/^--$/d' >stub/ATen/hip/HIPBlas.h
	kernels() {
		{
			grep '^file(GLOB native_hip_hip\|^list(FILTER native_hip_hip' aten/src/ATen/CMakeLists.txt
			grep '^file(GLOB native_hip_cpp' aten/src/ATen/CMakeLists.txt
			# shellcheck disable=SC2016
			echo 'message("${native_hip_hip};${native_hip_cpp}")'
		} >aten/src/ATen/list.cmake
		list=$(cd aten/src/ATen && cmake -P list.cmake 2>&1)
		rm aten/src/ATen/list.cmake
		echo "$list" | grep -q hip/Translated.hip || return 1
		for file in ${list//;/ }; do
			compile -I../stub -I. -Iaten/src -DC10_USING_CUSTOM_GENERATED_MACROS "$file" || return 1
		done
	}
	cure "no Composable Kernel" torch torch-ck-missing kernels "ck/.*: No such file" --rocm-dir bare

	# FP16 of a system that is not in /usr.
	mkdir -p sysroot/usr/include && : >sysroot/usr/include/fp16.h
	fp16() {
		{
			echo 'cmake_minimum_required(VERSION 3.18)'
			echo 'project(fp16 C)'
			sed -n '/elseif(NOT TARGET fp16 AND USE_SYSTEM_FP16)/,/^endif()/p' cmake/Dependencies.cmake | sed 's/^elseif/if/'
		} >../fp16.cmake
		mkdir -p ../fp16 && mv ../fp16.cmake ../fp16/CMakeLists.txt && rm -rf ../fp16/build
		cmake -S ../fp16 -B ../fp16/build -DUSE_SYSTEM_FP16=ON -DCMAKE_FIND_ROOT_PATH="$E2E_TMP/sysroot" \
			-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY
	}
	if [ -e /usr/include/fp16.h ]; then
		echo "skip FP16 of another root: this machine has its own"
		seen="$seen""torch-system-fp16 "
	else
		cure "FP16 of another root" torch torch-system-fp16 fp16 "Cannot find source file" --sysroot sysroot
	fi

	# pybind11 of a system: a wheel has to bring its headers.
	mkdir -p pybind/include/pybind11/detail && echo '#include "detail/common.h"' >pybind/include/pybind11/pybind11.h
	echo 'struct object {};' >pybind/include/pybind11/detail/common.h
	mkdir -p pybind/share && echo 'set(pybind11_INCLUDE_DIRS "${CMAKE_CURRENT_LIST_DIR}/../include")' >pybind/share/pybind11-config.cmake
	extension() {
		rm -rf ../ext && mkdir ../ext
		{
			echo 'cmake_minimum_required(VERSION 3.18)'
			echo 'project(pybind C)'
			sed -n '/^if(USE_SYSTEM_PYBIND11)/,/^endif()/p' cmake/Dependencies.cmake
		} >../ext/CMakeLists.txt
		cmake -S ../ext -B ../ext/build -DUSE_SYSTEM_PYBIND11=ON -Dpybind11_DIR="$E2E_TMP/pybind/share" \
			-DCMAKE_INSTALL_PREFIX="$E2E_TMP/ext/torch" && cmake --install ../ext/build &&
			echo '#include <pybind11/pybind11.h>' | compile -I ../ext/torch/include -
	}
	cure "pybind11 of a system" torch torch-system-pybind11 extension "pybind11.h: No such file"

	# What Debian's patches make of it, in the lines that they have in them.
	mkdir -p deb/debian/patches deb/cmake deb/tools deb/torch/csrc && cp "$source/version.txt" deb
	: >deb/debian/patches/1020-dirtyhack.patch
	printf '%s\n' 'set(CMAKE_VERBOSE_MAKEFILE ON)' \
		'option(HAVE_SOVERSION "Whether to add SOVERSION to the shared objects" ON)' >deb/CMakeLists.txt
	echo 'set(CMAKE_INSTALL_RPATH "")' >deb/cmake/Dependencies.cmake
	sed "/^    sha = None/,\$ { /^    return version\$/ s/\$/ + '+debian'/ }" "$source/tools/generate_torch_version.py" |
		sed '/if os.getenv("PYTORCH_BUILD_VERSION"):/,/version += "+git"/d' >deb/tools/generate_torch_version.py
	sed -i "s/^    return version\$/    return version + '+debian'/" deb/tools/generate_torch_version.py
	wheel() {
		grep 'SOVERSION.* OFF' CMakeLists.txt && grep '_rpath_portable_origin' cmake/Dependencies.cmake &&
			PYTORCH_BUILD_VERSION=2.6.0+rocm6.4 python3 -B -c 'import sys, types
sys.modules["setuptools"] = types.SimpleNamespace(distutils=None)
sys.path.insert(0, "tools")
import generate_torch_version as g
print(g.get_torch_version())
assert g.get_torch_version() == "2.6.0+rocm6.4"'
	}
	cure "Debian's packaging" deb torch-debian-packaging wheel ''

	# The header that flatc 23.3.3 made, and Debian's flatbuffers.
	flat=$("$top/tools/debian-get" sid flatbuffers libflatbuffers-dev flatbuffers-compiler 2>/dev/null) || flat=
	root=$("$ROCSMITH" sdk info debian-sid --json 2>/dev/null | python3 -c 'import json, sys
print(json.load(sys.stdin)["paths"]["root"])' 2>/dev/null) || root=
	if [ -n "$flat" ] && [ -n "$root" ]; then
		mkdir -p bin
		printf '#!/bin/sh\nexec %s --library-path %s:%s %s "$@"\n' "$root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" \
			"$root/usr/lib/x86_64-linux-gnu" "$flat/usr/lib/x86_64-linux-gnu" "$flat/usr/bin/flatc" >bin/flatc
		chmod 755 bin/flatc
		bytecode() {
			echo '#include <torch/csrc/jit/serialization/mobile_bytecode_generated.h>' |
				compile -I. -isystem "$flat/usr/include" -
		}
		PATH=$E2E_TMP/bin:$PATH cure "flatbuffers of another version" torch torch-flatbuffers-header bytecode "Non-compatible flatbuffers" \
			--sysroot "$flat"
	else
		echo "skip flatbuffers of another version: no flatc of Debian"
	fi

	# The copy of PyTorch, hidden by ROCm's.
	mkdir -p own/torch/csrc own/third_party/flatbuffers/include/flatbuffers rocmfb/include/flatbuffers
	cp -a --parents -t own version.txt 2>/dev/null
	cp -a "$source/version.txt" own && (cd "$source" && cp -a --parents cmake/FlatBuffers.cmake "$E2E_TMP/own")
	for side in own/third_party/flatbuffers:24 rocmfb:25; do
		printf '#define FLATBUFFERS_VERSION_MAJOR %s\n#define FLATBUFFERS_VERSION_MINOR 12\n#define FLATBUFFERS_VERSION_REVISION 23\n' \
			"${side#*:}" >"${side%:*}/include/flatbuffers/base.h"
	done
	cat >own/use.cpp <<'EOF'
#include <flatbuffers/base.h>
static_assert(FLATBUFFERS_VERSION_MAJOR == 24, "Non-compatible flatbuffers version included");
EOF
	cat >own/CMakeLists.txt <<EOF
cmake_minimum_required(VERSION 3.18)
project(own CXX)
include_directories($E2E_TMP/rocmfb/include)
include(cmake/FlatBuffers.cmake)
add_library(own OBJECT use.cpp)
target_link_libraries(own PRIVATE flatbuffers)
EOF
	order() { rm -rf ../build && cmake -S . -B ../build && cmake --build ../build; }
	cure "flatbuffers of ROCm in front of the own" own torch-flatbuffers-order order "Non-compatible flatbuffers" --rocm-dir rocmfb
else
	echo "skip recipes for PyTorch 2.6.0: $(tail -n 1 log)"
fi

# ---- small trees ----
mkdir -p prim/include/rocprim/device/detail torchlike/cmake
echo 'list(APPEND HIP_CXX_FLAGS -D__HIP_NO_HALF_OPERATORS__=1)' >torchlike/cmake/Dependencies.cmake
cat >prim/include/rocprim/device/detail/device_radix_sort.hpp <<'EOF'
#include <type_traits>
#define ROCPRIM_DEVICE
#define ROCPRIM_INLINE inline
template<class T>
ROCPRIM_DEVICE ROCPRIM_INLINE
auto compare_nan_sensitive(const T& a, const T& b) ->
    typename std::enable_if<sizeof(T) == 2 || sizeof(T) == 4, bool>::type
{
    const T zero{0};
    const T a_plus = a + zero;
    const T b_plus = b + zero;
    using bits = typename std::conditional<sizeof(T) == 2, unsigned short, unsigned int>::type;
    return __builtin_bit_cast(bits, a_plus) > __builtin_bit_cast(bits, b_plus);
}
EOF
half() { # the two zeros must stay one key
	cat >../half.cpp <<'EOF'
struct __half { unsigned short x; __half() = default; __half(const __half &) = default; };
#include <rocprim/device/detail/device_radix_sort.hpp>
__half h(unsigned short x) { return __builtin_bit_cast(__half, x); }
int main() {
	return compare_nan_sensitive(h(0x8000), h(0)) || compare_nan_sensitive(-0.0f, 0.0f) ||
		!compare_nan_sensitive(h(0x3c00), h(0)) || !compare_nan_sensitive(1.0f, -0.0f);
}
EOF
	g++ -std=c++17 -isystem ../prim/include ../half.cpp -o ../half && ../half
}
cure "rocPRIM without operators of __half" torchlike rocprim-half-operators half "no match for .operator+\|no matching function" --rocm-dir prim

# The real header of torch-scatter 2.1.2 with the real HIP, and a Half that converts as PyTorch's does.
root=${root:-}
if [ -n "$root" ] && scatter=$("$top/tools/sdist-get" torch-scatter==2.1.2 2>log); then
	mkdir -p scatter/csrc scatterstub/torch && cp -r "$scatter"/csrc/{cuda,macros.h,extensions.h} scatter/csrc
	cat >scatterstub/torch/torch.h <<'EOF'
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
namespace at {
struct Half {
	unsigned short x;
	__device__ Half(float);
	__device__ Half(const __half &);
	__device__ operator float() const;
	__device__ operator __half() const;
};
}
EOF
	cat >shuffles.hip <<'EOF'
#include "scatter/csrc/cuda/utils.cuh"
template <typename T> __global__ void shuffle(T *p)
{
	*p = SHFL_UP_SYNC(0xffffffff, *p, 1);
	*p = SHFL_DOWN_SYNC(0xffffffff, *p, 1);
}
template __global__ void shuffle(at::Half *);
template __global__ void shuffle(float *);
template __global__ void shuffle(long *);
template __global__ void shuffle(signed char *);
EOF
	shuffles() {
		"$ROCSMITH" sdk run --sdk debian-sid -- clang++ -x hip --offload-arch=gfx1201 --cuda-device-only -fsyntax-only \
			-DUSE_ROCM -DHIP_ENABLE_WARP_SYNC_BUILTINS "-I$E2E_TMP/scatterstub" "$E2E_TMP/shuffles.hip"
	}
	cure "shuffles of PyTorch's Half" scatter torch-scatter-shuffles shuffles "call to '__shfl_up' is ambiguous"
else
	echo "skip shuffles of PyTorch's Half: no SDK, or no torch-scatter"
	seen="$seen""torch-scatter-shuffles "
fi

mkdir -p drm/include/rocm_smi drm/lib/rocm_sysdeps/include/libdrm torchlike/torch/csrc/distributed/c10d
touch torchlike/torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp
echo '#include <libdrm/drm.h>' >drm/include/rocm_smi/kfd_ioctl.h
echo 'struct bundled_drm { int x; };' >drm/lib/rocm_sysdeps/include/libdrm/drm.h
# shellcheck disable=SC2086
drm() { printf '#include <rocm_smi/kfd_ioctl.h>\nbundled_drm d;\n' | compile ${CXXFLAGS:-} -isystem ../drm/include -; }
cure "libdrm in rocm_sysdeps" torchlike libdrm-sysdeps drm "libdrm/drm.h: No such file" --rocm-dir drm

mkdir -p llvm/compiler-rt/lib/sanitizer_common
cat >llvm/compiler-rt/lib/sanitizer_common/sanitizer_platform_limits_posix.cpp <<'EOF'
unsigned struct_rtentry_sz = sizeof(int);
unsigned struct_termio_sz = sizeof(struct termio);
EOF
echo '_(TCGETA, WRITE, struct_termio_sz);' >llvm/compiler-rt/lib/sanitizer_common/sanitizer_common_interceptors_ioctl.inc
termio() { compile compiler-rt/lib/sanitizer_common/sanitizer_platform_limits_posix.cpp; }
cure "struct termio with glibc 2.42" llvm llvm-termio termio "incomplete type .termio" --fact glibc=2.42

# ---- variables alone ----
mkdir -p empty
layout() { [ "${HIP_DEVICE_LIB_PATH:-}" = "$E2E_TMP/rock/lib/llvm/amdgcn/bitcode" ]; }
mkdir -p rock/lib/llvm/amdgcn/bitcode && touch rock/lib/llvm/amdgcn/bitcode/ocml.bc
cure "device libraries below lib/llvm" empty device-library-path layout '' --rocm-dir rock
if [ -n "$root" ]; then
	# Debian's layout for real: its clang finds the device libraries by the variable alone.
	debian() {
		[ -n "${ROCM_PATH:-}" ] && [ -x "$HIP_CLANG_PATH/clang++" ] && [ -e "$HIP_DEVICE_LIB_PATH/ocml.bc" ] &&
			[ -e "${cmake[0]#-DCMAKE_MODULE_PATH=}/FindHIP.cmake" ]
	}
	cure "ROCm in Debian's layout" empty debian-layout debian '' --rocm-dir "$root/usr"
	echo '__attribute__((global)) void k(float *x) { *x = __builtin_sqrtf(*x); }' >k.hip
	libs=$("$ROCSMITH" patch status empty --rocm-dir "$root/usr" --json 2>/dev/null | python3 -c 'import json, sys
print(*[e.split("=", 1)[1] for e in json.load(sys.stdin)["environment"] if e.startswith("HIP_DEVICE_LIB_PATH=")])')
	hip() {
		"$ROCSMITH" sdk run --sdk debian-sid -- env "$@" ROCM_PATH=/usr clang++ -x hip --offload-arch=gfx1201 \
			--cuda-device-only -nogpuinc -c "$E2E_TMP/k.hip" -o "$E2E_TMP/k.o"
	}
	if hip A=1 >log 2>&1; then
		echo "not ok clang with ROCM_PATH=/usr: there is nothing to cure"
	elif hip "HIP_DEVICE_LIB_PATH=${libs#"$root"}" >log 2>&1; then
		echo "ok clang with ROCM_PATH=/usr finds the device libraries"
	else
		echo "not ok clang with ROCM_PATH=/usr: $(cat log)"
	fi
else
	echo "skip ROCm in Debian's layout: no SDK"
fi

mkdir -p new/cmake/External new/torch/csrc tri/cmake llvmsdk/lib/llvm/lib/cmake/llvm old/torch/csrc
echo 2.9.0 >new/version.txt && echo 'cmake_dependent_option(USE_ROCM_CK_GEMM "x" ON "USE_ROCM" OFF)' >new/CMakeLists.txt
touch new/cmake/External/aotriton.cmake tri/cmake/llvm-hash.txt llvmsdk/lib/llvm/lib/cmake/llvm/LLVMConfig.cmake
echo 'find_package(MLIR REQUIRED CONFIG)' >tri/CMakeLists.txt
echo 2.6.0 >old/version.txt && echo 'cmake_minimum_required(VERSION 3.1)' >old/CMakeLists.txt
ck() { [ "${USE_ROCM_CK_GEMM:-}" = 0 ]; }
cure "Composable Kernel and gfx1030" new torch-ck-gpus ck '' --gpu gfx1030
aotriton() { [ "${USE_FLASH_ATTENTION:-}" = 0 ]; }
cure "AOTriton and gfx1030" new torch-aotriton-gpus aotriton '' --gpu gfx1030,gfx906
triton() { [ -n "${TRITON_APPEND_CMAKE_ARGS:-}" ]; }
cure "Triton and ROCm's LLVM" tri triton-llvm triton '' --rocm-dir llvmsdk
policy() { [ "${CMAKE_POLICY_VERSION_MINIMUM:-}" = 3.5 ]; }
cure "CMake 4" old cmake4-policy policy ''

mkdir -p kin/third_party/kineto/libkineto tracer/include/roctracer && touch tracer/include/roctracer/roctracer.h
# shellcheck disable=SC2016
echo 'set(ROCM_SOURCE_DIR "$ENV{ROCM_SOURCE_DIR}")' >kin/third_party/kineto/libkineto/CMakeLists.txt
kineto() { [ "${ROCM_SOURCE_DIR:-}" = "$E2E_TMP/tracer" ]; }
cure "Kineto and ROCm elsewhere" kin torch-kineto-rocm kineto '' --rocm-dir tracer

# ---- what is refused says why; every recipe has its proof ----
"$ROCSMITH" patch status empty --json >answer 2>/dev/null
for recipe in $(python3 -c 'import json
print(*[r["id"] for r in json.load(open("answer"))["recipes"] if r["state"] == "refused"])'); do
	seen="$seen$recipe "
	if "$ROCSMITH" patch apply empty "$recipe" 2>log; then
		echo "not ok $recipe is refused"
	elif grep -q "is never applied: " log; then
		echo "ok $recipe is refused"
	else
		echo "not ok $recipe is refused: $(cat log)"
	fi
done
for recipe in $(python3 -c 'import json
print(*[r["id"] for r in json.load(open("answer"))["recipes"]])'); do
	case $seen in
	*" $recipe "*) ;;
	*) [ -z "${source:-}" ] || echo "not ok $recipe has no proof here" ;;
	esac
done
