#!/usr/bin/env bash
# Kernels behind bindings of the real pybind11, nanobind and numpy: their headers are those of --python. The
# projects have no rocsmith.yaml; what goes into their wheels is said by setup.cfg or pyproject.toml.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; exit 1; }
skip() { echo "skip bindings: $1"; exit 0; }

python3 -c 'import os, sysconfig as s, venv
os.stat(s.get_path("include") + "/Python.h")' 2>/dev/null || skip 'python3 has no venv or no Python.h'
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >sdk.log 2>&1; then
	skip "no SDK ($(tail -1 sdk.log))"
fi
packages() {
	. "$top/tools/fetch.sh"
	fetch_begin "bindings-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
	fetch_pip install -q --root-user-action=ignore --only-binary=:all: --target "$fetch_new" \
		pybind11 nanobind numpy >&2 || fetch_impossible 'the package index does not give them'
	fetch_end
}
status=0
site=$(packages) || status=$?
[ "$status" != 77 ] || skip 'no packages from the index'
[ "$status" = 0 ] || fail 'the packages'
python3 -m venv --without-pip env
echo "$site" >"$(echo env/lib/python3*/site-packages)/bindings.pth"

kernel() { # FILE
	cat >"$1" <<'CUDA'
#include <cuda_runtime.h>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
int on_device(int n)
{
	int *p = nullptr;
	if (cudaMalloc(&p, sizeof(int) * n) != cudaSuccess)
		return -1;
	twice<<<1, n>>>(p);
	return cudaFree(p) == cudaSuccess ? 0 : -1;
}
CUDA
}

mkdir -p pb/src/pbpkg/inner nb/nbpkg/data nb/other np
kernel pb/src/kernel.cu
kernel nb/kernel.cu
kernel np/kernel.cu

cat >pb/setup.cfg <<'CFG'
[metadata]
name = with-pybind11
version = 1.0
[options]
package_dir =
    = src
packages =
    pbpkg
    pbpkg.inner
CFG
echo 'from pbpkg._ext import sum_of' >pb/src/pbpkg/__init__.py
echo 'WORD = "inner"' >pb/src/pbpkg/inner/__init__.py
cat >pb/src/bind.cpp <<'CXX'
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
int on_device(int n);
PYBIND11_MODULE(_ext, m)
{
	m.def("sum_of", [](const std::vector<int> &v) { int s = 0; for (int i : v) s += i; return s; });
	m.def("on_device", &on_device);
}
CXX

cat >nb/pyproject.toml <<'TOML'
[project]
name = "with-nanobind"
version = "2.0"
[tool.setuptools.packages.find]
include = ["nbpkg*"]
TOML
echo 'from nbpkg._ext import joined' >nb/nbpkg/__init__.py
echo data >nb/nbpkg/data/words.txt
echo 'raise ImportError' >nb/other/__init__.py
cat >nb/bind.cpp <<'CXX'
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
int on_device(int n);
NB_MODULE(_ext, m)
{
	m.def("joined", [](const std::vector<std::string> &v) { std::string s; for (auto &i : v) s += i; return s; });
	m.def("on_device", &on_device);
}
CXX

printf '[metadata]\nname = with-numpy\nversion = 3.0\n[options]\npy_modules = npmod\n' >np/setup.cfg
echo 'from _npext import ramp' >np/npmod.py
cat >np/bind.cpp <<'CXX'
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
int on_device(int n);
static PyObject *ramp(PyObject *, PyObject *arg)
{
	npy_intp n = PyLong_AsLong(arg);
	PyObject *a = PyArray_SimpleNew(1, &n, NPY_INT);
	for (npy_intp i = 0; a && i < n; i++)
		static_cast<int *>(PyArray_DATA(reinterpret_cast<PyArrayObject *>(a)))[i] = int(i * i);
	return a;
}
static PyObject *device(PyObject *, PyObject *arg) { return PyLong_FromLong(on_device(PyLong_AsLong(arg))); }
static PyMethodDef methods[] = {{"ramp", ramp, METH_O, nullptr}, {"on_device", device, METH_O, nullptr}, {}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_npext", nullptr, -1, methods};
PyMODINIT_FUNC PyInit__npext()
{
	import_array();
	return PyModule_Create(&module);
}
CXX

check() { # PROJECT, PACKAGE, PYTHON, ANSWER
	"$ROCSMITH" build "$1" --gpu gfx1201 --python env/bin/python -o "out-$1" >"$1.log" 2>&1 ||
		{ cat "$1.log"; fail "build with $2"; }
	"$ROCSMITH" verify --require gfx1201 "out-$1"/*.whl >/dev/null || fail "the wheel with $2"
	python3 -m zipfile -e "out-$1"/*.whl "site-$1"
	got=$(PYTHONPATH=$PWD/site-$1:$site "$ROCSMITH" sdk run --host -- python3 -c "$3" 2>&1) || :
	[ "$got" = "$4" ] || fail "what is built with $2 says '$got'"
	echo "ok a kernel behind $2 is built, imported and called"
}
check pb pybind11 'import pbpkg, pbpkg.inner; print(pbpkg.sum_of([1, 2, 4]), pbpkg.inner.WORD)' '7 inner'
check nb nanobind 'import nbpkg; print(nbpkg.joined(["a", "bc"]))' abc
check np numpy 'import npmod; print(npmod.ramp(4).sum())' 14

[ -e site-nb/nbpkg/data/words.txt ] && [ ! -e site-nb/other ] && [ ! -e site-pb/src ] ||
	fail 'files of the wheels'
echo 'ok the wheels have the packages that are listed, and no others'
"$ROCSMITH" build nb --gpu gfx1201 --python env/bin/python -o out-nb -v >again.log 2>&1 || fail 'second build'
! grep -q Compiled again.log || fail 'a second build compiles again'
echo "ok a second build compiles nothing"
