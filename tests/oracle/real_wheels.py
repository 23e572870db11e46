#!/usr/bin/env python3
"""real_wheels.py ROCSMITH WHEEL...: what `rocsmith verify` says about wheels that others made, against
zipfile, readelf and packaging looking at the same files."""
import base64
import csv
import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROCSMITH = sys.argv[1]


def verify(path):
    done = subprocess.run([ROCSMITH, "verify", "--json", path], capture_output=True)
    assert done.returncode in (0, 1), done.stderr
    answer = json.loads(done.stdout)["wheels"][0]
    assert (answer["verdict"] == "pass") == (done.returncode == 0)
    return answer["findings"]


def record_of(z):
    """What RECORD gets wrong, by Python's own csv and hashlib: sets of paths."""
    name = next(n for n in z.namelist() if n.endswith(".dist-info/RECORD") and n.count("/") == 1)
    rows = {r[0]: r for r in csv.reader(io.StringIO(z.read(name).decode())) if r}
    files = {n for n in z.namelist() if not n.endswith("/")}
    bad_hash, bad_size, bare = set(), set(), set()
    for path in files & set(rows) - {name}:
        data, (_, digest, size) = z.read(path), rows[path]
        if size and int(size) != len(data):
            bad_size.add(path)
        if not digest:
            bare.add(path)
        elif digest != "sha256=" + base64.urlsafe_b64encode(
                hashlib.sha256(data).digest()).decode().rstrip("="):
            bad_hash.add(path)
    return {"record-hash-mismatch": bad_hash, "record-size-mismatch": bad_size,
        "record-absent-file": set(rows) - files, "record-unlisted-file": files - set(rows)}, bare


def readelf(path, *args):
    return subprocess.run(["readelf", "-W", *args, path], capture_output=True, text=True).stdout


def elf_of(z):
    """Newest glibc, needed libraries and RPATHs over all x86-64 libraries, by readelf."""
    newest, needed, rpaths = 0, set(), {}
    with tempfile.TemporaryDirectory() as tmp:
        file = pathlib.Path(tmp, "x")
        for name in z.namelist():
            if name.endswith("/") or z.open(name).read(20)[:4] != b"\x7fELF":
                continue
            file.write_bytes(z.read(name))
            if "X86-64" not in readelf(file, "-h"):
                continue
            versions = readelf(file, "-V").split("Version needs section")
            for minor in re.findall(r"Name: GLIBC_2\.(\d+)", versions[-1] if len(versions) > 1 else ""):
                newest = max(newest, int(minor))
            dynamic = readelf(file, "-d")
            needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
            for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
                rpaths[name] = path.split(":")
    return newest, needed, rpaths


def check(path):
    findings = verify(path)
    ids = {f["id"] for f in findings}
    where = lambda wanted: {f["path"] for f in findings if f["id"] == wanted}
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        assert not {i for i in ids if i.startswith("zip-") or i == "not-a-zip"}, ids
        wrong, bare = record_of(z)
        for kind, paths in wrong.items():
            assert where(kind) == paths, (kind, where(kind) ^ paths)
        assert bool(bare) == ("record-no-hash" in ids), bare
        newest, needed, rpaths = elf_of(z)
    promised = min((int(m) for m in re.findall(r"manylinux_2_(\d+)_", path.name)), default=None)
    if "manylinux2014" in path.name:
        promised = 17
    if "manylinux1_" in path.name:
        promised = 5
    if promised is not None:
        assert (newest > promised) == ("tag-glibc" in ids), (newest, promised, ids)
    said = " ".join(f["message"] for f in findings if f["id"] == "tag-glibc")
    assert newest <= (promised or 999) or f"glibc 2.{newest}," in said, (newest, said)
    for f in findings:
        if f["id"].startswith("needed-") and "'" in f["message"]:
            assert f["message"].split("'")[1] in needed, f
    strange = {n for n, p in rpaths.items() if any(e and e[0] == "/" and
        not e.startswith(("/opt/rocm", "/tmp")) for e in p)}
    # one finding stands for all files with the same element
    assert bool(strange) == ("rpath-absolute" in ids), strange
    empty = {n for n, p in rpaths.items() if "" in p}
    assert bool(empty) == ("rpath-empty" in ids), empty
    print(f"ok {path.name}: zipfile, csv and readelf agree ({len(findings)} findings)")


for argument in sys.argv[2:]:
    check(pathlib.Path(argument))
