#!/usr/bin/env bash
# long
# The cache of objects behind the compilers that another build system starts: a second machine compiles nothing, one more GPU
# costs its own passes, messages and dependency files come out the same, and no trick makes it stale. Peers: cmp, ccache.
set -eu

top=$(dirname "$(realpath "$0")")
cd "$E2E_TMP"
. "$top/cache.bash"

if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,headers >log 2>&1; then
	echo "skip a cache for other build systems: no SDK ($(tail -1 log))"
	exit 0
fi
python3 -m venv --help >/dev/null && python3 -c 'import setuptools' 2>/dev/null || {
	echo 'skip a cache for other build systems: no setuptools'
	exit 0
}
foreign_project p
share_cache
build() { # PROJECT GPUS NUMBER [BUILD-DIR]
	rocsmith build "$1" --gpu "$2" -o "o$3" --build-dir "${4:-b$3}" --json >"$3.json" || no "build $3"
}

# ---- another folder, as on another machine ----
build p gfx1201,gfx90a 1
[ "$(compiles 1.json)" = '3 0' ] || no "the first build compiled and restored: $(compiles 1.json)"
mkdir elsewhere
cp -r p elsewhere/other
rm -rf "$own"
build elsewhere/other gfx1201,gfx90a 2 "$PWD/elsewhere/b"
[ "$(compiles 2.json)" = '0 3' ] || no "the second build compiled and restored: $(compiles 2.json)"
cmp o1/*.whl o2/*.whl || no 'the wheel from the cache is another one'
ok 'a build in another folder compiles nothing for GPUs, and makes the same wheel'
said() { sed -n "s,$1,,g; /warning/p" "$1/log/wheel.log"; }
[ "$(said "$PWD/b1" | grep -c "tree/src/a.hip:5:.*unused variable")" = 3 ] || no "warnings of the first build: $(said "$PWD/b1")"
[ "$(said "$PWD/b1")" = "$(said "$PWD/elsewhere/b")" ] || no 'the warnings differ'
find b1/tree -name a.hip.o.d -exec sed "s,$PWD/b1,,g" {} + >deps1
find elsewhere/b/tree -name a.hip.o.d -exec sed "s,$PWD/elsewhere/b,,g" {} + >deps2
grep -q src/a.hip deps1 && cmp deps1 deps2 || no 'the dependency files differ'
ok 'warnings and dependency files come out the same'

# ---- one more GPU for a finished build ----
build p gfx1201,gfx90a,gfx1100 3 "$PWD/b1"
[ "$(compiles 3.json)" = '2 2' ] && [ "$(compiles 3.json device)" = '1 2' ] || no "one more GPU compiled and restored: $(compiles 3.json)"
ok 'one more GPU takes a device pass for each file, and the host passes that embed it'

# ---- objects of shared front ends ----
cp -r p shares
share() { # PROJECT NUMBER BUILD-DIR
	rocsmith build "$1" --gpu gfx1030,gfx1031,gfx1100 --share-frontend=auto -o "o$2" --build-dir "$3" --json >"$2.json" || no "build $2"
}
share shares 5 b5
[ "$(compiles 5.json)" = '4 0' ] || no "shared front ends compiled and restored: $(compiles 5.json)"
rm -rf "$own"
mv shares elsewhere/shares
share elsewhere/shares 7 "$PWD/elsewhere/b7"
[ "$(compiles 7.json)" = '0 4' ] || no "shared front ends, elsewhere, compiled and restored: $(compiles 7.json)"
cmp o5/*.whl o7/*.whl || no 'the wheel of shared front ends from the cache is another one'
[ "$(said "$PWD/b5")" = "$(said "$PWD/elsewhere/b7")" ] && [ -n "$(said "$PWD/b5")" ] ||
	no "the warnings differ: $(said "$PWD/b5") and $(said "$PWD/elsewhere/b7")"
ok 'objects of shared front ends come from the cache, with their warnings as they were'

# ---- through the shims of that build: one GPU; words that nobody knows ----
. b1/log/environment
export ROCSMITH_HOME=${ROCSMITH_HOME:-}
[ -n "$ROCSMITH_HOME" ] || unset ROCSMITH_HOME
entries() { find "$own" -name '????????*' -type f ! -name CACHEDIR.TAG | wc -l; }
hip() { hipcc --offload-arch=gfx90a -O1 -Wall -Ip/include -c p/src/a.hip "$@" 2>err; }
before=$(entries)
hip -o one.o || no 'one GPU'
[ "$(entries)" = $((before + 2)) ] || no "one GPU makes an entry for each side: $(entries), $before"
mv one.o first.o
mv err first.err
hip -o one.o || no 'one GPU again'
[ "$(entries)" = $((before + 2)) ] && cmp one.o first.o && cmp err first.err && grep -q unused err || no 'one GPU again is the same'
ok 'an object for one GPU comes from the cache, with its messages'
before=$(entries)
for words in -g -save-temps -fgpu-rdc '-mllvm -print-after=/dev/null'; do
	hip -o direct.o $words || true
	[ "$(entries)" = "$before" ] || no "with $words something is kept"
done
echo ' asm(".incbin \"key\"");' | cat p/src/a.hip - >p/src/b.hip
hipcc --offload-arch=gfx90a -Ip/include -c p/src/b.hip -o direct.o 2>err || no "a file that the assembler reads: $(cat err)"
rm p/src/b.hip
[ "$(entries)" = "$before" ] || no 'an object of a file that the assembler reads is kept'
ok 'commands with other effects go past the cache'
# the same text, in another column: the message would show the old line
sed -i 's/int unused;/int  unused;/' p/src/a.hip
hip -o one.o || no 'another column'
grep -q 'int  unused' err || no "the message shows another line: $(cat err)"
ok 'messages are those of the files as they are'

# ---- a header, a device library, the compiler: another one of the same size and time ----
touch -d 2020-01-01 p/include/k.h
hip -o two.o || no 'a header'
echo '#define FACTOR 3' >p/include/k.h
touch -d 2020-01-01 p/include/k.h
hip -o three.o || no 'another header'
! cmp -s two.o three.o || no 'another header of the same size and time gives the old object'
ok 'a header of the same size and time is seen'

# ---- poison: what others put there without the key, and links to entries that would be believed ----
cp -r shared mine
find shared -type f | while read -r f; do
	if [ -n "${odd:-}" ]; then
		odd=
		ln -sf "$PWD/mine/${f#shared/}" "$f"
		continue
	fi
	odd=1
	python3 - "$f" <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[-1] ^= 1
open(sys.argv[1], "wb").write(data)
PY
done
[ "$(find shared -type l | wc -l)" -gt 1 ] || no 'links in the shared folder'
rm -rf "$own"
build elsewhere/other gfx1201,gfx90a,gfx1100 4
[ "$(compiles 4.json)" = '4 0' ] || no "poison and links compiled and restored: $(compiles 4.json)"
ok 'changed entries are not believed, and links are not followed'
rm -rf "$own"
ROCSMITH_CACHE=http://127.0.0.1:9/x "$ROCSMITH" build p --gpu gfx1201 -o o6 --build-dir b6 --json >6.json 2>err || no 'a server that is away'
[ "$(compiles 6.json)" = '2 0' ] && [ "$(grep -c 'the cache of objects is not used fully' err)" = 1 ] || no "one warning was due: $(cat err)"
[ ! -e b6/state/objects.socket ] || no 'the socket stays'
ok 'a server that is away costs one warning'
