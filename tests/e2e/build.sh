#!/usr/bin/env bash
# From CUDA sources to wheels with the real compiler: what is rebuilt, that the bytes do not depend on
# the place, saved plans, bare folders, mistakes. Peers: python zipfile, pip's tags, readelf, cmp and
# LLVM's own bundler.
set -eu

top=$(dirname "$(realpath "$0")")
cd "$E2E_TMP"
ok() { echo "ok $*"; }
no() {
	echo "not ok $*"
	exit 1
}
if ! command -v bwrap >/dev/null && [ "$(id -u)" != 0 ]; then
	echo 'skip build: neither bwrap nor root'
	exit 0
fi
rocsmith() { "$ROCSMITH" "$@" 2>>log; }
# Steps that ran, "device:gfx1201 host link", out of build's JSON.
ran() {
	python3 -c '
import json, sys
steps = [s for s in json.load(open(sys.argv[1]))["steps"] if s["done"] and not s["cached"]]
print(" ".join(s["kind"] + (":" + s["gpu"] if s["gpu"] else "") for s in steps))' "$1"
}
sum() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }

mkdir -p p/src p/include
cat >p/rocsmith.yaml <<'YAML'
name: tiny
version: 1.0
sources: [src/a.cu, src/*.cpp]
includes: [include]
YAML
cat >p/src/a.cu <<'CU'
#include <cuda_runtime.h>
#include "k.cuh"
__global__ void twice(int *p) { p[threadIdx.x] *= FACTOR; }
extern "C" int tiny_run(int *p) { twice<<<1, 1>>>(p); return cudaGetLastError(); }
CU
echo '#define FACTOR 2' >p/include/k.cuh
echo 'extern "C" const char *tiny_where() { return __FILE__; }' >p/src/host.cpp
sum p >before

# ---- first build, and what a second one does ----
rocsmith build p --gpu gfx1201 -o o --json >1.json
wheel=$(echo o/tiny-1.0-py3-none-*.whl)
[ -f "$wheel" ] || no "a wheel was to be in o, there is: $(ls o)"
[ "$(ran 1.json)" = 'device:gfx1201 bundle host c++ link' ] || no "steps: $(ran 1.json)"
ok 'a project is built in five steps'
python3 - "$wheel" <<'PY'
import base64, csv, hashlib, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
rows = list(csv.reader(z.read("tiny-1.0.dist-info/RECORD").decode().splitlines()))
assert sorted(r[0] for r in rows) == sorted(z.namelist())
for name, digest, size in rows:
    if digest:
        data = z.read(name)
        want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert digest == "sha256=" + want and int(size) == len(data), name
assert {"tiny/__init__.py", "tiny/libtiny.so"} <= set(z.namelist())
z.extract("tiny/libtiny.so")
PY
ok 'python zipfile agrees with its RECORD'
readelf -d tiny/libtiny.so | grep -q 'NEEDED.*libamdhip64' || no 'the library does not need HIP'
ok 'readelf: the library needs libamdhip64'
if command -v objcopy >/dev/null; then
	objcopy --dump-section .hip_fatbin=fatbin tiny/libtiny.so
	rocsmith sdk run -- clang-offload-bundler -type=o -list "-input=$PWD/fatbin" >targets
	grep -qx 'hipv4-amdgcn-amd-amdhsa--gfx1201' targets || no "bundler lists: $(cat targets)"
	ok "LLVM's bundler finds the target"
fi
cp "$wheel" first.whl
rocsmith build p --gpu gfx1201 -o o --json >2.json
[ -z "$(ran 2.json)" ] || no "nothing changed, but these ran: $(ran 2.json)"
cmp -s first.whl "$wheel" || no 'the same build gave another wheel'
ok 'a second build compiles nothing and gives the same bytes'

# ---- what is rebuilt ----
touch p/src/a.cu p/include/k.cuh
rocsmith build p --gpu gfx1201 -o o --json >3.json
[ -z "$(ran 3.json)" ] || no "touched files ran: $(ran 3.json)"
ok 'a touched file is not compiled again'
rocsmith build p --gpu gfx1201,gfx1100 -o o --json >4.json
[ "$(ran 4.json)" = 'device:gfx1100 bundle host link' ] || no "one GPU more ran: $(ran 4.json)"
ok 'a GPU more costs its device pass only'
echo '#define FACTOR 3' >p/include/k.cuh
rocsmith build p --gpu gfx1201 -o o --json >5.json
[ "$(ran 5.json)" = 'device:gfx1201 bundle host link' ] || no "an edited header ran: $(ran 5.json)"
ok 'an edited header compiles what includes it, not more'
echo '#define FACTOR 2' >p/include/k.cuh
echo 'extern "C" const char *tiny_where() { return __FILE__ "!"; }' >p/src/host.cpp
rocsmith build p --gpu gfx1201 -o o --json >6.json
case " $(ran 6.json) " in *' c++ '*) ;; *) no "an edited source ran: $(ran 6.json)" ;; esac
echo 'extern "C" const char *tiny_where() { return __FILE__; }' >p/src/host.cpp
sum p | cmp -s - before || no 'sources were changed by the build'
ok 'sources stay as they are'

# ---- the bytes do not depend on the place; plans replay ----
mkdir -p 'other place' && cp -r p 'other place/p'
rocsmith plan 'other place/p' --gpu gfx1201 -o plan.json >/dev/null
rocsmith build plan.json -o o2 --build-dir "$PWD/bd" >/dev/null
cmp first.whl o2/*.whl || no 'another place gave another wheel'
ok 'a saved plan, built elsewhere, gives the same wheel byte by byte'
grep -aq "$E2E_TMP" o2/../bd/mod/* && no 'the library names a folder of this machine'
ok 'no path of this machine is in the library'
SOURCE_DATE_EPOCH=1700000000 "$ROCSMITH" build p --gpu gfx1201 -o o3 >/dev/null 2>>log
python3 -c '
import sys, zipfile
assert {i.date_time for i in zipfile.ZipFile(sys.argv[1]).infolist()} == {(2023, 11, 14, 22, 13, 20)}
' o3/*.whl
ok 'SOURCE_DATE_EPOCH is the time in the wheel'
sed -i 's/"gfx1201"/"gfx9999"/' plan.json
status=0
rocsmith build plan.json -o o4 >/dev/null || status=$?
[ $status = 2 ] && [ ! -e o4 ] || no "an edited plan with an unknown GPU gave $status"
ok 'an edited plan is checked'

# ---- a folder with nothing but .cu files: import and call, without ROCm and without a GPU ----
mkdir bare && cp p/src/a.cu bare/ && echo '#define FACTOR 2' >bare/k.cuh
rocsmith build bare --gpu gfx1201 -o ob >/dev/null
python3 -m zipfile -e ob/bare-0.0.0-py3-none-*.whl site
got=$(PYTHONPATH=site "$ROCSMITH" sdk run --host -- python3 -c '
import bare
print(bare.tiny_run(None))' 2>>log)
[ "$got" = 100 ] || [ -e /dev/kfd ] || no "the call gave '$got', not 100 (no device)"
ok 'a bare folder becomes a wheel that imports; the call says that there is no device'

# ---- several modules, C sources, an abi3 package, a machine without Python headers ----
mkdir -p mods/pkg && echo >mods/pkg/__init__.py
for m in one two; do
	cat >mods/$m.c <<C
#define Py_LIMITED_API 0x03080000
#include <Python.h>
int shared_answer(void);
static PyObject *answer(PyObject *s, PyObject *a) { return PyLong_FromLong(shared_answer()); }
static PyMethodDef defs[] = {{"answer", answer, METH_NOARGS, 0}, {0, 0, 0, 0}};
static struct PyModuleDef mod = {PyModuleDef_HEAD_INIT, "$m", 0, 0, defs, 0, 0, 0, 0};
PyMODINIT_FUNC PyInit_$m(void) { return PyModule_Create(&mod); }
C
done
echo '__global__ void k() {} extern "C" int shared_answer(void) { return 42; }' >mods/k.cu
cat >nopy <<'PY'
#!/bin/sh
# python3 of a machine without Python's headers
[ "$1" = -I ] && [ "$2" = -c ] || exec python3 "$@"
PROBE=$3 exec python3 -I -c '
import os, sysconfig as s
path, var = s.get_path, s.get_config_var
s.get_path = lambda n, *a, **k: "/nowhere" if "include" in n else path(n, *a, **k)
s.get_config_var = lambda n: "/nowhere" if "INCLUDE" in n else var(n)
exec(os.environ["PROBE"])'
PY
chmod +x nopy
printf 'name: pkg\n' >mods/rocsmith.yaml
rocsmith build mods --gpu gfx1201 --python "$PWD/nopy" -o om --json >m.json
python3 -m zipfile -e om/pkg-0.0.0-cp38-abi3-*.whl sitem
got=$(PYTHONPATH=sitem "$ROCSMITH" sdk run --host -- python3 -c '
import pkg.one, pkg.two
print(pkg.one.answer() + pkg.two.answer())' 2>>log)
[ "$got" = 84 ] || no "two modules against the SDK's headers gave '$got'"
ok "two modules, built against the SDK's Python headers and C library, import"
rocsmith why mods --gpu gfx1201 --python "$PWD/nopy" 'host libc' | grep -q 'no Python.h' ||
	no 'why does not tell about the headers'
ok 'why says why'

# ---- mistakes: exit code, one error, nothing left behind ----
wrong() { # STATUS TEXT ARGS...
	local want=$1 text=$2 status=0
	shift 2
	"$ROCSMITH" "$@" >out.txt 2>err.txt || status=$?
	[ $status = "$want" ] || no "'$*' gave $status, not $want: $(cat err.txt)"
	[ "$(grep -c '^error:' err.txt)" = 1 ] || no "'$*' has not one error: $(cat err.txt)"
	grep -qF -- "$text" err.txt || no "'$*' does not say '$text': $(cat err.txt)"
}
mkdir bad && cat >bad/a.cu <<'CU'
#include <cuda_runtime.h>

extern "C" int go(float *p)
{
	cudaError_t e = cudaMalloc(&p, 4); cudaFree(p) return e;
}
CU
sum bad >bad.sum
wrong 5 "bad/a.cu:5:48" build bad --gpu gfx1201,gfx1100 -o ow
[ "$(head -1 err.txt | cut -c1-32)" = "error: expected ';' after expres" ] ||
	[ "$(grep -m1 '^error' err.txt | cut -c1-32)" = "error: expected ';' after expres" ] ||
	no "not the compiler's own error: $(cat err.txt)"
sum bad | cmp -s - bad.sum && [ ! -e ow ] || no 'a failed build left something'
ok "the compiler's own error, at its place in the CUDA source"
mkdir nohdr && echo '#include "nothere.h"' >nohdr/a.cu
wrong 5 "'nothere.h' file not found" build nohdr --gpu gfx1201 -o ow
mkdir nolib && echo 'extern "C" int f() { return 1; }' >nolib/a.cu
echo 'libraries: [frobnicate]' >nolib/rocsmith.yaml
wrong 5 'unable to find library -lfrobnicate' build nolib --gpu gfx1201 -o ow
mkdir left && echo 'int f() { return cudaFrobnicate(1); }' >left/a.cu
wrong 5 "left/a.cu:1:18" build left --gpu gfx1201 -o ow
grep -q "a.cu:1: 'cudaFrobnicate'" err.txt || no "the name is not listed: $(cat err.txt)"
ok 'a missing header, library and CUDA name are told with their place'
wrong 2 'unknown GPU target' build bare --gpu gfx12345 -o ow
wrong 2 "cannot compile for 'gfx1250'" build bare --gpu gfx1250 -o ow
grep -q 'it can compile for:.* gfx1201\b' err.txt || no 'the possible targets are not listed'
[ -e /dev/kfd ] || wrong 3 "'native'" build bare -o ow
ok 'targets that are unknown, or that the SDK cannot compile'
ROCSMITH_HOME=$E2E_TMP/none wrong 3 'not installed' build bare --gpu gfx1201 -o ow --offline
[ ! -e ow ] || no 'a failed build left a folder'
ok 'no SDK and --offline'
if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=60k none full 2>/dev/null; then
	status=0
	"$ROCSMITH" build p --gpu gfx1201 -o full/o --build-dir "$PWD/full/b" >out.txt 2>err.txt ||
		status=$?
	umount full
	[ $status = 3 ] || no "a full disk gave $status: $(cat err.txt)"
	grep -qi 'no space' err.txt || no "a full disk is not named: $(cat err.txt)"
	[ "$(grep -c '^error:' err.txt)" = 1 ] || no "a full disk has not one error: $(cat err.txt)"
	ok 'a full disk is told'
	mount -t tmpfs -o size=8k none full && wrong 3 'No space left' build p --gpu gfx1201 -o full/o
	umount full
	grep -q 'would free' err.txt && no "what lies on another disk would not help: $(cat err.txt)"
	ok 'what would make room is on the disk that is full'
else
	echo 'skip a full disk: only root can mount one'
fi
sum p | cmp -s - before || no 'sources were changed by the failures'
ok 'sources still stay as they are'

# ---- what kernels take, as clang itself says it ----
"$top/../oracle/occupancy.sh" "$ROCSMITH" debian-sid gfx90a gfx1201
