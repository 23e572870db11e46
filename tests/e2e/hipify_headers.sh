#!/usr/bin/env bash
# slow
# The headers that a torch wheel installs, beside the original hipify: those about CUDA as sources of an
# extension, all of them laid out as a checkout. hipify_headers_all.sh takes all as sources, of 2.6 and 2.15.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
tree=$("$top/tools/debian-source" trixie pytorch 2>"$E2E_TMP/get.log") || {
	echo 'skip the PyTorch source cannot be had here'
	exit 0
}
python3 "$top/tests/oracle/identity.py" headers "$E2E_TMP/work" "$tree" 2.11.0
