#!/usr/bin/env bash
# `bundle` on a wheel and an SDK that gcc makes: what is in the fat wheel, whether the loader finds it without any ROCm,
# and whether pip, verify and auditwheel take it.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
for name in python3 readelf gcc; do
	command -v $name >/dev/null || {
		echo "skip wheel_bundle: no $name"
		exit 0
	}
done
python3 "$top/tests/oracle/fat_wheel.py" make
from=torch-2.9.0-cp311-cp311-manylinux_2_5_x86_64.whl
bundle() { "$ROCSMITH" bundle "$from" --sdk sdk --gpu gfx1030 --with libplugin.so.3 --local-version rocm7.2 "$@"; }

bundle -n --json -o out >dry.json
[ ! -e out ]
bundle --json -o out >bundle.json
wheel=$(echo out/*.whl)
python3 - <<'PY'
import json, os
dry, real = (json.load(open(f"{n}.json")) for n in ("dry", "bundle"))
assert dry["schema"] == real["schema"] == "rocsmith.bundle/1"
assert real["size"] == os.path.getsize(real["output"]) and dry["size"] == 0
for x in dry["libraries"] + real["libraries"]: # a dry run guesses
    assert x["after"] <= x["before"]
libs = {x["name"].split("/")[-1]: x for x in real["libraries"]}
assert libs["librocblas.so.5"]["after"] < libs["librocblas.so.5"]["before"] - 30000
for x in dry["libraries"] + real["libraries"]:
    del x["after"]
for key in ("output", "libraries", "side", "dropped", "outside", "edited", "platform", "before"):
    assert dry[key] == real[key], key
assert real["outside"] == [], real["outside"]
assert libs["librocblas.so.5"]["needed_by"] == "torch/_C.so" and libs["libplugin.so.3"]["needed_by"] == ""
assert len(real["dropped"]) == 4, real["dropped"]
PY
echo 'ok a dry run writes nothing, and tells the same'
python3 "$top/tests/oracle/fat_wheel.py" check "$wheel"
"$ROCSMITH" inspect "$wheel" --json >inspect.json
python3 - <<'PY'
import json
d = json.load(open("inspect.json"))
assert d["served"] == ["gfx1030"], d["served"]
assert {o["target"] for f in d["files"] for o in f["objects"]} == {"gfx1030"}
PY
echo 'ok it has code for the chosen GPU only, in all libraries'
"$ROCSMITH" verify -q --require gfx1030 "$wheel" >verdict || {
	cat verdict
	echo 'not ok verify does not take it'
	exit 1
}
echo 'ok verify takes it'

bundle -q -j 1 -o again >/dev/null
cmp "$wheel" again/*.whl
echo 'ok the same bytes again'
status=0
bundle -q -o small --budget 20k 2>err || status=$?
[ "$status" = 2 ] && grep -q 'at most 20000 are allowed' err && grep -q "'torch" err && [ ! -e small/torch-2.9.0+rocm7.2* ]
bundle -q -o small --budget 5MiB >/dev/null
echo 'ok a budget is kept, or the largest files are named'
status=0
bundle -q -o out 2>err || status=$?
[ "$status" = 2 ] && grep -q 'there already' err
mkdir empty
status=0
"$ROCSMITH" bundle "$from" --sdk empty --gpu gfx1030 -o no 2>err || status=$?
[ "$status" = 3 ] && grep -q 'none of the libraries' err && [ ! -e no ]
status=0
"$ROCSMITH" bundle "$from" --sdk sdk --gpu gfx906 -o no 2>err || status=$?
[ "$status" = 2 ] && grep -q 'no code for gfx906' err && ! ls no/*.whl 2>/dev/null
echo 'ok what cannot be is refused, and nothing is left'
if "$ROCSMITH" sdk info debian-sid >/dev/null 2>&1; then
	status=0
	"$ROCSMITH" bundle "$from" --sdk debian-sid --gpu gfx1030 -o no 2>err || status=$?
	[ "$status" = 3 ] && grep -qE "rocsmith sdk install debian --suite experimental --components [a-z,]*compiler" err && [ ! -e no ]
	echo 'ok the suite that has the HIP of a wheel is named'
else
	echo 'skip the SDK of Debian sid is not installed'
fi

# A library that needs a newer libstdc++ than any: the tag of the wheel says nothing, rocsmith does.
cp -r sdk newer
mkdir stub
echo 'GLIBCXX_3.4.99 { global: f; };' >stub.map
echo 'void f(void) {}' | gcc -shared -fPIC -x c - -Wl,-soname,libstdc++.so.6 -Wl,--version-script=stub.map -o stub/libstdc++.so.6
echo 'void f(void); void g(void) { f(); }' | gcc -shared -fPIC -x c - -x none stub/libstdc++.so.6 -Wl,-soname,libnewer.so.1 \
	-o "$(dirname "$(find newer -name 'libplugin.so.3' | head -n 1)")/libnewer.so.1"
"$ROCSMITH" wheel retag -q --platform-tag linux_x86_64 "$from" -o plain >/dev/null
for way in "" --json; do
	"$ROCSMITH" bundle plain/*.whl --sdk newer --gpu gfx1030 --with libplugin.so.3,libnewer.so.1 -o newest --force $way >said 2>err
	grep -q 'linux_x86_64: no manylinux policy has GLIBCXX_3.4.99 of .*libnewer.so.1' said
	grep -q "cannot load .*libnewer.so.1.: it needs GLIBCXX_3.4.99, and '/.*/libstdc++.so.6' ends with GLIBCXX_3.4.[0-9]" err
done
grep -q '"version": *"GLIBCXX_3.4.99"' said
! grep -q 'cannot load.*librocblas' err
"$ROCSMITH" verify newest/*.whl >verdict || true
grep -q 'libnewer.so.1: it needs GLIBCXX_3.4.99, which this machine.*tag-here' verdict
echo 'ok it is said what a wheel needs of a machine, and what this one lacks of it'

python3 "$top/tests/oracle/fat_wheel.py" make-windows
"$ROCSMITH" bundle -q torch-2.9.0-cp311-cp311-win_amd64.whl --sdk winsdk --gpu gfx1030 -o win-out >/dev/null
python3 "$top/tests/oracle/fat_wheel.py" check-windows win-out/*.whl
"$ROCSMITH" bundle -q win-out/*.whl --sdk winsdk --gpu gfx1030 -o win-again >/dev/null
cmp win-out/*.whl win-again/*.whl
status=0
"$ROCSMITH" bundle win-out/*.whl --sdk empty --gpu gfx1030 -o no 2>err || status=$?
[ "$status" = 3 ] && grep -q 'none of the libraries' err

if python3 -m pip --version >/dev/null 2>&1; then
	python3 -m pip install -q --no-deps --no-index --disable-pip-version-check --target installed \
		--python-version 3.11 --only-binary :all: --platform "$(basename "${wheel##*-}" .whl)" "$wheel"
	[ -e installed/torch.libs/lib/librocblas.so.5 ]
	echo 'ok pip installs it'
else
	echo 'skip wheel_bundle: no pip'
fi

# What was made can be made again, and smaller.
"$ROCSMITH" bundle -q "$from" --sdk sdk --gpu gfx90a,gfx1030 --with libplugin.so.3 --local-version rocm7.2 -o two >/dev/null
"$ROCSMITH" bundle -q two/*.whl --sdk sdk --gpu gfx90a,gfx1030 -o twice >/dev/null
cmp two/*.whl twice/*.whl
mkdir one
"$ROCSMITH" slim -q --gpu gfx1030 two/*.whl -o one >/dev/null
rm -rf site
python3 "$top/tests/oracle/fat_wheel.py" check one/*.whl
echo 'ok a fat wheel is bundled again without a change, and slimmed'
