#!/usr/bin/env bash
# Translated device functions return what CUDA's returned on an H200: HIP's own, and ours where HIP has none or others. cuda_values.py
# tells how they run without a GPU. Peers: clang of the SDK, gcc.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
[ "$(uname -m)" = x86_64 ] || { echo 'skip cuda_values: its programs are x86-64'; exit 0; }
grep -qw fma /proc/cpuinfo || { echo 'skip cuda_values: the processor has no FMA'; exit 0; }
command -v gcc >/dev/null || { echo 'skip cuda_values: no gcc'; exit 0; }
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,headers >"$E2E_TMP/sdk.log" 2>&1; then
	echo "skip cuda_values: no SDK ($(tail -1 "$E2E_TMP/sdk.log"))"
	exit 0
fi
python3 "$top/tests/e2e/cuda_values.py" "$ROCSMITH" "$E2E_TMP" gfx1201
