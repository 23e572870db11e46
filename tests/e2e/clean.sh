#!/usr/bin/env bash
# `du` and `clean` where things go wrong: I/O calls that fail, a process that dies at them, kills at random moments, a hostile cache
# folder, mounts, a disk without a free byte, a build and a program of an SDK that run. The user's files are never changed.
# ROCSMITH_FAULT_POINTS says at how many calls (0 = each one), and ROCSMITH_KILLS how many random kills.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
faults=$top/tests/e2e/faults.py
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
points=${ROCSMITH_FAULT_POINTS:-6}
kills=${ROCSMITH_KILLS:-4}
[ "$points" = 0 ] && sample= || sample="--sample $points"
real_home=${ROCSMITH_HOME:-}
cd "$E2E_TMP"
chmod -R u+w . && rm -rf ./*
export ROCSMITH_HOME=home XDG_CACHE_HOME=$PWD/caches
fail() {
	echo "not ok $*"
	exit 1
}

mkdir -p user && echo mine >user/precious
# The SDK has 100 files, and a sum that says if it is whole.
cat >fill <<'FILL'
set -e
rm -rf home out
mkdir -p home/data/sdk/debian-sid/root home/cache/sdk/debian-sid/archives home/cache/build/p-1/state home/cache/source/torch-1 \
	home/cache/build/.rocsmith.gone-q home/cache/get home/state/made home/data/sdk/mine out/b
for i in $(seq 100); do : >home/data/sdk/debian-sid/root/$i; done
echo '{"packages":[]}' >home/data/sdk/debian-sid/sdk.json
for i in $(seq 20); do echo $i | tee home/cache/build/p-1/$i home/cache/source/torch-1/$i home/cache/build/.rocsmith.gone-q/$i >out/b/$i; done
: >home/cache/get/lock
: >home/cache/build/p-1/lock
: >home/cache/source/lock
printf /src/p >home/cache/build/p-1/project
echo '{}' >home/cache/source/torch-1.json
echo mine >home/data/sdk/mine/notes
printf '%s\n%s\n' 'Signature: 8a477f597d28d172789f06886806bc55' '# A build folder of rocsmith: all in here can be made again.' >out/b/CACHEDIR.TAG
: >out/b/lock
ln -s "$PWD/out/b" home/state/made/0123456789abcdef
ln -s "$PWD/out/none" home/state/made/fedcba9876543210
ln -s ../../../../user home/cache/build/link
ln -s /home home/cache/build/p-1/home
ln -s ../../../../user home/cache/build/p-1/user
mkfifo home/cache/build/p-1/pipe
: >"home/cache/build/p-1/a new
line"
mkdir home/cache/build/p-1/closed && : >home/cache/build/p-1/closed/x && chmod 0 home/cache/build/p-1/closed
FILL
# An SDK that has its name is whole; so is a source with its receipt.
cat >whole <<'WHOLE'
sdk=home/data/sdk/debian-sid
[ ! -e $sdk ] || [ -f $sdk/sdk.json -a "$(ls $sdk/root | wc -l)" = 100 ] || { echo "half an SDK"; exit 1; }
src=home/cache/source/torch-1
[ ! -e $src ] || [ "$(ls $src | wc -l)" = 20 ] || { echo "half a source"; exit 1; }
[ -f home/data/sdk/mine/notes ] && [ -L home/cache/build/link ]
WHOLE
all='sdk download source build leftover'
same='--tree home --tree out --keep user'
three='{ [ "$STATUS" = 0 ] || [ "$STATUS" = 3 ] || [ "$STATUS" = -9 ]; } && sh whole'

# ---- an undisturbed run ----
sh fill
"$ROCSMITH" du --json >du.json
python3 - <<'PY'
import json, subprocess
d = json.load(open("du.json"))
seen = sorted((i["kind"], i["name"]) for i in d["items"])
want = sorted([("sdk", "debian-sid"), ("download", "debian-sid"), ("download", "get"), ("source", "torch-1"), ("build", "p-1"),
    ("build", "b"), ("leftover", ".rocsmith.gone-q")])
assert seen == want, seen
for i in d["items"]:
    n = int(subprocess.run(["du", "-s", "--block-size=1", i["path"]], capture_output=True, text=True, check=True).stdout.split()[0])
    assert n == i["bytes"], (i, n)
PY
echo 'ok du says what du(1) says'
"$ROCSMITH" clean -n $all >dry && cp -a home before && "$ROCSMITH" clean $all >log
grep -c '^would be removed' dry | grep -qx 7 || fail "a dry run shows all: $(cat dry)"
[ "$(find home out -type f -o -type l | sort | tr '\n' ' ')" = 'home/cache/build/link home/cache/source/lock home/data/sdk/mine/notes ' ] ||
	fail "what is left: $(find home out)"
grep -qx mine user/precious
rm -rf before
echo 'ok clean removes what rocsmith made, and nothing else'

# ---- faults and kills ----
if [ -x "$fault" ]; then
	# shellcheck disable=SC2086
	python3 "$faults" sweep $sample --errno ENOSPC,EIO,EACCES --check "$three" --setup 'sh fill' $same -- "$fault" clean -q $all
	echo 'ok failing calls'
	# shellcheck disable=SC2086
	python3 "$faults" sweep $sample --errno KILL --again 3 --check "$three" --setup 'sh fill' $same -- "$fault" clean -q $all
	echo 'ok dying at calls'
else
	echo 'skip failing calls: no rocsmith-fault'
fi
# shellcheck disable=SC2086
python3 "$faults" kill --times "$kills" --check 'sh whole' --setup 'sh fill' $same -- "$ROCSMITH" clean -q $all
echo "ok $kills kills"

# ---- two at once ----
for _ in 1 2 3; do
	sh fill
	"$ROCSMITH" clean -q $all &
	"$ROCSMITH" clean -q $all || fail 'the second of two'
	wait $! || fail 'the first of two'
	[ ! -e home/data/sdk/debian-sid ] && [ ! -e home/cache/build/p-1 ] || fail 'two at once leave something'
done
echo 'ok two at once'

# ---- mounts, and a disk without a free byte ----
if unshare -rm true 2>/dev/null; then
	for how in '-t tmpfs none' '--bind user'; do
		sh fill
		status=0
		unshare -rm sh -c "mkdir home/cache/build/p-1/mnt && mount $how home/cache/build/p-1/mnt && echo x >home/cache/build/p-1/mnt/x &&
			\"\$ROCSMITH\" clean build >log 2>&1; status=\$?; [ -f home/cache/build/.rocsmith.gone-p-1/mnt/x ] || exit 99; exit \$status" || status=$?
		[ $status = 3 ] || fail "mount $how: status $status: $(cat log)"
		grep -qx mine user/precious && rm -f user/x
		"$ROCSMITH" clean -q && [ ! -e home/cache/build/.rocsmith.gone-p-1 ] || fail 'the leftover stays'
	done
	echo 'ok mounts are not entered'
	mkdir small
	unshare -rm sh -ec 'mount -t tmpfs -o size=4m none small && export ROCSMITH_HOME=small/home && mkdir -p small/user && echo mine >small/user/precious
		cp fill whole small && cd small && sh fill && cd ..
		cat /dev/zero >small/full 2>/dev/null || true
		if echo x >small/x 2>/dev/null && [ -s small/x ]; then exit 98; fi
		"$ROCSMITH" clean build sdk source >log 2>&1
		[ ! -e small/home/data/sdk/debian-sid ] && [ ! -e small/home/cache/build/p-1 ] && echo x >small/x' ||
		fail "no byte free: $(cat log)"
	echo 'ok it works with no byte free'
else
	echo 'skip mounts: no user namespaces'
fi

# ---- in use ----
sh fill
printf '__global__ void k(int *x) { *x = 1; }\n' >a.cu && mkdir -p p && mv a.cu p
mkdir -p none/llvm/bin none/amdgcn/bitcode none/include/hip none/lib
: >none/amdgcn/bitcode/ocml.bc >none/include/hip/hip_runtime.h >none/lib/libamdhip64.so
printf '#!/bin/sh\ncase "$*" in *--version*) echo clang version 21.1.8 ;; *) : >started; exec sleep 60 ;; esac\n' >none/llvm/bin/clang++
chmod 755 none/llvm/bin/clang++
rm -f started
"$ROCSMITH" build p --gpu gfx90a --sdk prefix:"$PWD/none" --build-dir out/mine >build.log 2>&1 &
build=$!
until [ -e out/mine/lock ] && ! flock -n out/mine/lock true; do
	kill -0 $build 2>/dev/null || fail "the build ended: $(cat build.log)"
	sleep 0.1
done
flock -o -s home/data/sdk/debian-sid sleep 60 &
holder=$!
until ! flock -n home/data/sdk/debian-sid true; do sleep 0.1; done
"$ROCSMITH" clean --older 0h --json >clean.json
kill $holder
[ -e out/mine/CACHEDIR.TAG ] && [ -e home/data/sdk/debian-sid/sdk.json ] && [ ! -e home/cache/build/p-1 ] || fail 'what is in use stays'
python3 -c 'import json; d = json.load(open("clean.json"))
assert sorted(i["name"] for i in d["items"] if i["outcome"] == "in use") == ["debian-sid", "mine"], d'
kill -TERM $build && wait $build || true
"$ROCSMITH" clean -q build sdk && [ ! -e out/mine ] && [ ! -e home/data/sdk/debian-sid ] || fail 'what was in use can be removed then'
echo 'ok a build that runs, and an SDK in use'

if [ -n "$real_home" ] && [ -e "$real_home/data/sdk/debian-sid/sdk.json" ]; then
	# a second name for each file: other scripts use that home at the same time
	mkdir -p own/data/sdk && cp -al "$real_home/data/sdk/debian-sid" own/data/sdk/
	ROCSMITH_HOME=$PWD/own "$ROCSMITH" sdk run --sdk debian-sid -- sh -c 'echo runs; exec sleep 300' >runs &
	until [ -s runs ]; do sleep 0.05; done
	ROCSMITH_HOME=$PWD/own "$ROCSMITH" clean -n sdk >log
	kill $!
	wait $! || true
	grep -q '^in use .*debian-sid' log || fail "a program of an SDK runs: $(cat log)"
	ROCSMITH_HOME=$PWD/own "$ROCSMITH" clean -n sdk | grep -q '^would be removed .*debian-sid' || fail 'it stays in use'
	echo 'ok a program of an SDK'
else
	echo 'skip a program of an SDK: none is installed'
fi

# ---- other users ----
if [ "$(id -u)" = 0 ]; then
	sh fill
	chown 65534 home/cache/build
	"$ROCSMITH" clean -q build 2>log
	grep -q 'not looked at' log && [ -e home/cache/build/p-1 ] || fail "another user's folder: $(cat log)"
	sh fill
	chown 65534 out/b
	"$ROCSMITH" clean -q build 2>log
	[ -e out/b/CACHEDIR.TAG ] && [ ! -e home/cache/build/p-1 ] || fail "another user's build folder: $(cat log)"
	echo 'ok folders of other users'
fi
