#!/usr/bin/env bash
# The day of a release engineer (doc/release-day.md): sources checked out with a lock, an SDK, a build for two GPUs, a wheel for each, proofs,
# tests, staging, the gate, promotion under the final version, publishing to a folder and an index server, pip as the user; then a bad
# release that is taken back. Peers: git, pip, pytest, pypi-server.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
ok() { echo "ok $*"; }
no() {
	echo "not ok $*"
	sed 's/^/# /' log | tail -20
	exit 1
}
rocsmith() { "$ROCSMITH" "$@" >>log 2>&1; }
oracles=$ROCSMITH_HOME/oracles-release
"$ROCSMITH" sdk install debian --suite sid -q >log 2>&1 &&
	bash "$top/tests/oracle/venv.sh" "$oracles" twine 'pypiserver[passlib]' >>log 2>&1 || {
	echo 'skip the day of a release: no SDK, or no venv with pypiserver'
	exit 0
}

# ---- sources: a small project in the place of torchaudio, which `checkout` knows ----
mkdir -p upstream/tests
printf 'name: daylight\nversion: 1.0rc1\nsources: [daylight.cu]\n' >upstream/rocsmith.yaml
cat >upstream/daylight.cu <<'CU'
#include <cuda_runtime.h>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
extern "C" int daylight_twice(int *p) { twice<<<1, 1>>>(p); return cudaGetLastError(); }
CU
cat >upstream/tests/test_day.py <<'PY'
import importlib.metadata
import pathlib


def test_version():
    assert importlib.metadata.version("daylight").startswith("1.")


def test_code_is_there():
    assert [f for f in importlib.metadata.files("amd-daylight-device-gfx1100") if f.suffix == ".so"]
PY
git -C upstream init -q -b main
src=sources/torchaudio

# ---- build, split, verify, test ----
release() { # VERSION EVIDENCE
	sed -i "s/^version: .*/version: $1/" upstream/rocsmith.yaml
	git -C upstream add -A
	git -C upstream -c user.name=A -c user.email=a@example.org commit -qm "$1"
	rocsmith checkout torchaudio --ref main --origin "$PWD/upstream" --root sources || no "$1 is checked out"
	[ "$(git -C $src rev-parse HEAD)" = "$(git -C upstream rev-parse HEAD)" ] || no "$1 was to be the branch's newest commit"
	rm -rf dist parts
	rocsmith build $src --gpu gfx1100,gfx1201 -o dist || no "$1 is built"
	rocsmith split dist/*.whl -o parts || no "$1 is split"
	rocsmith verify parts/*.whl || no "$1 is verified"
	env/bin/python -m pip install -q --no-index --find-links parts "daylight[device-gfx1100]==$1" >>log 2>&1 || no "pip installs $1"
	rocsmith test torch --source $src --python env --gpu none --wheel "$(echo parts/daylight-*.whl)" \
		--wheel "$(echo parts/amd_daylight_device_gfx1100-*.whl)" -o "$2" || no "$1 passes its tests"
	grep -q "\"$(sha256sum <sources/rocsmith.lock | cut -d' ' -f1)\"" "$2" || no "the evidence of $1 names the lock of its sources"
}
python3 -m venv env
env/bin/python -m pip install -q pytest >>log 2>&1 || no 'pytest is there'
release 1.0rc1 cpu.json
ok 'a wheel for each of two GPUs, verified and tested'

# ---- stage, gate, promote ----
rocsmith stage parts --to store/rc && rocsmith promote store/rc || no 'a candidate is shown'
! rocsmith promote store/rc --to stable --version 1.0rc1=1.0 || no 'without evidence for its GPUs it was to stay'
! rocsmith promote store/rc --to stable --version 1.0rc1=1.0 --require cpu.json || no 'tests on the CPU are none of a GPU'
cat >waivers.yaml <<YAML
waivers:
- {gpu: "*", python: "*", name: A. Person, reason: no runner has these GPUs yet, expires: 2000-01-01}
YAML
! rocsmith promote store/rc --to stable --version 1.0rc1=1.0 --require cpu.json --waivers waivers.yaml ||
	no 'a waiver that has expired was to count no more'
sed -i 's/2000-01-01/2099-12-31/' waivers.yaml
rocsmith promote store/rc --to stable --version 1.0rc1=1.0 --require cpu.json --waivers waivers.yaml || no 'it is promoted'
ok 'the gate wants a test, or a waiver that has a name and has not expired'

# ---- publish; pip is the user ----
seen() { # INDEX: the version that pip installs for a GPU
	rm -rf user
	env -u PIP_FIND_LINKS -u PIP_EXTRA_INDEX_URL -u PIP_NO_INDEX python3 -m pip install -q --no-cache-dir --target user --index-url "$1" \
		'daylight[device-gfx1201]' >>log 2>&1 || return 0
	python3 -c '
from importlib.metadata import distributions
found = {d.metadata["Name"]: d.version for d in distributions(path=["user"])}
print(found["daylight"], found["amd-daylight-device-gfx1201"])'
}
rocsmith publish store/stable --to www || no 'it is published to a folder'
[ "$(seen "file://$PWD/www/simple/")" = '1.0 1.0' ] || no "pip was to get 1.0, and got $(seen "file://$PWD/www/simple/")"
mkdir served
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$oracles/bin/pypi-server" run -i 127.0.0.1 -p "$port" -P . -a . served >server.log 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
until (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
rocsmith publish store/stable --to "http://127.0.0.1:$port/" --index-url "http://127.0.0.1:$port/simple/" || no 'it is published to an index server'
[ "$(seen "http://127.0.0.1:$port/simple/")" = '1.0 1.0' ] || no 'pip gets it from the server'
ok 'pip gets the wheels of one GPU, from a folder and from an index server'

# ---- a bad release, and back ----
release 1.1rc1 cpu2.json
rocsmith stage parts --to store/rc && rocsmith promote store/rc || no 'the next candidate'
rocsmith promote store/rc --to stable --version 1.1rc1=1.1 --require cpu2.json --waivers waivers.yaml || no 'it is promoted, too'
! rocsmith promote store/rc --to stable --version 1.1rc1=1.2 --require cpu.json --waivers waivers.yaml || no "evidence of another wheel was to count for nothing"
rocsmith publish store/stable --to www || no 'and published'
[ "$(seen "file://$PWD/www/simple/")" = '1.1 1.1' ] || no 'pip gets 1.1'
rocsmith promote store/stable --rollback || no 'back'
rocsmith publish store/stable --to www || no 'and published'
[ "$(seen "file://$PWD/www/simple/")" = '1.0 1.0' ] || no 'pip was to get 1.0 again'
ok 'a release is taken back, and pip sees the one before'
