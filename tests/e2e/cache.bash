# For cache.sh, cache_foreign.sh and cache_all.sh.
#
# project DIR          makes a project of one .cu and one .cpp file
# foreign_project DIR  one of a .hip file, whose setup.py calls hipcc
# did FILE             how many compiles of a build's JSON ran, and how many objects came from the cache: "3 0"
# compiles FILE [KIND] the same for the passes that another build system started, without CMake's tests of compilers
# cached               the folder of this user's own cache
# share_cache          a shared folder and its key, which builds then use; $own is the own folder, which is gone
# ok WHAT, no WHAT     a result; the latter ends the script with the last lines of `log`
# rocsmith ARG...      the program, with what it says in `log`
ok() { echo "ok $*"; }
no() {
	echo "not ok $*"
	[ ! -f log ] || tail -n 20 log | sed 's/^/# /'
	exit 1
}
rocsmith() { "$ROCSMITH" "$@" 2>>log; }
share_cache() {
	(umask 077 && head -c 32 /dev/urandom | base64 >key)
	export ROCSMITH_CACHE="$PWD/shared" ROCSMITH_CACHE_KEY="$PWD/key"
	own=$(cached)
	mkdir -m 777 shared
	rm -rf "$own"
}
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
foreign_project() {
	mkdir -p "$1/src" "$1/include"
	cat >"$1/setup.py" <<-'PY'
		import os, subprocess
		from setuptools import Extension, setup
		from setuptools.command.build_ext import build_ext


		class Hip(build_ext):
		    def build_extension(self, ext):
		        out, objects = self.get_ext_fullpath(ext.name), []
		        os.makedirs(os.path.dirname(out), exist_ok=True)
		        os.makedirs(self.build_temp, exist_ok=True)
		        words = ["hipcc", *("--offload-arch=" + gpu for gpu in os.environ["PYTORCH_ROCM_ARCH"].split(";"))]
		        for source in ext.sources:
		            o = os.path.abspath(os.path.join(self.build_temp, os.path.basename(source) + ".o"))
		            subprocess.check_call([*words, "-fPIC", "-O1", "-Wall", "-I" + os.path.abspath("include"), "-MD", "-MF",
		                                   o + ".d", "-c", os.path.abspath(source), "-o", o])
		            objects.append(o)
		        subprocess.check_call([*words, "-shared", *objects, "-o", out])


		setup(name="tiny", version="1.0", ext_modules=[Extension("tiny", ["src/a.hip"])], cmdclass={"build_ext": Hip})
	PY
	cat >"$1/src/a.hip" <<-'HIP'
		#include <hip/hip_runtime.h>
		#include "k.h"
		static __device__ int counter;
		__global__ void twice(int *p) {
			int unused;
			p[threadIdx.x] *= FACTOR;
			counter++;
		}
		extern "C" const char *tiny_where() { return __FILE__; }
		extern "C" int tiny_run(int *p) { twice<<<1, 1>>>(p); return 0; }
		extern "C" void *PyInit_tiny() { return 0; }
	HIP
	echo '#define FACTOR 2' >"$1/include/k.h"
}
compiles() {
	python3 -c '
import json, sys
steps = [s for s in json.load(open(sys.argv[1]))["compiles"] if s["kind"] in (sys.argv[2:] or ("device", "host", "hip"))
         and "CMakeCUDACompiler" not in s["name"]]
print(sum(not s["restored"] for s in steps), sum(s["restored"] for s in steps))' "$@"
}
cached() {
	if [ -n "${ROCSMITH_HOME:-}" ]; then
		echo "$ROCSMITH_HOME/cache/objects"
	else
		echo "${XDG_CACHE_HOME:-$HOME/.cache}/rocsmith/objects"
	fi
}
