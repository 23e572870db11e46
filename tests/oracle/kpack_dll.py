#!/usr/bin/env python3
"""kpack_dll.py make DIR: a wheel for Windows, DIR/win-1.0+rocm7.14-py3-none-win_amd64.whl, with two DLLs that clang and lld-link
make: bundles with different GPUs, several wrappers for one of them, a debug directory, data behind the bundles.
kpack_dll.py check OLD.whl FOLDER: what a loader would map of the new DLLs is the old one, but for device code and wrappers; these
lead to a mark, whose name and number find the objects of the bundle that they led to. By struct and the program zstd.
kpack_dll.py merged OLD.whl NEW.whl: every wrapper leads to the same objects, and all else that is mapped is the same.
kpack_dll.py bare FOLDER TO: the set without our manifests."""
import glob
import os
import posixpath
import struct
import subprocess
import sys
import zipfile

import gpus_wheel
from kpack import archive, bundle, msgpack

GPUS = [("gfx1100", "gfx1201"), ("gfx1201", "gfx90a:xnack-"), ("gfx1100",)]


def dll(folder, name, wrappers):
    data = [gpus_wheel.bundle(i + len(wrappers), g) for i, g in enumerate(GPUS)]
    text = '\t.section .hip_fatbin,"dr"\n'
    for i, one in enumerate(data):
        open(f"{folder}/b{i}", "wb").write(one)
        text += f'\t.p2align 12\nf{i}:\t.incbin "b{i}"\n'
    text += '\t.section .hipFatBinSegment,"dw"\n\t.p2align 3\n\t.globl w\nw:\n'
    text += "".join(f"\t.long 0x48495046, 1\n\t.quad f{i}, 0\n" for i in wrappers)
    text += '\t.section .zdata,"dw"\n\t.globl last\nlast:\t.quad w, last\n\t.ascii "behind the bundles"\n\t.text\n\t.globl go\ngo:\tlea w(%rip), %rax\n\tret\n'
    open(f"{folder}/x.s", "w").write(text)
    subprocess.run(["clang", "--target=x86_64-pc-windows-msvc", "-c", "x.s", "-o", "x.obj"], cwd=folder, check=True)
    subprocess.run(["lld-link", "/dll", "/noentry", "/debug", "/export:go", "/export:last", f"/out:{name}", "x.obj"], cwd=folder, check=True)
    data = open(f"{folder}/{name}", "rb").read()
    for made in glob.glob(f"{folder}/[xb]*") + glob.glob(f"{folder}/*.lib") + glob.glob(f"{folder}/*.pdb") + [f"{folder}/{name}"]:
        if not made.endswith(".whl") and os.path.exists(made):
            os.remove(made)
    return data


def make(folder):
    members = {"win/__init__.py": b"", "win/bin/one.dll": dll(folder, "one.dll", [0, 1, 2]), "win/two.dll": dll(folder, "two.dll", [2, 0, 2, 1])}
    gpus_wheel.wheel(folder, members, "win-1.0+rocm7.14-py3-none-win_amd64.whl", b"Metadata-Version: 2.1\nName: win\nVersion: 1.0+rocm7.14\n")


def image(data):
    """The image as it is mapped, its sections by name, its base and its section alignment."""
    at, = struct.unpack_from("<I", data, 60)
    assert data[at:at + 4] == b"PE\0\0"
    count, size = struct.unpack_from("<H12xH", data, at + 6)
    opt = at + 24
    base, align, file_align = struct.unpack_from("<QII", data, opt + 24)
    total, headers = struct.unpack_from("<II", data, opt + 56)
    memory, sections, end = bytearray(total), {}, headers
    raw = []
    for i in range(count):
        name, inside, addr, stored, offset = struct.unpack_from("<8sIIII", data, opt + size + 40 * i)
        assert addr == (end + align - 1) // align * align, "sections do not follow each other"
        end = addr + inside
        assert stored % file_align == 0 and offset % file_align == 0 and offset + stored <= len(data)
        raw.append((offset, offset + stored))
        memory[addr:addr + min(stored, inside)] = data[offset:offset + min(stored, inside)]
        sections[name.rstrip(b"\0").decode()] = (addr, inside)
    assert (end + align - 1) // align * align == total
    raw = sorted(r for r in raw if r[0] != r[1])
    assert all(a[1] <= b[0] for a, b in zip(raw, raw[1:]))
    debug, n = struct.unpack_from("<II", data, opt + 112 + 8 * 6)
    for i in range(n // 28):
        length, addr, offset = struct.unpack_from("<III", memory, debug + 28 * i + 16)
        assert memory[addr:addr + length] == data[offset:offset + length], "the debug directory leads elsewhere"
        memory[debug + 28 * i + 24:debug + 28 * i + 28] = bytes(4)
    return memory, sections, base


def check(name, old, new, archives):
    (memory, sections, base), (now, after, _) = image(old), image(new)
    where, size = after[".kpackrf"]
    mark, end = msgpack(bytes(now), where)
    assert end == where + size and where == len(memory)
    fat, n = sections[".hip_fat"]
    assert not any(now[fat:fat + n]), "device code is left"
    at, n_wrappers = sections[".hipFatB"]
    found = 0
    for w in range(at, at + n_wrappers, 24):
        magic, version, pointer, _ = struct.unpack_from("<4sIQQ", memory, w)
        assert magic == b"FPIH" and struct.unpack_from("<4sIQ", now, w) == (b"HIPK", 1, base + where)
        index, = struct.unpack_from("<Q", now, w + 16)
        for target, code in bundle(bytes(memory), pointer - base).items():
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), mark["kpack_search_paths"][0].replace("@GFXARCH@", target)))
            assert archives[path][f"{mark['kernel_name']}#{index}", target] == code, (name, index, target)
            found += 1
    for lo, length in ((fat, n), (at, n_wrappers)):
        memory[lo:lo + length] = now[lo:lo + length] = bytes(length)
    assert memory[0x1000:] == now[0x1000:len(memory)], "something else has changed"
    return found


def merged(name, old, new):
    (memory, sections, base), (now, after, base_now) = image(old), image(new)
    assert base == base_now and after[".hip_fat"][0] >= len(memory) and ".kpackrf" not in after
    fat, n = sections[".hip_fat"]
    at, n_wrappers = sections[".hipFatB"]
    assert not any(now[fat:fat + n])
    found = 0
    for w in range(at, at + n_wrappers, 24):
        one, two = struct.unpack_from("<4sIQQ", memory, w), struct.unpack_from("<4sIQQ", now, w)
        assert one[:2] == two[:2] == (b"FPIH", 1) and one[3] == two[3] == 0
        codes = [bundle(bytes(m), p - base) for m, p in ((memory, one[2]), (now, two[2]))]
        assert codes[0] == codes[1] and codes[0], (name, w)
        found += len(codes[0])
    for lo, length in ((fat, n), (at, n_wrappers)):
        memory[lo:lo + length] = now[lo:lo + length] = bytes(length)
    assert memory[0x1000:] == now[0x1000:len(memory)], "something else has changed"
    return found


def bare(folder, to):
    """The set as a splitter without a manifest makes it."""
    os.mkdir(to)
    for path in glob.glob(os.path.join(folder, "*.whl")):
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(os.path.join(to, os.path.basename(path)), "w") as new:
            for n in old.namelist():
                data = old.read(n)
                if n.endswith("/RECORD"):
                    data = b"".join(row for row in data.splitlines(True) if b"/rocsmith-split.json," not in row)
                if not n.endswith("/rocsmith-split.json"):
                    new.writestr(n, data)


def main():
    if sys.argv[1] == "make":
        return make(sys.argv[2])
    if sys.argv[1] == "bare":
        return bare(sys.argv[2], sys.argv[3])
    if sys.argv[1] == "merged":
        old, new = zipfile.ZipFile(sys.argv[2]), zipfile.ZipFile(sys.argv[3])
        dlls = [n for n in old.namelist() if n.endswith(".dll")]
        total = sum(merged(n, old.read(n), new.read(n)) for n in dlls)
        assert sorted(old.namelist()) == sorted(new.namelist())
        print(f"ok {os.path.basename(sys.argv[2])}: {total} objects are back where the wrappers of Windows libraries lead")
        return
    old, folder, total, archives = zipfile.ZipFile(sys.argv[2]), sys.argv[3], 0, {}
    for path in glob.glob(os.path.join(folder, "*.whl")):
        z = zipfile.ZipFile(path)
        archives |= {n: archive(z.read(n))[1] for n in z.namelist() if n.endswith(".kpack")}
    host = zipfile.ZipFile(os.path.join(folder, os.path.basename(sys.argv[2])))
    for name in [n for n in old.namelist() if n.endswith(".dll")]:
        total += check(name, old.read(name), host.read(name), archives)
    print(f"ok {os.path.basename(sys.argv[2])}: {total} objects of Windows libraries are found by their wrappers")


if __name__ == "__main__":
    main()
