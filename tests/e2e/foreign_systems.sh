#!/usr/bin/env bash
# Projects with a build system of their own: setuptools, a back end that the project names, CMake with
# HIP. The sources stay as they are, a second build runs nothing, a change builds only what it touches,
# errors are shown in the user's file.
set -eu
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; cat log; exit 1; }
sum() { (cd "$1" && find . -printf '%p %m %T@ ' -type f -exec sha256sum {} \; | sort); }

if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1; then
	echo "skip other build systems: no SDK ($(tail -1 log))"
	exit 0
fi
command -v c++ >/dev/null || { echo 'skip other build systems: no C++ compiler'; exit 0; }

# ---- setuptools ----
mkdir -p plain
cat >plain/setup.py <<'PY'
from setuptools import Extension, setup
setup(name="plain", version="1.0", ext_modules=[Extension("plain", ["plain.cpp"])])
PY
cat >plain/plain.cpp <<'CPP'
#include <Python.h>
static PyObject *answer(PyObject *, PyObject *) { return PyLong_FromLong(ANSWER); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, nullptr}, {}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "plain", nullptr, -1, methods};
PyMODINIT_FUNC PyInit_plain() { return PyModule_Create(&module); }
CPP
mkdir plain/plain.egg-info && echo old >plain/plain.egg-info/SOURCES.txt # as in an sdist; it is written anew
sum plain >before
if python3 -c 'import sysconfig, os, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' &&
	python3 -m venv --without-pip probe >log 2>&1 && python3 -m pip download -q --no-deps setuptools -d probe >>log 2>&1; then
	build="$ROCSMITH build plain --gpu gfx1201 -o out --build-dir b1"
	status=0
	$build >log 2>&1 || status=$?
	[ $status = 5 ] || fail "a source that does not compile gave $status"
	grep -q "^error: .*ANSWER" log && grep -q 'at .*/plain/plain.cpp:2:' log || fail 'the place of the mistake'
	CXXFLAGS=-DANSWER=41 CFLAGS=-DANSWER=41 $build >log 2>&1 || fail 'setup.py with the flags of the user'
	python3 -m zipfile -e out/plain-1.0-*.whl site
	[ "$(PYTHONPATH=site python3 -c 'import plain; print(plain.answer())')" = 41 ] || fail 'the module'
	sum plain | cmp -s - before || fail 'the project was modified'
	echo 'ok setuptools: the mistake at its place, then a wheel that can be imported; the project is as before'
	rm b1/log/*
	CXXFLAGS=-DANSWER=41 CFLAGS=-DANSWER=41 $build >log 2>&1 || fail 'second build'
	[ -z "$(ls b1/log | grep -vx 'cc.jsonl\|environment')" ] || fail 'a second build ran something'
	CXXFLAGS=-DANSWER=42 CFLAGS=-DANSWER=42 $build >log 2>&1 || fail 'build with other flags'
	grep -q 'is configured anew' log || fail 'changed flags are told'
	python3 -m zipfile -e out/plain-1.0-*.whl site
	[ "$(PYTHONPATH=site python3 -c 'import plain; print(plain.answer())')" = 42 ] || fail 'flags are not heeded'
	python3 - <<'PY'
import json
record = json.load(open("b1/build.json"))
names = {p["name"] for p in record["environment"]["packages"]}
assert {"setuptools", "wheel"} <= names, names
assert all(len(p["sha256"]) == 64 for p in record["environment"]["packages"])
PY
	echo 'ok nothing is run when nothing changed; other flags build anew; the record names what was installed'

	# the commit that the copy without history names is that of the checkout, in whatever folder the copy lies
	mkdir asks
	cat >asks/setup.py <<'PY'
import subprocess
from setuptools import setup
commit = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()
setup(name="asks", version="1.0+g" + commit, py_modules=[])
PY
	git -C asks init -q && git -C asks add -A && git -C asks -c user.name=t -c user.email=t@example.org commit -q -m asks
	"$ROCSMITH" build asks --gpu gfx1201 -o out --build-dir b3 >log 2>&1 || true # a wheel without device code
	[ -f "out/asks-1.0+g$(git -C asks rev-parse HEAD)-py3-none-any.whl" ] || fail 'the commit'
	[ -z "$(git -C asks status --short)" ] || fail 'the checkout was changed'
	echo 'ok setup.py hears of its commit'

	# a back end of the project's own, which fails in Python
	mkdir -p own/tools
	printf '[build-system]\nrequires = []\nbuild-backend = "back"\nbackend-path = ["tools"]\n[project]\nname = "own"\nversion = "1"\n' >own/pyproject.toml
	cat >own/tools/back.py <<'PY'
import os
def build_wheel(out, settings=None, meta=None):
    names = ("GPU_ARCHS", "CUDA_HOME", "CONDA_PREFIX", "SOME_TOKEN", "AWS_SECRET_ACCESS_KEY", "my_db_password", "TMUX_PANE", "OF_THE_PROJECT", "TOKENIZERS_PARALLELISM", "DB_PASS", "SENTRY_DSN", "GIT_CONFIG_VALUE_0", "INDEX_URL", "DEPLOY")
    raise RuntimeError("no wheel " + " ".join(os.environ.get(name, "-") for name in names))
PY
	status=0
	CUDA_HOME=/cuda CONDA_PREFIX=/conda SOME_TOKEN=secret AWS_SECRET_ACCESS_KEY=s my_db_password=s TMUX_PANE=1 OF_THE_PROJECT=1 \
		TOKENIZERS_PARALLELISM=0 DB_PASS=s SENTRY_DSN=s GIT_CONFIG_VALUE_0=s INDEX_URL=https://me:s@host/ \
		DEPLOY=ghp_0123456789abcdefghij "$ROCSMITH" build own --gpu gfx1201,gfx942 -o out --build-dir b2 >log 2>&1 || status=$?
	[ $status = 5 ] || fail "a failing back end gave $status"
	grep -q 'RuntimeError: no wheel gfx1201;gfx942 [^ ]*/b2/rocm/cuda - - - - - 1 0 - - - - -$' log || fail 'the environment of a build'
	grep -q 'Dropped.*CONDA_PREFIX, CUDA_HOME' log || fail 'what was dropped is not told'
	grep -q 'Withheld.*AWS_SECRET_ACCESS_KEY, DB_PASS, DEPLOY, GIT_CONFIG_VALUE_0, INDEX_URL, SENTRY_DSN, SOME_TOKEN' log || fail 'what was withheld is not told'
	if grep -q 'me:s@host\|ghp_0123' log; then fail 'a secret is told'; fi
	grep -q 'at .*/own/tools/back.py:4' log || fail 'the place in the back end'
	grep -q '"dropped":\[.*"CONDA_PREFIX","CUDA_HOME"' b2/build.json || fail 'what was dropped is not recorded'
	echo 'ok a back end of the project, in an environment without another ROCm; where it fails is shown'
else
	echo 'skip setuptools: no Python headers, or no package index'
fi

# ---- CMake ----
if ! command -v cmake >/dev/null || ! command -v ninja >/dev/null; then
	echo 'skip CMake: it is not installed'
	exit 0
fi
mkdir -p vec
cat >vec/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(vec VERSION 1.0 LANGUAGES CXX HIP)
add_library(vec SHARED add.hip more.cpp)
install(TARGETS vec DESTINATION lib)
CMAKE
cat >vec/add.hip <<'HIP'
#include <hip/hip_runtime.h>
__global__ void add(const float *a, float *b) { b[threadIdx.x] += a[threadIdx.x]; }
extern "C" void vec_add(const float *a, float *b) { add<<<1, 64>>>(a, b); }
HIP
echo 'extern "C" int vec_more() { return 1; }' >vec/more.cpp
build="$ROCSMITH build vec --gpu gfx1201,gfx942 -o out --build-dir b3"
$build >path 2>log || fail 'a CMake project'
[ "$(cat path)" = "$PWD/out/vec" ] || fail "the result is $(cat path)"
"$ROCSMITH" inspect --json out/vec >log
python3 -c 'import json; assert json.load(open("log"))["served"] == ["gfx942", "gfx1201"]' || fail 'device code'
echo 'ok CMake with HIP: an install tree with code for both GPUs'
stamp() { stat -c %Y.%Z b3/cmake/CMakeFiles/vec.dir/"$1".o; }
hip=$(stamp add.hip)
sed -i 's/return 1/return 2/' vec/more.cpp
$build >log 2>&1 || fail 'a changed source'
[ "$hip" = "$(stamp add.hip)" ] || fail 'an unchanged source was compiled again'
sed -i '4a target_compile_definitions(vec PRIVATE $<$<COMPILE_LANGUAGE:CXX>:WHICH=${WHICH}>)' vec/CMakeLists.txt
sed -i 's/return 2/return WHICH/' vec/more.cpp
echo 'build: {options: [WHICH=3]}' >vec/rocsmith.yaml
$build >log 2>&1 || fail 'a setting'
mkdir others && touch others/kept && ln -s "$PWD/others" b3/tree/link
printf '\n%s\n' "$PWD/b3/tree/link/kept" >>b3/cmake/install_manifest.txt
echo 'build: {options: [WHICH=4]}' >vec/rocsmith.yaml
$build >log 2>&1 || fail 'a changed setting'
grep -q 'configured anew, and built where that matters' log || fail 'a changed setting is told'
[ "$hip" = "$(stamp add.hip)" ] || fail 'a setting for C++ compiled the device code again'
"$ROCSMITH" sdk run --host python3 -c 'import ctypes; print(ctypes.CDLL("out/vec/lib/libvec.so").vec_more())' >log 2>&1
grep -qx 4 log || fail 'the changed setting is not heeded'
sed -i 's/return WHICH/return 2/' vec/more.cpp
[ -f others/kept ] || fail 'a file was removed that a link leads to'
echo 'ok a changed setting configures anew, and compiles only what it touches'
$build >log 2>&1 || fail 'the source as it was'
cp "$ROCSMITH" updated && echo >>updated
rm b3/state/done b3/cmake/CMakeFiles/vec.dir/more.cpp.o
"$PWD/updated" build vec --gpu gfx1201,gfx942 -o out --build-dir b3 >log 2>&1 || fail 'another rocsmith'
[ "$hip" = "$(stamp add.hip)" ] || fail 'another rocsmith compiled again what was done'
cmp -s updated b3/rocm/.rocsmith/rocsmith || fail 'compilers are to be run by the rocsmith that builds'
echo 'ok another rocsmith, by whose rules compilers are run alike, goes on with what is there'
sed -i 's/return 2/return two/' vec/more.cpp
status=0
$build >log 2>&1 || status=$?
[ $status = 5 ] && grep -q 'at .*/vec/more.cpp:1:' log || fail 'the place of a mistake'
echo 'int wrong = "text";' >vec/other.cpp
sed -i 's/ more.cpp/ more.cpp other.cpp/' vec/CMakeLists.txt
status=0
$build -j1 -k >log 2>&1 || status=$?
[ $status = 5 ] && grep -q 'more.cpp:1:.*error' b3/log/build.log && grep -q 'other.cpp:1:.*error' b3/log/build.log ||
	fail '--keep-going compiles what does not need the failed file'
sed -i 's/ other.cpp//' vec/CMakeLists.txt
echo 'ok with --keep-going the log has the mistakes of all files'
sed -i '2a find_package(nothing_of_that_name REQUIRED)' vec/CMakeLists.txt
status=0
$build >log 2>&1 || status=$?
[ $status = 5 ] && grep -q 'at .*/vec/CMakeLists.txt:3' log || fail "CMake's error at its place"
[ -f out/vec/lib/libvec.so ] || fail 'a failed build took the last result'
echo 'ok only what changed is compiled; mistakes in sources and in CMakeLists.txt have their place'
sed -i '3s/.*/message(STATUS "  USE_ROCM              : OFF")/' vec/CMakeLists.txt
status=0
$build >log 2>&1 || status=$?
[ $status = 5 ] && grep -q 'without ROCm' log || fail 'a configuration without ROCm'
echo 'ok a configuration that ends well without ROCm is an error'
printf 'cmake_minimum_required(VERSION 3.21)\nproject(vec LANGUAGES CXX HIP)\nadd_library(vec SHARED add.hip)\n' >vec/CMakeLists.txt
cp vec/CMakeLists.txt bare
cat >>vec/CMakeLists.txt <<CMAKE
install(TARGETS vec DESTINATION \${CMAKE_INSTALL_PREFIX}/lib)
install(FILES add.hip DESTINATION share)
install(FILES add.hip DESTINATION $PWD/elsewhere)
CMAKE
rm -rf out
$build >log 2>&1 || fail 'a project that installs to absolute folders'
[ -f out/vec/lib/libvec.so ] && [ -f out/vec/share/add.hip ] || fail "the files of absolute folders: $(find out)"
[ ! -e elsewhere ] || fail 'a file outside of the result was written'
grep -q "1 of the files that 'vec' installs are not in the result: the first is '$PWD/elsewhere/add.hip'" log || fail 'no word of it'
echo 'ok files that are installed below an absolute prefix are in the result, and nothing is written outside of it'
cp bare vec/CMakeLists.txt
status=0
$build >log 2>&1 || status=$?
[ $status = 5 ] && grep -q "have no install(): what is built stays in '$PWD/b3/cmake'" log || fail 'no install(), said before the build'
grep -q "^hint: what it built is in '$PWD/b3/cmake'" log && [ -f b3/cmake/libvec.so ] || fail 'where the library is'
echo 'ok a project that installs nothing: that is said first, and where the library is'
