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
if kmcuda=$("$top/tools/sdist-get" libKMCUDA==6.2.3 2>"$E2E_TMP/get.log"); then
	dirs+=("$kmcuda")
else
	echo "skip libKMCUDA's sources cannot be had here"
fi
python3 "$top/tests/e2e/hipify_oracle.py" "$ROCSMITH" "$E2E_TMP/perl/hipify-perl" "${dirs[@]}"
