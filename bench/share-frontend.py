#!/usr/bin/env python3
"""share-frontend.py [--gpus LIST] [--copies N] [--how auto] ROCSMITH FOLDER: compiles sources for 24 GPUs by one plain run of clang and
as rocsmith does with shared front ends, alternately, and prints the user CPU time of both and the ratio. Each source is compiled in N
copies under other names: one pass in fifty is compared with a direct one, and the text decides which (of one source for 24 GPUs,
none to three); and passes that are not shared get precompiled headers from the third source on. Every object is compared. FOLDER gets
the shim folders and objects."""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys

GPUS = ("gfx900 gfx906 gfx908 gfx90a gfx942 gfx950 gfx1010 gfx1011 gfx1012 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 "
    "gfx1036 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1200 gfx1201")
SOURCES = {
    "elementwise": """
#include <hip/hip_runtime.h>
__global__ void saxpy(float a, const float *x, float *y, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }
__global__ void gelu(const float *x, float *y, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f)); }
""",
    "reduction": """
#include <hip/hip_runtime.h>
template <class T> __global__ void sum(const T *p, T *q, int n)
{
	__shared__ T s[64];
	T v = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += p[i];
	for (int o = warpSize / 2; o > 0; o /= 2) v += __shfl_down(v, o);
	if (threadIdx.x % warpSize == 0) s[threadIdx.x / warpSize] = v;
	__syncthreads();
	if (threadIdx.x) return;
	v = 0;
	for (unsigned i = 0; i < blockDim.x / warpSize; i++) v += s[i];
	atomicAdd(q, v);
}
template __global__ void sum<float>(const float *, float *, int);
template __global__ void sum<double>(const double *, double *, int);
template __global__ void sum<int>(const int *, int *, int);
""",
    "matmul_half": """
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
__global__ void mul(const __half *a, const __half *b, float *c, int n)
{
	__shared__ __half s[16][17], t[16][17];
	int x = threadIdx.x, y = threadIdx.y;
	float sum = 0;
	for (int k = 0; k < n; k += 16) {
		s[y][x] = a[(blockIdx.y * 16 + y) * n + k + x];
		t[y][x] = b[(k + y) * n + blockIdx.x * 16 + x];
		__syncthreads();
		for (int i = 0; i < 16; i++) sum += __half2float(s[y][i] * t[i][x]);
		__syncthreads();
	}
	c[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x] = sum;
}
""",
    "hipcub_reduce": """
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>
extern "C" hipError_t sum(void *t, size_t *n, const float *in, float *out, int k, hipStream_t s)
{ return hipcub::DeviceReduce::Sum(t, *n, in, out, k, s); }
""",
}


def user_seconds(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def objects(rocsmith, path):
    """The hash of each GPU's object in the object of the whole compile."""
    said = subprocess.run([rocsmith, "inspect", "--json", "--hash", path], check=True, stdout=subprocess.PIPE).stdout
    return {o["target"]: o["sha256"] for o in json.loads(said)["files"][0]["objects"]}


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--gpus", default=GPUS)
    p.add_argument("--copies", type=int, default=10)
    p.add_argument("--how", default="auto")
    p.add_argument("--only", default="", help="one of the sources")
    p.add_argument("rocsmith")
    p.add_argument("folder", type=pathlib.Path)
    args = p.parse_args()
    gpus = args.gpus.replace(",", " ").split()
    args.folder.mkdir(parents=True, exist_ok=True)
    folder = args.folder.resolve()
    for how in ("off", args.how):
        subprocess.run([args.rocsmith, "sdk", "shims", "-q", "--gpu", ",".join(gpus), "--log", folder / f"log-{how}",
            "--share-frontend", how, folder / how], check=True, stdout=subprocess.DEVNULL)
    wrong = 0
    print(f"{'source':15} {'copies':>6} {'GPUs':>4} {'plain s':>8} {'shared s':>8} {'ratio':>6}  objects")
    for name, text in SOURCES.items():
        if args.only not in name:
            continue
        # this rocPRIM does not know gfx950
        targets = [gpu.replace("gfx950", "gfx1152") for gpu in gpus] if "cub" in name else gpus
        took, same = {"off": 0.0, args.how: 0.0}, True
        for copy in range(args.copies):
            source = folder / f"{name}{copy}.hip"
            source.write_text(text)
            for how in took:
                took[how] += user_seconds([folder / how / "llvm/bin/clang++", "-x", "hip", "-O3", "-fPIC", "-cuid=b", "-c", source,
                    "-o", folder / f"{name}-{how}.o", *(f"--offload-arch={gpu}" for gpu in targets)],
                    {**os.environ, "ROCSMITH_PRECOMPILE": "off"} if how == "off" else None)
            # the host part may name the shim folder, which is another one: rocPRIM does, in assertions
            off, on = (objects(args.rocsmith, folder / f"{name}-{how}.o") for how in ("off", args.how))
            same &= off == on and len(off) == len(targets)
        wrong += not same
        print(f"{name:15} {args.copies:6} {len(gpus):4} {took['off']:8.1f} {took[args.how]:8.1f} {took['off'] / took[args.how]:5.2f}x  "
            f"{'same' if same else 'DIFFERENT'}", flush=True)
    sys.exit(1 if wrong else 0)


main()
