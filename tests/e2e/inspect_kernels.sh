#!/usr/bin/env bash
# Kernels of a real library by `inspect`: names, resources and objects against llvm-readelf, c++filt and llvm-objdump; what slim takes
# out is what --compare misses; objects are taken out while calls fail and runs are killed: the folder is whole, or absent.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
gloo=$("$top/tools/debian-get" sid libgloo-rocm libgloo-rocm-0) && command -v llvm-readelf >/dev/null || {
	echo 'skip kernels of a real library: no package archive, or no llvm-readelf'
	exit 0
}
lib=$(realpath "$gloo/usr/lib/libgloo_hip.so.0")
python3 "$top/tests/oracle/kernels.py" "$ROCSMITH" "$lib" .

"$ROCSMITH" slim -q --gpu gfx1100,gfx90a -o slim.so "$lib" >/dev/null
"$ROCSMITH" inspect --compare --json "$lib" slim.so | python3 -c '
import json, sys
d = json.load(sys.stdin)
kept = {t["target"] for t in d["targets"] if not t["gone"]}
assert kept == {"gfx1100", "gfx90a"} and all(t["gone"] in (0, t["kernels_old"]) for t in d["targets"]), d["targets"]
assert {k["change"] for k in d["kernels"]} == {"gone"} and len(d["kernels"]) == sum(t["gone"] for t in d["targets"])'
"$ROCSMITH" inspect --compare "$lib" "$lib" | grep -q '^every kernel is as it was$'
echo 'ok what slim takes out is what the comparison misses'

# shellcheck source=tests/e2e/llvm.bash
. "$top/tests/e2e/llvm.bash"
if llvm_find; then
	name=_ZN4gloo20_Kernel_half_cudaMaxEP6__halfPKS0_i
	for target in gfx90a gfx1100; do
		"$ROCSMITH" inspect --sdk debian-sid --disassemble $target:_Kernel_half_cudaMax "$lib" | sed -n '/^\t/p' >ours
		for object in taken/*."$target".hsaco; do
			llvm llvm-objdump -d --disassemble-symbols=$name "$object" 2>/dev/null | sed -n '/^\t/p'
		done >theirs
		[ "$(wc -l <ours)" -gt 20 ] && cmp ours theirs
	done
	echo 'ok a kernel is disassembled as by llvm-objdump'
else
	echo 'skip disassembly: no SDK can be had'
fi

fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
points=${ROCSMITH_FAULT_POINTS:-4}
if [ ! -x "$fault" ]; then
	echo 'skip extraction with failing calls: no rocsmith-fault'
	exit 0
fi
mkdir in
cp slim.so in
cat >whole.py <<'END'
import pathlib
out = pathlib.Path("made/out")
assert not out.exists() or len(list(out.iterdir())) == 4, list(out.iterdir())
END
extract="inspect -q --extract all -o made/out in/slim.so"
disturb() { # WHAT MODE...: the folder is removed before each run, because nothing is ever overwritten
	local what=$1
	shift
	# shellcheck disable=SC2086
	python3 "$top/tests/e2e/faults.py" "$@" --setup 'rm -rf made/out' --check 'python3 whole.py && rm -rf made/out' --tree made --keep in -- \
		"$fault" $extract
	echo "ok objects are taken out, $what"
}
disturb 'with failing calls' sweep --sample "$points" --errno ENOSPC,EIO,EACCES
disturb 'dying at calls' sweep --sample "$points" --errno KILL
disturb 'killed' kill --times "${ROCSMITH_KILLS:-3}"
