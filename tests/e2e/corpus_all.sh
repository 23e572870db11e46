#!/usr/bin/env bash
# slow: the programs of tests/corpus for three generations of GPUs, and what hipify-perl and hipcc do with them
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,headers >sdk.log 2>&1; then
	echo "skip corpus: no SDK ($(tail -1 sdk.log))"
	exit 0
fi
peer=()
if bash "$top/tests/oracle/hipify_perl.sh" "$E2E_TMP/perl"; then
	peer=(--peer "$E2E_TMP/perl/hipify-perl")
else
	echo 'skip hipify-perl cannot be had'
fi
python3 "$top/tests/e2e/corpus.py" "$E2E_TMP" gfx1201 gfx1100 gfx90a "${peer[@]}"
