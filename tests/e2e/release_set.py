#!/usr/bin/env python3
"""Makes a set of wheels as ROCm/TheRock releases it, small: rocm and its parts, torch and its device wheels, torchvision.

    release_set.py DIR ROCM [--torch 2.9.1] [--gpu gfx1100,gfx1201] [--python cp312] [--drop PROJECT]... [--kib N]

Each device wheel has a code object for its GPU; wheels require each other by exact versions, as the real ones do.
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from amd_index import noise, wheel

TOP = pathlib.Path(__file__).resolve().parent.parent
MACH = {"gfx1100": 0x41, "gfx1201": 0x4e, "gfx90a": 0x3f, "gfx942": 0x4c}  # EF_AMDGPU_MACH, LLVM AMDGPUUsage
ANY = "py3-none-any"


def code(gpu):
    data = bytearray((TOP / "data/devcode/gfx90a.hsaco").read_bytes())
    data[48:52] = (MACH[gpu]).to_bytes(4, "little")
    return bytes(data)


def make(site, rocm, torch="2.9.1", gpus=("gfx1100", "gfx1201"), python="cp312", drop=(), kib=4):
    def add(name, *rest, **more):
        return None if name in drop else wheel(site, name, *rest, **more)
    extras = {"libraries": [f"rocm-sdk-libraries=={rocm}"]}
    for gpu in gpus:
        extras[f"device-{gpu}"] = [f"rocm-sdk-device-{gpu}=={rocm}"]
        add(f"rocm-sdk-device-{gpu}", rocm, {f"_rocm_sdk_libraries/lib/kernels_{gpu}.hsaco": code(gpu),
            f"_rocm_sdk_libraries/.devel_links/{gpu}.json": f'{{"version": "{rocm}", "links": []}}\n'}, ANY,
            [f"rocm-sdk-libraries=={rocm}"])
    add("rocm", rocm, {"rocm_sdk/__init__.py": "", "rocm_sdk/_dist_info.py": f"__version__ = '{rocm}'\n"}, ANY,
        [f"rocm-sdk-core=={rocm}"], extras)
    add("rocm-sdk-core", rocm, {"rocm_sdk_core/__init__.py": "", "_rocm_sdk_core/noise": noise("core", kib)}, ANY)
    add("rocm-sdk-libraries", rocm, {"rocm_sdk_libraries/__init__.py": ""}, ANY, [f"rocm-sdk-core=={rocm}"])
    version, tag = f"{torch}+rocm{rocm}", f"{python}-none-any"
    extras = {}
    for gpu in gpus:
        extras[f"device-{gpu}"] = [f"amd-torch-device-{gpu}=={version}"]
        add(f"amd-torch-device-{gpu}", version, {f"torch/lib/kernels_{gpu}.hsaco": code(gpu)}, tag,
            [f"torch=={version}", f"rocm-sdk-device-{gpu}=={rocm}"])
    add("torch", version, {"torch/__init__.py": "from . import version\n__version__ = version.__version__\n",
        "torch/version.py": f"__version__ = '{version}'\nrocm = '{rocm}'\nhip = '7.2.53210'\n",
        "torch/_rocm_init.py": f"import rocm_sdk\nrocm_sdk.initialize_process(check_version='{rocm}')\n",
        "torch/noise": noise("torch", kib)}, tag, [f"rocm[libraries]=={rocm}"], extras)
    add("torchvision", f"0.24.1+rocm{rocm}", {"torchvision/version.py": f"__version__ = '0.24.1+rocm{rocm}'\n"}, tag,
        [f"torch=={version}"])


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("site")
    p.add_argument("rocm")
    p.add_argument("--torch", default="2.9.1")
    p.add_argument("--gpu", default="gfx1100,gfx1201")
    p.add_argument("--python", default="cp312")
    p.add_argument("--drop", action="append", default=[])
    p.add_argument("--kib", type=int, default=4)
    o = p.parse_args()
    make(o.site, o.rocm, o.torch, o.gpu.split(","), o.python, o.drop, o.kib)


if __name__ == "__main__":
    main()
