#!/usr/bin/env bash
# long: a dozen environments
# `get`: the smallest torch for a GPU, from an index as AMD publishes it, beside one with the Python index's placeholders. packaging
# reads the lock file, the newest pip and uv install from it, and their environments are compared with the plan.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
python3 -c 'import venv, ensurepip' 2>/dev/null && bash "$top/tests/oracle/venv.sh" "$ROCSMITH_HOME/oracles" 2>/dev/null || {
	echo 'skip get: no venv with pip, uv and packaging'
	exit 0
}
oracles=$ROCSMITH_HOME/oracles/bin
PYTHONPATH=$top/tests/e2e python3 - <<'PY'
import io, sys, tarfile
import amd_index as x
tag = "cp%d%d" % sys.version_info[:2]
x.make("amd", "10.1.0", ("gfx1100", "gfx1151", "gfx1201"), "2.14.0", kib=16, python=tag)
x.make("amd", "10.1.1", ("gfx1100", "gfx1151", "gfx1201"), "2.14.1", kib=16, python=tag)
# a `rocm` that can be built without an index: the back end is in its tree
for version in ("10.1.0", "10.1.1"):
    path = f"amd/rocm/rocm-{version}.tar.gz"
    with tarfile.open(path) as old:
        info = old.extractfile(f"rocm-{version}/PKG-INFO").read().decode()
    back = '''import zipfile
def build_wheel(to, *_):
    name = "rocm-VERSION-py3-none-any.whl"
    with zipfile.ZipFile(to + "/" + name, "w") as z:
        z.writestr("rocm_sdk/__init__.py", "")
        z.writestr("rocm-VERSION.dist-info/METADATA", open("PKG-INFO").read())
        z.writestr("rocm-VERSION.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        z.writestr("rocm-VERSION.dist-info/RECORD", "")
    return name
'''.replace("VERSION", version)
    project = '[build-system]\nrequires = []\nbuild-backend = "back"\nbackend-path = ["."]\n'
    with tarfile.open(path, "w:gz") as out:
        for name, text in {"PKG-INFO": info, "pyproject.toml": project, "back.py": back}.items():
            entry = tarfile.TarInfo(f"rocm-{version}/{name}")
            entry.size = len(text)
            out.addfile(entry, io.BytesIO(text.encode()))
any = "py3-none-any"
for version in ("3.19.0", "3.20.0", "4.0a1"):
    x.wheel("pypi", "filelock", version, {"filelock.py": ""}, any)
x.wheel("pypi", "typing-extensions", "4.15.0", {"typing_extensions.py": ""}, any)
x.wheel("pypi", "typing-extensions", "99.0", {"typing_extensions.py": ""}, "cp39-cp39-linux_x86_64")
for name in ("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx1151"):
    x.wheel("pypi", name, "0.1.0", {f"{name}.py": ""}, any)
x.wheel("pypi", "torch", "9.0", {"torch/__init__.py": ""}, any)
PY
trap 'kill $(jobs -p) 2>/dev/null' EXIT
for site in amd pypi; do
	python3 "$top/tests/e2e/amd_index.py" serve $site $site.port &
done
for _ in $(seq 100); do
	[ -e amd.port ] && [ -e pypi.port ] && break
	sleep 0.1
done
export PIP_INDEX_URL PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1 PIP_CONFIG_FILE=/dev/null ROCSMITH_AMD_INDEX
PIP_INDEX_URL=$(cat pypi.port)
ROCSMITH_AMD_INDEX=$(cat amd.port)
get=("$ROCSMITH" get -q torch --gpu gfx1151 --torch 2.14 --rocm 10.1)

# ---- the plan ----
"${get[@]}" --json >plan.json
python3 - <<'PY'
import glob, json, os
plan = json.load(open("plan.json"))
got = {p["name"]: p["version"] for p in plan["packages"]}
torch, rocm = "2.14.0+rocm10.1.0", "10.1.0"
assert got == {"torch": torch, "amd-torch-device-gfx1151": torch, "amd-torch-device-gfx115x": torch, "amd-torch-device-gfx11": torch,
    "rocm": rocm, "rocm-sdk-core": rocm, "rocm-sdk-libraries": rocm, "rocm-sdk-device-gfx1151": rocm,
    "filelock": "3.20.0", "typing-extensions": "4.15.0"}, got
size = sum(os.path.getsize(glob.glob(f"*/*/{p['file']}")[0]) for p in plan["packages"])
more = sum(os.path.getsize(f) for gpu in ("gfx1100", "gfx1201") for f in glob.glob(f"amd/*device-{gpu}/*10.1.0-*"))
assert (plan["size"], plan["size_all"]) == (size, size + more), plan
PY
[ "$(ls | sort | tr '\n' ' ')" = "amd amd.port plan.json pypi pypi.port " ]
echo "ok the plan has the chain of this GPU's wheels, and nothing of other GPUs or of the Python index's placeholders"

# ---- a lock file ----
"${get[@]}" --lock none/pylock.toml -n >/dev/null
[ ! -e none ]
"${get[@]}" --lock pylock.toml
"${get[@]}" --lock pylock.again.toml
cmp pylock.toml pylock.again.toml
cat >check.py <<'PY'
import hashlib, json, pathlib, sys
try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib
from packaging.pylock import Pylock
lock = Pylock.from_dict(tomllib.loads(pathlib.Path(sys.argv[1]).read_text()))
plan = {p["name"]: p for p in json.load(open("plan.json"))["packages"]}
assert {p.name: str(p.version) for p in lock.packages} == {n: p["version"] for n, p in plan.items()}
for p in lock.packages:
    (file,) = p.wheels or [p.sdist]
    (there,) = pathlib.Path().glob(f"*/*/{plan[p.name]['file']}")
    assert file.hashes == {"sha256": hashlib.sha256(there.read_bytes()).hexdigest()} and file.size == there.stat().st_size
assert len(list(lock.select())) == len(plan)
PY
"$oracles/python" check.py pylock.toml
look() { # ENV: it has what was planned
	"$1/bin/python" - <<'PY'
import importlib.metadata as m, json, pathlib, torch
plan = {p["name"]: p["version"] for p in json.load(open("plan.json"))["packages"]}
got = {d.metadata["Name"]: d.version for d in m.distributions() if d.metadata["Name"] not in ("pip", "setuptools")}
assert got == plan, got
assert {p.stem for p in (pathlib.Path(torch.__file__).parent / ".kpack").iterdir()} == {f"torch_{x}" for x in ("gfx1151", "gfx115x", "gfx11")}
PY
}
python3 -m venv --without-pip by-uv
"$oracles/uv" pip install -q --python by-uv/bin/python -r pylock.toml
look by-uv
python3 -m venv --without-pip by-pip
"$oracles/python" -m pip --python by-pip/bin/python install -q --no-deps -r pylock.toml 2>said
look by-pip
echo 'ok packaging reads the lock file, and the newest pip and uv install from it'
sed 's/sha256 = "../sha256 = "00/' pylock.toml >pylock.bad.toml
python3 -m venv --without-pip bad
! "$oracles/uv" pip install -q --python bad/bin/python -r pylock.bad.toml 2>/dev/null
! "$oracles/python" -m pip --python bad/bin/python install -q --no-deps -r pylock.bad.toml 2>/dev/null
echo 'ok both refuse files with other hashes'

# ---- files, and an environment ----
"${get[@]}" -o files
"$oracles/python" check.py files/pylock.toml
mv files moved
python3 -m venv --without-pip offline
"$oracles/python" -m pip --python offline/bin/python install -q --no-index --no-deps -r moved/pylock.toml 2>said
look offline
"${get[@]}" --install new
look new
"$ROCSMITH" get -q torch --gpu gfx1100 --torch 2.14 --rocm 10.1 --install new
new/bin/python - <<'PY'
import importlib.metadata as m
names = {d.metadata["Name"] for d in m.distributions()}
assert "amd-torch-device-gfx1100" in names and "amd-torch-device-gfx110x" in names, names
assert not [n for n in names if "gfx115" in n], names
PY
for words in '--torch 2.14.1' '--rocm 10.1.1'; do
	# shellcheck disable=SC2086
	"$ROCSMITH" get -q torch --gpu gfx1151 $words --json | grep -q '"torch": "2.14.1+rocm10.1.1"'
done
echo 'ok files install without any index; environments are made, and change from one GPU to another'

# ---- what goes wrong ----
refused() { # WHAT STATUS TEXT WORD...
	local what=$1 status=$2 text=$3
	shift 3
	set +e
	"$ROCSMITH" get torch "$@" >said 2>&1
	got=$?
	set -e
	if [ $got != "$status" ] || ! grep -q -e "$text" said; then
		echo "not ok $what: status $got: $(tail -n 3 said)"
		exit 1
	fi
	echo "ok $what is refused"
}
mkdir plain
refused 'a GPU without a wheel in the index' 2 'has no code for gfx942; it has some for gfx1100, gfx1151, gfx1201' --gpu gfx942 --torch 2.14 --rocm 10.1
refused 'a version that the index lacks' 2 'no file of .torch. is for' --gpu gfx1151 --torch 2.13 --rocm 10.1
refused 'a GPU that no known wheel serves' 2 'has code for gfx803' --gpu gfx803
refused 'a folder that is no environment' 2 'is not a virtual environment' --gpu gfx1151 --install plain
refused 'a lock file that pip would not take for one' 2 'pylock.NAME.toml' --gpu gfx1151 --lock lock.toml
refused 'an index that has nothing' 4 "no index has 'torch'" --gpu gfx1151 --index-url "$PIP_INDEX_URL/nothing/"
cp -r amd/rocm-sdk-libraries kept
for at in amd/rocm-sdk-libraries/*10.1.0-*; do printf x >>"$at"; done
rm -rf "$ROCSMITH_HOME/cache/get"
refused 'a file that changed since the index was made' 4 'hash' --gpu gfx1151 --torch 2.14 --rocm 10.1 -o torn
[ ! -e torn/pylock.toml ]

# ---- disturbed ----
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
[ -x "$fault" ] || {
	echo 'skip failing calls: no rocsmith-fault'
	exit 0
}
cp kept/* amd/rocm-sdk-libraries/
for how in ENOSPC,EIO KILL; do
	python3 "$top/tests/e2e/faults.py" sweep --sample "${ROCSMITH_FAULT_POINTS:-1}" --errno $how --setup 'rm -rf t && mkdir t && echo old >t/pylock.toml' \
		--check 'grep -q -e ^old -e rocm-sdk-libraries t/pylock.toml' --tree t -- "$fault" get -q torch --gpu gfx1151 --torch 2.14 --rocm 10.1 -o t
done
python3 "$top/tests/e2e/faults.py" kill --times "${ROCSMITH_KILLS:-1}" --setup 'rm -rf t && mkdir t' --tree t -- "$ROCSMITH" get -q torch --gpu gfx1151 --torch 2.14 --rocm 10.1 -o t
echo 'ok a fetch that fails or is killed leaves the old lock file or the new one, and goes on'
