#!/usr/bin/env python3
"""Makes a small Debian archive of one source package, `tiny`, signed by a key of its own, for tests of
`--source debian:sid/tiny`.

    source_archive.py DIR [--version V] [--expired] [--other-key] [--break KIND] [--hostile KIND]

DIR/archive is the mirror (file://), DIR/key.gpg its keyring, DIR/archive/pool/tiny_V.dsc what dpkg-source
takes. The sources have what rocsmith knows a PyTorch by, three archives of upstream's (one to be put into
a folder, one that has a debian/ of its own) and patches of all kinds: moved, new, executable, removing.
"""
import argparse
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

from sdk_archive import date, filler, sign

LINES = [f"line {i}\n" for i in range(200)]
# path: text, ("link", target) or ("run", text)
UPSTREAM = {
    "setup.py": "raise SystemExit('nobody runs this')\n", "version.txt": "2.6.0\n",
    "torch/csrc/Module.cpp": "int module;\n", "c10/core/Device.h": "#pragma once\n",
    "CMakeLists.txt": "".join(LINES), "tools/run.sh": ("run", "#!/bin/sh\necho run\n"),
    "docs/up": ("link", "../tools/run.sh"), "docs/dangling": ("link", "nowhere"),
    "gone/only.txt": "one\ntwo\n", "kept/gone.txt": "x\n", "kept/stays.txt": "y\n",
    "no-newline": "last", "debian/upstream-has-this": "and it must not stay\n",
    "data.bin": filler("tiny", 300000),
}
EXTRA = {"extra-3/README": "extra\n", "extra-3/sub/file": "sub\n"}


def changed():
    """What the patches make of it: name of a patch, and {path: text or None}."""
    moved = list(LINES)
    moved[5:5] = ["inserted a\n", "inserted b\n"]
    later = list(moved)
    later[150] = "changed by the second\n"
    last = list(later)
    last[60:62] = []
    return [
        ("0001-insert.patch", {"CMakeLists.txt": "".join(moved)}),
        ("sub/0002-later.patch", {"CMakeLists.txt": "".join(later), "new/deep/file": "new\nfile\n"}),
        ("0003-remove.patch", {"gone/only.txt": None, "kept/gone.txt": None, "no-newline": "last\n",
            "CMakeLists.txt": "".join(last)}),
    ]


def add(tar, name, what, top):
    t = tarfile.TarInfo(f"{top}/{name}" if top else name)
    t.mode, t.mtime = 0o644, 1700000000
    data = b""
    if isinstance(what, tuple) and what[0] == "link":
        t.type, t.linkname, t.mode = tarfile.SYMTYPE, what[1], 0o777
    else:
        if isinstance(what, tuple):
            t.mode, what = 0o755, what[1]
        data = what.encode() if isinstance(what, str) else what
    t.size = len(data)
    tar.addfile(t, io.BytesIO(data))


def make_tar(path, files, top, hostile=None):
    with tarfile.open(path, "w:" + path.suffix[1:], format=tarfile.GNU_FORMAT) as tar:
        for name, what in files.items():
            add(tar, name, what, top)
        for t, data in hostile or []:
            tar.addfile(t, io.BytesIO(data))


def hostile_members(kind, top):
    t = tarfile.TarInfo(f"{top}/evil")
    t.mode, t.size = 0o644, 5
    if kind == "dotdot":
        t.name = f"{top}/../../../rocsmith-test-evil"
    elif kind == "absolute":
        t.name = "/tmp/rocsmith-test-evil"
    elif kind == "control":
        t.name = f"{top}/a\nb"
    if kind in ("dotdot", "absolute", "control"):
        return [(t, b"evil\n")]
    t.size = 0
    kinds = {"device": tarfile.CHRTYPE, "fifo": tarfile.FIFOTYPE, "hardlink": tarfile.LNKTYPE}
    t.type = kinds.get(kind, tarfile.SYMTYPE)
    t.linkname = {"hardlink": f"{top}/none", "symlink": "/etc/passwd", "climb": "../../x",
        "leave": "../beside"}.get(kind, "")
    if kind != "behind":
        return [(t, b"")]
    t.linkname = "tools"  # a link that is fine, and a file behind it
    below = tarfile.TarInfo(f"{top}/evil/file")
    below.size = 5
    return [(t, b""), (below, b"evil\n")]


# ---- patches ----
def put(root, files):
    for name, what in files.items():
        path = root / name
        if what is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(what, tuple) and what[0] == "link":
            os.symlink(what[1], path)
        else:
            text = what[1] if isinstance(what, tuple) else what
            path.write_bytes(text.encode() if isinstance(text, str) else text)


def make_patches(broken):
    """debian/patches/..., by diff(1); the middle one is then moved away from its place."""
    made = {"debian/patches/series": "# comment\n"}
    with tempfile.TemporaryDirectory() as work:
        old, new = Path(work) / "tiny.orig", Path(work) / "tiny"
        put(old, UPSTREAM)
        put(new, UPSTREAM)
        for name, files in changed():
            put(new, files)
            r = subprocess.run(["diff", "-urN", "--no-dereference", "tiny.orig", "tiny"], cwd=work,
                stdout=subprocess.PIPE, check=False)
            text = re.sub(r"^(---|\+\+\+) (\S+)\t.*$", r"\1 \2", r.stdout.decode(), flags=re.MULTILINE)
            made[f"debian/patches/{name}"] = f"Description: --- {name}\n---\n{text}"
            made["debian/patches/series"] += f"{name}\n\n"
            put(old, files)
    git = "diff --git a/tool b/tool\nnew file mode 100755\nindex 000..111\n--- /dev/null\n+++ b/tool\n" \
        "@@ -0,0 +1 @@\n+#!/bin/sh\n"
    made["debian/patches/git.patch"] = git
    made["debian/patches/series"] += "git.patch -p1\n"
    moved = made["debian/patches/sub/0002-later.patch"]
    made["debian/patches/sub/0002-later.patch"] = moved.replace("@@ -148,7 +148,7", "@@ -140,7 +140,7")
    assert moved != made["debian/patches/sub/0002-later.patch"]
    if broken == "patch":
        made["debian/patches/git.patch"] = git.replace("/dev/null", "a/tool").replace("-0,0", "-1,0")
    return made


# ---- package and index ----
def sums(path):
    data = path.read_bytes()
    return len(data), hashlib.sha256(data).hexdigest(), hashlib.md5(data).hexdigest()


def control(files, version):
    text = "Format: 3.0 (quilt)\n{}: tiny\nBinary: tiny\nArchitecture: any\n" \
        f"Version: {version}\nMaintainer: Test <test@example.org>\nStandards-Version: 4.6.0\n"
    text += "Checksums-Sha256:\n" + "".join(
        " {1} {0} {2}\n".format(*sums(f)[:2], f.name) for f in files)
    return text + "Files:\n" + "".join(f" {sums(f)[2]} {sums(f)[0]} {f.name}\n" for f in files)


def make_package(pool, args):
    plain = args.version.rpartition(":")[2]
    upstream = plain.rpartition("-")[0]
    orig = pool / f"tiny_{upstream}.orig.tar.xz"
    extra = pool / f"tiny_{upstream}.orig-extra.tar.gz"
    debian = pool / f"tiny_{plain}.debian.tar.xz"
    hostile = args.hostile and hostile_members(args.hostile, "tiny-1.0")
    make_tar(orig, UPSTREAM, "tiny-1.0", hostile)
    make_tar(extra, EXTRA, "")
    make_tar(debian, {"debian/source/format": "3.0 (quilt)\n", "debian/rules": ("run", "#!/bin/false\n"),
        **make_patches(args.broken)}, "")
    files = [orig, extra, debian]
    dsc = pool / f"tiny_{plain}.dsc"
    dsc.write_text(control(files, args.version).format("Source"))
    return [dsc, *files]


def write_index(archive, files, args):
    dist = archive / "dists/sid"
    source = dist / "main/source"
    source.mkdir(parents=True)
    text = control(files, args.version).format("Package") + "Directory: pool\n\n"
    (source / "Sources").write_text(text)
    (source / "Sources.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    now = time.time() - 3600
    release = "Origin: Debian\nLabel: Debian\nSuite: unstable\nCodename: sid\n" \
        f"Date: {date(now - (86400 * 20 if args.expired else 0))}\n" \
        f"Valid-Until: {date(now - 86400 * 13 if args.expired else now + 86400 * 7)}\n" \
        "Architectures: amd64\nComponents: main\nSHA256:\n"
    for f in ("Sources", "Sources.gz"):
        size, sha256, _ = sums(source / f)
        release += f" {sha256} {size} main/source/{f}\n"
    (dist / "Release").write_text(release)
    return dist


def damage(files, kind):
    """After signing: what a broken mirror delivers."""
    dsc, orig, extra, debian = files
    data = orig.read_bytes()
    if kind == "truncate":
        orig.write_bytes(data[:len(data) // 2])
    elif kind == "corrupt":
        orig.write_bytes(data[:5000] + bytes([data[5000] ^ 1]) + data[5001:])
    gone = {"dsc-gone": [dsc], "debian-gone": [dsc, debian], "orig-gone": [orig], "extra-gone": [extra]}
    for f in gone.get(kind, []):
        f.unlink()


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("dir", type=Path)
    p.add_argument("--version", default="1:1.0+dfsg-1")
    p.add_argument("--other-key", action="store_true")
    p.add_argument("--expired", action="store_true")
    p.add_argument("--break", dest="broken")
    p.add_argument("--hostile")
    args = p.parse_args()
    top = args.dir.resolve()
    archive = top / "archive"
    shutil.rmtree(archive, ignore_errors=True)
    (archive / "pool").mkdir(parents=True)
    files = make_package(archive / "pool", args)
    sign(top, write_index(archive, files, args), args.other_key)
    damage(files, args.broken)


if __name__ == "__main__":
    main()
