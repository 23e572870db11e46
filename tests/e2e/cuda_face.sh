#!/usr/bin/env bash
# A project that knows CUDA only: a Makefile with nvcc and g++ builds by the CUDA face of a shim folder, for two GPUs. Its
# messages, dependency files and second runs; what hostile projects try there. Peers: make, g++, gcc, readelf, LLVM's
# objdump, python3.
set -eu

cd "$E2E_TMP"
ok() { echo "ok $*"; }
no() {
	echo "not ok $*"
	exit 1
}
for program in python3 make g++ readelf; do
	command -v $program >/dev/null || { echo "skip cuda_face: no $program"; exit 0; }
done
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,hiprand,headers >sdk.log 2>&1; then
	echo "skip cuda_face: no SDK: $(grep -m1 error sdk.log)"
	exit 0
fi
mkdir -p private && chmod 700 private
# folders that any compiler could read, but that are none of the project's
mkdir -p work && cd work
face() { "$ROCSMITH" sdk shims --cuda "$E2E_TMP/f" --sdk debian-sid --gpu gfx1201,gfx90a; }
face >env.sh 2>log || no "sdk shims --cuda: $(cat log)"
. ./env.sh
unset LDFLAGS CUDACXX

# ---- what projects look at ----
nvcc --version | python3 -c '
import json, os, re, sys
said = sys.stdin.read()
home = os.environ["CUDA_HOME"]
assert re.search(r"nvcc: NVIDIA \(R\) Cuda compiler driver", said), said            # CMake
release = re.search(r"release (\d+\.\d+),", said).group(1)                          # torch
full = re.search(r"V([0-9]+\.[0-9]+\.[0-9]+)", said).group(1)
assert full.startswith(release + "."), full
assert json.load(open(home + "/version.json"))["cuda"]["version"] == full
assert open(home + "/version.txt").read() == f"CUDA Version {full}\n"
major, minor = map(int, release.split("."))
number = re.search(r"#define CUDART_VERSION (\d+)", open(home + "/include/cuda_runtime_api.h").read()).group(1)
assert int(number) == major * 1000 + minor * 10, number' || no 'the release differs from place to place'
ok 'nvcc, headers and version files tell one release, in the words that build systems search for'

for h in cuda cuda_runtime cuda_runtime_api cuda_fp16 cublas_v2 cufft curand cusparse cusolverDn cuComplex nvrtc \
	driver_types vector_types math_constants; do
	[ -e "$CUDA_HOME/include/$h.h" ] || no "there is no $h.h"
	printf '#include <%s.h>\nint main(void) { return CUDA_VERSION < 12000; }\n' $h >h.c
	gcc -Wall -Werror -I "$CUDA_HOME/include" -fsyntax-only h.c >log 2>&1 || no "gcc: $h.h: $(grep -m1 error log)"
done
(cd "$CUDA_HOME/include" && printf '#include <%s>\n' *.h cub/*.cuh crt/*.h) >h.cpp
[ "$(wc -l <h.cpp)" -gt 50 ] || no "CUDA's headers are missing: $(cat h.cpp)"
sort -r h.cpp >r.cpp # none relies on another before it
for f in h.cpp r.cpp; do
	g++ -I "$CUDA_HOME/include" -fsyntax-only $f >log 2>&1 || no "g++: $(grep -m3 'error\|from' log)"
done
cat >v1.cpp <<'CC'
#include <cublas_v2.h>
#include <cublas.h>
#include <cuda/std/complex>
float both(cublasHandle_t h, float *x)
{
	cublasSscal(h, 3, x, x, 1);
	cublasSscal(3, 2.0f, x, 1);
	return cublasSnrm2(3, x, 1) + cublasIsamax(3, x, 1) + cuda::std::abs(cuda::std::complex<float>(1, 2));
}
CC
g++ -I "$CUDA_HOME/include" -fsyntax-only v1.cpp >log 2>&1 || no "g++: $(grep -m3 'error\|from' log)"
# arguments that HIP's functions have and CUDA's have not, in both languages
cat >args.c <<'CC'
#include <cuda.h>
#include <cuda_runtime.h>
#include <cublas_v2.h>
int args(cublasHandle_t h, CUdeviceptr a, void **p, float *x)
{
	int e = cuMemcpy(a, a, 4) != CUDA_SUCCESS || cudaMallocHost(p, 4) != cudaSuccess;
	return e || cublasSgemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, x, x, CUDA_R_16F, 1, x, CUDA_R_16F, 1, x, x, CUDA_R_16F, 1);
}
CC
cp args.c args.cpp
gcc -Wall -Werror -I "$CUDA_HOME/include" -fsyntax-only args.c >log 2>&1 || no "gcc: $(grep -m3 error log)"
g++ -Wall -Werror -I "$CUDA_HOME/include" -fsyntax-only args.cpp >log 2>&1 || no "g++: $(grep -m3 error log)"
cat >host.cpp <<'CC'
#include <cuda_runtime.h>
#include <thrust/complex.h>
#include <thrust/host_vector.h>
#ifdef _Bool
#error "CUDA's headers do not make _Bool a macro"
#endif
#include <stdbool.h>
int old(register int i) { return i; } // a warning of g++ in C++17
_Bool host(thrust::host_vector<thrust::complex<float>> &v) { return v.size() && v[0].real() > 0; }
CC
cp host.cpp host.cu
g++ -std=c++17 -I "$CUDA_HOME/include" -fsyntax-only host.cpp >log 2>&1 || no "g++: $(grep -m3 'error\|from' log)"
nvcc -std=c++17 -c host.cu -o host.o >log 2>&1 || no "nvcc: $(grep -m3 'error\|from' log)"
ok "CUDA's headers compile for the host alone"

# ---- a project with a Makefile ----
mkdir -p p/src p/include/k && cd p
cat >include/k/scale.cuh <<'CC'
#pragma once
#include "k/check.h"
#ifndef __CUDACC__
#error "for nvcc only"
#endif
template <typename T> __global__ void scale(T *p, T s, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		p[i] *= s + __shfl_down_sync(0xffffffffu, s, 1) + __ffsll((unsigned long)n);
}
CC
cat >include/k/check.h <<'CC'
#ifndef CHECK_H
#define CHECK_H
#include <cuda_runtime.h>
#include <cublas_v2.h>
const char *where(cudaError_t e);
#define CHECK(x) \
	do { \
		cudaError_t e_ = (x); \
		if (e_ != cudaSuccess) throw where(e_); \
	} while (0)
#endif
CC
cat >src/a.cu <<'CC'
#include "k/scale.cuh"
#include <curand.h>
__constant__ float table[4];
int run(float *h, int n)
{
	float *d;
	curandGenerator_t g;
	CHECK(cudaMalloc(&d, n * sizeof(float)));
	CHECK(cudaMemcpyToSymbol(table, h, sizeof(table)));
	scale<<<(n + 255) / 256, 256>>>(d, 2.0f, n);
	asm volatile("" ::: "memory");
	CHECK(cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost));
	return curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT) != CURAND_STATUS_SUCCESS;
}
CC
cat >src/t.cu <<'CC'
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/sequence.h>
int count(int n)
{
	thrust::device_vector<int> v(n);
	thrust::sequence(thrust::cuda::par, v.begin(), v.end());
	return v[n - 1];
}
CC
cat >src/main.cpp <<'CC'
#include "k/check.h"
#include <cuda.h>
int run(float *, int);
int count(int);
const char *where(cudaError_t e) { return cudaGetErrorString(e); }
int main()
{
	int n = 0;
	cudaDeviceProp p;
	CUdeviceptr d;
	float h[4] = {1, 2, 3, 4};
	if (cudaGetDeviceCount(&n) != cudaSuccess || cudaGetDeviceProperties(&p, 0) != cudaSuccess)
		return 7;
	return cuMemAlloc(&d, 16) != CUDA_SUCCESS || cuMemcpyHtoD(d, h, 16) != CUDA_SUCCESS ? 1 : run(h, 4) + count(4);
}
CC
cat >Makefile <<'CC'
NVCC = $(CUDA_HOME)/bin/nvcc
ARCHS = -gencode arch=compute_70,code=sm_70 -gencode=arch=compute_80,code=\"sm_80,compute_80\"
app: src/main.o libk.so
	g++ $^ -o $@ -L$(CUDA_HOME)/lib64 -lcudart -lcuda -Wl,--allow-shlib-undefined '-Wl,-rpath,$$ORIGIN'
libk.so: src/a.o src/t.o
	$(NVCC) -shared $(ARCHS) $^ -o $@ -lcudart -lcurand
src/%.o: src/%.cu
	$(NVCC) -std=c++14 -O2 $(ARCHS) -Iinclude --compiler-options '-fPIC' -Xptxas -v -MD -MF $@.d -c $< -o $@
src/%.o: src/%.cpp
	g++ -Iinclude -I$(CUDA_HOME)/include -MD -MF $@.d -c $< -o $@
-include $(wildcard src/*.d)
CC
find . -type f -exec sha256sum {} + | sort >../before
make -j2 >../log 2>&1 || no "make: $(tail -20 ../log)"
[ "$(grep -c 'whatever GPUs of NVIDIA' ../log)" = 1 ] || no "the note about GPUs was to come once: $(cat ../log)"
grep -q 'C++17, which takes the place of c++14' ../log || no 'a C++ standard was to be raised, and that to be said'
objects=$("$E2E_TMP/f/llvm/bin/llvm-objdump" --offloading libk.so 2>&1)
for gpu in gfx1201 gfx90a; do
	[ "$(echo "$objects" | grep -c "gfx.*$gpu\|amdhsa--$gpu")" = 2 ] || no "libk.so: $gpu is not in both: $objects"
done
rm -f libk.so.*
readelf -d libk.so | grep -q 'NEEDED.*libhiprand' || no 'libk.so does not need hipRAND'
readelf -d app | grep -q 'NEEDED.*libamdhip64' || no 'app does not need HIP'
if readelf -d app libk.so | grep -q 'NEEDED.*libcu'; then no 'a library of CUDA is needed'; fi
status=0
"$ROCSMITH" sdk run --sdk debian-sid --host -- ./app >../log 2>&1 || status=$?
[ -e /dev/kfd ] || [ $status = 7 ] || no "the program was to find no GPU: status $status, $(cat ../log)"
ok 'make: objects of two GPUs by nvcc, C++ by g++, libraries by their names'
python3 - <<'PY'
import re
words = re.sub(r"\\\n", " ", open("src/a.o.d").read()).split()
assert words[:2] == ["src/a.o:", "src/a.cu"], words[:3]
assert {"include/k/scale.cuh", "include/k/check.h"} < set(words), words
assert not [w for w in words if "/.rocsmith/" in w], words
PY
make | grep -q 'up to date' || no 'a second make was to do nothing'
sleep 0.1 && touch include/k/scale.cuh
[ "$(make -n | grep -c 'nvcc.*-c')" = 1 ] || no 'one source depends on the header'
rm -f libk.so app src/*.o src/*.d
find . -type f -exec sha256sum {} + | sort | cmp - ../before || no 'the sources have changed'
ok "dependency files name the user's files; nothing is done twice; the sources stay as they were"

cache=$E2E_TMP/f/.rocsmith/cuda
ls -li --time-style=full-iso "$cache" >../cache
nvcc -c src/a.cu -Iinclude -o src/a.o >../log 2>&1 || no "nvcc: $(cat ../log)"
ls -li --time-style=full-iso "$cache" | cmp - ../cache || no 'unchanged files were to be translated once'
[ -z "$(find "$cache" -type f -perm /077 ! -name 'said-*')" ] || no 'others can read what was translated'
nvcc -c src/a.cu -Iinclude -o src/a.o -keep -keep-dir kept >../log 2>&1
grep -q 'hipMalloc(&d' kept/a.cu.nvcc.hip || no 'the translated text was to be kept'
rm -rf kept
ok 'an unchanged file is translated once; -keep shows the text'

# ---- messages ----
cat >include/k/bad.cuh <<'CC'
#include <cublas_v2.h>
#include <cufft.h>
__device__ int header_error() { return no_such_name; }
CC
printf '#include <cublas_v2.h>\n#include "k/bad.cuh"\n\n__global__ void k(int *p)\n{\n\t%s\n}\nint x = other_name;\nconst char *at = __FILE__ ":" "%s";\n' \
	'asm volatile("membar.gl;"
		     ::: "memory");' line >src/bad.cu
if nvcc -Iinclude -c src/bad.cu -o bad.o 2>../log; then no 'it was to fail'; fi
grep -q '^include/k/bad.cuh:3:[0-9]*: error: .*no_such_name' ../log || no "the header's line: $(cat ../log)"
grep -q '^src/bad.cu:9:[0-9]*: error: .*other_name' ../log || no "the source's line: $(cat ../log)"
grep -q 'from src/bad.cu:2:' ../log || no "the #include's line: $(cat ../log)"
if grep -q '\.rocsmith' ../log; then no "a path of ours in messages: $(cat ../log)"; fi
ok "errors name the user's own files and lines"
# nvcc warns that the constructor does not run; g++ looks at P where the template is used
cat >src/mend.cu <<'CC'
#define CUDA_SHARED __shared__
template <class T> struct number {
	T re, im;
	__host__ __device__ number(const T &a = T(), const T &b = T()) : re(a), im(b) {}
};
typedef number<double> pair_of;
template <int N> __global__ void k(double *o)
{
	CUDA_SHARED pair_of y[2 * N]; static __shared__ number<float> z;
	y[threadIdx.x] = pair_of(1, 2);
	__syncthreads();
	o[threadIdx.x] = y[N].im + z.re;
}
class P;
template <class S> struct A {
	P *p;
	int get() { return p->x; }
};
class P {
public:
	int x;
};
int run(double *o, A<int> *a)
{
	k<4><<<1, 8>>>(o);
	return a->get();
}
CC
sed 's/number<float> z/number<float> z, other/' src/mend.cu >src/stays.cu
nvcc -MD -MF mend.d -c src/mend.cu -o mend.o >../log 2>&1 || no "what nvcc takes: $(cat ../log)"
grep -q 'does not run, as with nvcc' ../log || no "the constructor was to be named: $(cat ../log)"
grep -q '^mend.o: src/mend.cu' mend.d || no "the dependency file: $(cat mend.d)"
if nvcc -c src/stays.cu -o stays.o >../log 2>&1; then no 'two variables in one line are not understood'; fi
grep -q '^src/stays.cu:9:.*error: initialization is not' ../log && grep -q 'stays.cu:17:.*incomplete type' ../log ||
	no "the messages were to be about the source as it is: $(cat ../log)"
if grep -q 'rocsmith_raw' ../log; then no "a name of ours in messages: $(cat ../log)"; fi
rm -f mend.o mend.d src/mend.cu src/stays.cu
ok 'shared variables with a constructor, and members of classes that come later, compile as with nvcc'
# Objects of relocatable device code have inline PTX as it is; the linker is the first to read it.
echo '__global__ void k(unsigned *x) { asm volatile("addc.u32 %0, %0, %0;" : "+r"(*x)); }' >src/carry.cu
nvcc -rdc=true -c src/carry.cu -o carry.o >../log 2>&1 || no "a source with PTX of its own: $(cat ../log)"
if nvcc -dlink carry.o -o linked.o >../log 2>&1; then no 'PTX that no AMD GPU has'; fi
grep -q '^note: with -rdc=true inline PTX is read only here' ../log || no "why the link fails: $(cat ../log)"
rm -f carry.o linked.o src/carry.cu
ok 'a link that fails for inline PTX says so'
for option in -ptx -cuda --ltoir -optix-ir; do
	status=0
	nvcc $option src/a.cu 2>../log || status=$?
	[ $status = 2 ] && grep -q 'has no equivalent: ' ../log || no "$option: status $status, $(cat ../log)"
done
ok 'options that have no equivalent are refused with the reason'
nvcc -fatbin -Iinclude src/a.cu >../log 2>&1 || no "-fatbin: $(cat ../log)"
"$ROCSMITH" inspect a.fatbin >../log && grep -q '^gfx90a ' ../log && grep -q '^gfx1201 ' ../log || no "the bundle: $(cat ../log)"
rm a.fatbin
ok '-fatbin makes an offload bundle for all GPUs'
printf '#define JOIN(a, b) a##b\n#define API(n) JOIN(cuda, n)\nint f(void **p) { return API(Malloc)(p, 4) != API(Success); }\n' >src/join.cu
nvcc -c src/join.cu -o join.o >../log 2>&1 || no "names that a macro puts together: $(cat ../log)"
nm -u join.o | grep -q hipMalloc || no "what they are: $(nm -u join.o)"
sed -i 's/Malloc/NoSuchName/' src/join.cu
if nvcc -c src/join.cu -o join.o >../log 2>&1; then no 'a name that HIP lacks'; fi
grep -q "src/join.cu:3:.*error: use of undeclared identifier 'cudaNoSuchName'" ../log || no "the message: $(cat ../log)"
rm -f join.o src/join.cu
ok 'names of CUDA that a macro puts together become those of HIP'

# ---- hostile projects ----
printf 'int private_marker_1;\n#include <cuda_runtime.h>\nstatic cudaError_t hidden;\n' >"$E2E_TMP/private/secret.cuh"
cp "$E2E_TMP/private/secret.cuh" "$E2E_TMP/private/secret.txt"
chmod 600 "$E2E_TMP"/private/*
ln -s "$E2E_TMP/private/secret.cuh" include/k/link.cuh
ln -s "$E2E_TMP/private" include/away
for name in '"k/link.cuh"' '"away/secret.cuh"' "\"$E2E_TMP/private/secret.cuh\"" '"../../../private/secret.txt"'; do
	printf '#include %s\n' "$name" >src/thief.cu
	nvcc -Iinclude -c src/thief.cu -o thief.o >../log 2>&1 || no "$name: $(cat ../log)"
	if grep -rq private_marker "$cache"; then no "$name: a private file was copied"; fi
done
ok 'private files that a project includes, or has links to, are read by clang alone'
echo '-optf loop,loop -DX' >loop
status=0
timeout 20 nvcc --options-file loop -c src/a.cu 2>../log || status=$?
[ $status = 2 ] && grep -q 'names itself' ../log || no "options files without end: $status, $(cat ../log)"
ok 'options files that include themselves end with an error'
for name in 'a "b" $(touch pwned) .cu' $'new\nline.cu' "back\\slash'.cu" '-Dx.cu' '%s.cu'; do
	printf '#include <cuda_runtime.h>\nint f(void *p) { return cudaFree(p); }\n' >"./$name"
	nvcc -c "./$name" -o name.o >../log 2>&1 || no "'$name': $(cat ../log)"
	readelf -sW name.o | grep -q hipFree || no "'$name' was not translated"
	rm "./$name"
done
[ ! -e pwned ] || no 'a name was run'
ok 'hostile names of sources do no harm'
cp "$CUDA_HOME/include/cuda_runtime.h" ../header
ls -R "$CUDA_HOME" >../tree
echo '#error hostile' >"$CUDA_HOME/include/cuda_runtime.h"
echo evil >"$CUDA_HOME/lib64/libevil.so"
(cd .. && face >/dev/null)
cmp "$CUDA_HOME/include/cuda_runtime.h" ../header && ls -R "$CUDA_HOME" | cmp - ../tree ||
	no 'a face that was written into was to be made again'
stamp=$(stat -c %Y "$CUDA_HOME/include/cuda_runtime.h")
(cd .. && face >/dev/null)
[ "$stamp" = "$(stat -c %Y "$CUDA_HOME/include/cuda_runtime.h")" ] || no 'an unchanged face was to stay'
ok "what a project writes into the face is gone with the next use"
nvcc -Iinclude -c src/a.cu -o src/a.o >../log 2>&1
for text in "$cache"/????????????????????????????????????????????????????????????????; do
	ln -sf "$E2E_TMP/private/secret.txt" "$text"
done
nvcc -Iinclude -c src/a.cu -o src/a.o >../log 2>&1 || no "links in the cache: $(cat ../log)"
rm -rf "$cache" && ln -s "$E2E_TMP/private" "$cache"
if nvcc -Iinclude -c src/a.cu -o src/a.o >../log 2>&1; then no 'a cache that is a link was to be refused'; fi
[ "$(ls "$E2E_TMP/private" | wc -l)" = 2 ] || no 'something was written through a link'
ok 'links in the place of the cache and its texts are not followed'
rm "$cache"
if command -v bwrap >/dev/null && bwrap --dev-bind / / true 2>/dev/null; then
	if bwrap --dev-bind / / --tmpfs /usr/include -- nvcc -Iinclude -c src/a.cu -o src/a.o >../log 2>&1; then no 'it was to fail without headers'; fi
	grep -q 'nvcc needs the C++ headers of g++' ../log || no "without g++: $(cat ../log)"
	nvcc -Iinclude -c src/a.cu -o src/a.o >../log 2>&1
	if grep -q 'nvcc needs' ../log; then no 'g++ is there'; fi
	ok 'nvcc says that g++ is missing'
else
	echo 'skip nvcc without g++: bwrap cannot'
fi
