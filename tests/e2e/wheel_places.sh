#!/usr/bin/env bash
# .hip_fatbin in each of the four places where linkers put it, and bundles in .rodata that nothing points at: by inspect, slim,
# split, merge, bundle and verify. Libraries look at their own bundles whenever they were changed.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
oracle=$top/tests/oracle
cd "$E2E_TMP"
rm -rf ./*
command -v python3 >/dev/null && command -v readelf >/dev/null && command -v gcc >/dev/null && command -v zstd >/dev/null || {
	echo 'skip wheel_places: python3, readelf, gcc or zstd is missing'
	exit 0
}
export SOURCE_DATE_EPOCH=315532800
# shellcheck source=tests/e2e/llvm.bash
. "$top/tests/e2e/llvm.bash"
kinds=4
lld 2>log || {
	echo "skip lld's place: no lld"
	kinds=3
}
p=places-1-py3-none-linux_x86_64.whl
python3 "$oracle/fat_wheel.py" make
python3 "$oracle/gpus_wheel.py" . --places -Wl,--no-as-needed "$PWD/sdk/lib/libamdhip64.so" -Wl,--allow-shlib-undefined
mkdir roots
ln -s ../sdk/lib/libamdhip64.so.7.2 roots/libamdhip64.so.7
ln -s ../sdk/lib/rocm_sysdeps/lib/librocm_sysdeps_numa.so.1 roots
python3 "$oracle/placement.py" $p | cut -d: -f1 | sort -u >kinds
[ "$(wc -l <kinds)" = $kinds ]

look() { # FOLDER [GPU...]: what the wheel's libraries say of themselves, of these GPUs
	local folder=$1
	rm -rf site said
	python3 -m zipfile -e "$folder"/places-1*.whl site
	shift
	for lib in site/places/*.so; do
		readelf -lSsrW "$lib" 2>&1 >/dev/null | head -n 3 >&2
		echo "$lib"
		LD_LIBRARY_PATH=${roots-$PWD/roots} \
			python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).look())' "./$lib" >raw
		for gpu in "$@"; do grep -- "--$gpu " raw || true; done
	done
}
all='gfx90a gfx1030 gfx1100'
look . $all >want
[ "$(grep -c gfx1100 want)" -ge $((2 * kinds)) ]

"$ROCSMITH" inspect --json $p | python3 -c '
import json, sys
d = json.load(sys.stdin)
count = {f["path"].split("/")[1][:-3]: len(f["objects"]) for f in d["files"]}
assert {count.pop(n) for n in ("own", "code", "writable")} <= {5, 6} and count.pop("rodata") == 9, count
assert count.pop("first", 5) == 5 and not count, count
assert d["served"] == ["gfx1030", "gfx1100"], d["served"]'
"$ROCSMITH" slim -q --gpu gfx1100 $p -o slim-$p >/dev/null
mkdir slim
mv slim-$p slim/$p
look slim gfx1100 >got
look . gfx1100 | cmp - got
echo 'ok inspect and slim know all places'

for how in kpack plain; do
	"$ROCSMITH" split -q --format $how $p -o $how >/dev/null 2>said
	grep -q "rodata.so' keeps device code" said
	"$ROCSMITH" verify --json $how >said || true # the objects are noise
	[ "$(grep -c '"kpack-' said)" = 0 ]
	"$ROCSMITH" merge -q $how/$p $how/*_gfx*.whl -o again-$how >/dev/null
	python3 "$oracle/merged.py" $p again-$how/$p
	look again-$how $all | cmp want -
done
echo 'ok split and merge do'

"$ROCSMITH" bundle -q $p --sdk sdk --gpu gfx90a,gfx1030 -o fat >/dev/null
mv sdk gone
roots='' look fat gfx90a gfx1030 >got
mv gone sdk
look . gfx90a gfx1030 | cmp - got
echo 'ok bundle does, and its libraries need no SDK'
