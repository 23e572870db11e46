#!/usr/bin/env python3
"""device_code.py ROCSMITH FILE...: compares `rocsmith inspect --json --hash FILE` with an independent look.

Sections come from readelf, bundles are taken apart with struct, compressed ones are decoded by the
program zstd or by zlib, kernels are counted by readelf in every code object. Nothing is shared with
rocsmith's own code. Prints one line per file; exit status 1 on the first difference.
"""
import hashlib
import json
import re
import struct
import subprocess
import sys
import tempfile
import zlib

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"


def run(*argv, data=None):
    return subprocess.run(argv, input=data, stdout=subprocess.PIPE, check=True).stdout


def kernels(code):
    if code[:4] != b"\x7fELF":
        return 0
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        text = run("readelf", "--dyn-syms", "-W", file.name).decode()
    return len(re.findall(r"^ *\d+: .* (?!UND)\w+ \S+\.kd$", text, re.M))


def pack(parts):
    """A raw bundle of (id, bytes), each at a multiple of 4096; the host's entry is the first."""
    parts = [(b"host-x86_64-unknown-linux-gnu-", b""), *parts]
    at = 32 + sum(24 + len(i) for i, _ in parts)
    head, body = MAGIC + struct.pack("<Q", len(parts)), b""
    for name, data in parts:
        at += -at % 4096
        head += struct.pack("<QQQ", at, len(data), len(name)) + name
        body += bytes(-len(body) % 4096) + data
        at += len(data)
    return head + bytes(-len(head) % 4096) + body


def decode(data, at):
    """(decoded bytes, bytes taken) of the compressed bundle at an offset."""
    version, method = struct.unpack_from("<HH", data, at + 4)
    if version == 3:
        total, size, header = *struct.unpack_from("<QQ", data, at + 8), 32
    else:
        total, size, header = *struct.unpack_from("<II", data, at + 8), 24
    payload = data[at + header : at + total]
    raw = run("zstd", "-dc", "--long=31", data=payload) if method else zlib.decompress(payload)
    assert len(raw) == size, "decoded size"
    return raw, total, f"ccob{version}"


def entries(raw, at):
    (count,) = struct.unpack_from("<Q", raw, at + 24)
    pos = at + 32
    for _ in range(count):
        offset, size, idlen = struct.unpack_from("<QQQ", raw, pos)
        name = raw[pos + 24 : pos + 24 + idlen].decode()
        pos += 24 + idlen
        yield name, offset, size


def bundles(data):
    """Every bundle of a section: (encoding, bytes of the bundle)."""
    at = 0
    while at < len(data):
        if data.startswith(b"CCOB", at):
            raw, taken, encoding = decode(data, at)
            yield encoding, raw
        elif data.startswith(MAGIC, at):
            taken = max(offset + size for _, offset, size in entries(data, at))
            yield "raw", data[at : at + taken]
        else:
            taken = 1
            assert data[at] == 0, "bytes between bundles"
        at += taken


def device_sections(path):
    data = open(path, "rb").read()
    if data[:4] != b"\x7fELF":
        return "bundle", [data]
    found = []
    for line in run("readelf", "-SW", path).decode().splitlines():
        m = re.match(r" *\[ *\d+\] \.hip_fatbin +PROGBITS +\w+ (\w+) (\w+)", line)
        if m:
            start, size = (int(x, 16) for x in m.groups())
            found.append(data[start : start + size])
    return "elf", found


def expected(path):
    form, sections = device_sections(path)
    objects, number = [], 0
    for section in sections:
        for encoding, raw in bundles(section):
            for name, offset, size in entries(raw, 0):
                if name.startswith("host"):
                    continue
                code = raw[offset : offset + size]
                objects.append({"target": name.split("--")[-1], "bundle": number,
                    "encoding": encoding, "size": size, "kernels": kernels(code),
                    "sha256": hashlib.sha256(code).hexdigest()})
            number += 1
    return form, objects


def check(rocsmith, path):
    ours = json.loads(run(rocsmith, "inspect", "--json", "--hash", path))
    assert ours["schema"] == "rocsmith.inspect/1" and not ours["findings"], ours["findings"]
    form, objects = expected(path)
    assert objects, "no device code to compare"
    (file,) = ours["files"]
    assert file["format"] == form
    assert len(file["objects"]) == len(objects), (len(file["objects"]), len(objects))
    for got, want in zip(file["objects"], objects):
        stored = got.pop("stored")
        assert got == want, f"\n got {got}\nwant {want}"
        assert stored == got["size"] or got["encoding"] != "raw"
    return len(objects), sum(o["kernels"] for o in objects)


def main():
    for path in sys.argv[2:]:
        try:
            objects, count = check(sys.argv[1], path)
        except AssertionError as error:
            print(f"not ok {path}: {error}")
            return 1
        print(f"ok {path.rsplit('/', 1)[-1]}: {objects} objects and {count} kernels agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
