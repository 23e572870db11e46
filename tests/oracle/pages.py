#!/usr/bin/env python3
"""pages.py ROCSMITH FOLDER: writes a build report with everything in it that a page has to bear, and a folder of code objects for
many kernels: names of CK's length, every feature of a GPU, paths and messages that want to be markup. Prints nothing."""
import json
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from code_object import code_object  # noqa: E402

GPUS = ["gfx90a:sramecc+:xnack-", "gfx942:sramecc+:xnack-", "gfx1030", "gfx1100", "gfx1151", "gfx1201", "gfx11-generic"]
HOSTILE = "<script>alert(1)</script><img src=http://x.invalid/y onerror=alert(2)>\"'&amp;"
LONG = "_ZN2ck6kernelI" + "NS_5tuple" + "I" + "Li128E" * 120 + "EE" + "EEvPKfPfi"
KERNELS = ["saxpy", "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
           "_ZN12_GLOBAL__N_14tileIDF16_Lb1ELin2EEEvPDv4_T_", "Cijk_Ailk_Bljk_SB_MT64x64x8_SN_K1_AF0EM1_gfx90a_" + "PLR1_" * 40,
           LONG, HOSTILE]


def kernels(seed):
    return [dict(name=name, size=400 + 7000 * (i + seed) % 50000, vgprs=8 + 24 * i, sgprs=16, agprs=0,
                 vgpr_spills=40 * (i == 3), sgpr_spills=0, lds=1024 * i, scratch=64 * (i == 3), wave=32)
            for i, name in enumerate(KERNELS)]


def write_objects(folder):
    for n, gpu in enumerate(("gfx1030", "gfx1100", "gfx1151", "gfx1201")):
        for library in ("libtorch_hip.so", "librocblas-of-a-long-name-that-goes-on.so", "x.so"):
            path = folder / library / gpu / "code.hsaco"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(code_object(gpu, kernels(n)[:6 if library != "x.so" else 2]))


def report(inspected):
    names = ["src/" + "deep/" * 12 + "kernels.cu", "a.cu", HOSTILE]
    steps = [dict(kind="device", name=name, gpu=gpu, start=i * 1.5, seconds=4 + i, cpu=3.5, memory=800 << 20)
             for i, (name, gpu) in enumerate((n, g) for g in GPUS for n in names)]
    steps += [dict(kind="link", name="_C.so", start=40, seconds=2, cpu=2, memory=1 << 30)]
    finding = [dict(severity=s, id="object-mislabelled", path="lib/" + "long/" * 20 + "x.so",
                    message="nothing for gfx90a:sramecc+:xnack- and gfx11-generic in 2 of 3 bundles " + HOSTILE)
               for s in ("error", "warning", "info")]
    wheel = "/home/me/dist/demo-1.0+rocm7.2-cp311-cp311-manylinux_2_28_x86_64.whl"
    plan = dict(project=dict(name="demo", version="1.0+rocm7.2"), gpus=GPUS,
                reasons=[dict(subject="gpus", choice=", ".join(GPUS), why="the project names them in rocsmith.yaml, " * 4)],
                features=[dict(name="USE_ROCM", choice="on", why="a GPU was asked for")], flags=["-O3"] * 60)
    return dict(schema="rocsmith.build/1", rocsmith="0.1.0", started=1790000000, seconds=61.5, plan=plan,
                facts=dict(host=dict(cpu="AMD EPYC", gpus=GPUS)), sdk=dict(name="debian-sid", fingerprint="f" * 64),
                stages=dict(sdk=3.2, hipify=0.2, compile=44, package=2, verify=1), steps=steps, wheel=wheel, bytes=123456789,
                sha256="0123456789abcdef" * 4, files=[dict(path="demo/" + "sub/" * 14 + "x.so", size=1 << 24)] * 3,
                platform_why="manylinux_2_28: GLIBC_2.28 is the newest version that is asked for", translated=42,
                findings=finding, warnings=finding, inspect=inspected,
                verify=dict(wheels=[dict(verdict="pass", findings=finding)]))


def main(rocsmith, folder):
    folder = pathlib.Path(folder)
    write_objects(folder / "code")
    run = subprocess.run([rocsmith, "inspect", "--kernels", "--json", folder / "code"], stdout=subprocess.PIPE, check=False)
    good = report(json.loads(run.stdout))
    failed = {**good, "wheel": "", "verify": {}, "error": dict(message="a.cu: " + HOSTILE, path="a.cu", line=7)}
    (folder / "build.json").write_text(json.dumps(good))
    (folder / "failed.json").write_text(json.dumps(failed))


main(*sys.argv[1:])
