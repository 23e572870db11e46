#!/usr/bin/env bash
# long
# The whole PyTorch 2.6.0 tree beside its own build_amd.py, byte for byte: in place and as overlay, again,
# restored. hipify_torch_all.sh has the hip-clang mode, and the hipify of all other releases.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
tree=$("$top/tools/debian-source" trixie pytorch 2>"$E2E_TMP/get.log") || {
	echo 'skip the PyTorch source cannot be had here'
	exit 0
}
python3 "$top/tests/oracle/identity.py" torch "$tree" "$E2E_TMP" own
