#!/usr/bin/env python3
"""hostile.py ROCSMITH DIR: makes wheels that attack or confuse whoever unpacks them and compares what
`rocsmith verify --json` finds with what is in them. Nothing may be written beside them, no run may take
long, and every one must fail with exit status 1. `wheel unpack` and `wheel retag` refuse them with 2."""
import base64
import hashlib
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import time
import warnings
import zipfile
import zlib

warnings.simplefilter("ignore")  # zipfile warns about the names that are written twice on purpose

ROCSMITH, DIR = sys.argv[1], pathlib.Path(sys.argv[2])
INFO = "demo-1.0.dist-info/"


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def record(files):
    rows = [f"{name},sha256={digest(data)},{len(data)}" for name, data in files]
    return "\n".join(rows + [INFO + "RECORD,,", ""]).encode()


def parts(extra=()):
    """Members of a right wheel, and more."""
    files = list(extra)
    files += [(INFO + "METADATA", b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"),
        (INFO + "WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")]
    return files + [(INFO + "RECORD", record(files))]


def wheel(extra=(), infos=None):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in parts(extra):
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o100644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            (infos or (lambda i: None))(info)
            info.filename = name
            z.writestr(info, data)
    return out.getvalue()


def symlink(info):
    if info.filename == "link":
        info.external_attr = 0o120777 << 16


def patched(data, name, at, fmt, value):
    """Changes a field of the central header of a member."""
    data = bytearray(data)
    place = data.rindex(name.encode()) - 46
    assert data[place:place + 4] == b"PK\1\2"
    struct.pack_into(fmt, data, place + at, value)
    return bytes(data)


def overlapping(copies):
    """Many names for one kernel of compressed zeros, as in 'A better zip bomb' (Fifield, 2019)."""
    raw = bytes(1 << 24)
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = squeeze.compress(raw) + squeeze.flush()
    crc, out, central = zlib.crc32(raw), bytearray(), bytearray()
    out += struct.pack("<LHHHLLLLHH", 0x04034B50, 20, 0, 8, 0x210000, crc, len(body), len(raw), 1, 0)
    out += b"0" + body
    for i in range(copies):
        name = b"%d" % i
        central += struct.pack("<LHHHHLLLLHHHHHLL", 0x02014B50, 0x314, 20, 0, 8, 0x210000, crc,
            len(body), len(raw), len(name), 0, 0, 0, 0, 0o100644 << 16, 0) + name
    end = struct.pack("<LHHHHLLH", 0x06054B50, 0, 0, copies, copies, len(central), len(out), 0)
    return bytes(out + central + end)


def quoted(copies):
    """Each local header lies inside the data of the one before: every member contains the rest."""
    raw = bytes(1 << 20)
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    kernel = squeeze.compress(raw) + squeeze.flush()
    blob, central, crc = kernel, [], zlib.crc32(raw)
    content = raw
    for i in reversed(range(copies)):
        name = b"%03d" % i
        head = struct.pack("<LHHHLLLLHH", 0x04034B50, 20, 0, 8, 0x210000, crc, len(blob), len(content),
            len(name), 0) + name
        central.append((name, crc, len(blob), len(content), head))
        # a stored block quotes the header, then the compressed data goes on
        blob = struct.pack("<BHH", 0, len(head), 0xFFFF ^ len(head)) + head + blob
        content = head + content
        crc = zlib.crc32(content)
    out, directory = bytearray(), bytearray()
    offset = 0
    for name, crc, stored, size, head in reversed(central):
        out += head if not out else struct.pack("<BHH", 0, len(head), 0xFFFF ^ len(head)) + head
        directory += struct.pack("<LHHHHLLLLHHHHHLL", 0x02014B50, 0x314, 20, 0, 8, 0x210000, crc, stored,
            size, len(name), 0, 0, 0, 0, 0o100644 << 16, offset) + name
        offset = len(out) + 5
    out += kernel
    end = struct.pack("<LHHHHLLH", 0x06054B50, 0, 0, copies, copies, len(directory), len(out), 0)
    return bytes(out + directory + end)


def doubled():
    """Two archives in one file: Python shows the second, a stream reader the first."""
    return wheel([("a.py", b"evil = 1\n")]) + wheel([("a.py", b"evil = 0\n")])


BASE = wheel([("demo.py", b"x = 1\n" * 100)])
CASES = {
    "parent": (wheel([("../../evil.py", b"x")]), "zip-unsafe-name"),
    "absolute": (wheel([("/tmp/evil.py", b"x")]), "zip-unsafe-name"),
    "backslash": (wheel([("..\\..\\evil.py", b"x")]), "zip-unsafe-name"),
    "drive": (wheel([("C:/evil.py", b"x")]), "zip-unsafe-name"),
    "inner": (wheel([("demo/../../evil.py", b"x")]), "zip-unsafe-name"),
    "symlink": (wheel([("link", b"/etc/passwd")], symlink), "zip-symlink"),
    "twice": (wheel([("demo.py", b"x = 1\n"), ("demo.py", b"x = 2\n")]), "zip-duplicate-name"),
    "filedir": (wheel([("demo", b"x"), ("demo/a.py", b"x")]), "zip-duplicate-name"),
    "encrypted": (patched(BASE, "demo.py", 8, "<H", 1), "zip-encrypted"),
    "bzip2": (patched(BASE, "demo.py", 10, "<H", 12), "zip-method"),
    "sizes": (patched(BASE, "demo.py", 24, "<L", 0x7FFFFFFF), "zip-size"),
    "smaller": (patched(BASE, "demo.py", 24, "<L", 10), "zip-content"),
    "larger": (patched(BASE[:22] + struct.pack("<L", 10) + BASE[26:], "demo.py", 24, "<L", 10), "zip-content"),
    "crc": (patched(BASE, "demo.py", 16, "<L", 0), "zip-content"),
    "overlap": (overlapping(30000), "zip-overlap"),
    "quoted": (quoted(200), "zip-overlap"),
    "doubled": (doubled(), "zip-gap"),
    "prefix": (b"#!/usr/bin/python3\n" + BASE, "zip-gap"),
    "trailing": (BASE + bytes(1000), "zip-trailing-bytes"),
    "cut": (BASE[:-1], "not-a-zip"),
    "half": (BASE[:len(BASE) // 2], "not-a-zip"),
    "empty": (b"", "not-a-zip"),
    "tar": (b"demo/\0" + bytes(600), "not-a-zip"),
}


def verify(path):
    start = time.monotonic()
    done = subprocess.run([ROCSMITH, "verify", "--json", path], capture_output=True, timeout=60)
    spent = time.monotonic() - start
    if done.returncode != 1:
        sys.exit(f"not ok {path}: exit status {done.returncode}: {done.stderr.decode()}")
    answer = json.loads(done.stdout)["wheels"][0]
    assert answer["verdict"] == "fail"
    return {f["id"] for f in answer["findings"]}, spent


def refuse(path):
    """Nothing is made of it, not even a folder."""
    out = path.parent / "out"
    for words in (["unpack"], ["retag", "--build", "1"]):
        done = subprocess.run([ROCSMITH, "wheel", *words, "-o", out, path], capture_output=True, timeout=60)
        if done.returncode != 2 or os.path.lexists(out):
            sys.exit(f"not ok {path}: {words} ends with {done.returncode}: {done.stderr.decode()}")


DIR.mkdir(parents=True, exist_ok=True)
slowest = 0
for name, (data, want) in CASES.items():
    path = DIR / name / "demo-1.0-py3-none-any.whl"
    path.parent.mkdir()
    path.write_bytes(data)
    got, spent = verify(path)
    if want not in got:
        sys.exit(f"not ok {name}: {want} is not among {sorted(got)}")
    if spent > 10:
        sys.exit(f"not ok {name}: took {spent:.1f} s")
    slowest = max(slowest, spent)
    refuse(path)
left = [str(p) for p in DIR.rglob("*") if p.is_file() and p.suffix != ".whl"]
assert not left and not os.path.exists("/tmp/evil.py"), left
print(f"ok {len(CASES)} hostile archives are refused, and fail, each for its own reason (slowest {slowest:.2f} s)")

# the right one passes, so it is not hostility to everything
path = DIR / "demo-1.0-py3-none-any.whl"
path.write_bytes(BASE)
done = subprocess.run([ROCSMITH, "verify", "--json", path], capture_output=True, check=True)
assert json.loads(done.stdout)["wheels"][0] == {"path": str(path), "verdict": "pass", "findings": []}
print("ok the same wheel without the attack passes")
