#!/usr/bin/env bash
# slow: 44 MB more
# hipSPARSELt, whose library has its device code partly in files beside it: inspect.sh with it, then slim.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
E2E_ALL=1 bash "$top/tests/e2e/inspect.sh"
cd "$E2E_TMP"
root=$("$top/tools/debian-get" experimental libhipsparselt libhipsparselt0) || exit 0
lib=$(realpath "$root/usr/lib/x86_64-linux-gnu/libhipsparselt.so.0")
"$ROCSMITH" slim -q --gpu gfx942 "$lib" -o lib.so >/dev/null
python3 "$top/tests/oracle/slimmed.py" "$lib" lib.so gfx942
side=$(find "$root/usr/lib" -name hipsparselt -type d | head -n 1)
"$ROCSMITH" slim -q --gpu gfx942 "$side" -o side >/dev/null
[ -z "$(find side -name '*gfx950*')" ] && [ "$(find side -name '*gfx942*' | wc -l)" = "$(find "$side" -name '*gfx942*' | wc -l)" ]
echo 'ok side files of another GPU are left out of a real folder'
