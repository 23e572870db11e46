# For cache.sh and cache_all.sh.
#
# project DIR   makes a project of one .cu and one .cpp file
# did FILE      how many compiles of a build's JSON ran, and how many objects came from the cache: "3 0"
# cached        the folder of this user's own cache
project() {
	mkdir -p "$1/src" "$1/include"
	cat >"$1/rocsmith.yaml" <<-'YAML'
		name: tiny
		version: 1.0
		sources: [src/a.cu, src/*.cpp]
		includes: [include]
	YAML
	cat >"$1/src/a.cu" <<-'CU'
		#include <cuda_runtime.h>
		#include "k.cuh"
		#if __has_include("maybe.h")
		#include "maybe.h"
		#endif
		#ifndef EXTRA
		#define EXTRA 0
		#endif
		__global__ void twice(int *p) { p[threadIdx.x] *= FACTOR + EXTRA; }
		extern "C" int tiny_run(int *p) { twice<<<1, 1>>>(p); return cudaGetLastError(); }
	CU
	echo '#define FACTOR 2' >"$1/include/k.cuh"
	echo 'extern "C" const char *tiny_where() { return __FILE__; }' >"$1/src/host.cpp"
}
did() {
	python3 -c '
import json, sys
steps = [s for s in json.load(open(sys.argv[1]))["steps"] if s["kind"] in ("device", "host", "c++", "c") and not s["cached"]]
print(sum(not s["restored"] for s in steps), sum(s["restored"] for s in steps))' "$1"
}
cached() {
	if [ -n "${ROCSMITH_HOME:-}" ]; then
		echo "$ROCSMITH_HOME/cache/objects"
	else
		echo "${XDG_CACHE_HOME:-$HOME/.cache}/rocsmith/objects"
	fi
}
