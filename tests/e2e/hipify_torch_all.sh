#!/usr/bin/env bash
# slow: thirty runs of the original
# The PyTorch 2.6.0 tree through the hipify of every release from 2.4 to 2.15, byte for byte.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
tree=$("$top/tools/debian-source" trixie pytorch 2>"$E2E_TMP/get.log") || {
	echo 'skip the PyTorch source cannot be had here'
	exit 0
}
python3 "$top/tests/oracle/identity.py" torch "$tree" "$E2E_TMP" own:clang \
	2.4.1:checkout,wheel 2.5.1 2.6.0:clang,wheel 2.7.1:checkout 2.8.0 2.9.1 2.10.0:checkout,clang \
	2.11.0:checkout,clang 2.12.1 2.13.0 2.14.1:checkout 2.15.0:checkout,clang,wheel
