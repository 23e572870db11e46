#!/usr/bin/env bash
# slow
# The same names are translated as by Debian's hipify-perl, on our example and on libKMCUDA's sources.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
"$top/tests/oracle/hipify_perl.sh" "$E2E_TMP/perl" || {
	echo "skip hipify-perl cannot be had here"
	exit 0
}
dirs=("$top/examples")
if python3 -m venv "$E2E_TMP/venv" && "$E2E_TMP/venv/bin/pip" -q install unearth &&
	"$E2E_TMP/venv/bin/unearth" -q --no-binary --download "$E2E_TMP/dl" libKMCUDA==6.2.3; then
	tar -xf "$E2E_TMP"/dl/libKMCUDA-*.tar.gz -C "$E2E_TMP/dl"
	dirs+=("$E2E_TMP"/dl/libKMCUDA-*/)
else
	echo "skip libKMCUDA's sources cannot be had here"
fi >"$E2E_TMP/dl.log" 2>&1
grep '^skip' "$E2E_TMP/dl.log" || true
python3 "$top/tests/e2e/hipify_oracle.py" "$ROCSMITH" "$E2E_TMP/perl/hipify-perl" "${dirs[@]}"
