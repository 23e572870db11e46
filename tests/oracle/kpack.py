#!/usr/bin/env python3
"""kpack.py OLD.whl FOLDER: the wheels in FOLDER are what OLD was split into, as kpack. Each wrapper of each library, as a
loader relocates it, led to a bundle in OLD; now it leads to a mark whose name and number find that bundle's objects,
and nothing else, in the archives that the mark's pattern names. By struct and the program zstd: nothing is shared with rocsmith."""
import glob
import os
import posixpath
import struct
import sys
import zipfile

from device_code import decode, entries, run

LENGTHS = {0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4, 0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8}


def msgpack(data, at=0):
    byte = data[at]
    at += 1
    if byte < 0x80:
        return byte, at
    number = byte & (31 if byte >= 0xa0 else 15)
    if byte >= 0xc0:
        size = LENGTHS[byte]
        number = int.from_bytes(data[at:at + size], "big")
        at += size
    if 0xcc <= byte <= 0xcf:
        return number, at
    if 0xa0 <= byte < 0xc0 or 0xd9 <= byte <= 0xdb:
        return data[at:at + number].decode(), at + number
    values = []
    is_map = byte < 0x90 or byte in (0xde, 0xdf)
    for _ in range(number * (2 if is_map else 1)):
        value, at = msgpack(data, at)
        values.append(value)
    return (dict(zip(values[::2], values[1::2])) if is_map else values), at


def archive(data):
    magic, version, at = struct.unpack_from("<4sIQ", data)
    assert magic == b"KPAK" and version == 1 and not any(data[16:64])
    table, end = msgpack(data, at)
    assert end == len(data) and table["format_version"] == 1
    assert table["compression_scheme"] == "zstd-per-kernel"
    at, stop = table["zstd_offset"], table["zstd_offset"] + table["zstd_size"]
    count, = struct.unpack_from("<I", data, at)
    at += 4
    frames = []
    for _ in range(count):
        size, = struct.unpack_from("<I", data, at)
        frames.append(data[at + 4:at + 4 + size])
        at += 4 + size
    assert at == stop
    found = {}
    for key, targets in table["toc"].items():
        for target, row in targets.items():
            assert target in table["gfx_arches"] and row["type"] == "hsaco"
            code = run("zstd", "-dc", data=frames[row["ordinal"]])
            assert len(code) == row["original_size"]
            found[key, target] = code
    return table, found


def memory(data):
    """What a loader makes of a library for x86-64, and its sections by name."""
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phnum, = struct.unpack_from("<H", data, 56)
    shnum, names = struct.unpack_from("<HH", data, 60)
    segments = [struct.unpack_from("<IIQQQQQQ", data, phoff + i * 56) for i in range(phnum)]
    image = bytearray(max(s[3] + s[6] for s in segments if s[0] == 1))
    for kind, _, offset, vaddr, _, filesz, _, _ in segments:
        if kind == 1:
            image[vaddr:vaddr + filesz] = data[offset:offset + filesz]
    at = next(s[3] for s in segments if s[0] == 2)
    tags = {}
    while struct.unpack_from("<Q", image, at)[0]:
        tag, value = struct.unpack_from("<QQ", image, at)
        tags[tag] = value
        at += 16
    for at in range(tags.get(7, 0), tags.get(7, 0) + tags.get(8, 0), 24):
        place, kind, symbol, addend = struct.unpack_from("<QIIq", image, at)
        if kind == 8:
            struct.pack_into("<Q", image, place, addend)
        elif kind == 1:
            value, = struct.unpack_from("<Q", image, tags[6] + symbol * 24 + 8)
            struct.pack_into("<Q", image, place, value + addend)
    sections = {}
    strings, = struct.unpack_from("<Q", data, shoff + names * 64 + 24)
    for i in range(shnum):
        name, kind, _, addr, _, size = struct.unpack_from("<IIQQQQ", data, shoff + i * 64)
        sections[data[strings + name:data.index(b"\0", strings + name)].decode()] = (addr, size, kind)
    return bytes(image), sections


def wrappers(image, sections):
    addr, size, _ = sections[".hipFatBinSegment"]
    for at in range(addr, addr + size, 24):
        yield struct.unpack_from("<4sIQQ", image, at)


def bundle(image, at):
    if image.startswith(b"CCOB", at):
        raw = decode(image, at)[0]
    else:
        assert image.startswith(b"__CLANG_OFFLOAD_BUNDLE__", at)
        raw = image[at:]
    return {i.split("--")[-1]: raw[o:o + n] for i, o, n in entries(raw, 0) if n and not i.startswith("host")}


def check(name, old, new, archives):
    (image, sections), (now, after) = memory(old), memory(new)
    where, size, _ = after[".rocm_kpack_ref"]
    mark, end = msgpack(now, where)
    assert end == where + size and after[".hip_fatbin"][2] == 8
    seen = set()
    for (magic, _, at, _), (magic2, version, at2, index) in zip(wrappers(image, sections), wrappers(now, after), strict=True):
        assert (magic, magic2, version, at2) == (b"FPIH", b"HIPK", 1, where), name
        objects = bundle(image, at)
        for target, code in objects.items():
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name),
                mark["kpack_search_paths"][0].replace("@GFXARCH@", target)))
            key = f"{mark['kernel_name']}#{index}"
            assert archives[path][key, target] == code, (name, key, target)
            seen.add((key, target))
    every = {k for found in archives.values() for k in found if k[0].rsplit("#", 1)[0] == mark["kernel_name"]}
    assert seen == every, sorted(every ^ seen)
    return len(seen)


def main():
    old, folder = zipfile.ZipFile(sys.argv[1]), sys.argv[2]
    host = zipfile.ZipFile(os.path.join(folder, os.path.basename(sys.argv[1])))
    archives, total, libraries = {}, 0, 0
    for path in glob.glob(os.path.join(folder, "*.whl")):
        wheel = zipfile.ZipFile(path)
        for name in wheel.namelist():
            if name.endswith(".kpack"):
                table, archives[name] = archive(wheel.read(name))
                assert table["gfx_arches"] == [name[:-6].rsplit("_", 1)[-1]]
    for name in host.namelist():
        data = host.read(name)
        if name in old.namelist() and data != old.read(name) and data[:4] == b"\x7fELF":
            total += check(name, old.read(name), data, archives)
            libraries += 1
    assert total == sum(len(a) for a in archives.values()) and total
    print(f"ok {os.path.basename(sys.argv[1])}: {total} objects of {libraries} libraries are found by their wrappers")


if __name__ == "__main__":
    main()
