#!/usr/bin/env bash
# What was asked for and what came: a build that gives CUDA up is named, with its line and the switch that helps; what the
# user turned off, what is compiled when the program runs, and host calls without kernels are no fault.
set -eu
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; cat log; exit 1; }

if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1; then
	echo "skip GPU code of others: no SDK ($(tail -1 log))"
	exit 0
fi
command -v c++ >/dev/null || { echo 'skip GPU code of others: no C++ compiler'; exit 0; }

# A setup.py that is its own back end, so that nothing is fetched.
mkdir p
printf '[build-system]\nrequires = []\nbuild-backend = "setup"\nbackend-path = ["."]\n[project]\nname = "p"\nversion = "1"\n' >p/pyproject.toml
cat >p/setup.py <<'PY'
import os, shutil, subprocess, sys, zipfile

def build_wheel(out, settings=None, meta=None):
    files = {"p.py": "x = 1\n"}
    nvcc = shutil.which(os.environ.get("P_NVCC", "nvcc"))
    packed = os.environ.get("P_PACKED")
    if packed:
        files["p_src/k.cu"] = open("src/k.cu").read()
    elif os.environ.get("P_WITH_CUDA", "1") == "0" or not nvcc:
        print("checking for a compiler")
        print("warning: nvcc was not found, p is built for the CPU alone")
    else:
        subprocess.check_call([nvcc, "-shared", "-Xcompiler", "-fPIC", "-o", "libp.so", "src/k.cu"])
        files["libp.so"] = open("libp.so", "rb").read()
    if os.environ.get("P_BRINGS"):
        files["p.libs/libcudart.so.12"] = open(os.environ["CUDA_HOME"] + "/lib64/libcudart.so.12", "rb").read()
    name = "p-1-py3-none-%s.whl" % ("linux_" + os.uname().machine if "libp.so" in files else "any")
    files["p-1.dist-info/METADATA"] = "Metadata-Version: 2.1\nName: p\nVersion: 1\n"
    files["p-1.dist-info/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: %s\nTag: %s\n" % (
        "false" if "libp.so" in files else "true", name[4:-4])
    record = "p-1.dist-info/RECORD"
    rows = []
    import base64, hashlib
    with zipfile.ZipFile(os.path.join(out, name), "w") as z:
        for path, data in files.items():
            data = data if isinstance(data, bytes) else data.encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            rows.append("%s,sha256=%s,%d\n" % (path, digest, len(data)))
            z.writestr(path, data)
        z.writestr(record, "".join(rows) + record + ",,\n")
    return name
PY
mkdir p/src
echo '__global__ void k(int *p) { *p = 1; } extern "C" void run(int *p) { k<<<1, 1>>>(p); }' >p/src/k.cu
n=0
build() { # STATUS [NAME=VALUE...]: a build of its own
	local want=$1 status=0
	shift
	n=$((n + 1))
	env "$@" "$ROCSMITH" build p --gpu gfx1201,gfx90a -o "out$n" --build-dir "b$n" >log 2>&1 || status=$?
	[ $status = "$want" ] || fail "$* gave $status"
}

build 1 P_NVCC=no-such-program
grep -q 'not compiled by the build: src/k.cu; the build says .*nvcc was not found.*/b1/log/wheel.log:2' log ||
	fail 'the line with which the build gave CUDA up'
grep -q '"gpu-code-left-out"' b1/build.json || fail 'the finding'
if grep -q device-none b1/build.json; then fail 'it is told twice'; fi
echo 'ok a build that falls back to the CPU fails, with its sources for GPUs and its line'
build 0 P_WITH_CUDA=0
grep -q 'left out, as you want it: src/k.cu' log || fail 'the wish of the user'
grep -q "P_WITH_CUDA=1 (setup.py:9) turns it on: build: {env: \['P_WITH_CUDA=1'\]}" log || fail 'the switch'
echo 'ok the user may turn it off; the switch is named'
build 1 P_PACKED=1
grep -q 'not compiled by the build: src/k.cu' log || fail 'sources that are packed beside what nvcc should have made of them'
echo 'ok packed sources are no excuse for scripts that know nvcc'
cp p/setup.py setup.py
sed -i '/P_WITH_CUDA/,/libp.so", "rb"/c\    else:\n        pass' p/setup.py
sed -i '/P_NVCC/d' p/setup.py
mkdir p/examples && cp p/src/k.cu p/examples/of_a_user.cu
build 0 P_PACKED=1
rm -r p/examples
grep -q 'packed as it is, for a compiler that runs later: src/k.cu' log || fail 'sources for a compiler that runs later'
grep -q 'Built .*p-1-py3-none-any.whl ([0-9.]* k*B) in ' log || fail 'no GPU is named for a wheel without device code'
cp setup.py p/setup.py
echo 'ok sources that the wheel has, for a compiler that runs later'
build 0
mkdir lib && python3 -m zipfile -e out5/*.whl lib
for gpu in gfx1201 gfx90a; do
	strings -n 6 lib/libp.so | grep -q "amdgcn-amd-amdhsa--$gpu" || fail "no code for $gpu"
done
echo 'ok with nvcc: code for both GPUs'
printf '#include <cuda_runtime.h>\nextern "C" int run() { int n = 0; cudaGetDeviceCount(&n); return n; }\n' >p/src/k.cu
build 0
grep -q 'no kernels, only host calls: src/k.cu' log || fail 'host calls alone'
grep -q '"kernels-none"' b6/build.json || fail 'the finding of host calls'
"$ROCSMITH" build p --gpu gfx1201,gfx90a -o out6 --build-dir b6 >log 2>&1 || fail 'the same again'
grep -q '"kernels-none"' b6/build.json || fail 'the finding of host calls, the second time'
echo 'ok host calls without kernels are no fault'
printf '#include <cuda_runtime.h>\n#ifndef P_OWN\n#define P_OWN 0\n#endif\n#if P_OWN\n__global__ void k() {}\n#endif\nextern "C" int run() { return cudaGetLastError(); }\n' >p/src/k.cu
build 0
grep -q 'their macros leave out all kernels: only host calls: src/k.cu' log || fail 'kernels that macros leave out'
echo 'ok kernels that the macros of a project leave out'
echo '__global__ void k(int *p) { *p = 1; } extern "C" void run(int *p) { k<<<1, 1>>>(p); }' >p/src/k.cu
build 0 P_BRINGS=1
grep -q "Left out copies of ROCm's libraries under CUDA's names: p.libs/libcudart.so.12" log || fail 'a copy of the runtime'
if python3 -m zipfile -l out7/*.whl | grep libcudart; then fail 'a copy of the runtime in the wheel'; fi
echo 'ok the runtime that a project brings along stays out of the wheel'
mv p/src/k.cu k.cu
build 0 P_WITH_CUDA=0
grep -q 'Noted no device code: its sources have no .cu or .hip file to compile' log || fail 'a project without sources for GPUs'
grep -q '"gpu-code-none"' b9/build.json || fail 'the finding of a project without sources for GPUs'
mv k.cu p/src/k.cu
echo 'ok a project without sources for GPUs has no device code, which is said'
sed -i '/files\["libp.so"\] = /s/.*/        pass/' p/setup.py
printf 'project(p LANGUAGES CXX CUDA)\nadd_library(p SHARED src/k.cu)\n' >p/CMakeLists.txt
build 1
grep -q 'compiled for GPUs, but the result has no kernels of it: src/k.cu' log || fail 'what stays out of the wheel'
grep -q 'hint: its CMakeLists.txt has no install()' log || fail 'why it stays out of the wheel'
echo 'install(TARGETS p DESTINATION p)' >>p/CMakeLists.txt
build 1
if grep -q 'has no install()' log; then fail 'a project that installs something'; fi
echo 'ok what no install() brings into the wheel is said'
