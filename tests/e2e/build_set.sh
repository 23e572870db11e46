#!/usr/bin/env bash
# A set of known projects by one command: triton, torch and torchaudio, with sources of this test that are built in a
# moment. Order, pins, the torch that a neighbour is built against; one that fails goes on alone.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP" || exit 1
rm -rf ./*
fail() { echo "not ok $1"; cat log; exit 1; }
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,headers >log 2>&1; then
	echo "skip a set: no SDK ($(tail -1 log))"
	exit 0
fi
mkdir -p torch/torch/csrc torch/c10/core torch/third_party/fmt torch/tools/amd_build \
	torchaudio/src/libtorchaudio torchaudio/torchaudio triton/python/triton triton/cmake tiny
touch torch/torch/csrc/Module.cpp torch/c10/core/Device.h torch/torch/__init__.py triton/cmake/llvm-hash.txt \
	torchaudio/src/libtorchaudio/CMakeLists.txt torchaudio/torchaudio/__init__.py tiny/tiny.py
cp -r "$top"/tests/data/torch1/torch torch/
sed -n '/^import argparse/,/^)$/p' "$top/tests/cases/hipify/torch-tree.case" >torch/tools/amd_build/build_amd.py
echo 2.6.0 >torch/version.txt
echo 2.6.0 >torchaudio/version.txt
echo '__version__ = "3.2.0"' >triton/python/triton/__init__.py
echo 'from setuptools import setup; setup(name="tiny", version="1", py_modules=["tiny"])' >tiny/setup.py
cat >torch/k.hip <<'E'
#include <hip/hip_runtime.h>
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
E
cat >torch/setup.py <<'E'
import os, subprocess, sys
from setuptools import Distribution, setup
if "--cmake-only" in sys.argv:
    os.makedirs("build", exist_ok=True)
    open("build/CMakeCache.txt", "w").write("USE_ROCM:BOOL=ON\n")
    open("build/build.ninja", "w").write("rule x\n  command = true\n")
    sys.exit()
class Binary(Distribution):
    def has_ext_modules(self):
        return True
version = os.environ["PYTORCH_BUILD_VERSION"]
open("torch/version.py", "w").write("__version__ = %r\nhip = '6.4'\ncuda = None\n" % version)
os.makedirs("torch/lib", exist_ok=True)
subprocess.check_call(["hipcc", "-shared", "-fPIC", "--offload-arch=gfx1201", "k.hip", "-o", "torch/lib/libk.so"])
pins = [r for r in os.environ.get("PYTORCH_EXTRA_INSTALL_REQUIREMENTS", "").split("|") if r]
setup(name="torch", version=version, packages=["torch"], package_data={"torch": ["lib/*.so"]}, install_requires=pins,
      distclass=Binary)
E
cat >torchaudio/setup.py <<'E'
import importlib.util, os
from setuptools import setup
torch = os.path.dirname(importlib.util.find_spec("torch").origin)
assert "hip = '6.4'" in open(torch + "/version.py").read()
if os.path.exists("broken"):
    raise SystemExit("error: broken on purpose")
setup(name="torchaudio", version=os.environ["BUILD_VERSION"], packages=["torchaudio"],
      install_requires=["torch==" + os.environ["PYTORCH_VERSION"]])
E
cat >triton/setup.py <<'E'
import os
from setuptools import setup
setup(name="triton", version="3.2.0" + os.environ["TRITON_WHEEL_VERSION_SUFFIX"], packages=["triton"], package_dir={"": "python"})
E
# what the known projects require, and none of these uses: they are large
PYTHONPATH=$top/tests/e2e python3 - <<'E'
import amd_index as x
x.wheel("house", "cmake", "4.99", {"cmake/__init__.py": ""}, "py3-none-any")
x.wheel("house", "numpy", "2.2.99", {"numpy/__init__.py": ""}, "py3-none-any")
E
export PIP_FIND_LINKS="$PWD/house/cmake $PWD/house/numpy ${PIP_FIND_LINKS:-}"
# the SDK as a folder: the known projects would want more components of one of Debian
"$ROCSMITH" build tiny --gpu gfx1201 --sdk debian --build-dir tb -o tiny-out >log 2>&1 || fail "an SDK as a folder"
set() {
	"$ROCSMITH" "$1" torchaudio,torch,triton --source torch=torch,torchaudio=torchaudio,triton=triton --gpu gfx1201 \
		--sdk "prefix:$PWD/tb/rocm" "${@:2}"
}
ends() { # STATUS WHAT COMMAND...
	local want=$1 what=$2 status=0
	shift 2
	"$@" >log 2>&1 || status=$?
	[ $status = "$want" ] && echo "ok $what" || fail "$what: status $status, not $want"
}
ends 0 "one plan before anything is built" set plan --json
python3 -c 'import json
d = json.load(open("log"))
assert [m["project"] for m in d["members"]] == ["triton", "torch", "torchaudio"], d
assert [m["after"] for m in d["members"]] == [[], ["triton"], ["torch"]]
assert d["forecast"]["seconds"] > 0' 2>bad && echo "ok in the order in which they need each other" || { cat bad; fail "the order"; }
ends 2 "a project that is not known" "$ROCSMITH" build torch,torchaudi --gpu gfx1201
grep -q "did you mean 'torchaudio'" log || fail "a near name"
ends 2 "sources of a project that is not in the set" "$ROCSMITH" build torch,triton --source apex=x --gpu gfx1201
touch torchaudio/broken
ends 5 "one that cannot be built" set build --build-dir b -o out
[ "$(ls out/*.whl | wc -l)" = 2 ] && echo "ok those before it are built" || fail "those before it"
rm torchaudio/broken
made=$(stat -c %Y.%i out/t*.whl)
ends 0 "it goes on alone" set build --build-dir b -o out --json
python3 -c 'import json
d = json.loads([line for line in open("log") if line.startswith("{")][0])
cached = {b["plan"]["project"]["name"]: all(s["cached"] for s in b["steps"]) for b in d["builds"]}
assert cached == {"triton": True, "torch": True, "torchaudio": False}, cached' 2>bad && echo "ok what is finished is not built again" ||
	{ cat bad; fail "what is finished"; }
needs() { unzip -p "$1" '*/METADATA' | grep '^Requires-Dist'; }
needs out/torch-2*.whl | grep -qx 'Requires-Dist: triton==3.2.0+rocm6.4.3' && echo "ok torch pins the triton that was built" ||
	fail "torch's pins: $(needs out/torch-2*.whl)"
needs out/torchaudio-*.whl | grep -qx 'Requires-Dist: torch==2.6.0' && echo "ok a neighbour wants this torch" || fail "a neighbour's pins"
# pip agrees: from these wheels alone, all of them
python3 -m venv --without-pip env && python3 -m pip --python env/bin/python install -q --no-index --no-deps out/*.whl >log 2>&1 &&
	python3 -m pip --python env/bin/python check >log 2>&1 &&
	echo "ok pip finds nothing missing" || fail "pip check"

# one that fails its verification does not count for those that do not need it
cp /bin/true triton/python/triton/true
sed -i 's/package_dir=/package_data={"triton": ["true"]}, package_dir=/' triton/setup.py
with=("--with=$(ls "$PWD"/out/torch-2*.whl)" "--with=$(ls "$PWD"/out/triton-*.whl)")
ends 1 "the first one fails its verification" "$ROCSMITH" build triton,torchaudio --source triton=triton,torchaudio=torchaudio \
	"${with[@]}" --gpu gfx1201 --sdk "prefix:$PWD/tb/rocm" --build-dir b2 -o out2 --keep-going --json
grep -q '"failed":1,' log && echo "ok the others do not count as failed" || fail "how many failed: $(grep -o '"failed":[0-9]*' log)"
