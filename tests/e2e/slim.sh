#!/usr/bin/env bash
# `slim` on real libraries: read by readelf, llvm-readelf and a reader in Python, loaded by the SDK's ld.so; and on
# programs that gcc and each linker at hand make, which look at their own bundles when they run.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
get() { "$top/tools/debian-get" "$@"; }
cd "$E2E_TMP"
rm -rf ./*
command -v python3 >/dev/null && command -v readelf >/dev/null && command -v gcc >/dev/null || {
	echo 'skip slim: python3, readelf or gcc is missing'
	exit 0
}

clean() { # FILE: nothing that tools complain about
	readelf -lSsrW "$1" >/dev/null 2>complaints
	if command -v llvm-readelf >/dev/null; then
		llvm-readelf -lSsrW "$1" >/dev/null 2>>complaints
	fi
	[ ! -s complaints ] || {
		echo "not ok $1: $(head -n 3 complaints)"
		exit 1
	}
}

# ---- programs that look at themselves ----
# shellcheck source=tests/e2e/llvm.bash
. "$top/tests/e2e/llvm.bash"
lld 2>log || echo "skip lld: it cannot be had"
PYTHONPATH=$top/tests/oracle python3 - <<'PY'
from device_code import pack
for seed in range(3):
    open(f"b{seed}", "wb").write(pack([(b"hipv4-amdgcn-amd-amdhsa--" + gpu, bytes((i * 7 + seed + n) % 256 for i in range(120000 + seed)))
        for n, gpu in enumerate([b"gfx90a", b"gfx1100", b"gfx1201"])]))
PY
cat >fat.s <<'AS'
	.section .hip_fatbin,"a",@progbits
	.p2align 12
	.globl __hip_fatbin_0
	.protected __hip_fatbin_0
__hip_fatbin_0:	.incbin "b0"
	.p2align 12
f1:	.incbin "b1"
	.p2align 12
f2:	.incbin "b2"
	.section .hipFatBinSegment,"aw",@progbits
	.p2align 3
	.globl wrappers
	.hidden wrappers
wrappers:
	.long 0x48495046, 1
	.quad __hip_fatbin_0, 0
	.long 0x48495046, 1
	.quad f1, 0
	.long 0x48495046, 1
	.quad f2, 0
	.section .note.GNU-stack,"",@progbits
AS
cat >look.c <<'C'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
extern struct { uint32_t magic, version; const unsigned char *p; void *none; } wrappers[3];
int tail[5000] = {1, 2, 3};
int look(void)
{
	for (unsigned s = 0; s < 3; s++) {
		const unsigned char *p = wrappers[s].p, *e = p + 32;
		uint64_t n, v[3];
		if (memcmp(p, "__CLANG_OFFLOAD_BUNDLE__", 24))
			return 1;
		memcpy(&n, p + 24, 8);
		for (uint64_t i = 0; i < n; i++, e += 24 + v[2]) {
			unsigned sum = 0;
			memcpy(v, e, 24);
			for (uint64_t k = 0; k < v[1]; k++)
				sum = sum * 31 + p[v[0] + k];
			printf("%u %.*s %u\n", s, (int)v[2], (const char *)e + 24, sum);
		}
	}
	return tail[2] != 3;
}
C
echo 'int look(void); int main(void) { return look(); }' >main.c
plain='-Wl,-z,noexecstack'
made=0
try() { # NAME FLAG...: an executable
	local name=$1
	shift
	gcc -O1 -fPIC $plain "$@" fat.s look.c main.c -o "$name" 2>log || return 0
	check "$name" "./$name" "./$name.slim"
}
try_library() { # NAME FLAG...
	local name=$1
	shift
	gcc -O1 -fPIC -shared $plain "$@" fat.s look.c -o "lib$name.so" 2>log || return 0
	gcc main.c -o "main-$name" "./lib$name.so"
	cp "main-$name" "main-$name.slim"
	check "lib$name.so" "./main-$name" "./main-$name" "lib$name.so"
}
check() { # FILE RUN RUN-SLIM [REPLACE]
	local file=$1 run=$2 after=$3
	$run | grep -e ' host' -e gfx1100 >want
	"$ROCSMITH" slim -q --gpu gfx1100 "$file" -o "$file.slim" >/dev/null || {
		echo "not ok $file is refused"
		exit 1
	}
	[ "$(stat -c %s "$file.slim")" -lt $(($(stat -c %s "$file") - 500000)) ] || {
		echo "not ok $file is not smaller"
		exit 1
	}
	clean "$file.slim"
	if [ $# = 4 ]; then
		cp "$4" "$4.old" && cp "$4.slim" "$4"
	fi
	$after >got
	cmp want got
	made=$((made + 1))
}
try pie -pie
try pie-noseparate -pie -Wl,-z,noseparate-code
try pie-relr -pie -Wl,-z,pack-relative-relocs
try pie-gold -pie -fuse-ld=gold
try pie-lld -pie -fuse-ld=lld
try static-pie -static-pie
try pie-stripped -pie -s
try_library plain
try_library symbolic -Wl,-Bsymbolic
try_library relr -Wl,-z,pack-relative-relocs
try_library page -Wl,-z,max-page-size=0x10000
try_library gold -fuse-ld=gold
try_library lld -fuse-ld=lld
try_library noseparate -Wl,-z,noseparate-code
[ "$made" -ge 6 ]
echo "ok $made programs and libraries of several linkers find their own bundles when they run"

# Without any section header; at a fixed address.
python3 - libplain.so.old bare.so <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[40:48], data[58:64] = bytes(8), bytes(6)
open(sys.argv[2], "wb").write(data)
PY
"$ROCSMITH" slim -q --gpu gfx1100 bare.so -o bare.slim >/dev/null
cp bare.slim libplain.so
./main-plain >got
cmp want got
echo 'ok a library without section headers works, too'
try fixed -no-pie
try fixed-lld -no-pie -fuse-ld=lld
try fixed-static -no-pie -static
[ -e fixed.slim ] && [ -e fixed-static.slim ]
cp fixed holes
"$ROCSMITH" slim -q --gpu gfx1100 holes --in-place >/dev/null
./fixed | grep -e ' host' -e gfx1100 >want
./holes | grep -v ' 0$' >got
grep -v ' host' want >want.objects
cmp want.objects got
cmp -s fixed holes && exit 1
[ "$(stat -c %s fixed)" = "$(stat -c %s holes)" ]
echo 'ok programs at a fixed address find their own bundles, too, also with holes in place'

# ---- a wheel ----
mkdir -p w/pkg/library w/p-1.dist-info
cp "$top/tests/data/devcode/two.hipfb" w/pkg/k.hipfb
echo x >w/pkg/library/K_gfx90a.dat
echo y >w/pkg/library/K_gfx1030.dat
python3 -c 'print("words " * 5000)' >w/pkg/__init__.py
printf 'Metadata-Version: 2.1\nName: p\nVersion: 1\n' >w/p-1.dist-info/METADATA
printf 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >w/p-1.dist-info/WHEEL
python3 - <<'PY'
import base64, hashlib, os, zipfile
rows = []
with zipfile.ZipFile("p-1-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
    for root, _, names in sorted(os.walk("w")):
        for name in sorted(names):
            path = os.path.join(root, name)
            data = open(path, "rb").read()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{path[2:]},sha256={digest},{len(data)}")
            z.write(path, path[2:])
    z.writestr("p-1.dist-info/RECORD", "\n".join([*rows, "p-1.dist-info/RECORD,,"]) + "\n")
PY
"$ROCSMITH" slim -q --gpu gfx1030 p-1-py3-none-any.whl -o small >/dev/null
"$ROCSMITH" verify -q --require gfx1030 small/p-1-py3-none-any.whl >/dev/null
python3 - <<'PY'
import base64, csv, hashlib, io, zipfile
old = zipfile.ZipFile("p-1-py3-none-any.whl")
new = zipfile.ZipFile("small/p-1-py3-none-any.whl")
assert new.testzip() is None
rows = {r[0]: r for r in csv.reader(io.StringIO(new.read("p-1.dist-info/RECORD").decode()))}
assert set(rows) == set(new.namelist())
for name in new.namelist():
    digest = base64.urlsafe_b64encode(hashlib.sha256(new.read(name)).digest()).rstrip(b"=").decode()
    assert name.endswith("/RECORD") or rows[name][1:] == [f"sha256={digest}", str(len(new.read(name)))], name
def raw(z, name):
    i = z.getinfo(name)
    z.fp.seek(i.header_offset + 26)
    a, b = (int.from_bytes(z.fp.read(2), "little") for _ in range(2))
    z.fp.seek(i.header_offset + 30 + a + b)
    return z.fp.read(i.compress_size), i.date_time, i.external_attr
assert raw(old, "pkg/__init__.py") == raw(new, "pkg/__init__.py")
assert "pkg/library/K_gfx90a.dat" not in rows and "pkg/library/K_gfx1030.dat" in rows
assert new.getinfo("pkg/k.hipfb").file_size < old.getinfo("pkg/k.hipfb").file_size
PY
if python3 -m pip --version >/dev/null 2>&1; then
	python3 -m pip install -q --no-deps --no-index --disable-pip-version-check --target site \
		small/p-1-py3-none-any.whl 2>log || { cat log && exit 1; }
	"$ROCSMITH" slim -q --gpu gfx1030 w/pkg/k.hipfb -o k.hipfb >/dev/null
	cmp site/pkg/k.hipfb k.hipfb
	python3 -m venv venv
	venv/bin/python -m pip install -q --no-deps --no-index --disable-pip-version-check p-1-py3-none-any.whl
	cp "$(find venv -name k.hipfb)" whole.hipfb
	ln "$(find venv -name k.hipfb)" other-name.hipfb
	"$ROCSMITH" slim --gpu gfx1030 venv --in-place --without '**/pkg/__init__.py' >dropped
	grep -q 'left out: lib.*/pkg/__init__.py' dropped
	cmp "$(find venv -name k.hipfb)" k.hipfb
	cmp other-name.hipfb whole.hipfb
	cp venv/rocsmith-slim.json first.json
	"$ROCSMITH" slim -q --gpu gfx1030 venv --in-place --without '**/pkg/__init__.py' >dropped
	cmp venv/rocsmith-slim.json first.json
	python3 - venv <<'PY'
import base64, csv, glob, hashlib, os, sys
(record,) = glob.glob(sys.argv[1] + "/lib/python*/site-packages/p-1.dist-info/RECORD")
site = os.path.dirname(os.path.dirname(record))
rows = [r for r in csv.reader(open(record)) if r]
names = {r[0] for r in rows}
assert "pkg/k.hipfb" in names and "pkg/library/K_gfx90a.dat" not in names and "pkg/__init__.py" not in names
for path, digest, size in rows:
    data = open(os.path.join(site, path), "rb").read()
    want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert not digest or (digest == "sha256=" + want and size == str(len(data))), path
PY
	venv/bin/python -m pip uninstall -qy p
	[ -z "$(find venv -name 'k.hipfb')" ]
	echo 'ok an installed environment becomes smaller in place, RECORD with it, and pip takes the package out'
fi
for to in new/ new/er//; do # a folder that is not there yet; -n makes none
	for from in p-1-py3-none-any.whl w/pkg/k.hipfb; do
		rm -rf new
		"$ROCSMITH" slim -n --gpu gfx1030 "$from" -o "$to" >/dev/null
		[ ! -e new ]
		[ -z "$("$ROCSMITH" slim -q --gpu gfx1030 "$from" -o "$to")" ] && [ -f "$to/${from##*/}" ]
	done
	rm -rf new
	"$ROCSMITH" slim -q --gpu gfx1030 w -o "$to" && [ -f "$to/pkg/k.hipfb" ]
done
echo 'ok an output that ends in / is a folder, which is made; -q prints nothing'
"$ROCSMITH" inspect small/p-1-py3-none-any.whl | grep -q 'slimmed for gfx1030: without gfx90a'
echo 'ok a wheel keeps the bytes of what does not change, and Python and pip take it'

# ---- real libraries ----
real() { # FILE TARGET...
	local file name
	file=$(realpath "$1")
	name=$(basename "$file")
	shift
	"$ROCSMITH" slim -q --gpu "$(echo "$*" | tr ' ' ,)" "$file" -o "$name" >/dev/null
	clean "$name"
	python3 "$top/tests/oracle/slimmed.py" "$file" "$name" "$@"
}
gloo=$(get sid libgloo-rocm libgloo-rocm-0) && fft=$(get experimental librocfft librocfft0) || {
	echo 'skip real libraries: no package archive can be reached'
	exit 0
}
real "$gloo/usr/lib/libgloo_hip.so.0" gfx1100
if command -v llvm-strip >/dev/null; then
	for gpus in gfx1100 gfx90a,gfx803; do
		"$ROCSMITH" slim -q --strip-device --gpu $gpus "$gloo/usr/lib/libgloo_hip.so.0" -o stripped.so --force >/dev/null
		clean stripped.so
		# shellcheck disable=SC2086
		python3 -B "$top/tests/oracle/stripped.py" "$(realpath "$gloo/usr/lib/libgloo_hip.so.0")" stripped.so ${gpus//,/ }
	done
fi
real "$fft/usr/lib/x86_64-linux-gnu/librocfft.so.0" gfx90a gfx1201
# ---- compressed, as the runtime at hand reads it ----
llvm_find 2>log || llvm=
compressed() { # FILE ENCODING GPUS: as a runtime of the version in $hip reads it
	"$ROCSMITH" slim -q --compress --sdk "hip-$hip" --gpu "$3" "$1" -o "$(basename "$1").z" --force >/dev/null
	[ "${1%.hipfb}" != "$1" ] || clean "$(basename "$1").z"
	# shellcheck disable=SC2086
	python3 -B "$top/tests/oracle/slimmed.py" "$(realpath "$1")" "$(basename "$1").z" "$2" ${3//,/ }
	[ -z "$llvm" ] || python3 -B "$top/tests/oracle/unbundled.py" "$(realpath "$1")" "$(basename "$1").z" "${llvm_run[@]}" "$llvm/usr/lib/llvm-21/bin/clang-offload-bundler"
}
for hip in 6.1 6.4 7.0 7.2; do
	mkdir -p hip-$hip
	echo 'int a, b;' >hip.c
	echo "hip_4.2 { global: a; }; hip_$hip { global: b; local: *; } hip_4.2;" >hip.map
	gcc -shared -fPIC -Wl,--version-script=hip.map hip.c -o hip-$hip/libamdhip64.so.9
	ln -sf libamdhip64.so.9 hip-$hip/libamdhip64.so
	cp "$top/tests/data/devcode/two.hipfb" hip-$hip/two.hipfb
done
status=0
"$ROCSMITH" slim --compress --gpu gfx90a hip-6.1/two.hipfb -o old.z 2>err || status=$?
[ "$status" = 3 ] && grep -q 'HIP 6.1 reads no compressed bundles' err && [ ! -e old.z ]
status=0
"$ROCSMITH" slim --compress --gpu gfx90a w/pkg/k.hipfb -o old.z 2>err || status=$?
[ "$status" = 3 ] && grep -q 'no libamdhip64' err
"$ROCSMITH" slim --compress hip-7.0/two.hipfb -o beside.z | grep -q 'compressed: version 2, for HIP 7.0'
mkdir -p tree/lib && cp hip-6.4/* tree/lib && cp hip-7.2/libamdhip64.so.9 tree/lib/libamdhip64.so.7
"$ROCSMITH" slim --compress --gpu gfx90a tree -o tree.z | grep -q 'compressed: version 2, for HIP 6.4'
"$ROCSMITH" wheel unpack -q p-1-py3-none-any.whl >/dev/null
mkdir p-1/pkg/lib packed && cp hip-7.2/libamdhip64.so.9 p-1/pkg/lib/libamdhip64.so
"$ROCSMITH" wheel pack -q p-1 -o packed >/dev/null
"$ROCSMITH" slim --compress packed/p-1-py3-none-any.whl -o small.z.whl | grep -q 'compressed: version 3, for HIP 7.2 (pkg/lib/libamdhip64.so)'
"$ROCSMITH" inspect small.z.whl | grep -q 'k.hipfb.*ccob3'
echo 'ok the HIP runtime in a folder, in a wheel, or beside a file says how bundles are compressed'
for hip in 6.4 7.2; do
	[ $hip = 7.2 ] && encoding=ccob3 || encoding=ccob2
	compressed "$top/tests/data/devcode/two.hipfb" $encoding gfx90a
	compressed "$top/tests/data/devcode/two.hipfb" $encoding gfx90a,gfx1030
	[ ! -f "$gloo/usr/lib/libgloo_hip.so.0" ] || compressed "$gloo/usr/lib/libgloo_hip.so.0" $encoding gfx90a,gfx1100
done

rand=$("$ROCSMITH" sdk run -- sh -c 'realpath /usr/lib/x86_64-linux-gnu/librocrand.so.1' 2>/dev/null) &&
	"$ROCSMITH" sdk run -- cat "$rand" >librocrand.old || {
	echo 'skip loading: no SDK with rocRAND is installed'
	exit 0
}
mkdir rand
mv librocrand.old rand/librocrand.so
real rand/librocrand.so gfx1100
mv librocrand.so librocrand.slim
mv rand/librocrand.so librocrand.old
cat >load.py <<'PY'
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1], mode=2)
version, generator = ctypes.c_int(), ctypes.c_void_p()
print(lib.rocrand_get_version(ctypes.byref(version)), version.value)
print(lib.rocrand_create_generator(ctypes.byref(generator), 400))
PY
for file in librocrand.old librocrand.slim; do
	"$ROCSMITH" sdk run -- python3 "$PWD/load.py" "$PWD/$file" >"$file.said" 2>&1 || echo "status $?" >>"$file.said"
done
cmp librocrand.old.said librocrand.slim.said
grep -q '^0 ' librocrand.slim.said
echo 'ok the SDK loads the smaller rocRAND as it loads the whole one'
