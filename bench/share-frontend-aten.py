#!/usr/bin/env python3
"""share-frontend-aten.py [--gpus LIST] [--seconds S] [--only A,B] ROCSMITH SOURCE FOLDER: compiles ATen's HIP sources of PyTorch 2.6.0
(SOURCE: its tree, as tools/debian-source trixie pytorch fetches it) for several GPUs, and proves every object. Each device pass runs
both ways (--share-frontend=prove), so both costs are of one run: prints for each source the CPU time of the direct passes, of those that
share, and the ratio, with and without the host side. Starts no source after S seconds. FOLDER gets a translated tree, which is used again.
The order of sources is that of the hashes of their names: the first ones are a sample."""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

GPUS = "gfx900 gfx906 gfx90a gfx942 gfx1030 gfx1031 gfx1100 gfx1201"
# cmake/Dependencies.cmake and caffe2/CMakeLists.txt; those that name a library which is not used are left out
FLAGS = ("-x hip -O3 -fPIC -cuid=b -D__HIP_PLATFORM_AMD__=1 -DCUDA_HAS_FP16=1 -DUSE_ROCM -D__HIP_NO_HALF_OPERATORS__=1 "
    "-D__HIP_NO_HALF_CONVERSIONS__=1 -DTORCH_HIP_VERSION=604 -DROCM_VERSION=60403 -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_HIP "
    "-std=c++17 -DHIPBLAS_V2 -fno-gpu-rdc -DNDEBUG -DTORCH_HIP_BUILD_MAIN_LIB -DAT_PER_OPERATOR_HEADERS -w "
    "-Ibuild/aten/src -Iaten/src -Ibuild -I.").split()
SOURCES = "aten/src/ATen/native/hip"


def make_tree(rocsmith, source, tree):
    """The tree as PyTorch's build would have it: translated, with generated sources and configured headers."""
    if (tree / "made").exists():
        return
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(source, tree, symlinks=True)
    subprocess.run([rocsmith, "hipify", "-q", "--in-place", tree], check=True, stdout=subprocess.DEVNULL)
    at = tree / "build/aten/src/ATen"
    subprocess.run([sys.executable, "-m", "torchgen.gen", "--source-path", "aten/src/ATen", "--install_dir", at, "--rocm",
        "--per-operator-headers"], check=True, cwd=tree)
    for name in ("Config.h", "cuda/CUDAConfig.h", "hip/HIPConfig.h"):
        text = (tree / f"aten/src/ATen/{name}.in").read_text()
        text = re.sub(r"@AT_ROCM_ENABLED@", "1", text)
        text = re.sub(r"@NVCC_FLAGS_EXTRA@", "", text)
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_text(re.sub(r"@\w+@", "0", text))
    for name, macro in (("c10/macros/cmake_macros.h", "C10_BUILD_SHARED_LIBS"), ("c10/hip/impl/hip_cmake_macros.h", "C10_HIP_BUILD_SHARED_LIBS")):
        (tree / "build" / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / "build" / name).write_text(f"#pragma once\n#define {macro}\n")
    (tree / "made").touch()


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--gpus", default=GPUS)
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--only", default="")
    p.add_argument("rocsmith")
    p.add_argument("source", type=pathlib.Path)
    p.add_argument("folder", type=pathlib.Path)
    args = p.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    folder = args.folder.resolve()
    gpus = args.gpus.replace(",", " ").split()
    make_tree(args.rocsmith, args.source, folder / "tree")
    shutil.rmtree(folder / "shims", ignore_errors=True)
    subprocess.run([args.rocsmith, "sdk", "shims", "-q", "--gpu", ",".join(gpus), "--log", folder / "log", "--share-frontend=prove",
        folder / "shims"], check=True, stdout=subprocess.DEVNULL)
    names = sorted((f.stem for f in (folder / "tree" / SOURCES).glob("*.hip")), key=lambda n: hashlib.sha256(n.encode()).digest())
    names = args.only.split(",") if args.only else names
    until, sums, wrong = time.monotonic() + args.seconds, collections.Counter(), 0
    print(f"{'source':32} {'direct s':>8} {'shared s':>8} {'ratio':>6} {'+ host':>6}  passes of {len(gpus)} GPUs")
    for name in names:
        if time.monotonic() > until:
            break
        run = subprocess.run([folder / "shims/llvm/bin/clang++", *FLAGS, "-c", f"{SOURCES}/{name}.hip", "-o", folder / "object.o",
            *(f"--offload-arch={gpu}" for gpu in gpus)], cwd=folder / "tree", stderr=subprocess.PIPE, text=True)
        if run.returncode:
            print(f"{name:32} does not compile here: {next((l for l in run.stderr.splitlines() if 'error:' in l), '')[:120]}", flush=True)
            continue
        with open(folder / "log/cc.jsonl", "rb") as f:
            passes = json.loads(f.readlines()[-1])["passes"]
        device = [x for x in passes if x["gpu"]]
        host = sum(x["cpu"] for x in passes if not x["gpu"])
        # a pass that was direct from the start cost the same both ways
        direct = sum(x["proof"] or x["cpu"] for x in device)
        shared = sum(x["cpu"] - x["proof"] for x in device)
        how = collections.Counter(x["front"] for x in device)
        wrong += how["differs"] + ("differs" in run.stderr)
        sums.update({"sources": 1, "direct": direct, "ours": shared, "host": host, "objects": len(device)})
        print(f"{name:32} {direct:8.1f} {shared:8.1f} {direct / shared:5.2f}x {(direct + host) / (shared + host):5.2f}x  "
            f"{' '.join(f'{k} {v}' for k, v in sorted(how.items()))}", flush=True)
    if sums["sources"]:
        print(f"{sums['n']} sources{'':21} {sums['direct']:8.1f} {sums['shared']:8.1f} {sums['direct'] / sums['shared']:5.2f}x "
            f"{(sums['direct'] + sums['host']) / (sums['shared'] + sums['host']):5.2f}x  {sums['objects']} objects, {wrong} differ")
    sys.exit(1 if wrong or not sums["sources"] else 0)


main()
