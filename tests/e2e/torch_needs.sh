#!/usr/bin/env bash
# slow: an SDK of AMD's layout from a Debian SDK, and two environments of torch
# A torch that is built against AMD's wheels (rocm:6.4.3) requires the package rocm with the device wheels of its GPUs, as
# torch's own wheels do; pip and uv find them in the index that the SDK came from. One built against a prefix does not.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
root=${ROCSMITH_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/rocsmith}/data/sdk/debian-sid/root
[ -n "${ROCSMITH_HOME:-}" ] || root=${XDG_DATA_HOME:-$HOME/.local/share}/rocsmith/sdk/debian-sid/root
[ -d "$root/opt/rocm/include/hip" ] || { echo 'skip there is no SDK debian-sid'; exit 0; }
cd "$E2E_TMP" || exit 1
[ "$(df --output=avail -k . | tail -n 1)" -gt 15000000 ] || { echo 'skip torch and the package rocm: no 15 GB free'; exit 0; }
rm -rf ./*
export ROCSMITH_HOME=$E2E_TMP/home PYTHONPATH=$top/tests/e2e
server=
trap 'kill $server 2>/dev/null; rm -rf site home' EXIT
failed=0
tell() { [ "$2" = 0 ] && echo "ok $1" || { echo "not ok $1"; sed 's/^/# /' log | tail -30; failed=1; }; }
python3 "$top/tests/e2e/amd_index.py" make site --version 6.4.3 --gpu gfx1151,gfx1201,gfx942 --tree "$root"
python3 - <<'END'
import amd_index
gpus = ["gfx1151", "gfx1201", "gfx942"]  # the source distribution's metadata, without running it
amd_index.wheel("site", "rocm", "6.4.3", {"rocm_sdk/__init__.py": ""}, "py3-none-any", ["rocm-sdk-core==6.4.3"],
    {"libraries": ["rocm-sdk-libraries==6.4.3"], **{f"device-{g}": [f"rocm-sdk-device-{g}==6.4.3"] for g in gpus}})
END
python3 "$top/tests/e2e/amd_index.py" serve site port &
server=$!
until [ -f port ]; do sleep 0.1; done
"$ROCSMITH" sdk install rocm:6.4.3 --gpu gfx1201,gfx1151 --index-url "$(cat port)" >log 2>&1
tell "an SDK of AMD's wheels" $?
mkdir -p torch/torch/csrc torch/c10/core torch/third_party/fmt torch/tools/amd_build
touch torch/torch/csrc/Module.cpp torch/c10/core/Device.h torch/torch/__init__.py
cp -r "$top"/tests/data/torch1/torch torch/
sed -n '/^import argparse/,/^)$/p' "$top/tests/cases/hipify/torch-tree.case" >torch/tools/amd_build/build_amd.py
echo 2.9.0 >torch/version.txt
sed -n "/^cat >torch\/k.hip/,/^E\$/p; /^cat >torch\/setup.py/,/^E\$/p" "$top/tests/e2e/build_set.sh" >write.sh
bash write.sh
sed -i 's/"--offload-arch=gfx1201", /"--offload-arch=gfx1201", "--offload-arch=gfx1151", /' torch/setup.py
for sdk in rocm-6.4.3 home/data/sdk/rocm-6.4.3/root/_rocm_sdk_devel; do
	also=()
	[ $sdk = rocm-6.4.3 ] || also=(--feature runtime=sdk)
	"$ROCSMITH" build torch --source torch --gpu gfx1201,gfx1151 --sdk $sdk "${also[@]}" --build-dir "b$((n = ${n:-0} + 1))" -o "w$n" >log 2>&1
	tell "torch is built with $sdk" $?
done
needs() { unzip -p "$1" '*/METADATA' | grep '^Requires-Dist: rocm'; }
needs w1/torch-*.whl >log
grep -qx 'Requires-Dist: rocm\[device-gfx1151,device-gfx1201,libraries\]==6.4.\*\|Requires-Dist: rocm\[libraries,device-gfx1201,device-gfx1151\]==6.4.\*' log
tell 'it requires rocm of its version with the device wheels of its GPUs' $?
! needs w2/torch-*.whl >log
tell 'one for libraries that are there does not' $?
want='rocm-6.4.3 rocm-sdk-core-6.4.3 rocm-sdk-device-gfx1151-6.4.3 rocm-sdk-device-gfx1201-6.4.3 rocm-sdk-libraries-6.4.3'
python3 -m venv env >log 2>&1 && env/bin/pip install --dry-run --no-cache-dir --index-url "$(cat port)" w1/torch-*.whl >log 2>&1
tell 'pip finds all of it in the index' $?
[ "$(sed -n 's/^Would install //p' log | tr ' ' '\n' | grep rocm- | grep -v torch | sort | tr '\n' ' ')" = "$want " ]
tell 'and takes these GPUs only' $?
bash "$top/tests/oracle/venv.sh" "$ROCSMITH_HOME/installers" --upgrade pip uv packaging 2>/dev/null
uv=$ROCSMITH_HOME/installers/bin/uv
if [ -x "$uv" ]; then
	"$uv" pip install --dry-run --no-cache --python env/bin/python --index-url "$(cat port)" w1/torch-*.whl >log 2>&1
	tell 'uv, too' $?
	[ "$(sed -n 's/^ + \(rocm[^=]*\)==/\1-/p' log | sort | tr '\n' ' ')" = "$want " ]
	tell 'the same' $?
fi
"$ROCSMITH" verify w1/torch-*.whl --require gfx1201 >log 2>&1
tell 'verify passes it' $?
exit $failed
