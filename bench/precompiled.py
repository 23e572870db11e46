#!/usr/bin/env python3
"""precompiled.py [--gpus LIST] [--sources N] ROCSMITH FOLDER: builds a project of N small kernels from nothing, and again after an edit of
one, with ROCSMITH_PRECOMPILE=off and as it is, and prints the CPU time (user and system) of both and the ratio; then the same for the kernels
one by one, by the nvcc of a shim folder, as the build of somebody else would start it. The wheels and objects are compared."""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys

KERNEL = """// kernel {n}
#include <cuda_runtime.h>
__global__ void sum{n}(const float *p, float *q, int n)
{{
	float v = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += p[i] * {n};
	for (int o = warpSize / 2; o > 0; o /= 2) v += __shfl_down_sync(~0ull, v, o);
	if (threadIdx.x % warpSize == 0) atomicAdd(q, v);
}}
extern "C" void run{n}(const float *p, float *q, int n) {{ sum{n}<<<64, 256>>>(p, q, n); }}
"""


def seconds(command, **more):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compile_by_nvcc(args, sources):
    """Returns the seconds for all sources without precompiled headers and with them, and whether the objects are the same."""
    took, objects = [], []
    for how in ("off", "on"):
        shims = (args.folder / f"shims-{how}").resolve()
        subprocess.run([args.rocsmith, "sdk", "shims", "-q", "--cuda", "--gpu", args.gpus, "--memory", "8000", "--log", shims / "log", shims],
            check=True, stdout=subprocess.DEVNULL)
        took.append(sum(seconds([shims / "cuda/bin/nvcc", "-O3", "-Xcompiler", "-cuid=a", "-c", source, "-o", shims / f"{source.stem}.o"],
            env={**os.environ, "ROCSMITH_PRECOMPILE": how}) for source in sources))
        objects.append([(shims / f"{source.stem}.o").read_bytes() for source in sources])
    return *took, objects[0] == objects[1]


def show(args, what, off, on, same):
    print(f"{args.sources} sources, {args.gpus}, {what:18} {off:6.1f} s as they are, {on:6.1f} s with precompiled headers: {off / on:.2f}x, "
        f"{'the same' if same else 'DIFFERENT'}", flush=True)
    return same


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--gpus", default="gfx1201,gfx90a")
    p.add_argument("--sources", type=int, default=16)
    p.add_argument("rocsmith", type=pathlib.Path)
    p.add_argument("folder", type=pathlib.Path)
    args = p.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    project = args.folder / "p"
    project.mkdir(parents=True)
    (project / "rocsmith.yaml").write_text("name: many\nversion: 1.0\n")
    took, wheels = {}, {}
    for edit in ("from nothing", "one source edited"):
        for n in range(args.sources):
            text = KERNEL.format(n=n)
            path = project / f"k{n}.cu"
            if n == 0 and edit != "from nothing":
                text = text.replace("p[i] * 0", "p[i] * 7")
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
        for how in ("off", "on"):
            out = args.folder / how
            command = [args.rocsmith.resolve(), "build", "p", "--gpu", args.gpus, "-o", f"{how}/out", "--build-dir", (out / "b").resolve()]
            took[edit, how] = seconds(command, cwd=args.folder, env={**os.environ, "ROCSMITH_PRECOMPILE": how})
            wheels[how] = [wheel.read_bytes() for wheel in (out / "out").glob("*.whl")]
        same = wheels["off"] == wheels["on"] and len(wheels["on"]) == 1
        if not show(args, edit, took[edit, "off"], took[edit, "on"], same):
            return 1
    return 0 if show(args, "by nvcc", *compile_by_nvcc(args, sorted(project.glob("*.cu")))) else 1


sys.exit(main())
