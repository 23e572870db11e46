#!/usr/bin/env bash
# slow: dozens of projects are fetched and built, minutes each
# The CUDA projects of tests/data/cuda_projects.tsv, or those of $ROCSMITH_PROJECTS: what becomes of them is in seen.tsv, and those
# that once were built must be built again.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/e2e/llvm.bash"
cd "$E2E_TMP"
skip() { echo "skip CUDA projects: $1"; exit 0; }
"$ROCSMITH" sdk install debian --suite sid --components compiler,headers >sdk.log 2>&1 || skip "no SDK ($(tail -1 sdk.log))"
llvm_find 2>sdk.log || skip "no LLVM ($(tail -1 sdk.log))"
python3 -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || skip 'no Python headers'
LLVM_OBJDUMP=$(python3 -c 'import json, sys; print(json.dumps(sys.argv[1:]))' "${llvm_run[@]}" "$llvm/usr/lib/llvm-21/bin/llvm-objdump")
TORCH_WHEEL=
of_torch() { awk -F '\t' -v names=" $ROCSMITH_PROJECTS " 'index(names, " " $1 " ") && $7 == "torch"' "$top/tests/data/cuda_projects.tsv"; }
if [ -z "${ROCSMITH_PROJECTS:-}" ] || [ -n "$(of_torch)" ]; then
	torch=$("$top/tools/torch-get" 2.11.0 headers 2>torch.log) &&
		TORCH_WHEEL=$(python3 "$top/tests/e2e/torch_wheel.py" "$torch" "$PWD/torch" cc 2>torch.log) ||
		skip "no torch ($(tail -1 torch.log))"
fi
export LLVM_OBJDUMP TORCH_WHEEL
rm -f seen.tsv
# shellcheck disable=SC2086
python3 "$top/tests/e2e/cuda_projects.py" build "$top/tests/data/cuda_projects.tsv" seen.tsv ${ROCSMITH_PROJECTS:-}
