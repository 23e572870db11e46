#!/usr/bin/env python3
"""slim_tree.py OLD NEW GPU [LIBRARIES]: the folder NEW is OLD for that GPU only. Each file with device code has every
object for the GPU that it had, with the same SHA-256, in the same order, and no other; what is gone had none; what is
no device code is there. Names of shared libraries with bundles are written to the file LIBRARIES. Files are mapped, sections found with struct,
compressed bundles decoded by the program zstd: nothing is rocsmith's."""
import hashlib
import mmap
import os
import re
import struct
import subprocess
import sys

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"


def entries(raw):
    (count,), at = struct.unpack_from("<Q", raw, 24), 32
    for _ in range(count):
        offset, size, n = struct.unpack_from("<QQQ", raw, at)
        yield bytes(raw[at + 24:at + 24 + n]).decode(), offset, size
        at += 24 + n


def objects(data):
    """(target, hash, size) of each entry with content, bundle by bundle."""
    at = 0
    while at < len(data):
        head = bytes(data[at:at + 24])
        if head[:4] == b"CCOB":
            version, method = struct.unpack_from("<HH", data, at + 4)
            taken, = struct.unpack_from("<Q" if version == 3 else "<I", data, at + 8)
            assert method == 1 and version > 1, "zlib, or version 1"
            raw = memoryview(subprocess.run(["zstd", "-dcq", "--long=31"], check=True, stdout=subprocess.PIPE,
                input=data[at + (32 if version == 3 else 24):at + taken]).stdout)
        elif head == MAGIC:
            raw = data[at:]
            taken = max(o + s for _, o, s in entries(raw))
        else:
            raw, taken = None, 1
            assert head[0] == 0, f"something else at {at}"
        for name, offset, size in entries(raw) if raw is not None else []:
            if size and not name.startswith("host"):
                yield name.split("--")[-1], hashlib.sha256(raw[offset:offset + size]).digest(), size
        at += taken


def fatbin(data):
    """The section .hip_fatbin of an ELF file, or nothing."""
    shoff, = struct.unpack_from("<Q", data, 40)
    n, strings = struct.unpack_from("<HH", data, 60)
    rows = [struct.unpack_from("<IIQQQQ", data, shoff + i * 64) for i in range(n)]
    for name, kind, _, _, offset, size in rows:
        at = rows[strings][4] + name
        if kind == 1 and bytes(data[at:at + 12]) == b".hip_fatbin\0":
            return data[offset:offset + size]
    return None


class File:
    def __init__(self, path):
        self.size = os.path.getsize(path)
        self.kind, self.objects = "", []
        if self.size < 64:
            return
        with open(path, "rb") as file:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        if data[:4] == b"\x7fELF" and data[4] == 2:
            machine, = struct.unpack_from("<H", data, 18)
            section = fatbin(data) if machine != 224 else None
            if section is not None:
                self.kind, self.objects = "library", list(objects(section))
            elif machine == 224:
                self.kind = "object"
        elif data[:4] == b"CCOB" or data[:24] == MAGIC:
            self.kind, self.objects = "bundle", list(objects(data))


def files(tree):
    for folder, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                yield os.path.relpath(path, tree)


def serves(target, gpu):
    return target == gpu or target.startswith(gpu + ":")


def main():
    old, new, gpu = sys.argv[1:4]
    sums = dict.fromkeys(("files", "before", "after", "objects", "kept", "gone"), 0)
    libraries = []
    for path in sorted(files(old)):
        was, there = File(os.path.join(old, path)), os.path.exists(os.path.join(new, path))
        sums["before"] += was.size
        want = [o for o in was.objects if serves(o[0], gpu)]
        if not there:
            named = set(re.findall(r"gfx[0-9a-f]+", path))
            assert named and not want and not any(serves(n, gpu) for n in named), f"{path} is gone"
            sums["gone"] += 1
            continue
        now = File(os.path.join(new, path))
        sums["after"] += now.size
        assert now.kind == was.kind and now.objects == want, f"{path}: {len(now.objects)} objects, not {len(want)}"
        if was.objects:
            sums["files"] += 1
            sums["objects"] += len(was.objects)
            sums["kept"] += len(want)
        if was.kind == "library":
            libraries.append(path)
    if len(sys.argv) > 4:
        with open(sys.argv[4], "w", encoding="utf-8") as out:
            out.write("".join(f"{p}\n" for p in libraries))
    print("{before} -> {after} bytes, {kept} of {objects} objects in {files} files, {gone} files left out".format(**sums))


if __name__ == "__main__":
    main()
