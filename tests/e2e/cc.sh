#!/usr/bin/env bash
# long
# Build systems of this machine with compilers of an SDK: hipcc and CMake through a shim folder, against
# this machine's libc; memory shared between compilers of one build, under a real limit where one can be
# set. Peers: readelf, cmake, ninja, make, the same compiler in the sandbox.
set -eu

top=$(dirname "$(realpath "$0")")
cd "$E2E_TMP"
ok() { echo "ok $*"; }
no() {
	echo "not ok $*"
	exit 1
}
command -v python3 >/dev/null || { echo 'skip cc: no python3'; exit 0; }

# ---- memory, with a compiler of our own that needs what HOG says ----
cat >hog <<'PY'
#!/usr/bin/env python3
import os, signal, sys, time
size = int(os.environ.get("HOG", "200")) << 20
start, out = time.time(), sys.argv[sys.argv.index("-o") + 1]
if "once" in out and not os.path.exists(out + ".died"):
    open(out + ".died", "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
open(out + ".began", "w").close()
block = bytearray(size)
for i in range(0, size, 4096):
    block[i] = 1
time.sleep(float(os.environ.get("NAP", "0.5")))
with open("hogs", "a") as f:
    f.write(f"{start} {time.time()}\n")
open(out, "w").write("object")
PY
chmod +x hog
folder() { # NAME MIB: a shim folder around it
	mkdir -p "$1/.rocsmith/programs"
	ln -sf "$PWD/hog" "$1/.rocsmith/programs/clang"
	echo "{\"schema\": \"rocsmith.cc/1\", \"memory\": $(($2 << 20)), \"log_dir\": \"$PWD/$1\"}" \
		>"$1/.rocsmith/cc.json"
}
began() { # OBJECT: its compiler runs
	until [ -e "$1.began" ]; do sleep 0.05; done
}
most() { # how many ran at once
	python3 - <<'PY'
events = sorted(e for l in open("hogs") for e in zip(map(float, l.split()), (1, -1)))
now = top = 0
for _, step in events:
    now += step
    top = max(top, now)
print(top)
PY
}
for i in 1 2 3 4 5 6 once; do : >"$i.c"; done
printf 'all: 1.o 2.o 3.o 4.o 5.o 6.o\n%%.o: %%.c\n\t@$(CC) -c $< -o $@\n' >Makefile

folder two 320 # two of 150 MiB, the default for C
NAP=1 HOG=20 make -j6 CC="$ROCSMITH cc --shims two clang" 2>log || no "make under a ledger: $(cat log)"
[ "$(most)" = 2 ] || no "two at once were to run, it was $(most)"
[ "$(wc -l <two/cc.jsonl)" = 6 ] || no 'six runs were to be in the log'
python3 - <<'PY'
import json
for line in open("two/cc.jsonl"):
    run = json.loads(line)
    assert run["kind"] == "c" and run["status"] == 0 and run["tries"] == 1, run
    assert run["predicted"] == 150 << 20 and 20 << 20 < run["memory"] < 100 << 20, run
PY
ok 'compilers wait for one another, and each run is in the log'
rm -f ./*.o hogs
NAP=2 HOG=20 make -j6 CC="$ROCSMITH cc --shims two clang" 2>log || no "make with a history: $(cat log)"
[ "$(most)" -gt 2 ] || no 'with a history, all were to fit'
ok 'what they needed is remembered'

HOG=20 "$ROCSMITH" cc --shims two clang -c once.c -o once.o 2>log || no 'a killed compiler is run again'
grep -q "ran out of memory at .* once more, alone" log || no 'it was to say so'
ok 'a killed compiler is run once more, alone'

# A killed rocsmith frees its share only when its compiler has ended too.
folder one 100
HOG=10 NAP=3 "$ROCSMITH" cc --shims one clang -c 1.c -o long.o &
pid=$!
began long.o
kill -9 $pid
rm -f hogs
HOG=10 NAP=0 "$ROCSMITH" cc --shims one clang -c 2.c -o short.o
[ -e long.o ] || no 'it was to wait for the compiler of a killed one'
ok 'a killed one leaves nothing behind'
pids=
for i in 1 2 3 4 5 6; do
	NAP=0.2 HOG=1 "$ROCSMITH" cc --shims one clang -c $i.c -o k$i.o 2>/dev/null &
	pids="$pids $!"
done
for pid in $pids; do
	sleep 0.1
	kill -9 "$pid" 2>/dev/null || :
done
wait
NAP=0 HOG=1 timeout 30 "$ROCSMITH" cc --shims one clang -c 1.c -o last.o || no 'the ledger is stuck'
ok 'nor do several'

# Its own files fail: the compiler's word counts, or there is an error.
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
if [ -x "$fault" ]; then
	HOG=1 NAP=0 python3 "$top/faults.py" sweep --sample "${ROCSMITH_FAULT_POINTS:-3}" \
		--setup 'rm -f f.o' --tree f.o -- "$fault" cc --shims one clang -c 1.c -o f.o
	ok 'a failing I/O call of the ledger or the history is no torn object'
fi

# A signal to rocsmith ends the compiler.
NAP=30 HOG=1 "$ROCSMITH" cc --shims one clang -c 1.c -o slow.o 2>/dev/null &
pid=$!
began slow.o
kill -TERM $pid
wait $pid && no 'it was to end with the signal' || [ $? = 143 ] || no "it was to end with 143, not $?"
ok 'a signal ends the compiler'

# A real limit: without us the build dies. (cgroup v1 or v2, where this user may make one.)
. "$top/group.bash"
if limit 520; then
	rm -f ./*.o
	NAP=5 inside make -j4 CC=./hog >log 2>&1 && no 'without rocsmith, the limit was to kill'
	rm -f ./*.o
	folder limited 450
	inside make -j4 CC="$ROCSMITH cc --shims limited clang" >log 2>&1 || no "under a limit: $(cat log)"
	ok 'a build that dies under a memory limit ends well'
	rm -f ./*.o
	inside make -j4 CC="$ROCSMITH cc --shims limited clang" >log 2>&1 || no "again: $(cat log)"
	[ "$(grep -c 'once more' log)" = 0 ] || no 'with a history nothing was to be killed'
	ok 'and the next time nothing is killed'
else
	echo 'skip a memory limit: no cgroup may be made here'
fi

# ---- a real SDK ----
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,hiprand 2>err; then
	echo 'skip the real compiler: no SDK'
	exit 0
fi
shims() { "$ROCSMITH" sdk shims s --sdk debian-sid --gpu gfx1201 --memory 8000 --log log.d "$@"; }
shims >env || no 'sdk shims'
find s -newer env | grep -q . && no 'files of the future'
before=$(find s -printf '%p %T@\n' | sort)
shims >/dev/null
[ "$before" = "$(find s -printf '%p %T@\n' | sort)" ] || no 'a second time nothing was to change'
ok 'a shim folder is made once'
. ./env
[ "$(rocm_agent_enumerator) $(offload-arch) $(s/llvm/bin/amdgpu-arch)" = 'gfx1201 gfx1201 gfx1201' ] ||
	no 'the GPUs are those of --gpu'
hipconfig --version | grep -q '^[67]\.' || no "hipconfig: $(hipconfig --version)"
[ "$(hipconfig --path)" = "$PWD/s" ] || no "hipconfig --path: $(hipconfig --path)"
ok 'hipconfig and what lists GPUs'

cat >k.hip <<'CC'
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdlib>
#include <vector>
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
extern "C" double remainder_of(double x, const char *number)
{
	std::vector<float> v(64);
	twice<<<1, 64>>>(v.data());
	return std::fmod(x, strtol(number, nullptr, 10));
}
CC
hipcc -fPIC -shared k.hip -o k.so
hipcc -c k.hip -o k.o -MD -MF k.d
needs() { readelf -V "$1" | grep -o 'Name: GLIBC_[0-9.]*' | sed 's/.*_//' | sort -uV | tail -1; }
here=$(getconf GNU_LIBC_VERSION | sed 's/.* //')
[ "$(printf '%s\n' "$(needs k.so)" "$here" | sort -V | tail -1)" = "$here" ] ||
	no "k.so needs glibc $(needs k.so), this machine has $here"
"$ROCSMITH" inspect k.so | grep -q gfx1201 || no 'device code for gfx1201'
ok "hipcc: a library that needs glibc $(needs k.so), here is $here"
hipcc -fPIC -shared k.hip -o new.so --offload-new-driver -fgpu-rdc
"$ROCSMITH" inspect new.so | grep -q gfx1201 || no 'device code by the new driver'
ok "clang's linker wrapper finds its own clang"
sed 's/\\$//; s/^[^:]*://' k.d | tr ' ' '\n' | sed '/^$/d' | while read -r file; do
	[ -e "$file" ] || no "k.d names '$file', which is not here"
done
grep -q '/run/host\|/root/usr/include/stdlib.h' k.d && no 'headers of another place'
grep -q ' /usr/include/stdlib.h' k.d || no "this machine's headers"
ok 'a dependency file names files of this machine'
status=0
echo 'int x = y;' >bad.hip
hipcc -c bad.hip 2>err || status=$?
[ $status = 1 ] && grep -q '^bad.hip:1:9: error: ' err || no "a mistake: $status $(cat err)"
ok 'a mistake is told as it is'

# ---- several GPUs: passes, and the object of a single run ----
# ROCSMITH_CC=1 marks a compiler that another one has started: it is run as it is
gpus='--offload-arch=gfx1201 --offload-arch=gfx90a'
bare="$gpus -nogpuinc -nogpulib" # a source without HIP's headers takes a tenth of the time
cat >bare.h <<'CC'
struct dim3 { unsigned x, y, z; };
extern "C" int hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, void *);
CC
(cat bare.h && echo '__attribute__((global)) void k(int *p) { *p = 1; }') >bare.hip
while read -r compiler options; do
	two="$options -O2 -fPIC -cuid=one -MD -MF"
	# shellcheck disable=SC2086
	$compiler $two passes.d -o passes.o && ROCSMITH_CC=1 $compiler $two direct.d -o direct.o
	cmp passes.o direct.o || no "$compiler: not the object of a single run"
	[ "$(sed 's/^passes/direct/' passes.d)" = "$(cat direct.d)" ] || no "$compiler: other dependencies"
	[ ! -e passes.o.passes ] || no 'passes leave nothing behind'
	tail -1 log.d/cc.jsonl | python3 -c '
import json, sys
run = json.loads(sys.stdin.read())
assert [p["gpu"] for p in run["passes"]] == ["gfx1201", "gfx90a", ""], run
assert all(p["seconds"] > 0 and p["memory"] > 1 << 20 for p in run["passes"]), run' ||
		no "$compiler: the log was to have a time for each GPU"
done <<E
hipcc $gpus -c k.hip
s/llvm/bin/clang++ $bare -c bare.hip
E
status=0
hipcc --offload-arch=gfx1201 --offload-arch=gfx90a -c bad.hip -o bad.o 2>err || status=$?
[ $status = 1 ] && [ "$(grep -c '^bad.hip:1:9: error: ' err)" = 1 ] || no "a mistake: $status $(cat err)"
ok 'a compile for several GPUs is done pass by pass, and gives the object of a single run'

# one command line in two folders: objects that can be linked together
for d in here there; do
	mkdir -p $d
	(cat bare.h && echo "__attribute__((global)) void $d(int *p) { *p = 1; }") >$d/k.hip
	# shellcheck disable=SC2086
	(cd $d && hipcc $bare -O1 -fPIC -c k.hip -o k.o) ||
		no "cannot compile k.hip in '$d'"
	tail -1 log.d/cc.jsonl | grep -q '"passes"' || no "'$d' was to be compiled in passes"
done
ld -r here/k.o there/k.o -o both.o 2>err || no "objects of two folders: $(cat err)"
ok 'one command line makes objects in two folders that can be linked together'

# a source that is a stream can be read once: passes would get nothing of it, so the command runs as it is
for source in - /dev/stdin; do
	stream="$bare -O1 -cuid=one -x hip -c $source -o"
	hipcc $stream stream.o <bare.hip && ROCSMITH_CC=1 hipcc $stream direct.o <bare.hip || no "a source from '$source'"
	cmp stream.o direct.o || no "a source from '$source': not the object of a single run"
	grep '"input":"'"$source"'"' log.d/cc.jsonl | grep -q '"passes"' && no "'$source' was compiled in passes"
	grep -q '"input":"'"$source"'"' log.d/cc.jsonl || no "'$source' is not in the log"
done
ok 'a source that is a stream is compiled by one run'

# ---- precompiled headers ----
mkdir -p pre/p
cat >pre/p/set.h <<'CC'
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>
#ifdef LOUD
#define VOLUME 11
#else
#define VOLUME 5
#endif
#include <p/deep.h>
inline std::vector<int> sorted(std::vector<int> v) { std::sort(v.begin(), v.end()); return v; }
CC
echo 'inline int deep() { return 1; }' >pre/p/deep.h
echo '#error never' >pre/p/broken.h
for i in 1 2 3 4 5; do
	printf '#include <p/set.h>\nint f%d(int i) { return sorted({i, %d})[0] + VOLUME + deep(); }\n' $i $i >p$i.cpp
done
with() { # JSON-LIST: headers that the folder precompiles
	python3 - "$1" <<'PY'
import json, sys
config = json.load(open("s/.rocsmith/cc.json"))
config["precompile"] = json.loads(sys.argv[1])
json.dump(config, open("s/.rocsmith/cc.json", "w"))
PY
}
compile() { s/llvm/bin/clang++ -O2 "-I$PWD/pre" -MD -MF "$1.d" -c "$1.cpp" -o "$1.o"; }
last() { # of the compiler's runs
	python3 -c 'import json
runs = [json.loads(line) for line in open("log.d/cc.jsonl")]
print([run["pch"] for run in runs if run["program"] == "clang++"][-1])'
}
with '[]'
for i in 1 2 3 4 5; do compile p$i && mv p$i.o p$i.plain && mv p$i.d p$i.plain.d; done
with '["p/set.h"]'
for i in 1 2 3 4 5; do
	compile p$i || no "precompiled headers, p$i"
	cmp p$i.o p$i.plain || no "the object of p$i is another one"
	[ "$(tr -d '\\' <p$i.d | xargs -n1 | sort)" = "$(tr -d '\\' <p$i.plain.d | xargs -n1 | sort)" ] ||
		no "p$i depends on something else: $(cat p$i.d)"
done
[ "$(last)" = used ] && [ "$(grep -c '"pch":"made"' log.d/cc.jsonl)" = 1 ] ||
	no "they were to be made once, and used: $(tail -3 log.d/cc.jsonl)"
ok 'precompiled headers: the same objects, the same dependencies'
printf '#define LOUD\n#include <p/set.h>\nint loud() { return VOLUME; }\n' >loud.cpp
printf 'int early;\n#include <p/set.h>\n' >early.cpp
for name in loud early; do
	compile $name && [ "$(last)" = '' ] || no "$name.cpp was to be compiled without"
done
s/llvm/bin/llvm-objdump -d loud.o | grep -q 0xb || no 'the macro of the source was to count'
ok 'a macro that they ask for, or code before them: a plain compile'
printf '#include <p/set.h>\nint x = y;\n' >wrong.cpp
with '[]'
compile wrong 2>plain.err && no 'wrong.cpp was to be refused'
with '["p/set.h"]'
compile wrong 2>pch.err && no 'wrong.cpp was to be refused with them, too'
cmp plain.err pch.err && [ "$(last)" = refused ] || no "another message: $(cat pch.err)"
ok 'a mistake is told as without them'
echo 'inline int deep() { return 77; }' >pre/p/deep.h
for i in 1 2 3 4; do
	compile p$i && [ "$(s/llvm/bin/llvm-objdump -d p$i.o | grep -c 0x52)" -gt 0 ] ||
		no "p$i.o is of the old header"
done
[ "$(last)" = used ] || no 'they were to be made anew'
ok 'a header that changed: made anew'
# killed at any moment, also of the third compile, which makes them
for i in 2 5; do
	rm -rf s/.rocsmith/pch
	for k in 1 2; do compile p$k; done
	(timeout -s KILL "0.$((i * 12 + 10))" s/llvm/bin/clang++ -O2 "-I$PWD/pre" -c p3.cpp -o k.o || :) 2>/dev/null
	compile p4 && compile p5 && [ "$(last)" = used ] || no "after a kill: $(ls s/.rocsmith/pch/*)"
done
ok 'a killed one that made them is forgotten'
with '["p/broken.h"]'
printf '#pragma once\n#ifndef NEVER\n#define NEVER\n#include <p/broken.h>\n#endif\n' >pre/p/late.h
printf '#define NEVER\n#include <p/late.h>\n' >b.cpp
for i in 1 2 3 4; do compile b || no 'what cannot be precompiled was to be left out'; done
[ "$(grep -c '"pch":"made"' log.d/cc.jsonl)" -ge 2 ] && [ "$(last)" = '' ] || no 'one try was to be made'
ok 'headers that do not compile by themselves are given up'
with '[]'

# passes of HIP: each GPU and the host side have hip_runtime.h of their own
sides() { # of the last source
	python3 -c 'import json
runs = [json.loads(line) for line in open("log.d/cc.jsonl")]
print(*[one["pch"] for run in runs[-1:] for one in run.get("passes", [])])'
}
kernel() { # NAME OPTION...
	s/bin/hipcc -O2 -cuid=one --offload-arch=gfx1100 --offload-arch=gfx90a -MD -MF "$1.d" -c "$1.hip" -o "$1.o" "${@:2}"
}
for i in 1 2 3 4; do
	printf '// a kernel\n#include "hip/hip_runtime.h"\n#include <assert.h>\n__global__ void k%d(int *p) { assert(p); p[0] = __popc(%d); }\n' $i $i >g$i.hip
	ROCSMITH_PRECOMPILE=off kernel g$i && mv g$i.o g$i.plain && mv g$i.d g$i.plain.d || no "g$i as it is"
done
before=$(grep -c '"pch":"made"' log.d/cc.jsonl)
for i in 1 2 3 4; do
	kernel g$i || no "g$i with precompiled headers"
	cmp g$i.o g$i.plain || no "the object of g$i is another one"
	[ "$(tr -d '\\' <g$i.d | xargs -n1 | sort)" = "$(tr -d '\\' <g$i.plain.d | xargs -n1 | sort)" ] ||
		no "g$i depends on something else: $(cat g$i.d)"
done
[ "$(grep -c '"pch":"made"' log.d/cc.jsonl)" = $((before + 3)) ] && [ "$(sides)" = 'used used used' ] ||
	no "HIP's headers were to be made for two GPUs and the host, and used: $(tail -4 log.d/cc.jsonl)"
for text in '#define __HIP_DISABLE_CPP_FUNCTIONS__ 1\n#include "hip/hip_runtime.h"' '#if 1\n#include "hip/hip_runtime.h"\n#endif' \
	'int first;\n#include "hip/hip_runtime.h"'; do
	printf "$text"'\n__global__ void k(int *p) { p[0] = 1; }\n' >other.hip
	kernel other && [ "$(sides)" = '  ' ] || no "another beginning: $(sides)"
done
kernel g1 -DMORE=1 && [ "$(sides)" = '  ' ] || no 'other options'
kernel g1 -g && [ "$(sides)" = '' ] || no 'debug information'
printf '#include "hip/hip_runtime.h"\n__global__ void k(int *p) { p[0] = wrong; }\n' >wrong.hip
ROCSMITH_PRECOMPILE=off kernel wrong 2>plain.err && no 'wrong.hip was to be refused'
kernel wrong 2>pch.err && no 'wrong.hip was to be refused with them, too'
cmp plain.err pch.err || no "another message: $(cat pch.err)"
kernel g4 && cmp g4.o g4.plain && [ "$(sides)" = 'used used used' ] || no 'an error of a source is no fault of the headers'
ok 'precompiled headers of HIP, for two GPUs and the host: the same objects, dependencies and errors'

# the same behind nvcc's face, where an overlay of each source's own has its translated text
"$ROCSMITH" sdk shims face --sdk debian-sid --cuda --gpu gfx1100 --memory 8000 --log face.d >log || no 'sdk shims --cuda'
nvcc() { # NAME
	face/cuda/bin/nvcc -std=c++17 -MD -MF "$1.d" -Xcompiler -cuid=one -c "$1.cu" -o "$1.o"
}
echo 'inline __device__ int down(int i) { return __shfl_down_sync(0xffffffff, i, 1); }' >mine.cuh
for i in 1 2 3 4; do
	printf '// a kernel\n#include "mine.cuh"\n#include <cuda_runtime.h>\n__global__ void k%d(int *p) { p[0] = down(%d); }\nint f%d() { return cudaDeviceSynchronize(); }\n' $i $i $i >n$i.cu
done
for i in 1 2 3 4; do
	nvcc n$i || no "n$i with precompiled headers"
	((i > 2)) || continue
	mv n$i.o n$i.used && mv n$i.d n$i.used.d
	ROCSMITH_PRECOMPILE=off nvcc n$i || no "n$i as it is"
	cmp n$i.o n$i.used || no "the object of n$i is another one"
	[ "$(tr -d '\\' <n$i.d | xargs -n1 | sort)" = "$(tr -d '\\' <n$i.used.d | xargs -n1 | sort)" ] || no "n$i depends on something else: $(cat n$i.used.d)"
done
[ "$(grep -c '"pch":"made"' face.d/cc.jsonl)" = 2 ] && tail -2 face.d/cc.jsonl | grep -c '"pch":"used".*"pch":"used"' >log ||
	no "HIP's headers were to be made for nvcc: $(tail -4 face.d/cc.jsonl)"
sed -i 's/down(4)/wrong(4)/' n4.cu
ROCSMITH_PRECOMPILE=off nvcc n4 2>plain.err && no 'n4.cu was to be refused'
nvcc n4 2>pch.err && no 'n4.cu was to be refused with them, too'
cmp plain.err pch.err || no "another message: $(cat pch.err)"
# somebody else's overlay may show other headers of HIP
printf '{"version": 0, "roots": []}' >other.json
kernel g1 -ivfsoverlay other.json && ! [[ "$(sides)" = *used* ]] || no "another overlay: $(sides)"
ok "precompiled headers behind nvcc's face"

if command -v g++ >/dev/null; then
	[ "$CXX" = "$PWD/s/host/g++" ] || no "CXX: $CXX"
	echo '#include <cstdio>
int main() { puts("here"); }' >h.cpp
	"$CXX" h.cpp -o h && [ "$(./h)" = here ] || no "this machine's g++"
	grep -q '"program":"g++","kind":"c++","input":"h.cpp"' log.d/cc.jsonl || no 'g++ was to be logged'
	ok "this machine's compiler is counted too"
fi

if command -v cmake >/dev/null && command -v ninja >/dev/null; then
	mkdir -p cm
	cat >cm/CMakeLists.txt <<'CM'
cmake_minimum_required(VERSION 3.21)
project(t LANGUAGES CXX HIP)
find_package(hip REQUIRED)
find_package(hiprand REQUIRED)
add_library(kk SHARED kk.hip)
target_link_libraries(kk PRIVATE hip::hiprand)
add_executable(app main.cpp)
target_link_libraries(app PRIVATE kk hip::host)
CM
	cat >cm/kk.hip <<'CC'
#include <hip/hip_runtime.h>
#include <hiprand/hiprand.h>
#include "kk.h"
__global__ void k(float *a) { a[threadIdx.x] *= 2; }
int go(float *a)
{
	hiprandGenerator_t g;
	k<<<1, 64>>>(a);
	return hiprandCreateGenerator(&g, HIPRAND_RNG_PSEUDO_DEFAULT);
}
CC
	echo 'int go(float *a);' >cm/kk.h
	cat >cm/main.cpp <<'CC'
#include <hip/hip_runtime.h>
#include "kk.h"
int main() { int n = 0; return hipGetDeviceCount(&n) ? 7 : go(nullptr); }
CC
	cmake -G Ninja -S cm -B b -DCMAKE_HIP_ARCHITECTURES=gfx1201 >log 2>&1 && ninja -C b >>log 2>&1 ||
		no "cmake: $(tail -20 log)"
	ninja -C b | grep -q 'no work to do' || no 'a second ninja was to have nothing to do'
	echo '// touched' >>cm/kk.h
	ninja -C b -n | grep -q 'kk.hip.o' || no 'ninja was to see that a header changed'
	ok 'CMake: enable_language(HIP), find_package(hip), ninja knows what depends on what'
	# its libraries are of another libc: where that is, the program runs, and finds no GPU
	status=0
	"$ROCSMITH" sdk run --sdk debian-sid --host -- b/app || status=$?
	[ -e /dev/kfd ] || [ $status = 7 ] || no "the program gave $status"
	ok "the program runs on the SDK's libraries"
else
	echo 'skip CMake: cmake or ninja is not installed'
fi

# ---- faults ----
python3 "$top/faults.py" kill --times "${ROCSMITH_KILLS:-2}" --setup 'rm -rf f' --tree f \
	-- "$ROCSMITH" sdk shims f --sdk debian-sid --gpu gfx1201
ok 'a killed `sdk shims`: the next one makes the folder'
if [ -x "$fault" ]; then
	python3 "$top/faults.py" sweep --sample "${ROCSMITH_FAULT_POINTS:-2}" --setup 'rm -rf f' --tree f \
		-- "$fault" sdk shims f --sdk debian-sid --gpu gfx1201
	ok 'a failing I/O call is told, and the next one makes the folder'
fi
