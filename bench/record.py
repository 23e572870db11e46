#!/usr/bin/env python3
"""record.py [--chunks] WHEEL: RECORD against the members, by Python's zipfile and hashlib; members whole, or in pieces."""
import base64
import csv
import hashlib
import io
import sys
import zipfile


def digest_of(z, name, algorithm, chunks):
    if not chunks:
        data = z.read(name)
        return hashlib.new(algorithm, data).digest(), len(data)
    running, size = hashlib.new(algorithm), 0
    with z.open(name) as member:
        while piece := member.read(1 << 20):
            running.update(piece)
            size += len(piece)
    return running.digest(), size


with zipfile.ZipFile(sys.argv[-1]) as wheel:
    record = next(n for n in wheel.namelist() if n.endswith(".dist-info/RECORD"))
    for path, said, length in csv.reader(io.TextIOWrapper(wheel.open(record), "utf-8")):
        kind, _, want = said.partition("=")
        if not said:
            continue
        digest, count = digest_of(wheel, path, kind, "--chunks" in sys.argv)
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != want or count != int(length):
            sys.exit(f"{path}: not what RECORD says")
