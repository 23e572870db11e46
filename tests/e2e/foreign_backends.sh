#!/usr/bin/env bash
# long
# Projects with a HIP source by the back ends scikit-build-core (its version read from the history by
# setuptools_scm) and meson-python: each becomes a wheel that verifies. What was installed for the build stands in
# a file from which pip, asked for nothing but these hashes, installs the same again.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./* .[a-z]*
fail() { echo "not ok $1"; cat log; exit 1; }
for program in c++ git ninja; do
	command -v $program >/dev/null || { echo "skip back ends: no $program"; exit 0; }
done
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1; then
	echo "skip back ends: no SDK ($(tail -1 log))"
	exit 0
fi
if ! python3 -c 'import sysconfig, os, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
	! python3 -m venv --without-pip probe >log 2>&1 || ! python3 -m pip download -q --no-deps scikit-build-core -d probe >>log 2>&1; then
	echo 'skip back ends: no Python headers, or no package index'
	exit 0
fi
sources() { # NAME: a module whose twice(n) is host code beside a kernel
	mkdir -p "$1"
	cat >"$1/kernel.hip" <<'HIP'
#include <hip/hip_runtime.h>
__global__ void add(const float *a, float *b) { b[threadIdx.x] += a[threadIdx.x]; }
extern "C" void launch(const float *a, float *b) { add<<<1, 64>>>(a, b); }
HIP
	cat >"$1/module.cpp" <<CPP
#include <Python.h>
extern "C" void launch(const float *, float *);
static PyObject *twice(PyObject *, PyObject *n)
{
	if (n == Py_None)
		launch(nullptr, nullptr);
	return PyLong_FromLong(2 * PyLong_AsLong(n));
}
static PyMethodDef methods[] = {{"twice", twice, METH_O, nullptr}, {}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "$1", nullptr, -1, methods};
PyMODINIT_FUNC PyInit_$1() { return PyModule_Create(&module); }
CPP
}
check() { # NAME VERSION
	local wheel
	wheel=$(echo out/"$1"-*.whl)
	[ -f "$wheel" ] && [ "${wheel#out/"$1"-"$2"-}" != "$wheel" ] || fail "$1: the wheel is $wheel"
	"$ROCSMITH" verify --require gfx1201,gfx942 "$wheel" >log 2>&1 || fail "$1: the wheel does not verify"
	rm -rf site && python3 -m zipfile -e "$wheel" site
	find site -name '*.so' | grep -q . || fail "$1: no module in the wheel"
	if find site -name '*.so' -exec readelf -d {} + | grep 'R.*PATH' | grep -F "$PWD" >log; then
		fail "$1: a search path leads into the build folder"
	fi
	python3 - "$wheel" "$1" <<'PY' >log 2>&1 || fail "$1: the manifest"
import hashlib, json, os, sys
wheel, name = sys.argv[1:]
text = open(wheel + ".json").read()
m = json.loads(text)
data = open(wheel, "rb").read()
assert m["schema"] == "rocsmith.wheel/1" and (m["name"], m["gpus"]) == (name, ["gfx1201", "gfx942"]), m
assert m["wheel"] == {"file": os.path.basename(wheel), "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
assert m["sdk"]["suite"] == "sid" and m["sdk"]["components"]["clang"] and m["rocm"]
assert all(p["name"] and p["version"] for p in m["packages"]) and m["packages"]
assert os.getcwd() not in text, "it names a path of this machine"
PY
}

# ---- scikit-build-core ----
sources skb
cat >skb/pyproject.toml <<'TOML'
[build-system]
requires = ["scikit-build-core", "setuptools_scm"]
build-backend = "scikit_build_core.build"
[project]
name = "skb"
dynamic = ["version"]
[tool.scikit-build]
metadata.version.provider = "scikit_build_core.metadata.setuptools_scm"
[tool.setuptools_scm]
TOML
cat >skb/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(${SKBUILD_PROJECT_NAME} LANGUAGES CXX HIP)
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
python_add_library(skb MODULE module.cpp kernel.hip WITH_SOABI)
install(TARGETS skb DESTINATION .)
CMAKE
(cd skb && git init -q && git add . && git -c user.name=x -c user.email=x@example.org commit -qm x && git tag v2.5)
"$ROCSMITH" build skb --gpu gfx1201,gfx942 -o out --build-dir b1 >log 2>&1 || fail scikit-build-core
check skb 2.5
[ -z "$(cd skb && git status --porcelain)" ] || fail 'the project was modified'
echo 'ok scikit-build-core with HIP; the version comes from the history'

# ---- meson-python; its sources as an archive, in the place of the folder; a program beside it does not compile ----
sources mes
echo 'int main() { return nothing; }' >mes/try.cpp
cat >mes/pyproject.toml <<'TOML'
[build-system]
requires = ["meson-python"]
build-backend = "mesonpy"
[project]
name = "mes"
version = "1.25"
TOML
cat >mes/meson.build <<'MESON'
project('mes', 'cpp', version: '1.25')
py = import('python').find_installation(pure: false)
gpus = run_command('printenv', 'PYTORCH_ROCM_ARCH', check: true).stdout().strip().split(';')
flags = []
foreach gpu : gpus
  flags += '--offload-arch=' + gpu
endforeach
kernel = custom_target(input: 'kernel.hip', output: 'kernel.o',
    command: [find_program('hipcc'), '-fPIC', '-c', '@INPUT@', '-o', '@OUTPUT@', flags])
rocm = run_command('printenv', 'ROCM_PATH', check: true).stdout().strip()
executable('try', 'try.cpp')
py.extension_module('mes', 'module.cpp', kernel, install: true,
    link_args: ['-L' + rocm / 'lib', '-Wl,-rpath,' + rocm / 'lib', '-lamdhip64'])
MESON
tar -czf mes-1.25.tar.gz mes
"$ROCSMITH" build mes-1.25.tar.gz --gpu gfx1201,gfx942 -o out --build-dir b2 >log 2>&1 || fail meson-python
grep -q 'meson.build: a target failed, .*the wheel does not get was left out: try$' log || fail 'the program that was left out is named'
check mes 1.25
grep -q '"file": "mes.*\.so"' out/mes-*.json || fail 'the manifest tells whose search path changed'
grep -q "$(sha256sum <mes-1.25.tar.gz | cut -d' ' -f1)" out/mes-*.json || fail 'the manifest has the hash of the archive'
echo 'ok meson-python with HIP, from an archive: its wheel names no folder of the build'

# ---- a second time, and with another version beside it ----
before=$(stat -c '%i %Y %s' out/mes-*)
"$ROCSMITH" build mes-1.25.tar.gz --gpu gfx1201,gfx942 -o out --build-dir b2 >log 2>&1 || fail 'again'
[ "$before" = "$(stat -c '%i %Y %s' out/mes-*)" ] || fail 'without changes neither wheel nor manifest is touched'
wheel=$(echo out/mes-*.whl)
mv "$wheel" "${wheel/1.25/1.24}"
"$ROCSMITH" build mes-1.25.tar.gz --gpu gfx1201,gfx942 -o out --build-dir b2 >log 2>&1 || fail 'again'
grep -q 'mes-1.24-.*another version lies beside' log || fail 'an older wheel is named'
rm "${wheel/1.25/1.24}" || fail 'an older wheel stays'
check mes 1.25
echo 'ok what is delivered is not touched again, and made again when it is gone; an older wheel is named'

# ---- the same again, by hash ----
python3 - <<'PY' || fail 'the record and the file of requirements'
import json, re
packages = json.load(open("b2/build.json"))["environment"]["packages"]
want = {re.sub("[-_.]+", "-", p["name"].lower()) + "==" + p["version"]: "--hash=sha256:" + p["sha256"] for p in packages}
lines = [line.split() for line in open("b2/requirements.txt") if not line.startswith("#")]
assert dict(lines) == want, (lines, want)
PY
python3 -m venv --without-pip again >log 2>&1
again() { python3 -m pip --python again/bin/python "$@"; }
again install -q --no-deps --require-hashes -r b2/requirements.txt >log 2>&1 || fail 'pip takes the file'
again list --format json >list.json 2>log
python3 -c '
import json
have = {p["name"].lower(): p["version"] for p in json.load(open("list.json"))}
for p in json.load(open("b2/build.json"))["environment"]["packages"]:
    assert have[p["name"].lower()] == p["version"], p' 2>log || fail 'the same versions'
echo 'ok what the build installed is recorded, and can be installed again by nothing but its hashes'

# ---- a name that nobody has: the linker says nothing, and the import would fail ----
sources missing
sed -i 's/^static PyObject/extern "C" void nowhere();\n&/; s/launch(nullptr, nullptr);/nowhere();/' missing/module.cpp
cat >missing/setup.py <<'PY'
from setuptools import Extension, setup
setup(name="missing", version="1", ext_modules=[Extension("missing", ["module.cpp"])])
PY
printf '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n' >missing/pyproject.toml
for try in 1 2; do
	status=0
	"$ROCSMITH" build missing --gpu gfx1201 -o out --build-dir b4 >log 2>&1 || status=$?
	[ $status = 1 ] && grep -q 'missing.*\.so: cannot be loaded: .*undefined symbol: nowhere' log ||
		fail "a module that lacks a name, build $try"
done
sed -i 's/^extern "C" void nowhere();/extern "C" void nowhere() {}/' missing/module.cpp
"$ROCSMITH" build missing --gpu gfx1201 -o out --build-dir b4 >log 2>&1 || : # no kernel is compiled
if ! grep -q 'not compiled by the build: kernel.hip' log || grep 'cannot be loaded' log; then fail 'a module that has it now'; fi
# one that was compiled for CUDA before it was packed, as setup.py expected a Makefile to do
echo 'extern "C" int cudaOldCall(); int old() { return cudaOldCall(); }' | g++ -x c++ -fPIC -c - -o missing/old.o
sed -i 's/^from/import os\nos.system("make objects")\n&/; s/"module.cpp"\]/&, extra_objects=["old.o"]/' missing/setup.py
"$ROCSMITH" build missing --gpu gfx1201 -o out --build-dir b5 >log 2>&1 && fail 'an object of CUDA is taken'
grep -q "'old.o' of the sources was compiled for CUDA" log || fail 'where a name of CUDA comes from'
grep -q "the build says 'make: .* No rule to make target 'objects'" log || fail 'a Makefile that is not there'
echo 'ok a module that lacks a name fails the build'

# ---- PyTorch from 2.14 on, as far as its back end goes: scikit-build-core in "build", no setup.py ----
mkdir -p torch/torch/csrc torch/c10/core torch/third_party/fmt torch/tools/amd_build
touch torch/torch/csrc/Module.cpp torch/c10/core/Device.h torch/torch/__init__.py
cp -r "$top"/tests/data/torch1/torch torch/
sed -n '/^import argparse/,/^)$/p' "$top/tests/cases/hipify/torch-tree.case" >torch/tools/amd_build/build_amd.py
echo 2.14.0 >torch/version.txt
sed -n '/__global__/q;p' skb/kernel.hip >torch/k.hip
echo '__global__ void twice(float *x) { x[threadIdx.x] *= 2; }' >>torch/k.hip
echo 'int rest() { return nothing; }' >torch/rest.cpp
cat >torch/pyproject.toml <<'TOML'
[build-system]
requires = ["scikit-build-core>=1.0"]
build-backend = "scikit_build_core.build"
[project]
name = "torch"
version = "2.14.0"
[tool.scikit-build]
build-dir = "build"
wheel.install-dir = "torch"
wheel.packages = ["torch"]
TOML
cat >torch/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(Torch LANGUAGES CXX HIP)
if(EXISTS ${PROJECT_SOURCE_DIR}/off)
  message(STATUS "  USE_ROCM              : OFF")
endif()
add_library(c10_hip SHARED k.hip)
add_library(rest SHARED rest.cpp)
install(TARGETS c10_hip rest DESTINATION lib)
CMAKE
pytorch() {
	status=0
	"$ROCSMITH" build torch --source torch --gpu gfx1201,gfx942 --sdk "prefix:$PWD/b1/rocm" --build-dir b6 -o out "$@" >log 2>&1 || status=$?
}
touch torch/off
for run in first second; do
	pytorch --target c10_hip
	[ $status = 5 ] && grep -q "'torch' is configured, but without ROCm" log || fail "PyTorch without ROCm, the $run run"
done
rm torch/off
pytorch --target c10_hip
[ $status = 0 ] && [ -f b6/tree/build/libc10_hip.so ] && [ ! -e b6/tree/build/librest.so ] || fail "a part of PyTorch"
echo 'ok PyTorch from 2.14 on is configured before it is built, and a part of it alone'
made=$(stat -c %Y.%i b6/tree/build/CMakeFiles/c10_hip.dir/k.hip.o)
echo 'int rest() { return 1; }' >torch/rest.cpp
pytorch
[ $status = 0 ] && [ "$made" = "$(stat -c %Y.%i b6/tree/build/CMakeFiles/c10_hip.dir/k.hip.o)" ] || fail "the rest of PyTorch"
"$ROCSMITH" verify --require gfx1201,gfx942 out/torch-2.14.0-*.whl >log 2>&1 || fail "PyTorch's wheel"
echo 'ok the rest goes on with the part'
rm -rf b6 && python3 -m venv --without-pip develop
pytorch --editable --python develop
[ $status = 0 ] && [ -f b6/tree/build/libc10_hip.so ] && [ ! -e b6/tree/build/editable ] || fail "PyTorch to be edited"
echo 'ok one that is edited is built where it was configured'
