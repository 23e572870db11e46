#!/usr/bin/env bash
# What lies in packaging/, as far as it can be tried without a static program (dist_all.sh makes one): the steps of the
# GitHub Action, and the texts.
set -eu
. "$(dirname "$0")/scratch.bash"
python3 -c 'import yaml' 2>/dev/null || { echo 'skip dist: no python3-yaml'; exit 0; }

# ---- the action ----
mkdir bin
ln -s "$ROCSMITH" bin/rocsmith
export PATH=$PWD/bin:$PATH
cp -R "$top/examples/montecarlo" .
act() { # INPUT=VALUE...: the file with the findings
	python3 "$top/tests/e2e/action.py" "$top/packaging/action/action.yml" project=montecarlo rocsmith= sdk=debian-sid "$@" 2>log >outputs
}
if "$ROCSMITH" sdk info debian-sid >/dev/null 2>&1; then
	act gpu=gfx1201 || no 'the action builds and verifies a project'
	python3 - rocsmith.sarif <<'PY' || no 'the findings are SARIF'
import json, sys
assert json.load(open("outputs")) == {"sarif": "rocsmith.sarif"}
(run,) = json.load(open(sys.argv[1]))["runs"]
assert run["tool"]["driver"]["name"] == "rocsmith"
assert not [r for r in run["results"] if r["level"] == "error"], run["results"]
PY
	echo 'ok the action builds a wheel and reports on it'
	if act gpu=gfx1201,gfx942 build=false sarif=bad.sarif; then no 'a wheel without code for a GPU passes'; fi
	grep -q '"level": *"error"' bad.sarif && grep -q bad.sarif outputs || no 'the findings of a failure are reported'
	[ ! -e montecarlo/dist ] || no 'the project is written to'
	echo 'ok the action fails for a wheel without code for a GPU, and still reports'
else
	echo 'skip the action: the SDK debian-sid is not installed'
fi
# A value of an input that is shell code stays a value.
mkdir -p wheels
if act gpu='$(touch gotcha)' wheels='wheels; touch gotcha' build=false; then no 'a GPU of that name is accepted'; fi
[ ! -e gotcha ] || no 'an input is executed'
echo 'ok an input of the action is not executed'
# Whoever registers the name in an index must not run in everybody's CI.
mkdir -p simple/rocsmith
python3 - <<'PY'
import zipfile
with zipfile.ZipFile("simple/rocsmith/rocsmith-9-py3-none-any.whl", "w") as z:
    for name, text in {"METADATA": "Metadata-Version: 2.1\nName: rocsmith\nVersion: 9\n", "RECORD": "",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}.items():
        z.writestr(f"rocsmith-9.dist-info/{name}", text)
PY
echo '<a href="rocsmith-9-py3-none-any.whl">rocsmith-9-py3-none-any.whl</a>' >simple/rocsmith/index.html
if PIP_INDEX_URL=file://$PWD/simple act rocsmith=rocsmith gpu=gfx1201 build=false; then no 'the action installs by a name'; fi
grep -q 'No matching distribution found for rocsmith' log || no 'the action looks for a name'
echo 'ok the action installs nothing by a name'

# ---- the texts ----
(
	. "$top/packaging/PKGBUILD"
	[ "$pkgname" = rocsmith-bin ] && [ -n "$source_x86_64$source_aarch64" ] && [ -n "$sha256sums_x86_64$sha256sums_aarch64" ] && declare -F package >/dev/null
) || no 'PKGBUILD can be read'
bash -n "$top/tools/dist" && echo 'ok PKGBUILD can be read'
