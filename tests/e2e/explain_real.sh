#!/usr/bin/env bash
# `explain` on what compilers, linkers, build tools, pip and the loader of this machine really say: each failure
# is produced, and its whole output is the log.
set -eu
. "$(dirname "$0")/group.bash"
cd "$E2E_TMP"
printf 'int main(void) { return 0; }\n' >plain.cpp
bad=0

first() { # the first cause that is none of context; "ID?": it is one if the log is of AMD
	"$ROCSMITH" explain --json "$1" >answer.json || [ $? = 1 ]
	python3 -c 'import json
a = json.load(open("answer.json"))
c = [c for c in a["causes"] if not c["context_only"]]
p = [c["id"] + "?" for c in a["causes"] if "points to an AMD GPU" in c.get("reason", "")]
print(c[0]["id"] if c else p[0] if p else "-")'
}
# want ID NAME COMMAND...: runs it; the log must have the cause ID ("-": none).
want() {
	local id=$1 name=$2 got
	shift 2
	if "$@" >log 2>&1; then
		echo "not ok $name: the command did not fail"
		bad=1
		return
	fi
	got=$(first log)
	if [ "$got" = "$id" ]; then
		echo "ok $name: $id"
	else
		echo "not ok $name: got $got, want $id"
		sed 's/^/    /' log | head -n 20
		bad=1
	fi
}
have() { command -v "$1" >/dev/null || { echo "skip $1 is missing" && false; }; }
source_of() { printf '%b' "$2" >"$1"; }

if have g++; then
	source_of libdrm.cpp '#include <libdrm/drm.h>\n'
	[ -e /usr/include/libdrm/drm.h ] || want 'libdrm-header-missing?' 'g++: libdrm' g++ -c libdrm.cpp
	source_of ck.cpp '#include "ck/ck.hpp"\n'
	want ck-headers-missing 'g++: Composable Kernel' g++ -c ck.cpp
	source_of aten.cpp '#include <ATen/hip/HIPContext.h>\n'
	want not-hipified 'g++: ATen/hip' g++ -c aten.cpp
	source_of fixed.cpp 'uint32_t x;\n'
	want 'gcc15-cstdint?' 'g++: cstdint' g++ -c fixed.cpp
	want offload-arch-host-compiler 'g++: --offload-arch' g++ --offload-arch=gfx1100 -c plain.cpp
	source_of mobile_bytecode_generated.cpp '#define FLATBUFFERS_VERSION_MAJOR 25\nstatic_assert(FLATBUFFERS_VERSION_MAJOR == 24,\n "Non-compatible flatbuffers version included");\n'
	want flatbuffers-version 'g++: flatbuffers' g++ -c mobile_bytecode_generated.cpp
	mkdir -p third_party/onnx
	source_of third_party/onnx/maybe.cpp 'int g(const int *);\nint f(int n) { int x; if (n > 3) x = n; return x + g(&n); }\n'
	want gcc-maybe-uninitialized 'g++: -Werror' g++ -O2 -Wall -Werror=maybe-uninitialized -c third_party/onnx/maybe.cpp
	source_of blas.cpp 'hipblasDatatype_t t;\n'
	want hipblas-datatype-removed 'g++: hipBLAS 3' g++ -c blas.cpp
	want torch-not-rocm 'ld: c10_hip' g++ plain.cpp -lc10_hip -ltorch_hip
	source_of intra_node_comm.cpp 'extern "C" int rsmi_init(unsigned long);\nint main() { return rsmi_init(0); }\n'
	want rsmi-init-undefined 'ld: rsmi_init' g++ intra_node_comm.cpp
	cp intra_node_comm.cpp smi.cpp
	want - 'ld: rsmi_init of another program' g++ smi.cpp
	want 'disk-full?' 'g++: disk' g++ -S -o /dev/full plain.cpp
	# A compiler that dies as the kernel kills it, below the real driver.
	mkdir -p killed
	printf '#!/bin/sh\nkill -9 $$\n' >killed/cc1plus && chmod +x killed/cc1plus
	want 'build-oom?' 'g++: killed' g++ -B "$PWD/killed/" -c plain.cpp
	printf 'rule cc\n command = g++ -B %s/killed/ -c $in -o $out\nbuild a.o: cc plain.cpp\n' "$PWD" >build.ninja
	! have ninja || want 'build-oom?' 'ninja: killed' ninja
	printf 'a.o:\n\tg++ -B %s/killed/ -c plain.cpp\n' "$PWD" >Makefile
	! have make || want 'build-oom?' 'make: killed' make
	# nothing of ours
	source_of wrong.cpp 'int main() { return foo(); }\n'
	want - 'g++: a mistake' g++ -c wrong.cpp
	want - 'ld: another library' g++ plain.cpp -lno-such-library
	want - 'g++: another option' g++ --no-such-option plain.cpp
	if limit 48; then # for real
		python3 - <<'P' >huge.cpp
print("#include <array>\n#include <functional>")
for i in range(20000):
    print(f"template<int N> struct s{i} {{ std::array<int, N> a; std::function<int(int)> f; }}; template struct s{i}<{i + 1}>;")
P
		want 'build-oom?' 'g++: killed by the kernel' inside g++ -c huge.cpp
	else
		echo 'skip no control group of our own'
	fi
fi

if have clang++; then
	source_of kernel.hip '__attribute__((global)) void k() {}\n'
	hip() { clang++ -x hip --cuda-device-only -c kernel.hip -o k.o "$@"; }
	want device-lib-not-found 'clang: device libraries' hip --offload-arch=gfx900 -nogpuinc --rocm-path="$PWD/none"
	want hip-runtime-not-found 'clang: HIP runtime' hip --offload-arch=gfx900 -nogpulib --rocm-path="$PWD/none"
	want invalid-target-id 'clang: target' hip --offload-arch=gfx9999 -nogpuinc -nogpulib
	want offload-arch-combination 'clang: features' hip --offload-arch=gfx90a --offload-arch=gfx90a:xnack+ -nogpuinc -nogpulib
	want rocm-arch-comma-list 'clang: commas' hip -nogpuinc -nogpulib '--offload-arch=gfx1100, gfx1201'
	want 'rocm7-warpsize?' 'clang: warpSize' sh -c 'printf "extern int warpSize; constexpr int kWarpSize = warpSize;\n" | clang++ -x c++ -c - -o w.o'
	want flatbuffers-version 'clang: flatbuffers' clang++ -std=c++17 -c mobile_bytecode_generated.cpp
	clang++ --help >help.log 2>&1
	if "$ROCSMITH" explain --json help.log >answer.json && grep -q '"causes": \[\]' answer.json; then
		echo 'ok clang --help: nothing'
	else
		echo 'not ok clang --help' && bad=1
	fi
fi

if have cmake; then
	mkdir -p project
	printf 'cmake_minimum_required(VERSION 3.10)\nproject(p NONE)\nfind_package(hip CONFIG REQUIRED)\n' >project/CMakeLists.txt
	want hip-config-missing 'cmake: hip' env -u ROCM_PATH cmake -S project -B b1 -DCMAKE_DISABLE_FIND_PACKAGE_x=1
	printf 'cmake_minimum_required(VERSION 3.10)\nproject(p NONE)\nmessage(FATAL_ERROR "No GPU arch specified for ROCm build.  Please use PYTORCH_ROCM_ARCH to specify GPU archs to build for.")\n' >project/CMakeLists.txt
	want rocm-build-off 'cmake: no GPU' cmake -S project -B b2
	printf 'cmake_minimum_required(VERSION 3.10)\nproject(p NONE)\nfind_package(NoSuchThing CONFIG REQUIRED)\n' >project/CMakeLists.txt
	want - 'cmake: another package' cmake -S project -B b3
fi

if have python3; then
	mkdir -p empty index/whl/rocm6.4/torch index/simple/torch
	tee index/whl/rocm6.4/torch/index.html index/simple/torch/index.html >/dev/null <<-'END'
		<a href="torch-2.8.0-cp399-cp399-linux_x86_64.whl">torch-2.8.0-cp399-cp399-linux_x86_64.whl</a>
	END
	python3 -u -m http.server 0 --bind 127.0.0.1 --directory index >server 2>&1 &
	server=$!
	trap 'kill $server; remove_group' EXIT
	for _ in $(seq 100); do
		port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' server)
		[ -z "$port" ] || break
		sleep 0.1
	done
	pip_at() { # FOLDER PACKAGE: from that index only
		env -u PIP_FIND_LINKS -u PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE=/dev/null no_proxy=127.0.0.1 \
			python3 -m pip download --index-url "http://127.0.0.1:$port/$1" "$2"
	}
	want no-matching-wheel 'pip: torch' pip_at whl/rocm6.4 torch==2.5.1
	want 'no-matching-wheel?' 'pip: torch, no word of AMD' pip_at simple torch==2.5.1
	want - 'pip: torch, no index' python3 -m pip download --no-index --find-links "$PWD/empty" torch==2.5.1
	want - 'pip: another package' python3 -m pip download --no-index --find-links empty no-such-package==1
	want libamdhip64-so-version 'python: libamdhip64' python3 -c 'import ctypes; ctypes.CDLL("libamdhip64.so.99")'
	want cuda-extension-on-rocm 'python: libtorch_cuda' python3 -c 'import ctypes; print("torch 2.9.1+rocm6.4", flush=True); ctypes.CDLL("libtorch_cuda.so")'
	want - 'python: a mistake' python3 -c 'raise ValueError("no")'
fi

exit $bad
