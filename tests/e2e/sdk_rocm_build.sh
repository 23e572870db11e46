#!/usr/bin/env bash
# A wheel built with an SDK of AMD's layout, from an index filled with the files of a Debian SDK, has the bytes of one built
# with the provider prefix on the same files; so has one with the same files packed as build artifacts.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
root=${XDG_DATA_HOME:-$HOME/.local/share}/rocsmith/sdk/debian-sid/root
[ -z "${ROCSMITH_HOME:-}" ] || root=$ROCSMITH_HOME/data/sdk/debian-sid/root
[ -d "$root/opt/rocm/include/hip" ] || { echo 'skip there is no SDK debian-sid'; exit 0; }
cd "$E2E_TMP"
export ROCSMITH_HOME=$E2E_TMP/home
trap 'rm -rf site set home' EXIT
failed=0
tell() { [ "$2" = 0 ] && echo "ok $1" || { echo "not ok $1"; sed 's/^/# /' log; failed=1; }; }
python3 "$top/tests/e2e/amd_index.py" make site --version 6.4.3 --gpu gfx1201 --tree "$root"
links=()
for dir in site/rocm-sdk-*; do links+=(--find-links "$dir"); done
status=0
"$ROCSMITH" sdk install rocm:6.4.3 --gpu gfx1201 "${links[@]}" >log 2>&1 || status=$?
tell 'an SDK of wheels is installed' $status
[ $status = 0 ] || exit 1
cp -r "$top/examples/montecarlo" p
python3 "$top/tests/e2e/artifacts.py" set --version 6.4.3 --gpu gfx1201 --tree "$root"
status=0
"$ROCSMITH" sdk install artifacts set --suite 6.4.3 --gpu gfx1201 >log 2>&1 || status=$?
tell 'an SDK of artifacts is installed' $status
for sdk in rocm-6.4.3 home/data/sdk/rocm-6.4.3/root/_rocm_sdk_devel artifacts-6.4.3; do
	status=0
	"$ROCSMITH" build p --gpu gfx1201 --sdk "$sdk" --build-dir "b$((n = ${n:-0} + 1))" -o "w$n" >log 2>&1 || status=$?
	tell "the demo is built with $sdk" $status
done
status=0
cmp w1/*.whl w2/*.whl >log 2>&1 && cmp w1/*.whl w3/*.whl >log 2>&1 || status=$?
tell 'and all wheels have the same bytes' $status
exit $failed
