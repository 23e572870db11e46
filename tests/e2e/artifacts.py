#!/usr/bin/env python3
"""Packs ROCm's files into archives as ROCm/TheRock's build makes and uploads them.

    artifacts.py DIR [--version 10.1.0] [--gpu gfx1151,gfx1201] [--tree ROOT] [--whole] [--no-hashes]

DIR gets NAME_COMPONENT_TARGET.tar.xz (blas: .tar.zst, where there is a zstd), each with artifact_manifest.txt first and
FILE.sha256sum beside it, as fileset_tool's artifact-archive, base/aux-overlay and hash_util of 89553ce37 have them. Contents
are amd_index.small(), or --tree: the files of a Debian SDK of rocsmith. --whole: device
code was not split off (KPACK_SPLIT_ARTIFACTS), so that each target's archive has the libraries. pack() alone writes one.
"""
import argparse
import hashlib
import io
import json
import pathlib
import re
import shutil
import subprocess
import tarfile

import amd_index

STAGES = {"amd-llvm": "compiler/amd-llvm/stage", "core-hip": "core/clr/stage", "core-runtime": "core/ROCR-Runtime/stage",
    "base": "base/rocm-core/stage", "blas": "math-libs/BLAS/rocBLAS/stage", "sysdeps": "third-party/sysdeps/linux/zlib/build/stage"}
NEEDED = ("base_lib base_dev amd-llvm_lib amd-llvm_run amd-llvm_dev core-hip_lib core-hip_run core-hip_dev core-runtime_lib "
    "core-runtime_dev sysdeps_lib blas_lib blas_dev").split()


def pack(folder, stem, stages, members, hashed=True, kind="xz"):
    """members: {path: bytes, Path, or ("link", target)}, below one of the stages."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as out:
        for name, what in [("artifact_manifest.txt", "".join(f"{s}\n" for s in stages).encode())] + sorted(members.items()):
            entry = tarfile.TarInfo(name)
            entry.mtime = 1785542400
            if isinstance(what, tuple):
                entry.type, entry.linkname = tarfile.SYMTYPE, what[1]
                out.addfile(entry)
                continue
            text = what.read_bytes() if isinstance(what, pathlib.Path) else what
            runs = "/bin/" in name or (isinstance(what, pathlib.Path) and what.stat().st_mode & 0o100)
            entry.size, entry.mode = len(text), 0o755 if runs else 0o644
            out.addfile(entry, io.BytesIO(text))
    kind = "xz" if not shutil.which("zstd") else kind
    program = ["xz", "-0", "-T2"] if kind == "xz" else ["zstd", "-q", "-3"]
    packed = subprocess.run(program + ["-c"], input=data.getvalue(), stdout=subprocess.PIPE, check=True).stdout
    path = pathlib.Path(folder) / f"{stem}.tar.{'xz' if kind == 'xz' else 'zst'}"
    path.write_bytes(packed)
    if hashed:
        path.with_name(path.name + ".sha256sum").write_text(hashlib.sha256(packed).hexdigest() + "\n")


def flat(version, tree):
    """The files of the SDK as one prefix."""
    core, libraries, devel = amd_index.from_tree(tree) if tree else amd_index.small(64, version)
    top, out = "opt/rocm/" if tree else "", {}
    for files in (devel, core, libraries):
        for name, what in files.items():
            first, _, rest = name.partition("/")
            own = first.startswith("_rocm_sdk_")
            if name.endswith("__init__.py") or (isinstance(what, tuple) and "_rocm_sdk_" in what[1]):
                continue
            out[top + rest if own else name] = what.encode() if isinstance(what, str) else what
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir")
    parser.add_argument("--version", default="10.1.0")
    parser.add_argument("--gpu", default="gfx1151,gfx1201")
    parser.add_argument("--tree")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--no-hashes", action="store_true")
    o = parser.parse_args()
    gpus, made = o.gpu.split(","), {stem: {} for stem in NEEDED}
    pathlib.Path(o.dir).mkdir(parents=True)
    for path, what in flat(o.version, o.tree).items():
        name = "sysdeps" if path.startswith(("usr/", "etc/")) else "amd-llvm" if re.search(r"(^|/)(llvm|amdgcn)/", path) \
            else "blas" if re.search(r"roc(blas|solver|sparse|rand|fft)|hip(blas|solver|sparse|rand|fft)", path) else "core-hip"
        dev = re.search(r"(^|/)(include|cmake)/|\.a$", path) and name != "sysdeps"
        component = "dev" if dev else "run" if "/bin/" in f"/{path}" and name in ("amd-llvm", "core-hip") else "lib"
        made[f"{name}_{component}"][f"{STAGES[name]}/{path}"] = what
    share = "base/aux-overlay/stage/share/therock"
    made["base_lib"][f"{share}/dist_info.json"] = json.dumps({"dist_amdgpu_targets": ";".join(gpus)}).encode()
    made["base_lib"][f"{share}/therock_manifest.json"] = json.dumps({"the_rock_commit": "89553ce3",
        "rocm_package_version": o.version, "submodules": [], "flags": {"KPACK_SPLIT_ARTIFACTS": not o.whole}}).encode()
    for stem, members in made.items():
        name = stem.partition("_")[0]
        stages = [STAGES[name]] + (["base/aux-overlay/stage"] if name == "base" else [])
        for target in gpus if o.whole and name == "blas" else ["generic"]:
            pack(o.dir, f"{stem}_{target}", stages, members, not o.no_hashes, "zst" if name == "blas" or o.tree else "xz")
    for gpu in gpus if not o.whole else []:
        pack(o.dir, f"blas_lib_{gpu}", [STAGES["blas"]], {f"{STAGES['blas']}/{'opt/rocm/' if o.tree else ''}lib/rocblas/"
            f"library/kernels_{gpu}.kpack": amd_index.noise(gpu, 64)}, not o.no_hashes, "zst")


if __name__ == "__main__":
    main()
