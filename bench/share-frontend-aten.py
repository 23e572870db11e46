#!/usr/bin/env python3
"""share-frontend-aten.py [--gpus LIST]... [--seconds S] [--jobs N] [--only A,B] [--count N] ROCSMITH SOURCE FOLDER: compiles ATen's HIP sources of
PyTorch 2.6.0 (SOURCE: its tree, as tools/debian-source trixie pytorch fetches it) for lists of GPUs, and proves every object. Each
device pass runs both ways (--share-frontend=prove), so both costs are of one run: prints for each source and list the CPU time of the
direct passes, of those that share, and the ratio, with and without the host side; then the sums, and what all sources would take, by
the CPU time that each took for one GPU, which is measured first. N sources at once; none starts after S seconds. FOLDER gets a translated
tree and results.jsonl: what stands there is not compiled again. The order of sources is that of the hashes of their names: the first
ones, as many as --count says, are a sample, of which the longest are compiled first."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import time

ONE = ("gfx1100",)
EIGHT = "gfx900 gfx906 gfx90a gfx942 gfx1030 gfx1031 gfx1100 gfx1201"
# cmake/Dependencies.cmake and caffe2/CMakeLists.txt; those that name a library which is not used are left out
FLAGS = ("-x hip -O3 -fPIC -cuid=b -D__HIP_PLATFORM_AMD__=1 -DCUDA_HAS_FP16=1 -DUSE_ROCM -D__HIP_NO_HALF_OPERATORS__=1 "
    "-D__HIP_NO_HALF_CONVERSIONS__=1 -DTORCH_HIP_VERSION=604 -DROCM_VERSION=60403 -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_HIP "
    "-std=c++17 -DHIPBLAS_V2 -fno-gpu-rdc -DNDEBUG -DTORCH_HIP_BUILD_MAIN_LIB -DAT_PER_OPERATOR_HEADERS -w "
    "-Ibuild/aten/src -Iaten/src -Ibuild -I.").split()
SOURCES = "aten/src/ATen"


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


def sources(tree):
    """Those of aten/src/ATen/CMakeLists.txt, without tests and composable_kernel's, by the hashes of their names."""
    names = [str(f.relative_to(tree / SOURCES)) for f in (tree / SOURCES).rglob("*.hip")]
    names = [n for n in names if not re.match(r"test/|.*/bgemm_kernels/", n)]
    return sorted(names, key=lambda n: hashlib.sha256(pathlib.Path(n).stem.encode()).digest())


class Bench:
    def __init__(self, rocsmith, folder, jobs):
        self.rocsmith, self.folder, self.tree = rocsmith, folder, folder / "tree"
        self.jobs, self.places, self.made = jobs, queue.SimpleQueue(), set()
        for place in range(jobs):
            self.places.put(place)
        log = folder / "results.jsonl"
        self.known = [json.loads(line) for line in open(log)] if log.exists() else []
        self.log = open(log, "a")

    def shims(self, place, gpus):
        shims = self.folder / f"shims-{place}-{len(gpus)}"
        if shims not in self.made:
            shutil.rmtree(shims, ignore_errors=True)
            subprocess.run([self.rocsmith, "sdk", "shims", "-q", "--gpu", ",".join(gpus), "--log", f"{shims}.log",
                "--share-frontend=prove", shims], check=True, stdout=subprocess.DEVNULL)
            self.made.add(shims)
        return shims

    def compile(self, name, gpus):
        place = self.places.get()
        try:
            shims = self.shims(place, gpus)
            run = subprocess.run([shims / "llvm/bin/clang++", *FLAGS, "-c", f"{SOURCES}/{name}", "-o", f"{shims}.o",
                *(f"--offload-arch={gpu}" for gpu in gpus)], cwd=self.tree, stderr=subprocess.PIPE, text=True)
            row = {"name": name, "gpus": list(gpus), "error": next((l for l in run.stderr.splitlines() if "error:" in l), "")[:160]}
            if run.returncode == 0:
                with open(f"{shims}.log/cc.jsonl", "rb") as f:
                    ran = json.loads(f.readlines()[-1])
                passes = ran.get("passes", [{"gpu": "all", "front": "", "cpu": ran["cpu"], "proof": 0}])
                device = [x for x in passes if x["gpu"]]
                # a pass that was direct from the start cost the same both ways
                row |= {"host": sum(x["cpu"] for x in passes if not x["gpu"]), "direct": sum(x["proof"] or x["cpu"] for x in device),
                    "shared": sum(x["cpu"] - x["proof"] for x in device), "how": collections.Counter(x["front"] for x in device),
                    "differ": sum(x["front"] == "differs" for x in device) + ("differs" in run.stderr)}
            return row
        finally:
            self.places.put(place)

    def measure(self, names, gpus, until):
        """The rows of these sources, those that are known and those that can be started in time."""
        rows = {r["name"]: r for r in self.known if r["gpus"] == list(gpus) and r["name"] in names}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            left = [n for n in names if n not in rows]
            for row in pool.map(lambda n: self.compile(n, gpus) if time.monotonic() < until else None, left):
                if row:
                    self.log.write(json.dumps(row) + "\n")
                    self.log.flush()
                    rows[row["name"]] = row
                    show(row)
        return [r for r in rows.values() if "direct" in r]


def show(row):
    n, name = len(row["gpus"]), pathlib.Path(row["name"]).stem
    if "direct" not in row:
        print(f"{name:32} does not compile here: {row['error']}", flush=True)
    elif n > 1:
        print(f"{name:32} {n:4} {row['direct']:8.1f} {row['shared']:8.1f} {row['direct'] / row['shared']:5.2f}x "
            f"{(row['direct'] + row['host']) / (row['shared'] + row['host']):5.2f}x  "
            f"{' '.join(f'{k} {v}' for k, v in sorted(row['how'].items()))}", flush=True)


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--gpus", action="append")
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("rocsmith")
    p.add_argument("source", type=pathlib.Path)
    p.add_argument("folder", type=pathlib.Path)
    args = p.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    folder = args.folder.resolve()
    make_tree(args.rocsmith, args.source, folder / "tree")
    bench, until, wrong = Bench(args.rocsmith, folder, args.jobs), time.monotonic() + args.seconds, 0
    names = [n for n in sources(folder / "tree") if not args.only or pathlib.Path(n).stem in args.only.split(",")]
    weights = {r["name"]: r for r in bench.measure(names, ONE, until)}
    weights = {n: weights[n] for n in names if n in weights}
    whole = sum(r["direct"] for r in weights.values())
    print(f"{len(weights)} sources for one GPU: {whole / 60:.1f} CPU minutes with the host side")
    some = sorted(list(weights)[:args.count], key=lambda n: -weights[n]["direct"])
    print(f"{'source':32} {'GPUs':>4} {'direct s':>8} {'shared s':>8} {'ratio':>6} {'+ host':>6}  passes")
    for gpus in args.gpus or [EIGHT]:
        gpus = gpus.replace(",", " ").split()
        rows = bench.measure(some, gpus, until)
        if not rows:
            sys.exit(1)
        direct, shared, host = (sum(r[k] for r in rows) for k in ("direct", "shared", "host"))
        weight = sum(weights[r["name"]]["direct"] for r in rows) / whole
        differ = sum(r["differ"] for r in rows)
        wrong += differ
        print(f"{len(rows)} sources{'':21} {len(gpus):4} {direct:8.1f} {shared:8.1f} {direct / shared:5.2f}x "
            f"{(direct + host) / (shared + host):5.2f}x  {sum(sum(r['how'].values()) for r in rows)} objects, {differ} differ; median "
            f"{sorted(r['direct'] / r['shared'] for r in rows)[len(rows) // 2]:.2f}x")
        print(f"they are {100 * weight:.0f} % by what all take for one GPU; all: {direct / weight / 60:.0f} and {shared / weight / 60:.0f} CPU minutes")
    sys.exit(1 if wrong else 0)


main()
