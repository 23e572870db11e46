#!/usr/bin/env bash
# long
# A CUDA extension for PyTorch by its own setup.py, which knows nothing of ROCm and gives -ccbin to hipcc, against a torch
# of PyPI that --torch-as-rocm takes for one for ROCm. Of that torch only what a build needs is there (torch_wheel.py says
# what). foreign_torch_all.sh takes the wheel for CUDA itself, and extensions that the index has.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
whole=${ROCSMITH_WHOLE_TORCH:-}
release=2.11.0
fail() { echo "not ok $1"; cat log; exit 1; }
sum() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }

if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,headers >log 2>&1; then
	echo "skip extensions of PyTorch: no SDK ($(tail -1 log))"
	exit 0
fi
command -v c++ >/dev/null || { echo 'skip extensions of PyTorch: no C++ compiler'; exit 0; }
python3 -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || {
	echo 'skip extensions of PyTorch: no Python headers'
	exit 0
}
[ -z "$whole" ] || [ "$(df --output=avail -k . | tail -1)" -gt 6000000 ] || {
	echo 'skip extensions of PyTorch: no 6 GB free'
	exit 0
}

# The wheel for this Python, and kept for the next time.
whole_wheel() (
	. "$top/tools/fetch.sh"
	fetch_begin "torch-$release-wheel-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
	fetch_pip download -q --no-deps --only-binary=:all: -d "$fetch_new" "torch==$release" >&2 ||
		fetch_impossible "the package index does not give torch $release"
	fetch_end
)
if [ -n "$whole" ]; then
	torch=$(whole_wheel 2>log) && torch=$(echo "$torch"/*.whl)
else
	torch=$("$top/tools/torch-get" $release headers 2>log) &&
		torch=$(python3 "$top/tests/e2e/torch_wheel.py" "$torch" "$PWD/wheel" cc 2>log)
fi || { echo "skip extensions of PyTorch: no torch ($(tail -1 log))"; exit 0; }

build() { # OPTION...
	status=0
	"$ROCSMITH" build project --with "$torch" --gpu gfx1201 -o out --build-dir b "$@" >log 2>&1 || status=$?
	sum project | cmp -s - before || fail "the sources were modified"
}
extension() { # NAME VERSION: false when it cannot be had
	local sdist
	sdist=$("$top/tools/sdist-get" "$1==$2" 2>log) && grep -qx "Version: $2" "$sdist/PKG-INFO" || {
		echo "skip $1: the package index does not give $2"
		return 1
	}
	rm -rf project && cp -r "$sdist" project && sum project >before
}
built() { # NAME [OPTION...]: a wheel for ROCm that needs nothing of CUDA, nor what only stands in for something
	[ $status = 0 ] && grep -q 'built against a torch that counts as one' log || fail "$1"
	grep -q "MAMBA_FORCE_BUILD='*TRUE" b/log/environment || fail "$1: one like it would fetch a wheel"
	grep -q '"id":"torch-as-rocm"' b/build.json || fail "$1: the record does not say what the torch is"
	"$ROCSMITH" verify --require gfx1201 "${@:2}" out/"${1//-/_}"-*.whl >log || fail "the wheel of $1"
	rm -rf site && python3 -m zipfile -e out/"${1//-/_}"-*.whl site
	find site -name '*.so' -exec readelf -d {} \; >needs
	grep -q 'NEEDED.*libamdhip64' needs && ! grep -q 'NEEDED.*\(libcu\|_hip\.so\)' needs || fail "what the wheel of $1 needs"
	echo "ok $1: its own setup.py, as it is, gives a verified wheel for ROCm"
}

if [ -n "$whole" ]; then
	if extension chamferdist 1.0.3; then
		build
		[ $status = 2 ] && grep -q 'of --with is a torch for CUDA ' log || fail 'a torch for CUDA is refused'
		echo 'ok a torch for CUDA is refused'
		build --torch-as-rocm
		built chamferdist
	fi
	if extension torch-linear-assignment 0.1.0; then
		TLA_BUILD_LEGACY_CUDA=1 build --torch-as-rocm
		built torch-linear-assignment
	fi
	if extension torch-spline-conv 1.2.2; then
		build --torch-as-rocm
		built torch-spline-conv
	fi
	if extension torch-scatter 2.1.2; then
		build --torch-as-rocm
		built torch-scatter
	fi
	if extension spatial-correlation-sampler 0.5.0; then
		build --torch-as-rocm
		# its setup.py links with libgomp, of which a torch carries a copy
		built spatial-correlation-sampler --allow libgomp.so.1
	fi
	exit 0
fi

. "$top/tests/e2e/warpsum.bash"
warpsum project
# it asks for an older C++ than torch's headers need, has two headers of which torch's hipify would make one, a name that HIP lacks, and an
# index that HIP takes for a double
printf '#pragma once\n#include <cuda_runtime.h>\n#define LANES 32\n' >project/warpsum/sum.h
printf '#pragma once\n#include <cuda_runtime.h>\n#define BLOCKS 1\n' >project/warpsum/sum_cuda.h
sed -i 's/\["-O0"\]/["-O0", "-std=c++14"]/; s/"-ccbin"/"-std", "c++14", "-ccbin"/' project/setup.py
sed -i 's/<<<1, 32>>>/<<<BLOCKS, LANES>>>/; s/^#include <torch.*/&\n#include "sum.h"\n#include "sum_cuda.h"/; s/x\[threadIdx.x\] = v;/&\n\t__nanosleep(1);\n\tx[min(31, threadIdx.x)] += 0;/' project/warpsum/sum.cu
sum project >before
build --torch-as-rocm
for said in "warpsum/sum_cuda.h: .* 'sum_cuda_hip.h', as .* 'sum_hip.h' of it and of 'sum.h'" 'asks for c++14, and .* need C++17'; do
	grep -q "rocsmith: .*$said" b/log/wheel.log || fail "the log was to say '$said'"
done
for id in hipify-one-name cxx-standard-raised hipify-header; do
	grep -q "\"id\":\"$id\"" b/build.json || fail "the record has no finding $id"
done
built warpsum
python3 - b/build.json <<'PY' || fail 'the report was to have the compile of the kernel, and the link that needs it'
import json, sys
runs = json.load(open(sys.argv[1]))["compiles"]
device, host = [i for i, run in enumerate(runs) if run["name"].endswith("sum.hip")]
link = runs[-1]
assert [(runs[i]["kind"], runs[i]["gpu"]) for i in (device, host)] == [("device", "gfx1201"), ("host", "")], runs
assert all(runs[i]["seconds"] > 0 and runs[i]["memory"] > 1 << 20 for i in (device, host)) and device in runs[host]["after"], runs
assert link["kind"] == "link" and host in link["after"] and link["start"] >= runs[host]["start"] + runs[host]["seconds"] - 0.1, runs
PY
rm b/log/*.log
build --torch-as-rocm
[ $status = 0 ] && [ -z "$(ls b/log/*.log 2>/dev/null)" ] || fail 'a second build runs something'
echo 'ok a second build runs nothing'
