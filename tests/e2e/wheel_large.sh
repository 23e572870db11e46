#!/usr/bin/env bash
# slow: 20 GB are written, a wheel above 4 GiB several times
# inspect, slim, split, merge, bundle and verify on a wheel above 4 GiB with a member above that; pip, uv and auditwheel
# take what comes out. LARGE_MB=1 tries the same with a small one.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
large="python3 $top/tests/oracle/large_wheel.py"
cd "$E2E_TMP"
rm -rf ./*
export TMPDIR=$E2E_TMP
trap 'rm -rf "$E2E_TMP"/*' EXIT
for name in python3 readelf gcc; do
	command -v $name >/dev/null || {
		echo "skip wheel_large: no $name"
		exit 0
	}
done
[ "$(df --output=avail -BG . | tail -n 1 | tr -dc 0-9)" -ge 30 ] || [ "${LARGE_MB:-160}" -lt 20 ] || {
	echo 'skip wheel_large: less than 30 GB are free'
	exit 0
}
wheel=bigtorch-2.9.0+rocm7.2-py3-none-linux_x86_64.whl
$large make
ls -l "$wheel"
tools=$ROCSMITH_HOME/oracles
bash "$top/tests/oracle/venv.sh" "$tools" 2>pip.log || tools=

accepted() { # WHEEL...: installers put them into one folder
	[ -n "$tools" ] || return 0
	rm -rf site
	"$tools/bin/pip" install -q --no-deps --no-index --disable-pip-version-check --no-cache-dir --no-compile --target site "$@"
	rm -rf site
	"$tools/bin/uv" pip install -q --no-deps --offline --no-cache --target site "$@"
	rm -rf site
	echo "ok pip and uv install $(dirname "$1")"
}
audited() { # WHEEL: of the platform
	[ -n "$tools" ] || return 0
	"$tools/bin/auditwheel" show "$1" >said 2>&1 && grep -q 'is consistent with' said || {
		cat said
		exit 1
	}
	echo "ok auditwheel reads $1"
}
memory() { $large run "$@"; }

memory inspect "$ROCSMITH" inspect --json "$wheel"
[ "$("$ROCSMITH" inspect --json "$wheel" | python3 -c 'import json, sys; print(json.load(sys.stdin)["served"])')" = "['gfx90a', 'gfx1030', 'gfx1100']" ]
memory verify "$ROCSMITH" verify --require gfx90a,gfx1030,gfx1100 "$wheel"

mkdir slim
memory slim "$ROCSMITH" slim -q --gpu gfx1100 "$wheel" -o slim
$large check slim/$wheel gfx1100
memory 'verify of that' "$ROCSMITH" verify --require gfx1100 slim/$wheel
accepted slim/$wheel
audited slim/$wheel
rm -r slim

memory split "$ROCSMITH" split -q --format kpack "$wheel" -o split
$large check split/$wheel
memory 'verify of the set' "$ROCSMITH" verify --require gfx90a,gfx1030,gfx1100 split
accepted split/*.whl
audited split/$wheel
memory merge "$ROCSMITH" merge -q split/*.whl -o merged
rm -r split
$large check merged/$wheel gfx90a gfx1030 gfx1100
memory 'verify of what was merged' "$ROCSMITH" verify --require gfx90a,gfx1030,gfx1100 merged/$wheel
accepted merged/$wheel
rm -r merged

memory bundle "$ROCSMITH" bundle -q --sdk sdk --gpu gfx90a,gfx1030 --local-version rocm7.2 "$wheel" -o fat
fat=$(echo fat/*.whl)
$large check "$fat" gfx90a gfx1030
memory 'verify of that' "$ROCSMITH" verify --require gfx90a,gfx1030 "$fat"
accepted "$fat"
audited "$fat"
