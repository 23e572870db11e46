#!/usr/bin/env bash
# slow
# Every name that hipify translates to exists in the headers of the SDK, as what the tables say.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,headers >"$E2E_TMP/sdk.log" 2>&1; then
	echo "skip hipify names: no SDK ($(tail -1 "$E2E_TMP/sdk.log"))"
	exit 0
fi
python3 "$top/tests/e2e/hipify_names.py" "$ROCSMITH" sdk run -- clang++
