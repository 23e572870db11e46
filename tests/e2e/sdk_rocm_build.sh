#!/usr/bin/env bash
# slow: an SDK of 800 MB is packed and installed twice
# A wheel built with an SDK of AMD's layout, from an index filled with the files of a Debian SDK, has the bytes of one built
# with the provider prefix on the same files; so has one with the same files packed as build artifacts, except that it does
# not require the package rocm, which has the libraries that the others link. So it is with wheels of a project's own back
# end, unless they require torch.
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
cmp w1/*.whl w2/*.whl >log 2>&1 || status=$?
tell 'and the wheels of wheels and prefix have the same bytes' $status
unpack() { rm -rf "$2" && python3 -m zipfile -e "$1" "$2" && rm "$2"/*.dist-info/RECORD; }
needs='Requires-Dist: rocm[libraries,device-gfx1201]==6.4.*'
unpack w1/*.whl u1 && unpack w3/*.whl u3
status=0
[ "$(diff -r u1 u3 | grep '^[<>]')" = "< $needs" ] || { status=1; diff -r u1 u3 >log; }
tell 'that of artifacts differs by the requirement on rocm alone' $status
mkdir -p back/pkg
cat >back/setup.py <<'PY'
import os, subprocess
from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
class Build(build_py):
    def run(self):
        subprocess.check_call(["hipcc", "-shared", "-fPIC", "-o", "pkg/libk.so", "k.hip"])
        super().run()
class Binary(Distribution):
    def has_ext_modules(self):
        return True
setup(name="pkg", version="1.0", packages=["pkg"], package_data={"pkg": ["*.so"]}, cmdclass={"build_py": Build}, distclass=Binary,
    install_requires=os.environ.get("PKG_NEEDS", "").split())
PY
touch back/pkg/__init__.py
printf '#include <hip/hip_runtime.h>\n__global__ void k(int *p) { *p = 1; }\nvoid run(int *p) { k<<<1, 1>>>(p); }\n' >back/k.hip
back() { # WANTED SDK [OPTION...]: the requirements of the wheel
	status=0
	rm -rf wb && "$ROCSMITH" build back --gpu gfx1201 --sdk "$2" --build-dir "bb$2" -o wb >log 2>&1 || status=$?
	unzip -p wb/*.whl '*/METADATA' | grep '^Requires-Dist' >got || true
	[ "$status" = 0 ] && [ "$(cat got)" = "$1" ] && "$ROCSMITH" verify wb/*.whl --require gfx1201 >>log 2>&1 || { status=1; cat got >>log; }
}
back "$needs" rocm-6.4.3
if grep -q 'cannot install what the build' log; then
	echo 'skip a back end: no package index'
	exit $failed
fi
tell 'a wheel of a back end requires it' $status
PKG_NEEDS='torch numpy' back "$(printf 'Requires-Dist: torch\nRequires-Dist: numpy')" rocm-6.4.3
tell 'one that requires torch does not' $status
back '' artifacts-6.4.3
tell 'nor does one of artifacts' $status
exit $failed
