#!/usr/bin/env python3
"""fat_wheel.py make|make-windows: a small SDK and a wheel that needs it, out of gcc. fat_wheel.py check[-windows] WHEEL: the fat wheel is judged
by zipfile, readelf and the loader, in an environment where nothing else could help it."""
import base64
import csv
import hashlib
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import device_code


def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def objects():
    """Two code objects, as a compiler made them."""
    data = (Path(__file__).parent.parent / "data/devcode/two.hipfb").read_bytes()
    at, found = 32, {}
    for _ in range(struct.unpack_from("<Q", data, 24)[0]):
        offset, size, n = struct.unpack_from("<QQQ", data, at)
        found[data[at + 24:at + 24 + n]] = data[offset:offset + size]
        at += 24 + n
    return found


def bundle(seed):
    return device_code.pack([(name, data + bytes(i * seed % 256 for i in range(40000))) for name, data in objects().items() if data])


FAT = """
	.section .hip_fatbin,"a",@progbits
	.p2align 12
	.hidden fat_%(name)s
	.globl fat_%(name)s
fat_%(name)s:	.incbin "b%(seed)d"
	.section .hipFatBinSegment,"aw",@progbits
	.p2align 3
	.long 0x48495046, 1
	.quad fat_%(name)s, 0
	.section .note.GNU-stack,"",@progbits
"""


def library(path, name, value, calls=(), soname=None, fat=None, links=(), path_to="/opt/rocm/lib", first=()):
    """value plus what the functions of `calls` give."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Path("x.c").write_text("#include <math.h>\nvolatile double two = 2;\n" + "".join(f"int {c}(void);\n" for c in calls) +
                           f"int {name}(void) {{ return {value}" + "".join(f" + {c}()" for c in calls) + "; }\n")
    sources = ["x.c"]
    if fat is not None:
        Path(f"b{fat}").write_bytes(bundle(fat))
        Path("x.s").write_text(FAT % {"name": name, "seed": fat})
        sources.append("x.s")
    run("gcc", "-shared", "-fPIC", *sources, "-o", path, *map(str, first),
        *([f"-Wl,-soname,{soname}"] if soname else []), "-Wl,--allow-shlib-undefined", f"-Wl,-rpath,{path_to}",
        "-Wl,--enable-new-dtags")
    for link in links:
        os.symlink(path.name, path.parent / link)


def make():
    lib = Path("sdk/lib")
    numa = lib / "rocm_sysdeps/lib/librocm_sysdeps_numa.so.1"
    library(numa, "numa", 1, soname=numa.name)
    library(lib / "libamdhip64.so.7.2", "hip", "(int)pow(two, two) - 3", ["numa"], "libamdhip64.so.7", links=["libamdhip64.so.7", "libamdhip64.so"],
            first=[numa, "-lm"])
    library(lib / "libhiprtc.so.7.2", "rtc", 1, soname="libhiprtc.so.7", links=["libhiprtc.so.7", "libhiprtc.so"])
    library(lib / "libhiprtc-builtins.so.7.2", "built", 1, soname="libhiprtc-builtins.so.7",
            links=["libhiprtc-builtins.so.7", "libhiprtc-builtins.so"])
    library(lib / "librocblas.so.5.2", "blas", 10, ["hip"], "librocblas.so.5", 1, ["librocblas.so.5", "librocblas.so"],
            first=[lib / "libamdhip64.so"])
    library(lib / "libMIOpen.so.1.0", "dnn", 10, ["hip"], "libMIOpen.so.1", 2, ["libMIOpen.so.1"], first=[lib / "libamdhip64.so"])
    library(lib / "libodd.so", "odd", 1)
    library(lib / "libplugin.so.3", "plugin", 7, soname="libplugin.so.3")
    library(lib / "libunused.so.1", "unused", 1, soname="libunused.so.1")
    library(lib / "asan/librocblas.so.5", "wrong", 1, soname="librocblas.so.5")
    library(lib / "libc.so.6", "never", 1, soname="libc.so.6")
    library(lib / "libstdc++.so.6", "never2", 1, soname="libstdc++.so.6")
    for name in ("rocblas/library/K_gfx90a.dat", "rocblas/library/K_gfx1030.dat", "rocblas/library/Kernels.common.dat",
                 "../share/miopen/db/gfx90a68.kdb", "../share/miopen/db/gfx1030_48.kdb", "../share/miopen/db/common.txt"):
        (lib / name).parent.mkdir(parents=True, exist_ok=True)
        (lib / name).write_text(name * 50)
    Path("x.c").write_text("int hip(void);\nint main(void) { return hip() != 2; }\n")
    run("gcc", "x.c", lib / "libamdhip64.so", "-Wl,--allow-shlib-undefined", "-o", lib / "rocblas/library/helper")
    os.symlink("/etc/passwd", lib / "rocblas/library/outside.dat")
    os.symlink("/usr/lib/x86_64-linux-gnu/libm.so.6", lib / "liboutside.so.1")

    w = Path("w")
    library(w / "torch/lib/libtorch_hip.so", "torch_hip", 5, ["hip", "dnn", "odd"], "libtorch_hip.so", 3,
            first=[lib / "libamdhip64.so", lib / "libMIOpen.so.1.0", "-Lsdk/lib", "-lodd"],
            path_to="/opt/rocm/lib:$ORIGIN:$ORIGIN/../../_rocm_sdk_core/lib")
    library(w / "torch/_C.so", "answer", 2, ["torch_hip", "blas"], None,
            first=[w / "torch/lib/libtorch_hip.so", lib / "librocblas.so", "-lm"],
            path_to="$ORIGIN/lib:/build/torch/lib:$ORIGIN/../_rocm_sdk_libraries/lib")
    library(w / "torch/_plain.so", "plain", 2, path_to="$ORIGIN/lib")
    library(w / "torch/_built.so", "built_here", 2, path_to="/home/somebody/build:$ORIGIN/lib:")
    (w / "torch/__init__.py").write_text("print('torch')\n" * 20)
    (w / "torch/_rocm_init.py").write_text("def initialize():\n    import rocm_sdk\n    rocm_sdk.initialize_process()\n")
    (w / "torch/lib/aotriton").mkdir()
    (w / "torch/lib/aotriton/k_gfx90a.aks2").write_text("a")
    info = w / "torch-2.9.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("""Metadata-Version: 2.1
Name: torch
Version: 2.9.0
Requires-Dist: filelock
Requires-Dist: rocm[libraries]==7.2.0
Requires-Dist: rocm-sdk-core ==7.2.0 ;
  platform_system == "Linux"
Requires-Dist: triton-rocm==3.5
Requires-Dist: amd-torch-device-gfx1030 ==2.9.0 ; extra == "device-gfx1030"
Provides-Extra: device-gfx1030
Provides-Extra: optree

Requires-Dist: rocm-sdk-core is only a word here
""")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: false\nTag: cp311-cp311-manylinux_2_5_x86_64\n")
    pack(w, "torch-2.9.0-cp311-cp311-manylinux_2_5_x86_64.whl", "torch-2.9.0.dist-info")


def dll(path, imports, delayed=()):
    """A DLL that names others."""
    delay = (len(imports) + 1) * 20
    text = bytearray(delay + (len(delayed) + 1) * 32 + 16)
    empty = 0x1000 + len(text) - 16
    for i in range(len(imports)):
        struct.pack_into("<IIIII", text, i * 20, empty, 0, 0, 0, empty)
    for i in range(len(delayed)):
        struct.pack_into("<IIIII", text, delay + i * 32, 1, 0, empty, empty, empty)
    for i, name in enumerate([*imports, *delayed]):
        at = i * 20 + 12 if i < len(imports) else delay + (i - len(imports)) * 32 + 4
        struct.pack_into("<I", text, at, 0x1000 + len(text))
        text += name.encode() + b"\0"
    head = bytearray(0x200)
    head[:2], head[60] = b"MZ", 64
    head[64:88] = struct.pack("<4sHHIIIHH", b"PE\0\0", 0x8664, 1, 0, 0, 0, 240, 0x2022)
    struct.pack_into("<H", head, 88, 0x20B)
    struct.pack_into("<QIIHHHHHHIIIIHHQQQQII", head, 88 + 24, 0x180000000, 0x1000, 0x200, 6, 0, 0, 0, 6, 0, 0, 0x2000, 0x200,
                     0, 2, 0, 1 << 20, 4096, 1 << 20, 4096, 0, 16)
    struct.pack_into("<II", head, 88 + 112 + 8, 0x1000, delay)
    if delayed:
        struct.pack_into("<II", head, 88 + 112 + 8 * 13, 0x1000 + delay, 64)
    head[328:368] = struct.pack("<8sIIIIIIHHI", b".idata", len(text), 0x1000, len(text), 0x200, 0, 0, 0, 0, 0x40000040)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + text)


def make_windows():
    """The same for Windows: folder winsdk, and a wheel."""
    lib, w = Path("winsdk/bin"), Path("win")
    dll(lib / "amdhip64_7.dll", ["KERNEL32.dll", "VCRUNTIME140.dll"], ["amd_comgr_3.dll"])
    dll(lib / "hiprtc0702.dll", [])
    dll(lib / "hiprtc-builtins0702.dll", [])
    dll(lib / "amd_comgr_3.dll", ["KERNEL32.dll"])
    dll(lib / "rocblas.dll", ["amdhip64_7.dll"])
    dll(lib / "MIOpen.dll", ["AMDHIP64_7.DLL"])
    dll(lib / "unused.dll", [])
    dll(lib / "VCRUNTIME140.dll", [])
    for name in ("bin/rocblas/library/K_gfx90a.dat", "bin/rocblas/library/K_gfx1030.dat", "share/miopen/db/gfx90a68.kdb",
                 "share/miopen/db/gfx1030_36.kdb"):
        (lib.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (lib.parent / name).write_text(name)
    dll(w / "torch/_C.cp311-win_amd64.pyd", ["torch_python.dll", "amdhip64_7.dll"])
    dll(w / "torch/lib/torch_hip.dll", ["amdhip64_7.dll", "MIOpen.dll", "KERNEL32.dll"], ["rocblas.dll"])
    dll(w / "torch/lib/torch_python.dll", ["torch_hip.dll"])
    info = w / "torch-2.9.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.9.0\nRequires-Dist: rocm[libraries]==7.2.0\n")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: false\nTag: cp311-cp311-win_amd64\n")
    pack(w, "torch-2.9.0-cp311-cp311-win_amd64.whl", "torch-2.9.0.dist-info")
    for tool in ("llvm-readobj", "llvm-readobj-19"):
        if shutil.which(tool):
            text = run(tool, "--coff-imports", w / "torch/lib/torch_hip.dll")
            want(re.findall("Name: (.*)", text) == ["amdhip64_7.dll", "MIOpen.dll", "KERNEL32.dll", "rocblas.dll"], text)


def check_windows(wheel):
    z = zipfile.ZipFile(wheel)
    have = {n for n in z.namelist() if n.startswith("torch/")}
    libs = {f"torch/lib/{n}" for n in ("amdhip64_7.dll", "hiprtc0702.dll", "hiprtc-builtins0702.dll", "amd_comgr_3.dll",
                                       "rocblas.dll", "MIOpen.dll", "torch_hip.dll", "torch_python.dll")}
    side = {"torch/lib/rocblas/library/K_gfx1030.dat", "torch/share/miopen/db/gfx1030_36.kdb", "torch/_C.cp311-win_amd64.pyd"}
    want(have == libs | side, f"torch has {sorted(have ^ (libs | side))} more or less")
    for name in ("rocblas.dll", "MIOpen.dll"):
        want(z.read(f"torch/lib/{name}") == Path(f"winsdk/bin/{name}").read_bytes(), f"{name} has changed")
    want("rocm" not in z.read("torch-2.9.0.dist-info/METADATA").decode(), "it requires ROCm's packages")
    print("ok a wheel for Windows gets its DLLs, beside those that need them")


def pack(folder, to, info):
    rows = []
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            name, data = str(path.relative_to(folder)), path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(data)}")
            z.write(path, name)
        z.writestr(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,"]) + "\n")


def want(good, text):
    if not good:
        print(f"not ok {text}")
        sys.exit(1)


def check(wheel):
    z = zipfile.ZipFile(wheel)
    names = set(z.namelist())
    info = "torch-2.9.0+rocm7.2.dist-info"
    rows = list(csv.reader(io.StringIO(z.read(f"{info}/RECORD").decode())))
    want({r[0] for r in rows} == names and len(rows) == len(names), "RECORD lists others")
    for name, digest, size in rows[:-1]:
        data = z.read(name)
        mine = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        want(digest == f"sha256={mine}" and int(size) == len(data), f"RECORD is wrong about {name}")
    libs = {f"torch.libs/lib/{n}" for n in ("libamdhip64.so.7", "librocm_sysdeps_numa.so.1", "libhiprtc.so.7",
                                            "libhiprtc-builtins.so.7", "libamdhip64.so", "librocblas.so.5", "libMIOpen.so.1", "libodd.so",
                                            "libplugin.so.3")}
    side = {"torch.libs/lib/rocblas/library/K_gfx1030.dat", "torch.libs/lib/rocblas/library/Kernels.common.dat",
            "torch.libs/share/miopen/db/gfx1030_48.kdb", "torch.libs/share/miopen/db/common.txt",
            "torch.libs/lib/rocblas/library/helper"}
    programs = {i.filename for i in z.infolist() if i.external_attr >> 16 & 0o111 and not ".so" in i.filename}
    want(programs == {"torch.libs/lib/rocblas/library/helper"}, f"programs are {programs}")
    have = {n for n in names if n.startswith("torch.libs/")}
    want(have == libs | side, f"torch.libs has {sorted(have ^ (libs | side))} more or less")
    want("torch/lib/aotriton/k_gfx90a.aks2" not in names, "a side file of another GPU is still there")
    want(all((i.external_attr >> 16) & 0o170000 in (0, 0o100000) for i in z.infolist()), "there is a link")
    metadata = z.read(f"{info}/METADATA").decode()
    asks = re.findall(r"^Requires-Dist: (.*)$", metadata.split("\n\n")[0], re.M)
    want(asks == ["filelock", "triton-rocm==3.5"] and "platform_system" not in metadata, f"it requires {asks}")
    want("Version: 2.9.0+rocm7.2\n" in metadata and "only a word here" in metadata, "METADATA is damaged")
    want("device-gfx1030" not in metadata and "Provides-Extra: optree" in metadata, "extras are wrong")
    want("rocm_sdk" not in z.read("torch/_rocm_init.py").decode(), "_rocm_init.py loads packages")
    tag = Path(wheel).name.split("-")[-1][:-4]
    want(f"-{tag}\n" in z.read(f"{info}/WHEEL").decode() and tag != "manylinux_2_5_x86_64", f"the tag is {tag}")
    Path("site").mkdir()
    z.extractall("site")
    for name in sorted(names):
        if ".so" not in name:
            continue
        text = run("readelf", "-dW", f"site/{name}")
        path = re.findall(r"R(?:UN)?PATH.*\[(.*)\]", text)
        want(all(e.startswith("$ORIGIN") and "_rocm_sdk" not in e for p in path for e in p.split(":")), f"{name} has {path}")
        soname = re.findall(r"SONAME.*\[(.*)\]", text)
        if name in libs:
            want(soname == [Path(name).name], f"{name} is named {soname}")
        want(not any(n.startswith("sdk/") or "/" in n for n in re.findall(r"NEEDED.*\[(.*)\]", text)), f"{name} needs paths")
    want(z.read("torch/_plain.so") == Path("w/torch/_plain.so").read_bytes(), "a library that needs nothing has changed")
    code = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).answer())"
    alias = ("import ctypes, sys; lib = ctypes.CDLL(sys.argv[1]); assert lib.hip() == 2; "
             "assert ctypes.CDLL(sys.argv[1] + '.7').hip() == 2; text = open('/proc/self/maps').read(); "
             "assert len({l.split()[-1] for l in text.splitlines() if 'libamdhip64' in l}) == 2, text")
    here = os.getcwd()
    os.rename("sdk", "gone")
    try:
        answer = run(sys.executable, "-c", code, f"{here}/site/torch/_C.so", cwd="/", env={}).strip()
        maps = run(sys.executable, "-c", code.replace("print(", "print(open('/proc/self/maps').read(), "),
                   f"{here}/site/torch/_C.so", cwd="/", env={})
        run(sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])",
            f"{here}/site/torch.libs/lib/librocblas.so.5", cwd="/", env={})
        run(sys.executable, "-c", alias, f"{here}/site/torch.libs/lib/libamdhip64.so", cwd="/", env={})
        os.chmod("site/torch.libs/lib/rocblas/library/helper", 0o755)
        run(f"{here}/site/torch.libs/lib/rocblas/library/helper", cwd="/", env={})
    finally:
        os.rename("gone", "sdk")
    want(answer == "34", f"it answers {answer}")
    print("ok the fat wheel is complete: it loads without any ROCm, and has what it should")


if __name__ == "__main__":
    {"make": make, "make-windows": make_windows, "check": check, "check-windows": check_windows}[sys.argv[1]](*sys.argv[2:])
