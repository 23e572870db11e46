#!/usr/bin/env python3
"""amd_set.py FAT.whl DIR [--counted] [--together]: DIR gets a host wheel and device wheels out of a fat one, as AMD's splitter
(rocm-kpack, wheel_splitter) makes them by its public description: program headers and the mark behind the end of a
library, all wrappers led to the mark, whole pages of .hip_fatbin taken out and its segment in two; archives of one target;
METADATA with extras. Nothing of rocsmith is used or known. --counted: wrappers are numbered one by one and objects per
target, as that tool does it whatever the bundles are. --together: archives are in the host wheel."""
import os
import struct
import sys
import zipfile

from device_code import entries, run
from gpus_wheel import wheel

PAGE = 4096


def pack(value):
    """MessagePack of numbers, texts, lists and maps."""
    if isinstance(value, int):
        return bytes([value]) if value < 128 else b"\xce" + value.to_bytes(4, "big")
    if isinstance(value, str):
        data = value.encode()
        return (bytes([0xa0 | len(data)]) if len(data) < 32 else b"\xd9" + bytes([len(data)])) + data
    if isinstance(value, list):
        return b"\xdc" + len(value).to_bytes(2, "big") + b"".join(map(pack, value))
    return b"\xde" + len(value).to_bytes(2, "big") + b"".join(pack(k) + pack(v) for k, v in value.items())


def sections(data):
    shoff, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    table = [list(struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * 64)) for i in range(count)]
    at = table[names][4]
    return table, [bytes(data[at + s[0]:data.index(b"\0", at + s[0])]).decode() for s in table], names


def host_part(data, name, pattern, counted):
    """(the library without device code, [(number, target, object)])"""
    data = bytearray(data)
    table, names, strings = sections(data)
    fat, wrap = table[names.index(".hip_fatbin")], table[names.index(".hipFatBinSegment")]
    phoff, = struct.unpack_from("<Q", data, 32)
    phnum, = struct.unpack_from("<H", data, 56)
    heads = [list(struct.unpack_from("<IIQQQQQQ", data, phoff + i * 56)) for i in range(phnum)]
    symbols = next((s for s in table if s[1] == 11), None)
    # where each wrapper leads to, by the relocations
    leads, places = {}, {}
    for s in table:
        for at in range(s[4], s[4] + s[5], 24) if s[1] == 4 else ():
            place, info, addend = struct.unpack_from("<QQq", data, at)
            kind, symbol = info & 0xffffffff, info >> 32
            assert kind in (8, 1, 6, 7, 37, 16), kind
            value = addend if kind == 8 else struct.unpack_from("<Q", data, symbols[4] + symbol * 24 + 8)[0] + addend
            if wrap[3] <= place < wrap[3] + wrap[5]:
                leads[(place - 8 - wrap[3]) // 24], places[(place - 8 - wrap[3]) // 24] = value, at
    order = sorted(set(leads.values()))
    numbers = {w: w if counted else order.index(v) for w, v in leads.items()}
    found, seen = [], {}
    for number, addr in enumerate(order):
        at = addr - fat[3] + fat[4]
        for target, offset, size in entries(data, at):
            gpu = target.partition("amdhsa--")[2]
            if gpu and size:
                n = seen[gpu] = seen.get(gpu, -1) + 1
                found.append((n if counted else number, gpu, bytes(data[at + offset:at + offset + size])))
    # the mark, then section names and headers, then program headers, each behind the end
    mark = pack({"kpack_search_paths": [pattern], "kernel_name": name})
    top = -(-max(h[3] + h[6] for h in heads if h[0] == 1) // PAGE) * PAGE
    for w, at in places.items():
        struct.pack_into("<QQ", data, at + 8, 8, top)
        file = wrap[4] + w * 24
        struct.pack_into("<I", data, file, 0x4b504948)
        struct.pack_into("<Q", data, file + 16, numbers[w])
    first, last = -(-fat[4] // PAGE) * PAGE, (fat[4] + fat[5]) // PAGE * PAGE
    gone = max(last - first, 0)
    if gone:
        del data[first:last]
    moved = lambda offset: offset - gone if gone and offset >= last else min(offset, first) if gone and offset > first else offset
    load = next(h for h in heads if h[0] == 1 and h[2] <= fat[4] < h[2] + h[5])
    split = []
    for h in heads:
        if h is load and gone:
            end = h[2] + h[5]
            split.append([1, h[1], h[2], h[3], h[3], first - h[2], first - h[2], h[7]])
            if end > last:
                split.append([1, h[1], first, h[3] + last - h[2], h[3] + last - h[2], end - last, h[6] - (last - h[2]), PAGE])
        else:
            h[2] = moved(h[2])
            split.append(h)
    fill = lambda: data.extend(bytes(-len(data) % PAGE))
    fill()
    at, size = len(data), len(split) + 2
    table_at = at + -(-len(mark) // PAGE) * PAGE
    split.append([1, 4, at, top, top, len(mark), len(mark), PAGE])
    where = top + table_at - at
    split.append([1, 4, table_at, where, where, size * 56, size * 56, PAGE])
    for h in split:
        if h[0] == 6:
            h[2:7] = [table_at, where, where, size * 56, size * 56]
    split.sort(key=lambda h: (h[0] != 6, h[0] == 1 and h[3]) if h[0] in (1, 6) else (2, 0))
    data += mark
    fill()
    assert len(data) == table_at
    data += b"".join(struct.pack("<IIQQQQQQ", *h) for h in split)
    struct.pack_into("<Q", data, 32, table_at)
    struct.pack_into("<H", data, 56, size)
    for s in table:
        s[4] = moved(s[4])
    fat[1] = 8 if gone else fat[1]
    text = bytes(data[table[strings][4]:table[strings][4] + table[strings][5]]) + b".rocm_kpack_ref\0"
    table.append([table[strings][5], 1, 2, top, at, len(mark), 0, 0, 1, 0])
    table[strings][4:6] = [len(data), len(text)]
    data += text + bytes(-(len(data) + len(text)) % 8)
    struct.pack_into("<Q", data, 40, len(data))
    struct.pack_into("<H", data, 60, len(table))
    return bytes(data + b"".join(struct.pack("<IIQQQQIIQQ", *s) for s in table)), found


def archive(group, target, rows):
    toc, frames = {}, b""
    for i, (key, code) in enumerate(rows):
        frame = run("zstd", "-3", "-c", data=code)
        frames += struct.pack("<I", len(frame)) + frame
        toc[key] = {target: {"type": "hsaco", "ordinal": i, "original_size": len(code)}}
    blob = struct.pack("<I", len(rows)) + frames
    head = b"KPAK" + struct.pack("<IQ", 1, 64 + len(blob)) + bytes(48)
    return head + blob + pack({"format_version": 1, "group_name": group, "gfx_arch_family": target,
        "gfx_arches": [target], "compression_scheme": "zstd-per-kernel", "zstd_offset": 64, "zstd_size": len(blob), "toc": toc})


def main():
    path, out, flags = sys.argv[1], sys.argv[2], sys.argv[3:]
    file = os.path.basename(path)
    project, version, rest = file.split("-", 2)
    old = zipfile.ZipFile(path)
    members, packs = {}, {}
    for name in old.namelist():
        data = old.read(name)
        if ".dist-info/" in name:
            continue
        if data[:4] == b"\x7fELF" and ".hip_fatbin" in sections(data)[1]:
            root, _, below = name.partition("/")
            up = "../" * (below.count("/"))
            data, found = host_part(data, below, f"{up}.kpack/{project}_@GFXARCH@.kpack", "--counted" in flags)
            for number, gpu, code in found:
                packs.setdefault((root, gpu), []).append((f"{below}#{number}", code))
        members[name] = data
    gpus = sorted({gpu.split(":")[0] for _, gpu in packs})
    archives = {gpu: {f"{root}/.kpack/{project}_{t}.kpack": archive(project, t, rows)
        for (root, t), rows in packs.items() if t.split(":")[0] == gpu} for gpu in gpus}
    head, _, body = old.read(f"{project}-{version}.dist-info/METADATA").decode().partition("\n\n")
    head += "\nRequires-Dist: rocm-bootstrap"
    for gpu in gpus:
        head += f'\nProvides-Extra: device-{gpu}\nRequires-Dist: amd-{project}-device-{gpu} == {version}; extra == "device-{gpu}"'
    head += "\nProvides-Extra: device-all" + "".join(f'\nRequires-Dist: amd-{project}-device-{g} == {version}; extra == "device-all"' for g in gpus)
    os.makedirs(out)
    if "--together" in flags:
        for gpu in gpus:
            members.update(archives[gpu])
    wheel(out, members, file, f"{head}\n\n{body}".encode())
    for gpu in gpus if "--together" not in flags else ():
        name = f"amd_{project}_device_{gpu.replace('-', '_')}"
        wheel(out, archives[gpu], f"{name}-{version}-{rest}",
            f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\nRequires-Dist: {project} == {version}\n".encode())


if __name__ == "__main__":
    main()
