#!/usr/bin/env bash
# The cache of objects: what a second machine does not compile, and what no trick makes stale. Peers: cmp, nginx, S3's
# interface by moto (cache_all.sh).
set -eu

cd "$E2E_TMP"
. "$(dirname "$(realpath "$0")")/cache.bash"

"$ROCSMITH" sdk install debian --suite sid -q >&2 || {
	echo 'skip cache: no SDK can be had'
	exit 0
}
project p
share_cache

# ---- another folder, as on another machine ----
rocsmith build p --gpu gfx1201,gfx90a -o o1 --build-dir b1 --json >1.json
[ "$(did 1.json)" = '4 0' ] || no "the first build compiled and restored: $(did 1.json)"
mkdir elsewhere
cp -r p elsewhere/other
rm -rf "$own"
rocsmith build elsewhere/other --gpu gfx1201,gfx90a -o o2 --build-dir b2 --json >2.json
[ "$(did 2.json)" = '0 4' ] || no "the second build compiled and restored: $(did 2.json)"
cmp o1/*.whl o2/*.whl || no 'the wheel from the cache is another one'
rocsmith build elsewhere/other --gpu gfx1201,gfx90a -o o2 --build-dir b2 --json >3.json
[ "$(did 3.json)" = '0 0' ] || no "the third build compiled and restored: $(did 3.json)"
ok 'a build in another folder compiles nothing, and makes the same wheel'

# ---- one more GPU ----
rocsmith build p --gpu gfx1201,gfx90a,gfx1100 -o o4 --build-dir b4 --json >4.json
[ "$(did 4.json)" = '2 3' ] || no "one more GPU compiled and restored: $(did 4.json)"
ok 'one more GPU takes its device pass and the host pass that embeds it'

# ---- objects of shared front ends: for those who share, too ----
rm -rf "$own"
share() { # PROJECT HOW NUMBER
	rocsmith build "$1" --gpu gfx1030,gfx1031,gfx1100 --share-frontend="$2" -o "s$3" --build-dir "c$3" --json >"s$3.json"
}
share p auto 1
[ "$(did s1.json)" = '4 1' ] || no "shared front ends compiled and restored: $(did s1.json)"
rm -rf "$own"
share elsewhere/other auto 2
[ "$(did s2.json)" = '0 5' ] || no "shared front ends, elsewhere, compiled and restored: $(did s2.json)"
share p off 3
[ "$(did s3.json)" = '2 3' ] || no "direct passes compiled and restored: $(did s3.json)"
cmp s1/*.whl s2/*.whl && cmp s1/*.whl s3/*.whl || no 'the wheels of shared front ends, of the cache and of direct passes differ'
ok 'objects of shared front ends are kept, and not taken for those of direct passes'
# a front end that was found wrong: what the cache has of it is not believed
for f in c1/obj/*.front/*.ll; do
	echo gfx1030 >"${f%.ll}.bad"
	rm -rf c1/stamp
done
share p auto 1
[ "$(did s1.json)" = '3 2' ] || no "a front end in doubt compiled and restored: $(did s1.json)"
cmp s1/*.whl s3/*.whl || no 'the wheel of a front end in doubt differs'
ok 'objects of a front end in doubt are made anew'

# ---- a header of the same size and time; a macro; a header that was not there ----
touch -d 2020-01-01 p/include/k.cuh
rocsmith build p --gpu gfx1201 -o o5 --build-dir b5 --json >5.json
echo '#define FACTOR 3' >p/include/k.cuh
touch -d 2020-01-01 p/include/k.cuh
rocsmith build p --gpu gfx1201 -o o5 --build-dir b5.2 --json >5.json
[ "$(did 5.json)" = '2 1' ] || no "another header compiled and restored: $(did 5.json)"
echo '#define EXTRA 1' >p/include/maybe.h
rocsmith build p --gpu gfx1201 -o o6 --build-dir b6 --json >6.json
[ "$(did 6.json)" = '2 1' ] || no "a header that appears compiled and restored: $(did 6.json)"
ok 'a header of the same size and time is seen, and one that __has_include finds'

# ---- poison: what others put there without the key ----
find shared -type f | while read -r f; do
	python3 - "$f" <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[-1] ^= 1
open(sys.argv[1], "wb").write(data)
PY
done
rm -rf "$own"
rocsmith build p --gpu gfx1201 -o o7 --build-dir b7 --json >7.json
[ "$(did 7.json)" = '3 0' ] || no "poisoned entries compiled and restored: $(did 7.json)"
rm -rf "$own"
(umask 077 && head -c 32 /dev/urandom | base64 >key)
rocsmith build p --gpu gfx1201 -o o8 --build-dir b8 --json >8.json
[ "$(did 8.json)" = '3 0' ] || no "entries of another key compiled and restored: $(did 8.json)"
ok 'changed entries, and those of another key, are not believed'

# ---- a server that is away, a cache that cannot be written ----
rm -rf "$own"
"$ROCSMITH" build p --gpu gfx1201 -o o9 --build-dir b9 --cache http://127.0.0.1:9/x --json >9.json 2>err
[ "$(did 9.json)" = '3 0' ] || no "without the server compiled and restored: $(did 9.json)"
[ "$(grep -c 'the cache of objects is not used fully' err)" = 1 ] || no "one warning was due: $(cat err)"
ok 'a server that is away costs one warning'

# ---- kills leave whole entries only ----
for i in 1 2 3; do
	rm -rf "$own" b10
	timeout -s KILL "0.$((i * 3))" "$ROCSMITH" build p --gpu gfx1201 -o o10 --build-dir b10 >/dev/null 2>&1 || true
	rocsmith build p --gpu gfx1201 -o o10 --build-dir b10 --json >10.json
	cmp o9/*.whl o10/*.whl || no 'a killed build left something in the cache'
done
ok 'killed builds leave no torn entry'
