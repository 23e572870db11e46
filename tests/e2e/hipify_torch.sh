#!/usr/bin/env bash
# long
# The whole PyTorch 2.6.0 tree beside its own build_amd.py, byte for byte: default and hip-clang mode, in
# place and as overlay, again, restored; and through the hipify of a release of the second generation.
# hipify_torch_all.sh has all releases.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
tree=$("$top/tools/debian-source" trixie pytorch 2>"$E2E_TMP/get.log") || {
	echo 'skip the PyTorch source cannot be had here'
	exit 0
}
python3 "$top/tests/oracle/identity.py" torch "$tree" "$E2E_TMP" own 2.15.0:checkout
