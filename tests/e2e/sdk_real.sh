#!/usr/bin/env bash
# first: no other script shall see how the SDK changes
# The real thing: Debian sid's compiler from the machine's mirror, in the sandbox, against this
# machine's libc, and its libraries under this machine's python3. Needs the network once.
set -eu
for tool in apt-get bwrap readelf; do
	command -v $tool >/dev/null || { echo "skip $tool is not installed"; exit 0; }
done
"$ROCSMITH" sdk install debian --suite sid --components compiler,headers,hiprand,python 2>"$E2E_TMP/err" || {
	[ $? = 4 ] && { echo 'skip the archive cannot be reached'; exit 0; }
	sed 's/^/# /' "$E2E_TMP/err"
	echo 'not ok install'
	exit 1
}
echo 'ok install debian sid'
start=$(date +%s%N)
"$ROCSMITH" sdk install debian 2>/dev/null
ms=$((($(date +%s%N) - start) / 1000000))
[ "$ms" -lt 1000 ] && echo "ok a second install is a no-op ($ms ms)"
"$ROCSMITH" sdk verify >/dev/null 2>&1 && echo 'ok verify'

cd "$E2E_TMP"
cat >k.hip <<'EOF'
#include <hip/hip_runtime.h>
#include <cmath>
#include <vector>
__global__ void twice(float *x, int n)
{
	__shared__ float s[64];
	s[threadIdx.x] = n;
	__syncthreads();
	x[threadIdx.x] = s[threadIdx.x] * 2;
}
extern "C" int devices() { int n = -1; return hipGetDeviceCount(&n) == hipErrorNoDevice ? 0 : n; }
extern "C" double remainder_of(double x, int n)
{
	std::vector<float> v(64);
	twice<<<1, 64>>>(v.data(), n);
	return std::fmod(x, 3.0);
}
EOF
"$ROCSMITH" sdk run -- clang++ --version | grep -q 'clang version' && echo 'ok clang++ runs'
"$ROCSMITH" sdk run -- hipcc --version | grep -q 'HIP version' && echo 'ok hipcc runs'
"$ROCSMITH" sdk run -- hipcc k.hip --offload-arch=gfx1100 -shared -fPIC -o own.so
echo 'ok hipcc compiles and links'

flags=$("$ROCSMITH" sdk info --json --gpu gfx1201 |
	python3 -c 'import json,sys; print(*json.load(sys.stdin)["clang_flags"])')
compile() { # OUT ARGS...
	local out=$1
	shift
	# shellcheck disable=SC2086
	"$ROCSMITH" sdk run -- clang++ -x hip k.hip --offload-arch=gfx1201 --offload-arch=gfx90a -O2 \
		-fPIC -shared "$@" $flags -L/opt/rocm/lib -lamdhip64 -o "$out"
}
if [ -e /usr/include/stdio.h ] && ls -d /usr/include/c++/* >/dev/null 2>&1; then
	compile host.so --sysroot=/run/host --gcc-toolchain=/run/host/usr
	have=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)
	need=$(readelf -V host.so | grep -o 'GLIBC_[0-9.]*' | cut -d_ -f2 | sort -V | tail -1)
	[ "$(printf '%s\n' "$need" "$have" | sort -V | tail -1)" = "$have" ]
	echo "ok a library for this machine's libc needs GLIBC_$need, the machine has $have"
	python3 -m venv venv 2>/dev/null || ln -sf "$(command -v python3)" venv-python
	python=venv/bin/python
	[ -e $python ] || python=./venv-python
	got=$("$ROCSMITH" sdk run --host -- $python -c \
		'import ctypes; l = ctypes.CDLL("./host.so"); print(l.devices())')
	[ "$got" = 0 ] || [ "$got" -gt 0 ]
	echo "ok python3 of this machine loads it with the SDK's libraries: $got devices"
fi
"$ROCSMITH" sdk info --json --gpu gfx1201,gfx1250,gfx9999 | python3 -c '
import json, sys
t = {x["target"]: x["compiles"] for x in json.load(sys.stdin)["targets"]}
sys.exit(not (t["gfx1201"] and not t["gfx9999"]))'
echo 'ok targets are probed'

root=$("$ROCSMITH" sdk info --json --gpu gfx1201 | python3 -c 'import json,sys; print(json.load(sys.stdin)["paths"]["root"])')
# the same tree as prefix: AMD's layout (its view) and Debian's
for tree in "$root/opt/rocm" "$root/usr" "$root"; do
	"$ROCSMITH" sdk info "$tree" --json --gpu gfx1201 | python3 -c '
import json, sys
d = json.load(sys.stdin)
debian = d["paths"]["hip"] == "/usr"
assert d["targets"][0]["compiles"], d
assert any(f.startswith("--rocm-path") for f in d["clang_flags"]) != debian, d
assert d["versions"]["hip"] and d["versions"]["clang"], d'
	echo "ok prefix ${tree#"$root"}/"
done

# the compiler of the prefix in Debian's layout links with the flags that were found for it
flags=$("$ROCSMITH" sdk info "$root/usr" --json --gpu gfx1201 |
	python3 -c 'import json,sys; d=json.load(sys.stdin); print(*d["clang_flags"], "-L" + d["paths"]["lib"][0])')
# shellcheck disable=SC2086
"$ROCSMITH" sdk run --sdk "$root/usr" -- clang++ -x hip k.hip --offload-arch=gfx1201 -fPIC -shared $flags -lamdhip64 -o debian.so
echo 'ok the flags for the Debian layout compile and link'
if [ "$(id -u)" = 0 ] && command -v unshare >/dev/null; then
	mkdir -p bin
	for tool in apt-get apt-config; do ln -sf "$(command -v $tool)" bin/$tool; done
	PATH=$PWD/bin "$ROCSMITH" sdk run -- clang++ --version >chroot.txt 2>&1 &&
		grep -q 'clang version' chroot.txt && echo 'ok root without bwrap: chroot'
fi
