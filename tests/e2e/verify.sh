#!/usr/bin/env bash
# verify against attackers (constructed archives) and against wheels that others have published.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)

python3 "$top/tests/oracle/hostile.py" "$ROCSMITH" "$E2E_TMP/hostile"

# Wheels from the package index, kept with the SDK; without an index this part is skipped.
tools=$ROCSMITH_HOME/oracles wheels=$ROCSMITH_HOME/wheels
bash "$top/tests/oracle/venv.sh" "$tools" 2>"$E2E_TMP/pip.log" || { echo 'skip no venv or package index'; exit 0; }
"$tools/bin/python" "$top/tests/oracle/policy.py" "$top/data/manylinux.yaml"

fetch() { # NAME==VERSION PYTHON PLATFORM
	[ -z "$(find "$wheels" -name "${1%%=*}-*.whl" 2>/dev/null)" ] || return 0
	"$tools/bin/pip" download -q --disable-pip-version-check --no-deps --only-binary=:all: \
		--python-version "$2" --platform "$3" -d "$wheels" "$1" >>"$E2E_TMP/pip.log" 2>&1
}
if ! fetch pyg_lib_rocm==0.6.0 3.12 manylinux_2_32_x86_64 ||
	! fetch rocm_bindings_core==10.0.0.0.1.2 3.12 manylinux_2_28_x86_64; then
	echo 'skip the wheels of others cannot be fetched'
	exit 0
fi
pyg=$(ls "$wheels"/pyg_lib_rocm-0.6.0-*.whl) clean=$(ls "$wheels"/rocm_bindings_core-*.whl)
python3 "$top/tests/oracle/real_wheels.py" "$ROCSMITH" "$pyg" "$clean"

"$ROCSMITH" verify -q "$clean" >"$E2E_TMP/clean.txt"
[ "$(wc -l <"$E2E_TMP/clean.txt")" = 1 ]
"$tools/bin/auditwheel" show "$clean" | tr '\n' ' ' >"$E2E_TMP/show.txt"
grep -q 'consistent with.*manylinux' "$E2E_TMP/show.txt"
echo 'ok auditwheel and we find a clean wheel clean'

said=$("$ROCSMITH" verify --json --require gfx1100,gfx1201 "$pyg" || [ $? = 1 ])
for id in record-no-hash tag-glibc tag-library rpath-absolute device-target-missing; do
	grep -q "\"id\": \"$id\"" <<<"$said" || { echo "not ok $id is not found"; exit 1; }
done
grep -q 'no kernel for gfx1201; it has gfx1100' <<<"$said"
echo 'ok what is known to be wrong with pyg_lib_rocm 0.6.0 is found'

if [ -x "$tools/bin/wheel" ]; then
	(cd "$E2E_TMP" && "$tools/bin/wheel" unpack "$clean" >/dev/null && "$tools/bin/wheel" pack rocm_* >/dev/null)
	"$ROCSMITH" verify "$E2E_TMP"/rocm_*.whl >/dev/null
	echo 'ok a wheel that wheel(1) packed passes'
fi
