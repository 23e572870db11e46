#!/usr/bin/env python3
"""wheel_archive.py ROCSMITH TOOLS DIR WHEEL...: `rocsmith wheel` beside Python's `wheel`, zipfile, pip and uv (of
the environment TOOLS), on wheels that others made. Works in DIR."""
import base64
import csv
import hashlib
import io
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import zipfile

ROCSMITH, TOOLS, DIR = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def run(*words, status=0, env=None, umask=-1):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, umask=umask,
        env={**os.environ, **(env or {})}, check=False)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def ours(*words, **how):
    return pathlib.Path(run(ROCSMITH, "wheel", *words, **how).splitlines()[-1])


def python(*words):
    return run(TOOLS / "bin/python", "-m", *words)


def only(folder):
    found = list(folder.iterdir())
    assert len(found) == 1, found
    return found[0]


def wheel_file(path):
    return next(n for n in zipfile.ZipFile(path).namelist() if n.endswith(".dist-info/WHEEL"))


def fresh(name):
    folder = DIR / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def tree(top):
    """Files with what is in them and whether they are programs."""
    return {str(p.relative_to(top)): (p.read_bytes(), bool(p.stat().st_mode & stat.S_IXUSR))
        for p in top.rglob("*") if not p.is_dir()}


def record(path):
    """RECORD's rows, each proved by hashlib, of an archive that zipfile finds whole."""
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        names = z.namelist()
        self = next(n for n in names if n.endswith(".dist-info/RECORD") and n.count("/") == 1)
        rows = {tuple(r) for r in csv.reader(io.StringIO(z.read(self).decode())) if r}
        for name, digest, size in rows - {(self, "", "")}:
            data = z.read(name)
            assert digest == "sha256=" + base64.urlsafe_b64encode(
                hashlib.sha256(data).digest()).decode().rstrip("="), name
            assert not size or int(size) == len(data), name
        assert {r[0] for r in rows} == {n for n in names if n[-1] != "/"}
        return rows


def form(path, copied=False):
    """What a wheel of ours looks like, whatever is in it."""
    with zipfile.ZipFile(path) as z:
        infos = z.infolist()
        places = [(".dist-info/" in i.filename, i.filename) for i in infos[:-1]]
        assert places == sorted(places) and infos[-1].filename.endswith("/RECORD")
        for i in infos:
            assert not i.flag_bits & 8 and not i.is_dir() and not i.extra, i
            assert i.date_time == (1980, 1, 1, 0, 0, 0) and (copied or i.compress_size <= i.file_size), i
            assert i.external_attr >> 16 in (0o100644, 0o100755), i


def raw(path):
    """Compressed bytes of each member."""
    out = {}
    with open(path, "rb") as f, zipfile.ZipFile(f) as z:
        for i in z.infolist():
            f.seek(i.header_offset + 26)
            f.seek(sum(int.from_bytes(f.read(2), "little") for _ in range(2)), 1)
            out[i.filename] = f.read(i.compress_size)
    return out


def findings(path):
    done = subprocess.run([ROCSMITH, "verify", "-q", path], capture_output=True, text=True, check=False)
    return {line.rsplit("[", 1)[1].split("]")[0] for line in done.stdout.splitlines() if "[" in line}


def accepted(path, name):
    """pip and uv install it; Python's wheel unpacks it."""
    python("wheel", "unpack", "-d", fresh("accepted-unpack"), path)
    python("pip", "install", "-q", "--no-deps", "--no-index", "--disable-pip-version-check",
        "--target", fresh("accepted-pip"), path)
    run(TOOLS / "bin/uv", "pip", "install", "-q", "--no-deps", "--offline", "--python",
        TOOLS / "bin/python", "--target", fresh("accepted-uv"), path)
    for folder in ("accepted-pip", "accepted-uv"):
        info = list((DIR / folder).glob("*.dist-info"))
        assert [p.name.split("-")[0] for p in info] == [name], info


def there_and_back(path):
    mine, theirs = fresh("mine"), fresh("theirs")
    run(ROCSMITH, "wheel", "unpack", "-q", "-o", mine, path)
    python("wheel", "unpack", "-d", theirs, path)
    assert only(mine).name == only(theirs).name
    assert tree(only(mine)) == tree(only(theirs))
    packed = ours("pack", "-o", fresh("packed"), only(mine))
    python("wheel", "pack", "-d", fresh("packed-theirs"), only(theirs))
    peer = only(DIR / "packed-theirs")
    assert packed.name == peer.name
    assert record(packed) == record(path) == record(peer)
    form(packed)
    assert packed.stat().st_size <= peer.stat().st_size * 1.01 + 200, "larger than the peer's"
    assert findings(packed) - findings(path) <= {"wheel-tags"}, findings(packed)
    return packed, peer


def the_same_everywhere(packed):
    source = only(DIR / "mine")
    for words, env, umask in ((["-j1"], {"TZ": "Asia/Tokyo"}, 0o077), (["-j3"], {}, 0), (["-j64"], {}, 0o022)):
        again = ours("pack", *words, "-o", fresh("again"), source, env=env, umask=umask)
        assert again.read_bytes() == packed.read_bytes(), words
    run(ROCSMITH, "wheel", "repro", packed)
    run(ROCSMITH, "wheel", "repro", packed, again, packed)
    dated = ours("pack", "-o", fresh("again"), source, env={"SOURCE_DATE_EPOCH": "1700000001"})
    with zipfile.ZipFile(dated) as z:
        assert {i.date_time for i in z.infolist()} == {(2023, 11, 14, 22, 13, 20)}
    run(ROCSMITH, "wheel", "repro", dated)
    run(ROCSMITH, "wheel", "repro", packed, dated, status=1)


def retagged(path):
    """Beside `wheel tags`: the same name, the same RECORD; members that stay keep their bytes."""
    words = ["--build", "7", "--platform-tag", "linux_x86_64"]
    copy = fresh("theirs") / path.name
    shutil.copy(path, copy)
    python("wheel", "tags", "--remove", *words, copy)
    peer, mine = only(DIR / "theirs"), ours("retag", *words, "-o", fresh("mine"), path)
    assert mine.name == peer.name
    same = lambda rows: {r for r in rows if not r[0].endswith("/WHEEL")}
    assert same(record(mine)) == same(record(peer))
    old, new = raw(path), raw(mine)
    changed = {n for n in new if new[n] != old[n]}
    assert {n.rsplit("/", 1)[1] for n in changed} <= {"WHEEL", "RECORD"}, changed
    at = path
    for words in (["--python-tag", "+py3.py2", "--abi-tag=+abi3.cp39"], ["--platform-tag", "+linux_x86_64"],
            ["--python-tag=-py2", "--abi-tag=-cp39.none2"], ["--platform-tag=-linux_x86_64"]):
        copy = fresh("theirs") / at.name
        shutil.copy(at, copy)
        python("wheel", "tags", "--remove", *words, copy)
        other, peer = ours("retag", *words, "-o", fresh("more"), at), only(DIR / "theirs")
        sets = lambda w: [set(part.split(".")) for part in w.stem.split("-")[-3:]]  # it sorts what it leaves, too
        assert sets(other) == sets(peer), (other, peer)
        tags = lambda w: {line for line in zipfile.ZipFile(w).read(wheel_file(w)).splitlines() if line.startswith(b"Tag:")}
        assert tags(other) == tags(peer), (tags(other), tags(peer))
        shutil.move(peer, fresh("step"))
        at = only(DIR / "step")
    local = ours("retag", "--local-version", "rocm7.2", "-o", fresh("local"), path)
    record(local)
    form(local, copied=True)
    version = path.name.split("-")[1]
    with zipfile.ZipFile(local) as z:
        tops = {n.split("/")[0] for n in z.namelist()}
        assert not any(f"-{version}." in t for t in tops), tops
        meta = next(z.read(n).decode() for n in z.namelist() if n.endswith(".dist-info/METADATA"))
    assert f"\nVersion: {version}+rocm7.2\n" in meta.replace("\r", "")
    back = ours("retag", "--local-version", "", "-o", fresh("back"), local)
    assert {n: d for n, d in raw(back).items() if "dist-info" not in n} == {
        n: d for n, d in old.items() if "dist-info" not in n and n[-1] != "/"}
    assert {r for r in record(back) if not r[0].endswith("/WHEEL")} == same(record(path))
    return local


for argument in sys.argv[4:]:
    wheel = pathlib.Path(argument)
    packed, peer = there_and_back(wheel)
    the_same_everywhere(packed)
    local = retagged(wheel)
    print(f"ok {wheel.name}: unpacked, packed and retagged as Python's wheel does it "
        f"({packed.stat().st_size} bytes, its {peer.stat().st_size})")
    if "cp312" not in wheel.name:
        accepted(packed, wheel.name.split("-")[0])
        accepted(local, wheel.name.split("-")[0])
        print(f"ok {wheel.name}: pip, uv and Python's wheel accept what we packed and retagged")
