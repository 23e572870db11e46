#!/usr/bin/env python3
"""inspect-wheel.py WHEEL: the least that a reader in Python does to list device code: unpacks what begins as ELF files do, by
zipfile, and searches for the magics of bundles and code objects at every multiple of 8."""
import re
import sys
import zipfile

MAGIC = re.compile(b"__CLANG_OFFLOAD_BUNDLE__|CCOB[\\x01-\\x03]\\0|\\x7fELF\\x02\\x01\\x01")
found = 0
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        with wheel.open(name) as member:
            rest, at = member.read(4), 0
            if rest != b"\x7fELF":
                continue
            while piece := member.read(1 << 20):
                piece = rest + piece
                found += sum(m.start() < len(piece) - 24 and (at + m.start()) % 8 == 0 for m in MAGIC.finditer(piece))
                at += len(piece) - 24
                rest = piece[-24:]
print(found)
