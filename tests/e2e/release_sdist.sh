#!/usr/bin/env bash
# long
# Source distributions in a set: indexed, staged, renamed, promoted, published; twine, pip and a real index server as users; hostile ones.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP" && rm -rf ./*
# shellcheck source=tests/e2e/release.bash
. "$top/tests/e2e/release.bash"
users 'source distributions'
# `rocm` as ROCm/TheRock makes it: setup.py knows its version from _dist_info.py, and what it requires depends on the machine; and
# one whose metadata is sure.
cat >sdist.py <<'PY'
import io, sys, tarfile
def sdist(folder, stem, members):
    import os
    os.makedirs(folder, exist_ok=True)
    with tarfile.open(f"{folder}/{stem}.tar.gz", "w:gz") as tar:
        for name, text in members.items():
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            data = text.encode()
            info.size = len(data) if info.isreg() else 0
            info.mode = 0o755 if info.isdir() else 0o644
            tar.addfile(info, io.BytesIO(data))
def info(name, version, more=""):
    return f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{more}\nA text.\n"
def rocm(folder, version):
    top = f"rocm-{version}"
    sdist(folder, top, {
        f"{top}/setup.py": "import runpy\nfrom setuptools import setup\nsetup(name='rocm', packages=['rocm_sdk'],\n"
            "    package_dir={'': 'src'}, version=runpy.run_path('src/rocm_sdk/_dist_info.py')['__version__'])\n",
        f"{top}/src/rocm_sdk/_dist_info.py": f"__version__ = '{version}'\n",
        f"{top}/src/rocm_sdk/__init__.py": "",
        f"{top}/src/rocm.egg-info/PKG-INFO": info("rocm", version),
        f"{top}/src/rocm.egg-info/requires.txt": f"rocm-sdk-core=={version}\n",
        f"{top}/PKG-INFO": info("rocm", version, f"Dynamic: requires-dist\nRequires-Dist: rocm-sdk-core=={version}\nProvides-Extra: libraries\n"
            f"Requires-Dist: rocm-sdk-libraries=={version}; extra == 'libraries'\nProvides-Extra: device-gfx1100\n"
            f"Requires-Dist: rocm-sdk-device-gfx1100=={version}; extra == 'device-gfx1100'\n")})
    top = f"sure_thing-{version}"
    sdist(folder, top, {f"{top}/pyproject.toml": f"[project]\nname = 'sure-thing'\nversion = '{version}'\n",
        f"{top}/PKG-INFO": info("sure-thing", version, f"Requires-Python: >=3.8\nRequires-Dist: rocm-sdk-core=={version}\n")})
if __name__ == "__main__":
    rocm(*sys.argv[1:])
PY
make in 7.13.0rc2 --drop rocm --gpu gfx1100
python3 sdist.py in/sources 7.13.0rc2
finds() { # INDEX REQUIREMENT: what pip would install, and that it builds nothing
	"$python" -m pip --isolated install --dry-run --ignore-installed --no-cache-dir --target t --index-url "$1" "$2" 2>>log | grep -o 'Would install.*'
}
check 'twine check' "$peers/twine" check in/sources/*.tar.gz
check 'an index of wheels and source distributions is made' rs index in -o site
cat >pages.py <<'PY'
import hashlib, json, pathlib, re, sys
for name, sure in (("rocm", False), ("sure-thing", True)):
    page = pathlib.Path("site/simple") / name
    file, = json.loads((page / "index.json").read_text())["files"]
    text = (page / "index.html").read_text()
    path = page / file["url"]
    assert path.name == file["filename"] and hashlib.sha256(path.read_bytes()).hexdigest() == file["hashes"]["sha256"]
    assert ("data-core-metadata" in text) == sure == bool(file["core-metadata"]), (name, file)
    if sure:
        assert hashlib.sha256(pathlib.Path(f"{path}.metadata").read_bytes()).hexdigest() == file["core-metadata"]["sha256"]
PY
check 'metadata is offered beside a file only if building cannot change it' python3 pages.py
[ "$(finds "$(url site)" sure-thing)" = 'Would install rocm-sdk-core-7.13.0rc2 sure-thing-7.13.0rc2' ] && ok 'pip resolves it, and builds nothing' || no 'pip resolves it, and builds nothing'
check 'a set with source distributions is staged and promoted' eval 'rs stage in --to store/rc -q && rs promote store/rc -q'
check 'it gets another version' rs promote store/rc --to nightly --version 7.13.0rc2=7.13.0
cat >renamed.py <<'PY'
import glob, io, sys, tarfile
for name in ("rocm", "sure_thing"):
    path, = glob.glob(f"store/files/*/{name}-7.13.0.tar.gz")
    with tarfile.open(path) as tar:
        for m in tar:
            assert (m.name + "/").startswith(f"{name}-7.13.0/") and m.mtime == 0, m.name
            assert not m.isreg() or b"rc2" not in tar.extractfile(m).read(), m.name
        assert b"\nVersion: 7.13.0\n" in tar.extractfile(f"{name}-7.13.0/PKG-INFO").read()
        assert name != "rocm" or b"'7.13.0'" in tar.extractfile("rocm-7.13.0/src/rocm_sdk/_dist_info.py").read()
PY
check 'no text of it names the old version' python3 renamed.py
check 'twine check of renamed ones' "$peers/twine" check store/files/*/*7.13.0.tar.gz
[ "$(finds "$(url store/nightly)" sure-thing)" = 'Would install rocm-sdk-core-7.13.0 sure-thing-7.13.0' ] && ok 'pip resolves the new version' || no 'pip resolves the new version'
if "$python" -c 'import setuptools' 2>>log; then
	check 'the renamed one is built' "$python" -m pip wheel -q --no-deps --no-build-isolation -w built store/files/*/rocm-7.13.0.tar.gz
	[ -e built/rocm-7.13.0-py3-none-any.whl ] && ok 'as the new version' || no 'as the new version'
fi
check 'a folder is published, and read back' rs publish store/nightly --to pub --python "$python"
[ "$(finds "$(url pub)" sure-thing)" = 'Would install rocm-sdk-core-7.13.0 sure-thing-7.13.0' ] && ok 'pip sees it there' || no 'pip sees it there'
"$peers/python" -c 'from passlib.apache import HtpasswdFile as F
f = F("htpasswd", new=True)
f.set_password("me", "pa55word")
f.save()' 2>log || no 'a file of passwords'
mkdir served
listen "$peers/pypi-server" run -i 127.0.0.1 -p PORT -P htpasswd -a update --disable-fallback served
export TWINE_USERNAME=me TWINE_PASSWORD=pa55word
check 'an index server is published to, and read back' rs publish store/nightly --to "http://127.0.0.1:$port" --python "$python"
cmp -s served/rocm-7.13.0.tar.gz store/files/*/rocm-7.13.0.tar.gz && ok 'it has the file' || no 'it has the file'

# ---- hostile ones ----
python3 - <<'PY' || no 'hostile files'
import tarfile
from sdist import info, sdist
def link(name, to, kind=tarfile.SYMTYPE):
    i = tarfile.TarInfo(name)
    i.type, i.linkname = kind, to
    return i
def device(name):
    i = tarfile.TarInfo(name)
    i.type = tarfile.CHRTYPE
    return i
good = {"x-1.0/PKG-INFO": info("x", "1.0"), "x-1.0/setup.py": ""}
for case, stem, members in (
    ("out", "x-1.0", {**good, link("x-1.0/a", "../../outside"): ""}),
    ("absolute", "x-1.0", {**good, link("x-1.0/a", "/etc/passwd"): ""}),
    ("through", "x-1.0", {**good, link("x-1.0/a", ".."): "", "x-1.0/a/b": "x"}),
    ("hard", "x-1.0", {**good, link("x-1.0/a", "/etc/passwd", tarfile.LNKTYPE): ""}),
    ("info", "x-1.0", {"x-1.0/setup.py": "", link("x-1.0/PKG-INFO", "setup.py"): ""}),
    ("device", "x-1.0", {**good, device("x-1.0/a"): ""}),
    ("up", "x-1.0", {**good, "x-1.0/../../up": "x"}),
    ("root", "x-1.0", {**good, "/tmp/rocsmith-root": "x"}),
    ("two", "x-1.0", {**good, "y/z": "x"}),
    ("none", "x-1.0", {"x-1.0/setup.py": ""}),
    ("plain", "x-1.0", {"x-1.0/PKG-INFO": info("x", "1.0")}),
    ("name", "x-1.0", {**good, "x-1.0/PKG-INFO": info("y", "1.0")}),
    ("version", "x-1.0", {**good, "x-1.0/PKG-INFO": info("x", "1.1")}),
    ("file", "x", {"x/PKG-INFO": info("x", "1.0"), "x/setup.py": ""}),
    ("bomb", "x-1.0", {**good, "x-1.0/zeros": "0" * (600 << 20)}),
): sdist(f"bad/{case}", stem, members)
PY
for case in out absolute through hard info device up root two none plain name version file bomb; do
	refuses "a hostile source distribution ($case)" error: rs index bad/$case -o evil
done
refuses 'a bomb' 'unpacks to more than' rs stage bad/bomb --to evil/dev
printf 'no tar' >bad/x-1.0.tar.gz
refuses 'a file that is no archive' error: rs index bad/x-1.0.tar.gz -o evil
[ ! -e evil ] && [ ! -e outside ] && [ ! -e up ] && [ ! -e /tmp/rocsmith-root ] && ok 'nothing of it is stored or written elsewhere' || no 'nothing of it is stored or written elsewhere'
exit $bad
