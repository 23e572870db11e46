#!/usr/bin/env python3
"""Makes a small Debian archive, signed by a key of its own, for tests of `rocsmith sdk`.

    sdk_archive.py DIR [--unsigned | --other-key] [--expired] [--break KIND] [--hostile KIND]

DIR/archive is the mirror (file://), DIR/key.gpg its keyring. The packages are real .deb files, made
by dpkg-deb, with this machine's loader, libc and dash inside, so that the tree's programs run; clang++
is a script that answers --version. Their data members are compressed in different ways.
"""
import argparse
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import time
from pathlib import Path

CLANG = """#!/bin/sh
for a; do case $a in
--version) echo 'Debian clang version 21.1.8 (14)'; exit 0 ;;
--offload-arch=gfx9999) echo "error: invalid target ID 'gfx9999'" >&2; exit 1 ;;
esac; done
cat > /dev/null
"""
LLVM = "usr/lib/llvm-21"
LIBS = "usr/lib/x86_64-linux-gnu"
LDSO = "/lib64/ld-linux-x86-64.so.2"
LIBC = "/lib/x86_64-linux-gnu/libc.so.6"


def filler(name, n):
    """n bytes that do not compress away and depend on the name only."""
    out, i = b"", 0
    while len(out) < n:
        out += hashlib.sha512(f"{name}{i}".encode()).digest()
        i += 1
    return out[:n]


def version_file(version):
    return f'set(PACKAGE_VERSION "{version}")\n'


# name: (version, depends, compression, {path: text, bytes, ("copy", file), ("link", target), ("hard", path)})
PACKAGES = {
    "libc6": ("2.0-1", "", "gzip", {
        "usr/lib64/ld-linux-x86-64.so.2": ("copy", LDSO), f"{LIBS}/libc.so.6": ("copy", LIBC)}),
    "dash": ("0.5-1", "libc6", "xz", {"usr/bin/dash": ("copy", "/bin/dash"),
        "usr/bin/sh": ("link", "dash")}),
    "coreutils": ("9-1", "libc6", "xz", {"usr/bin/cat": ("copy", "/bin/cat")}),
    "libc-bin": ("2.0-1", "", "none", {"usr/lib/locale/C.utf8/LC_CTYPE": "x"}),
    "sed": ("4-1", "", "gzip", {"usr/share/doc/sed/copyright": "GPL\n"}),
    "grep": ("3-1", "", "xz", {"usr/share/man/man1/grep.1.gz": "no build reads it",
        "usr/share/doc/grep/copyright": "GPL\n", "usr/share/doc/grep/README": "left out\n"}),
    "clang-21": ("1:21.1.8-14", "libc6", "xz", {
        f"{LLVM}/bin/clang": CLANG, f"{LLVM}/bin/clang++": ("link", "clang"),
        f"{LLVM}/bin/clang-offload-bundler": "#!/bin/sh\n", f"{LLVM}/bin/ld.lld": "#!/bin/sh\n",
        f"{LLVM}/lib/big.bin": filler("clang", 300000),
        f"{LLVM}/lib/same.bin": ("hard", f"{LLVM}/lib/big.bin"),
        "usr/bin/clang++-21": ("link", "../lib/llvm-21/bin/clang++")}),
    "rocm-device-libs-21": ("7.0.2-3", "", "xz", {
        f"{LLVM}/lib/clang/21/amdgcn/bitcode/ocml.bc": filler("ocml", 5000)}),
    "hipcc": ("7.0.2-3", "clang-21, rocm-device-libs-21", "xz", {"usr/bin/hipcc": "#!/bin/sh\n"}),
    "libamdhip64-6": ("6.4.3-5", "libc6", "xz", {
        f"{LIBS}/libamdhip64.so.6": filler("hip", 200000)}),
    "libamdhip64-dev": ("6.4.3-5", "libamdhip64-6 (= 6.4.3-5)", "gzip", {
        "usr/include/hip/hip_runtime.h": "#pragma once\n",
        "usr/share/hip/version": "HIP_VERSION_MAJOR=6\n",
        f"{LIBS}/cmake/hip/hip-config-version.cmake": version_file("6.4.43484"),
        f"{LIBS}/libamdhip64.so": ("link", "libamdhip64.so.6")}),
    "libhiprand1": ("6.4.3-1", "", "xz", {f"{LIBS}/libhiprand.so.1": filler("rand", 100000),
        f"{LIBS}/hiprand/gfx1100.co": filler("gfx1100", 50000), f"{LIBS}/hiprand/gfx1201.co": "kernels"}),
    "libhiprand-dev": ("6.4.3-1", "libhiprand1, libamdhip64-dev", "xz", {
        "usr/include/hiprand/hiprand.h": "#pragma once\n",
        f"{LIBS}/cmake/hiprand/hiprand-config-version.cmake": version_file("2.12.0"),
        f"{LIBS}/libhiprand.so": ("link", "libhiprand.so.1")}),
    "libc6-dev": ("2.0-1", "", "xz", {"usr/include/stdio.h": "not ROCm's\n"}),
}


def put(root, path, what):
    full = root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(what, tuple) and what[0] == "copy":
        shutil.copyfile(what[1], full)
    elif isinstance(what, tuple) and what[0] == "link":
        os.symlink(what[1], full)
        return
    elif isinstance(what, tuple):
        os.link(root / what[1], full)
        return
    else:
        full.write_bytes(what.encode() if isinstance(what, str) else what)
    os.chmod(full, 0o755 if "/bin/" in path or "ld-linux" in path else 0o644)
    os.utime(full, (1700000000, 1700000000))


def control_text(name, version, depends):
    text = f"Package: {name}\nVersion: {version}\nArchitecture: amd64\n" \
        "Maintainer: Test <test@example.org>\nDescription: a test package\n"
    return text + (f"Depends: {depends}\n" if depends else "")


def make_deb(top, work, name):
    """A package of this version comes out the same each time: it is made once."""
    version, depends, compression, files = PACKAGES[name]
    deb = top / "archive/pool" / f"{name}_{version.rpartition(':')[2]}_amd64.deb"
    made = top / "debs" / deb.name
    if made.exists():
        shutil.copyfile(made, deb)
        return deb
    root = work / name
    for path, what in files.items():
        put(root, path, what)
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(control_text(name, version, depends))
    # a script that must never run
    script = root / "DEBIAN/postinst"
    script.write_text("#!/bin/sh\ntouch /tmp/rocsmith-test-script-ran\n")
    script.chmod(0o755)
    made.parent.mkdir(exist_ok=True)
    subprocess.run(["dpkg-deb", "--root-owner-group", f"-Z{compression}", "-b", root, made],
        check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    shutil.copyfile(made, deb)
    return deb


# ---- packages that dpkg-deb would not make ----
def hostile_member(kind):
    t = tarfile.TarInfo("./usr/share/evil")
    t.mode, data = 0o644, b"evil\n"
    if kind == "dotdot":
        t.name = "./usr/../../../../evil"
    elif kind == "absolute":
        t.name = "/tmp/rocsmith-test-evil"
    elif kind == "device":
        t.type, t.devmajor, t.devminor, data = tarfile.CHRTYPE, 1, 3, b""
    elif kind == "fifo":
        t.type, data = tarfile.FIFOTYPE, b""
    elif kind == "hardlink":
        t.type, t.linkname, data = tarfile.LNKTYPE, "../../../../etc/passwd", b""
    elif kind == "control":
        t.name = "./usr/share/a\nb\tc"
    t.size = len(data)
    return t, data


def tar_bytes(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.GNU_FORMAT) as tar:
        for t, data in members:
            tar.addfile(t, io.BytesIO(data))
    return out.getvalue()


def ar_member(name, data):
    head = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode()
    return head + data + (b"\n" if len(data) % 2 else b"")


def hostile_deb(deb, kind):
    members = [hostile_member(kind)]
    if kind == "symlink":  # a link that leads out, then a file below it
        link = tarfile.TarInfo("./usr/share/out")
        link.type, link.linkname = tarfile.SYMTYPE, "../../../../../../../../../../tmp"
        below = tarfile.TarInfo("./usr/share/out/rocsmith-test-evil")
        below.size = 5
        members = [(link, b""), (below, b"evil\n")]
    elif kind == "view":  # a link in the place of a folder that we fill ourselves
        link = tarfile.TarInfo("./opt")
        link.type, link.linkname = tarfile.SYMTYPE, str(deb.parents[3] / "outside")
        members = [(link, b"")]
    control = tarfile.TarInfo("./control")
    text = control_text("sed", PACKAGES["sed"][0], "").encode()
    control.size = len(text)
    deb.write_bytes(b"!<arch>\n" + ar_member("debian-binary", b"2.0\n")
        + ar_member("control.tar.gz", tar_bytes([(control, text)]))
        + ar_member("data.tar.gz", tar_bytes(members)))


# ---- the index ----
def stanza(archive, deb):
    data = deb.read_bytes()
    control = subprocess.run(["dpkg-deb", "-f", deb], check=True, stdout=subprocess.PIPE).stdout
    return control.decode() + f"Filename: {deb.relative_to(archive)}\nSize: {len(data)}\n" \
        f"SHA256: {hashlib.sha256(data).hexdigest()}\n\n"


def date(seconds):
    return time.strftime("%a, %d %b %Y %H:%M:%S UTC", time.gmtime(seconds))


def write_index(archive, debs, expired):
    dist = archive / "dists/sid"
    binary = dist / "main/binary-amd64"
    binary.mkdir(parents=True, exist_ok=True)
    text = "".join(stanza(archive, d) for d in sorted(debs)).encode()
    (binary / "Packages").write_bytes(text)
    (binary / "Packages.gz").write_bytes(gzip.compress(text, mtime=0))
    now = time.time() - 3600
    release = "Origin: Debian\nLabel: Debian\nSuite: unstable\nCodename: sid\n" \
        f"Date: {date(now - (86400 * 20 if expired else 0))}\n" \
        f"Valid-Until: {date(now - 86400 * 13 if expired else now + 86400 * 7)}\n" \
        "Architectures: amd64\nComponents: main\nSHA256:\n"
    for f in ("Packages", "Packages.gz"):
        data = (binary / f).read_bytes()
        release += f" {hashlib.sha256(data).hexdigest()} {len(data)} main/binary-amd64/{f}\n"
    (dist / "Release").write_text(release)
    return dist


def gpg(home, *args):
    subprocess.run(["gpg", "--batch", "--quiet", "--homedir", home, "--pinentry-mode", "loopback",
        "--passphrase", "", *args], check=True, stderr=subprocess.DEVNULL)


def sign(top, dist, other):
    home = top / "gnupg"
    if not home.exists():
        home.mkdir(mode=0o700)
        for who in ("good", "other"):
            gpg(home, "--quick-gen-key", f"{who}@example.org", "rsa2048", "sign", "never")
        gpg(home, "--output", top / "key.gpg", "--export", "good@example.org")
    who = "other" if other else "good"
    (dist / "InRelease").unlink(missing_ok=True)
    gpg(home, "-u", f"{who}@example.org", "--output", dist / "InRelease", "--clearsign",
        dist / "Release")
    subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)


def damage(pool, kind):
    """After signing: what a broken mirror delivers."""
    deb = next(pool.glob("libamdhip64-6_*"))
    data = deb.read_bytes()
    if kind == "truncate":
        deb.write_bytes(data[:len(data) // 2])
    elif kind == "corrupt":
        deb.write_bytes(data[:5000] + bytes([data[5000] ^ 1]) + data[5001:])
    elif kind == "missing":
        deb.unlink()


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("dir", type=Path)
    p.add_argument("--unsigned", action="store_true")
    p.add_argument("--other-key", action="store_true")
    p.add_argument("--expired", action="store_true")
    p.add_argument("--break", dest="broken", choices=["truncate", "corrupt", "missing", "short"])
    p.add_argument("--hostile")
    p.add_argument("--newer", help="package whose version is raised")
    args = p.parse_args()
    top = args.dir.resolve()
    archive, work = top / "archive", top / "work"
    pool = archive / "pool"
    shutil.rmtree(archive, ignore_errors=True)
    shutil.rmtree(work, ignore_errors=True)
    pool.mkdir(parents=True)
    if args.newer:
        version, *rest = PACKAGES[args.newer]
        PACKAGES[args.newer] = (version + "+new1", *rest)
        PACKAGES[args.newer][3]["usr/share/doc/new/copyright"] = "new\n"
    work.mkdir()
    debs = [make_deb(top, work, name) for name in PACKAGES]
    if args.hostile:
        hostile_deb(next(pool.glob("sed_*")), args.hostile)
    if args.broken == "short":  # a package that is damaged, with the hash that it has
        deb = next(pool.glob("libamdhip64-6_*"))
        deb.write_bytes(deb.read_bytes()[:60000])
    dist = write_index(archive, debs, args.expired)
    if not args.unsigned:
        sign(top, dist, args.other_key)
    damage(pool, args.broken)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
