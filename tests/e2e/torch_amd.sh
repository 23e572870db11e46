# slow
# What rocsmith reads from build_amd.py against what the script does when it runs: the real one of
# PyTorch 2.6.0, and small ones of our own in the shapes of other releases.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
dump=$(dirname "$ROCSMITH")/tests/torch-dump

check() { # NAME TREE
	python3 -B "$top/tests/oracle/torch_amd.py" "$dump" "$2" "$E2E_TMP/scratch-$1" >"$E2E_TMP/log" 2>&1
	sed "s/build_amd.py:/build_amd.py ($1):/" "$E2E_TMP/log"
	grep -q '^ok .*doubted' "$E2E_TMP/log" || echo "not ok the oracle of build_amd.py ($1) came to its end"
}

if source=$("$top/tools/debian-source" trixie pytorch 2>"$E2E_TMP/log"); then
	check 2.6.0 "$source"
else
	echo "skip the build_amd.py of PyTorch 2.6.0: $(tail -n 1 "$E2E_TMP/log")"
fi

tree() { # NAME: a torch with the tables of nobody, the script from stdin
	mkdir -p "$E2E_TMP/$1/torch/utils/hipify" "$E2E_TMP/$1/tools/amd_build"
	echo '__version__ = "2.0.0"' >"$E2E_TMP/$1/torch/utils/hipify/version.py"
	echo 'CAFFE2_PATH_MAPPINGS = {}' >"$E2E_TMP/$1/torch/utils/hipify/hipify_python.py"
	printf 'MATH_TRANSPILATIONS = {}\nA = {"a": "b"}\nCUDA_TO_HIP_MAPPINGS = [A]\n' \
		>"$E2E_TMP/$1/torch/utils/hipify/cuda_to_hip_mappings.py"
	cat - >"$E2E_TMP/$1/tools/amd_build/build_amd.py"
	check "$1" "$E2E_TMP/$1"
}

head='
import argparse, os, shutil, sys
from pathlib import Path
ROOT = (Path(__file__).absolute() / ".." / ".." / "..").resolve()
from hipify import hipify_python
options = argparse.ArgumentParser()
options.add_argument("--project-directory", default="")
options.add_argument("--output-directory", default="")
options.add_argument("--extra-include-dir", default=[], nargs="+")
args = options.parse_args()
top = args.project_directory
'

tree two-lists-and-a-copy <<PYTHON
$head
includes = ["one/*", "two/**/x*"]
includes = [os.path.join(top, i) for i in includes]
for more in args.extra_include_dir:
    includes.append(os.path.join(top, more, "**/*"))
ignores = [
    "*/hip/*",  # a comment, with 'quotes"
]
ignores = [os.path.join(top, i) for i in ignores]

def is_hip_clang() -> bool:
    return True

first = ["lib/a.cu", "lib/b c.cmake"]
def mend_first(line: str) -> str:
    line = line.replace("OLD_FLAG", "NEW_FLAG")
    line = line.replace("NEW_FLAG b", "both")
    return line

for name in first:
    if os.path.exists(name):
        with open(name) as f:
            lines = [mend_first(line) for line in f.readlines()]
        with open(name, "w") as f:
            f.writelines(lines)

extra_files = ["py/one.py"]
inner = ROOT / "lib/inc/"
if not os.environ.get("FBCODE_BUILD_TOOL", "") == "buck":
    cache = inner / "cache.cuh"
    if cache.exists():
        extra_files.append(cache.as_posix())

second = ("lib/deep/c.hip",)
def mend_second(text):
    return text.replace(
        "hip::Stream", "cuda::Stream"
    ).replace('Guard"', "G\\\\n")

for name in second:
    if os.path.exists(name):
        lines = [mend_second(line) for line in open(name)]
        with open(name, "w") as f:
            for line in lines:
                f.write(line)

hipify_python.hipify(project_directory=top, output_directory=args.output_directory, includes=includes,
    ignores=ignores, extra_files=extra_files, hip_clang_launch=is_hip_clang())

if not os.environ.get("FBCODE_BUILD_TOOL", "") == "buck":
    moved_src = inner / "hip/cache.cuh"
    moved_dst = inner / "cache_hip.cuh"
    if not moved_src.exists():
        sys.exit("missing")
    with open(moved_src) as f:
        text = f.read()
    with open(moved_dst, "w") as f:
        f.write(text)
PYTHON

tree one-file-at-a-time <<PYTHON
$head
includes = ["one/*"]
includes = [os.path.join(top, include) for include in includes]
ignores = []

def is_hip_clang():
    try:
        with open(os.getenv("HIP_PATH", "/opt/rocm/hip") + "/lib/.hipInfo") as f:
            return "HIP_COMPILER=clang" in f.read()
    except OSError:
        return False

if is_hip_clang():
    name = "lib/only_clang.cmake"
    if os.path.exists(name):
        lines = [line.replace(" hip_hcc ", " amdhip64 ") for line in open(name)]
        with open(name, "w") as f:
            f.writelines(lines)

name = "lib/always.cmake"
if os.path.exists(name):
    lines = [line.replace("RCCL_LIBRARY", "RCCL_LIB_PATH") for line in open(name)]
    with open(name, "w") as f:
        f.writelines(lines)

hipify_python.hipify(project_directory=top, output_directory=args.output_directory, includes=includes,
    ignores=ignores, hip_clang_launch=is_hip_clang())
PYTHON
