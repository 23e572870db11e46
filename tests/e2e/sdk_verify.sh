#!/usr/bin/env bash
# `sdk verify` loads each library and starts each program of an SDK: real libraries and programs with one fault each, in an
# SDK made of artifacts.py's archives; and the SDK debian-sid, in its sandbox.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
failed=0 shared=${ROCSMITH_HOME:-}
export PYTHONPATH=$here ROCSMITH_HOME=$E2E_TMP/home
cd "$E2E_TMP"
verify() { # WHAT STATUS TEXT...: the JSON has each text
	local what=$1 want=$2 got=0 text
	shift 2
	"$ROCSMITH" sdk verify artifacts-set --json >said 2>err || got=$?
	for text in "$@"; do
		grep -q -e "$text" said || got="$got and no '$text'"
	done
	[ "$got" = "$want" ] && echo "ok $what" || { echo "not ok $what: $got"; sed 's/^/# /' said err; failed=1; }
}
command -v gcc >/dev/null || { echo 'skip there is no gcc'; exit 0; }
mkdir -p made
python3 "$here/artifacts.py" set --gpu gfx1201 --version 10.1.0
put() { # FILE...: of made/, into the SDK
	rm -rf "$ROCSMITH_HOME"
	python3 - "$@" <<'END'
import artifacts, pathlib, sys
files = {f"r/stage/{name}": pathlib.Path("made", pathlib.Path(name).name) for name in sys.argv[1:]}
artifacts.pack("set", "rand_lib_generic", ["r/stage"], files)
END
	"$ROCSMITH" sdk install artifacts set --gpu gfx1201 >said 2>&1 || { sed 's/^/# /' said; failed=1; }
}
lib() { gcc -shared -fPIC -o "made/$1" -x c - -x none "${@:2}"; }
echo 'int good(void) { return 1; }' | lib librocrand.so.1
echo '#include <stdio.h>
int main(void) { puts("no GPU"); return 3; }' | gcc -o made/rocmtool -x c -
put lib/librocrand.so.1 bin/rocmtool
verify 'what works passes, whatever its status' 0 '"tried": *3' '"verdict": *"pass"'
echo 'int gone(void) { return 1; }' | lib libgone.so.1 -Wl,-soname,libgone.so.1
echo 'int gone(void); int needs(void) { return gone(); }' | lib librocfft.so.0 -Wl,--no-as-needed made/libgone.so.1
put lib/librocfft.so.0
verify 'a missing library is named' 1 sdk-library-fails 'librocfft.so.0. cannot be loaded: libgone.so.1: cannot open'
echo 'int nowhere_to_be_found(void); int needs(void) { return nowhere_to_be_found(); }' | lib libhipfft.so.0
put lib/libhipfft.so.0
verify 'a missing symbol is named' 1 'libhipfft.so.0. cannot be loaded: .*undefined symbol: nowhere_to_be_found'
head -c 500 made/librocrand.so.1 >made/libhipblas.so.2
put lib/libhipblas.so.2
verify 'a torn library' 1 'libhipblas.so.2. cannot be loaded: .*file too short\|libhipblas.so.2. cannot be loaded: .*cannot'
echo '__attribute__((constructor)) static void crash(void) { *(volatile int *)0 = 1; }' | lib librccl.so.1
put lib/librccl.so.1
verify 'one that crashes while it is loaded' 1 'librccl.so.1. cannot be loaded: .*\(SIGSEGV\|signal 11\|egmentation\|139\)'
echo 'int main(void) { return 0; }' | gcc -o made/rocgone -x c - -x none -Wl,--no-as-needed made/libgone.so.1
printf '#!/proc/none\n' >made/rocscript && chmod +x made/rocscript
echo 'int main(void) { *(volatile int *)0 = 1; }' | gcc -o made/roccrash -x c -
put bin/rocgone bin/rocscript bin/roccrash bin/rocmtool
verify 'programs that do not start' 1 sdk-program-fails 'rocgone. does not start: libgone.so.1' \
	'rocscript. does not start' 'roccrash. does not start'
verify 'and only they' 1 '"tried": *5' "$(grep -o sdk-program-fails said | wc -l | sed 's/^3$/sdk-program-fails/')"
cp made/libhipfft.so.0 made/libtorch_hip.so
cp made/libhipfft.so.0 made/libclang_rt.asan.so
head -c 500 made/librocrand.so.1 >made/Kernels.so-000-gfx1201.hsaco
put lib/libtorch_hip.so lib/clang_rt/libclang_rt.asan.so lib/rocblas/library/Kernels.so-000-gfx1201.hsaco
verify 'libraries of others, those that want to come first, and code objects are not tried' 0 '"tried": *1'
[ -z "$shared" ] || export ROCSMITH_HOME=$shared
[ -n "$shared" ] || unset ROCSMITH_HOME
if "$ROCSMITH" sdk info debian-sid >/dev/null 2>&1; then
	got=0
	"$ROCSMITH" sdk verify debian-sid >said 2>&1 || got=$?
	[ $got = 0 ] && grep -q 'as installed, [1-9][0-9]* libraries and programs start' said && echo 'ok all of debian-sid works' ||
		{ echo 'not ok all of debian-sid works'; sed 's/^/# /' said; failed=1; }
fi
exit $failed
