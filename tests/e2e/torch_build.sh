#!/usr/bin/env bash
# slow: an SDK of 10 GB, a part of PyTorch
# A part of PyTorch 2.6.0, from Debian's source package, by one command: fetched, patched, translated, configured
# with ROCm on; c10, c10_hip, the generated sources. Then ATen's HIP sources, each by ninja's own command in the
# environment that the build left: targets of ninja would want all of libtorch_cpu first.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP" || exit 1
chmod -R u+w . && rm -rf ./*
. "$top/tools/fetch.sh"
# An SDK with all of ROCm's libraries (10 GB) is kept apart from the small one of the other scripts, and for the
# next check.
unset ROCSMITH_HOME
export XDG_DATA_HOME=$FETCH_CACHE/torch-build
build() {
	"$ROCSMITH" build torch --source debian:trixie/pytorch --gpu gfx1201 --sdk debian --build-dir "$PWD/b" "$@"
}

# get WHAT COMMAND...: only what the network does not give is skipped.
get() {
	local what=$1 status=0
	shift
	"$@" >get.log 2>&1 || status=$?
	case $status in
	0) echo "ok $what" ;;
	4) echo "skip $what: $(grep -m1 error: get.log)" ;;
	*) echo "not ok $what: $(tail -n 20 get.log)" ;;
	esac
	return $status
}
get "an SDK for PyTorch" "$ROCSMITH" sdk install debian --components torch-build,torch-third-party || exit 0
get "a plan" "$ROCSMITH" plan torch --source debian:trixie/pytorch --gpu gfx1201 --sdk debian -o plan.json || exit 0

if build --target c10 --target c10_hip >log 2>&1; then
	echo "ok c10 and c10_hip"
else
	echo "not ok c10 and c10_hip: $(tail -n 30 log)"
	exit 0
fi
at=b/tree/build
grep -q 'USE_ROCM  *: ON' b/log/configure.log && echo "ok ROCm is on" || echo "not ok ROCm is on"
readelf -d $at/lib/libc10_hip.so | grep -q 'NEEDED.*libamdhip64' && echo "ok libc10_hip is linked with HIP" ||
	echo "not ok libc10_hip is linked with HIP"

# What is not there under the name that ninja keeps is compiled again each time, which a cache would hide.
(cd $at && ninja -t deps | sed -n 's/^    //p' | sort -u | while read -r file; do [ -e "$file" ] || echo "$file"; done) >log
[ "$(cd $at && ninja -t deps | grep -c '^    ')" -gt 1000 ] && [ ! -s log ] && echo "ok ninja finds all headers again" ||
	echo "not ok ninja finds all headers again: $(head -n 3 log)"

lines() { grep -c '"input":"[^"]*/\(c10\|aten\|torch\|caffe2\)/[^"]*"' b/log/cc.jsonl; }
before=$(lines)
build --target c10 --target c10_hip >log 2>&1 && [ "$(lines)" = "$before" ] && echo "ok a second run compiles nothing" ||
	echo "not ok a second run compiles nothing: $(tail -n 3 log) $(lines) $before"

# What torchgen writes; CMake would look once more in a run behind this one. Then sources that are quick to compile.
build --target ATEN_CPU_FILES_GEN_TARGET --target ATEN_CUDA_FILES_GEN_TARGET >log 2>&1 && echo "ok the generated sources" ||
	echo "not ok the generated sources: $(tail -n 30 log)"
for name in ActivationHardshrinkKernel CrossKernel FractionalMaxPool2d FunctionOfAMatrixUtilsKernel RenormKernel Sleep \
	UpSampleBicubic2d UpSampleLinear1d UpSampleNearest1d UpSampleTrilinear3d; do
	echo "$(cd $at && ninja -t targets all | grep -o "^caffe2.*torch_hip_generated_$name\.hip\.o:" | tr -d :)"
done >objects
grep -c . objects | grep -qx 10 && echo "ok ten HIP sources" || echo "not ok ten HIP sources: $(cat objects)"
# shellcheck disable=SC2016
xargs -P 2 -n 1 env -i bash -c '. "$0/b/log/environment"; cd "$0/b/tree/build" || exit
	eval "$(ninja -t commands "$1" | tail -n 1)" >"$0/${1##*/}.log" 2>&1 || echo "$1: $(tail -n 5 "$0/${1##*/}.log")"' \
	"$PWD" <objects >failed
[ ! -s failed ] && echo "ok they compile" || echo "not ok they compile: $(cat failed)"
while read -r object; do
	"$ROCSMITH" inspect --json "$at/$object"
done <objects | python3 -c 'import json, sys
text, decoder, at, targets = sys.stdin.read(), json.JSONDecoder(), 0, []
while at < len(text.rstrip()):
    document, at = decoder.raw_decode(text, at)
    at += 1
    targets.append(sorted({o["target"] for f in document["files"] for o in f["objects"]}))
assert len(targets) == 10 and all(t == ["gfx1201"] for t in targets), targets' 2>bad && echo "ok each has code for gfx1201" ||
	echo "not ok each has code for gfx1201: $(tail -n 1 bad)"

# From a lock file, version.py names the commit, as PyTorch's own script has it from git.
cp -r "${XDG_CACHE_HOME:-$HOME/.cache}"/rocsmith/source/pytorch-2.6.0*[0-9a-f] up && chmod -R u+w up && rm -rf up/.pc
(cd up && git init -q -b main && git add -A -f && git -c user.name=n -c user.email=e@example.org commit -qm 2.6.0) >log 2>&1
"$ROCSMITH" checkout torch --ref main --origin "$PWD/up" --root S >log 2>&1 &&
	"$ROCSMITH" build torch --lock S/rocsmith.lock --gpu gfx1201 --sdk debian --build-dir "$PWD/l" --target gen_torch_version >log 2>&1 &&
	grep -qx "git_version = '$(git -C up rev-parse HEAD)'" l/tree/torch/version.py && echo "ok the commit is in version.py" ||
	echo "not ok the commit is in version.py: $(tail -n 20 log)"
