#!/usr/bin/env bash
# The command hipify with the tables of real releases: an extension translated, explained, verified
# against that torch's own Python, taken back.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; exit 1; }

make_project() { # DIR
	mkdir -p "$1/csrc/cuda" "$1/include" "$1/data"
	cat >"$1/csrc/cuda/op_cuda.cu" <<'CUDA'
#include <ATen/cuda/CUDAContext.h>
#include <curand_kernel.h>
#include "op.cuh"
#include "both.h"

void op(float *x, cudaStream_t stream)
{
	float m = std::max(x[0], 1.0f);
	kernel<float><<<dim3(1), 256, 0, stream>>>(x, m);
	C10_CUDA_KERNEL_LAUNCH_CHECK();
	cudaStreamSynchronize(stream);
}
CUDA
	cat >"$1/csrc/cuda/op.cuh" <<'CUDA'
#pragma once
template <typename T> __global__ void kernel(T *x, T m) { x[threadIdx.x] = m; __syncthreads(); }
CUDA
	printf '#pragma once\ncudaError_t both();\n' >"$1/include/both.h"
	printf '#include "both.h"\n#include <cuda_runtime_api.h>\r\nint n = cudaSuccess;\r\n' >"$1/csrc/main.cpp"
	printf 'int same;\n' >"$1/csrc/same.cpp"
	printf 'cudaMalloc\n' >"$1/data/größe und mehr.txt"
}

sources="csrc/cuda/op_cuda.cu csrc/main.cpp csrc/same.cpp"
hash_tree() { (cd "$1" && find . -path ./.rocsmith -prune -o -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum); }

for version in 2.6.0 2.15.0; do
	status=0
	torch=$("$top/tools/torch-get" "$version") || status=$?
	if [ "$status" = 77 ]; then
		echo "skip torch $version cannot be had"
		continue
	fi
	[ "$status" = 0 ] || fail "tools/torch-get $version"
	make_project "p-$version"
	before=$(hash_tree "p-$version")
	common="--mode extension --torch $torch -I include -I csrc/cuda"

	# shellcheck disable=SC2086
	"$ROCSMITH" hipify verify $common --json "p-$version" $sources >verify.json ||
		{ cat verify.json; fail "torch $version: hipify verify"; }
	grep -q '"agree": true' verify.json || fail "torch $version: hipify verify does not say that it agrees"
	grep -q '"known": true' verify.json || fail "torch $version is not known"
	[ "$before" = "$(hash_tree "p-$version")" ] || fail "hipify verify wrote something"
	echo "ok torch $version: agrees with its own Python, nothing written"

	# shellcheck disable=SC2086
	"$ROCSMITH" hipify $common -q --in-place "p-$version" $sources
	cp -r "p-$version" copy
	"$ROCSMITH" hipify status "p-$version" >/dev/null || fail "torch $version: hipify status"
	# shellcheck disable=SC2086
	"$ROCSMITH" hipify $common -q -o "o-$version" "p-$version" $sources
	find copy -name .rocsmith -prune -exec rm -rf {} +
	rm -rf copy/.rocsmith
	diff -r --exclude=.rocsmith copy "o-$version" || fail "torch $version: the overlay is another tree"
	rm -rf copy
	# shellcheck disable=SC2086
	"$ROCSMITH" hipify $common -q --check --in-place "p-$version" $sources || fail "torch $version: --check"
	"$ROCSMITH" hipify restore -q "p-$version"
	[ "$before" = "$(hash_tree "p-$version")" ] || fail "torch $version: hipify restore"
	[ ! -e "p-$version/.rocsmith" ] || fail "torch $version: .rocsmith is left"
	echo "ok torch $version: in place and overlay are the same tree; hipify restore brings all back"

	# shellcheck disable=SC2086
	"$ROCSMITH" hipify explain $common "p-$version/csrc/cuda/op_cuda.cu:11" --json "p-$version" $sources >why.json
	python3 - why.json <<'PYTHON' || fail "torch $version: hipify explain names another line"
import json, sys
why = json.load(open(sys.argv[1]))
reasons = [r for e in why["edits"] for r in e["reasons"]]
assert reasons, why
for r in reasons:
    line = open(r["file"]).read().split("\n")[r["line"] - 1]
    assert r["from"] in line, (r, line)
    assert r["from"] == "cudaStreamSynchronize" and r["to"] == "hipStreamSynchronize", r
PYTHON
	echo "ok torch $version: hipify explain names the line of the table"

	# shellcheck disable=SC2086
	"$ROCSMITH" hipify $common --diff -q "p-$version" $sources >changes.diff
	# shellcheck disable=SC2086
	"$ROCSMITH" hipify $common -q --engine torch -o "e-$version" "p-$version" $sources
	diff -r --exclude=.rocsmith "o-$version" "e-$version" || fail "torch $version: --engine torch gives another tree"
	grep -q '^+.*hipStreamSynchronize' changes.diff || fail "torch $version: --diff"
	echo "ok torch $version: --engine torch gives the same tree"

done

# A result whose original is gone stays: nothing could take its place.
mkdir gone
printf '#include <cuda_runtime.h>\nint f() { return cudaDeviceSynchronize(); }\n' >gone/a.h
"$ROCSMITH" hipify -q --mode standalone --in-place gone
rm -r gone/.rocsmith/originals
status=0
"$ROCSMITH" hipify restore --dry-run --json gone >dry.json || status=$?
[ "$status" = 1 ] && grep -q '"a.h"' dry.json || fail "a dry hipify restore does not tell what stays"
"$ROCSMITH" hipify restore --json gone >restored.json && fail "hipify restore without an original"
cmp dry.json restored.json || fail "hipify restore does something else than its dry run said"
echo "ok a dry hipify restore tells what the restore then does"
