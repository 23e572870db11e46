#!/usr/bin/env bash
# slow: zig, which makes the libraries, is 81 MB
# Host code for the glibc of a policy (build --policy), which is older than this machine's: our own build, and a setup.py with
# this machine's g++ and the SDK's clang. Other readers than ours (readelf, auditwheel) say what the modules need.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./* "$ROCSMITH_HOME/data/sysroot"
fail() { echo "not ok $1"; cat log; exit 1; }
skip() { echo "skip host code for a policy: $1"; exit 0; }
[ "$(getconf GNU_LIBC_VERSION | cut -d. -f2)" -ge 34 ] || skip 'the C library of this machine is not newer'
python3 -c 'import os, sysconfig as s, venv
os.stat(s.get_path("include") + "/Python.h")' 2>/dev/null || skip 'python3 has no venv or no Python.h'
"$ROCSMITH" sdk install debian --suite sid --components compiler,headers >log 2>&1 || skip "no SDK ($(tail -1 log))"

# newest KIND FILE: the newest version of that kind that a module needs
newest() { readelf -VW "$2" | grep -o "Name: $1_[0-9.]*" | sed 's/.*_//' | sort -V | tail -1; }
# at_most VERSION KIND FILE
at_most() { [ "$(printf '%s\n%s\n' "$1" "$(newest "$2" "$3")" | sort -V | tail -1)" = "$1" ]; }
# unbound FILE: symbols that no library is named for, but those of Python, HIP and the linker
unbound() { nm -D --undefined-only "$1" | awk '$1 == "U" {print $2}' | grep -vE '@|^_?Py|hip' || :; }

mkdir -p own/src foreign
cat >work.h <<'CXX'
// exp, pow: GLIBC_2.29; pthread_create: 2.34; stat: 2.33; vector: GLIBCXX_3.4.29; stringstream: 3.4.26; wait: 3.4.30
#include <Python.h>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>
#include <sys/stat.h>
static PyObject *work(PyObject *, PyObject *args)
{
	double x;
	if (!PyArg_ParseTuple(args, "d", &x))
		return nullptr;
	std::stringstream s;
	std::vector<std::string> words;
	std::mutex m;
	std::condition_variable cv;
	bool ready = false;
	std::thread t([&] { std::lock_guard<std::mutex> l(m); ready = true; cv.notify_one(); });
	std::unique_lock<std::mutex> l(m);
	cv.wait(l, [&] { return ready; });
	l.unlock();
	t.join();
	s << std::pow(x, 3.0) + std::exp(x - 2);
	words.push_back(s.str());
	struct stat st;
	return Py_BuildValue("si", words[0].c_str(), stat("/", &st));
}
static PyMethodDef methods[] = {{"work", work, METH_VARARGS, ""}, {}};
CXX
cp work.h own/src/
cat >own/src/old.cu <<'CUDA'
#include "work.h"
__global__ void twice(float *p) { p[threadIdx.x] *= 2; }
void on_device(float *p) { twice<<<1, 64>>>(p); }
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "old", "", -1, methods};
PyMODINIT_FUNC PyInit_old(void) { return PyModule_Create(&module); }
CUDA
printf 'name: own\nversion: 1.0\n' >own/rocsmith.yaml

"$ROCSMITH" plan own --gpu gfx1201 --policy manylinux_2_28 >log || fail 'the plan'
grep -q '^host  *glibc 2.28: by zig' log || fail 'the plan does not say how host code is made'
"$ROCSMITH" build own --gpu gfx1201 -o plain --build-dir b0 >log 2>&1 || fail 'a build without a policy'
python3 -m zipfile -e plain/*.whl plain
if at_most 2.28 GLIBC plain/old.*.so || at_most 3.4.24 GLIBCXX plain/old.*.so; then fail 'the test needs nothing newer'; fi
"$ROCSMITH" build own --gpu gfx1201 --policy manylinux_2_28 -o out --build-dir b --offline >log 2>&1 && fail 'a build from nothing'
grep -q -e '--policy-sysroot DIR' log || fail 'what helps without the network is not said'
status=0
"$ROCSMITH" build own --gpu gfx1201 --policy manylinux_2_28 -o out --build-dir b >log 2>&1 || status=$?
if grep -q 'cannot get the headers' log; then skip 'no package index'; fi
[ $status = 0 ] || fail 'our own build for a policy'
python3 -m zipfile -e out/own-*.whl own-site
at_most 2.28 GLIBC own-site/old.*.so && at_most 3.4.24 GLIBCXX own-site/old.*.so || fail 'our own module needs more'
[ -z "$(unbound own-site/old.*.so)" ] || fail "of no library: $(unbound own-site/old.*.so)"
got=$(PYTHONPATH=own-site "$ROCSMITH" sdk run --host -- python3 -c 'import old; print(*old.work(2.0))' 2>log) || fail 'import'
[ "$got" = '9 0' ] || fail "the module says '$got'"
"$ROCSMITH" build own --gpu gfx1201 --policy manylinux_2_28 -o out --build-dir b -v >log 2>&1 || fail 'a second build'
if grep -q Compiled log; then fail 'a second build does something'; fi
echo 'ok our own build for manylinux_2_28: needs at most glibc 2.28 and its libstdc++, imports, is made once'

cp work.h foreign/
cat >foreign/work.cpp <<'CXX'
#include "work.h"
void on_device(float *p);
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "far", "", -1, methods};
PyMODINIT_FUNC PyInit_far(void) { return PyModule_Create(&module); }
CXX
cat >foreign/kernel.hip <<'HIP'
#include <hip/hip_runtime.h>
#include <vector>
__global__ void twice(float *p) { p[threadIdx.x] *= 2; }
void on_device(float *p) { std::vector<float> v(64); twice<<<1, v.size()>>>(p); }
HIP
cat >foreign/setup.py <<'PY'
import os
import subprocess
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

class Build(build_ext):
    def run(self):
        subprocess.check_call(["hipcc", "-O2", "-fPIC", "--offload-arch=gfx1201", "-c", "kernel.hip", "-o", "kernel.o"])
        super().run()

rocm = os.environ["ROCM_PATH"]
setup(name="far", version="1.0", cmdclass={"build_ext": Build}, ext_modules=[Extension("far", ["work.cpp"], depends=["work.h"],
      extra_objects=["kernel.o"], library_dirs=[rocm + "/lib"], libraries=["amdhip64"], language="c++")])
PY
"$ROCSMITH" build foreign --gpu gfx1201 --policy manylinux_2_28 -o out --build-dir f >log 2>&1 || fail 'a setup.py for a policy'
python3 -m zipfile -e out/far-*.whl far-site
at_most 2.28 GLIBC far-site/far.*.so && at_most 3.4.24 GLIBCXX far-site/far.*.so || fail "the module of setup.py needs more"
[ -z "$(unbound far-site/far.*.so)" ] || fail "of no library: $(unbound far-site/far.*.so)"
got=$(PYTHONPATH=far-site "$ROCSMITH" sdk run --host -- python3 -c 'import far; print(*far.work(2.0))' 2>log) || fail 'import'
[ "$got" = '9 0' ] || fail "the module of setup.py says '$got'"
echo 'ok setup.py with g++ and hipcc for manylinux_2_28'

# the folder that was made is one that a user may name
root=$(echo "$ROCSMITH_HOME"/data/sysroot/glibc-2.28)
"$ROCSMITH" plan own --gpu gfx1201 --policy manylinux_2_28 --policy-sysroot "$root" >log || fail 'a plan with a folder'
grep -q '^host .*--policy-sysroot' log || fail 'the plan does not name the folder'
if python3 -m venv env >log 2>&1 && env/bin/pip install -q auditwheel >log 2>&1; then
	for wheel in out/*.whl; do
		env/bin/auditwheel show "$wheel" >log 2>&1 || fail 'auditwheel'
		tr '\n' ' ' <log | grep -qE 'manylinux_2_(5|12|17|24|26|27|28)_x86_64' || fail 'auditwheel says otherwise'
	done
	echo 'ok auditwheel says so, too'
else
	echo 'skip auditwheel: no package index'
fi

# An extension of PyTorch: for the policy, and editable, with a torch of which only what builds need is there.
. "$top/tests/e2e/warpsum.bash"
torch=$("$top/tools/torch-get" 2.11.0 headers 2>log) && torch=$(python3 "$top/tests/e2e/torch_wheel.py" "$torch" "$PWD/torch" cc 2>log) ||
	skip "no torch ($(tail -1 log))"
warpsum extension
build() { "$ROCSMITH" build extension --with "$torch" --torch-as-rocm --gpu gfx1201 "$@" >log 2>&1; }
build --policy manylinux_2_28 -o out --build-dir t || fail 'an extension of PyTorch for a policy'
python3 -m zipfile -e out/warpsum-*.whl warpsum-site
at_most 2.28 GLIBC warpsum-site/warpsum/_C.*.so && at_most 3.4.24 GLIBCXX warpsum-site/warpsum/_C.*.so || fail 'the extension needs more'
echo 'ok an extension of PyTorch for manylinux_2_28'
python3 -m venv env
build --editable --python env --build-dir e || fail 'an editable extension of PyTorch'
module() { find e/tree -name '_C.*.so' -exec sha256sum {} +; }
module >first
[ -s first ] && [ "$(env/bin/python -c 'import importlib.util as u; print(u.find_spec("warpsum").origin)')" = "$PWD/e/tree/warpsum/__init__.py" ] ||
	fail 'the environment does not find the copy'
sed -i 's/i = 16/i = 8/' extension/warpsum/sum.cu
build --editable --python env --build-dir e || fail 'an edit of an editable extension'
module | cmp -s - first && fail 'the edit is not in the module'
echo 'ok an editable extension of PyTorch takes an edit'
