#!/usr/bin/env python3
"""merged.py OLD.whl NEW.whl [GPU...]: NEW is OLD, split and merged again. Members are the same bytes; files with device
code have the same objects in the same bundles (with GPUs: those of these), and in memory all else is the same but pointers at bundles. By zipfile,
device_code.py and a loader of our own: nothing is shared with rocsmith."""
import base64
import csv
import hashlib
import io
import json
import os
import struct
import sys
import tempfile
import zipfile

from device_code import expected

KEYS = ("target", "bundle", "size", "sha256")


def objects(data):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        with open(path, "wb") as file:
            file.write(data)
        return sorted(tuple(o[k] for k in KEYS) for o in expected(path)[1])


def elf(data):
    """Segments, and addresses of .hip_fatbin."""
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phnum, = struct.unpack_from("<H", data, 56)
    shnum, names = struct.unpack_from("<HH", data, 60)
    loads = []
    for i in range(phnum):
        kind, flags, offset, vaddr, _, filesz, memsz, align = struct.unpack_from("<IIQQQQQQ", data, phoff + i * 56)
        if kind == 1:
            assert offset + filesz <= len(data) and (offset - vaddr) % align == 0, "a segment"
            assert not loads or vaddr >= loads[-1][0], "order of segments"
            loads.append((vaddr, filesz, memsz, offset, flags))
    fat = None
    at = struct.unpack_from("<Q", data, shoff + names * 64 + 24)[0]
    for i in range(shnum):
        name, _, _, addr, _, size = struct.unpack_from("<IIQQQQ", data, shoff + i * 64)
        text = data[at + name:data.index(b"\0", at + name)]
        if text == b".hip_fatbin":
            fat = (addr, addr + size)
    return loads, fat


def byte_runs(old, new, loads, where):
    """Places where memory differs, but for what belongs to the bundles."""
    (was, fat), (now, _) = loads
    bad = []
    for vaddr, filesz, _, offset, flags in was:
        for start, end in ((vaddr, min(vaddr + filesz, fat[0])), (max(vaddr, fat[1]), vaddr + filesz)):
            at = start
            while at < end:
                for v, n, _, o, f in now:
                    if v <= at < v + n:
                        break
                else:
                    bad.append((at, "not there"))
                    break
                assert f == flags, "flags of a segment"
                stop = min(end, v + n)
                x, y = old[offset + at - vaddr:offset + stop - vaddr], new[o + at - v:o + stop - v]
                if x != y:
                    bad += [(at + i, x[i], y[i]) for i in range(len(x)) if x[i] != y[i]]
                at = stop
    return bad


def same_elf(old, new, name):
    loads = elf(old), elf(new)
    fat = loads[0][1]
    pointers = set()
    for vaddr, filesz, _, offset, _ in loads[0][0]:
        for at in range(offset + -offset % 8, offset + filesz - 7, 8):
            value, = struct.unpack_from("<Q", old, at)
            if fat[0] <= value < fat[1]:
                pointers.update(range(at - offset + vaddr, at - offset + vaddr + 8))
    # the ELF header and program headers are not in memory as they were, wherever that was
    phoff, = struct.unpack_from("<Q", old, 32)
    heads = [phoff - offset + vaddr for vaddr, filesz, _, offset, _ in loads[0][0] if offset <= phoff < offset + filesz]
    for place, *what in byte_runs(old, new, loads, name):
        header = place < 64 or any(at <= place < at + 56 * 64 for at in heads)
        assert place in pointers or header, f"{name}: address {place:#x} {what}"


def main():
    old, new, gpus = zipfile.ZipFile(sys.argv[1]), zipfile.ZipFile(sys.argv[2]), sys.argv[3:]
    assert new.testzip() is None
    record = next(n for n in new.namelist() if n.endswith(".dist-info/RECORD"))
    rows = {r[0]: r for r in csv.reader(io.StringIO(new.read(record).decode()))}
    names = {n for n in old.namelist() if not n.endswith("/") and not n.endswith("/RECORD")}
    assert set(rows) - {record} == names, sorted(set(rows) ^ names)[:5]
    total = fat = 0
    for name in sorted(names):
        x, y = old.read(name), new.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(y).digest()).rstrip(b"=").decode()
        assert rows[name][1:] == [f"sha256={digest}", str(len(y))], name
        if x == y:
            continue
        if name.endswith(".dist-info/sboms/rocsmith.cdx.json"):
            for c in json.loads(y)["components"]:
                assert c["hashes"][0]["content"] == hashlib.sha256(new.read(c["name"])).hexdigest(), c
            continue
        want = [o for o in objects(x) if not gpus or o[0].split(":")[0] in gpus]
        assert want and objects(y) == want, name
        if x[:4] == b"\x7fELF":
            same_elf(x, y, name)
        total += len(want)
        fat += 1
    print(f"ok {os.path.basename(sys.argv[1])}: {len(names) - fat} members are the same, {fat} have their {total} objects")


if __name__ == "__main__":
    main()
