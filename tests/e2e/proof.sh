#!/usr/bin/env bash
# Independent proof that a wheel of ours is right: every statement that rocsmith makes about the example's
# wheel is compared with what other people's tools say about the same file.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
gpus=gfx1201,gfx1100,gfx942

python3 -c 'import venv, ensurepip' 2>/dev/null || { echo 'skip python3 has no venv'; exit 0; }
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,hiprand >"$E2E_TMP/sdk.log" 2>&1; then
	if [ -n "${CI:-}" ]; then
		cat "$E2E_TMP/sdk.log"
		exit 1
	fi
	echo 'skip the SDK cannot be installed (no package archive?)'
	exit 0
fi
"$ROCSMITH" build -q "$top/examples/montecarlo" --gpu $gpus -o "$E2E_TMP/out" --build-dir "$E2E_TMP/build"
wheel=$(ls "$E2E_TMP"/out/*.whl)
"$ROCSMITH" verify --json --require $gpus "$wheel" >"$E2E_TMP/verify.json"
"$ROCSMITH" inspect --json --hash "$wheel" >"$E2E_TMP/inspect.json"
mkdir "$E2E_TMP/tree"
(cd "$E2E_TMP/tree" && unzip -q "$wheel")
so=$(find "$E2E_TMP/tree" -name '*.so')
oracle() { python3 "$top/tests/oracle/wheel.py" "$@"; }

unzip -tqq "$wheel"
echo 'ok unzip finds no fault'
oracle zip "$wheel"
oracle record "$wheel"

# pip and uv, each into an environment of its own; uv refuses archives that others let pass.
tools=$ROCSMITH_HOME/oracles
python3 -m venv "$E2E_TMP/venv"
"$E2E_TMP/venv/bin/pip" install -q --disable-pip-version-check --no-index --no-deps "$wheel"
"$E2E_TMP/venv/bin/pip" check >/dev/null
"$E2E_TMP/venv/bin/pip" show -f montecarlo | grep -q '_gpu.abi3.so'
echo 'ok pip installs it'
if ! bash "$top/tests/oracle/venv.sh" "$tools" 2>"$E2E_TMP/pip.log"; then
	echo 'skip auditwheel, uv and packaging cannot be had (no package index?)'
else
	"$tools/bin/uv" venv -q "$E2E_TMP/uv"
	VIRTUAL_ENV="$E2E_TMP/uv" "$tools/bin/uv" pip install -q --offline --no-deps "$wheel"
	find "$E2E_TMP/uv" -name '_gpu.abi3.so' | grep -q .
	echo 'ok uv installs it'
	"$tools/bin/python" "$top/tests/oracle/wheel.py" name "$wheel"
fi

# Where no ROCm is installed, the SDK's runtime stands in; without a GPU HIP's own words are the answer.
said=$("$ROCSMITH" sdk run --host -- "$E2E_TMP/venv/bin/python" -c '
import montecarlo
try:
	print("pi =", montecarlo.pi(samples=1000000, seed=1))
except RuntimeError as e:
	print(e)')
case $said in
'no ROCm-capable device is detected' | 'pi = 3.1'*) echo "ok it imports and answers '$said'" ;;
*) echo "not ok it imports and answers '$said'" ;;
esac

# The platform tag: what the ELF file needs, by readelf; and auditwheel's verdict.
readelf -VW "$so" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 >"$E2E_TMP/glibc"
here=$(getconf GNU_LIBC_VERSION | sed 's/glibc //')
newest=$(printf '%s\n%s\n' "$here" "$(sed 's/GLIBC_//' "$E2E_TMP/glibc")" | sort -V | tail -n 1)
[ "$newest" = "$here" ] || echo "not ok it needs $(cat "$E2E_TMP/glibc") on a machine with $here"
echo "ok its host side needs $(cat "$E2E_TMP/glibc"), this machine has $here"
readelf -dW "$so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort >"$E2E_TMP/needed"
grep -q '^libamdhip64.so' "$E2E_TMP/needed"
readelf -dW "$so" | grep -qE 'RPATH|RUNPATH' && echo 'not ok it has a RUNPATH'
if [ -x "$tools/bin/auditwheel" ]; then
	"$tools/bin/auditwheel" show "$wheel" >"$E2E_TMP/audit" 2>&1 || true
	oracle audit "$wheel" "$E2E_TMP/audit"
fi

# Device code: LLVM's own reader of the same file.
# shellcheck source=tests/e2e/llvm.bash
. "$top/tests/e2e/llvm.bash"
llvm_find
llvm llvm-objdump --offloading "$so" >/dev/null
oracle offloading "$E2E_TMP/inspect.json" "$(dirname "$so")"
