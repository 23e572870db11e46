#!/usr/bin/env bash
# slow: the original needs minutes for 9,000 headers
# All headers that a torch wheel installs, beside the original hipify: as sources of an extension, and
# laid out as a checkout.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
tree=$("$top/tools/debian-source" trixie pytorch 2>"$E2E_TMP/get.log") || {
	echo 'skip the PyTorch source cannot be had here'
	exit 0
}
python3 "$top/tests/oracle/identity.py" headers "$E2E_TMP/work" "$tree" 2.6.0:all 2.15.0:all
