#!/usr/bin/env python3
"""placement.py WHEEL: "KIND: FLAGS of the segment, which one" for .hip_fatbin of each library: where its linker put it."""
import mmap
import struct
import sys
import tempfile
import zipfile

z = zipfile.ZipFile(sys.argv[1])
for item in z.infolist():
    with z.open(item) as f:
        if f.read(4) != b"\x7fELF":
            continue
    with tempfile.TemporaryDirectory() as folder, open(z.extract(item, folder), "rb") as f:
        data = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        phoff, shoff = struct.unpack_from("<QQ", data, 32)
        phnum, = struct.unpack_from("<H", data, 56)
        shnum, strings = struct.unpack_from("<HH", data, 60)
        sections = [struct.unpack_from("<IIQQQQ", data, shoff + 64 * i) for i in range(shnum)]
        heads = [struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * i) for i in range(phnum)]
        loads = [h for h in heads if h[0] == 1]
        for s in sections:
            name = data[sections[strings][4] + s[0]:][:12] if s[0] < sections[strings][5] else b""
            if name != b".hip_fatbin\0":
                continue
            n = next(i for i, h in enumerate(loads) if h[2] <= s[4] < h[2] + h[5])
            flags = "".join(c for bit, c in ((4, "R"), (2, "W"), (1, "E")) if loads[n][1] & bit)
            kind = "writable" if "W" in flags else "with code" if "E" in flags else "first" if not n else "own"
            print(f"{kind}: {flags}, segment {n} of {len(loads)}")
