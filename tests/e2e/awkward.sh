#!/usr/bin/env bash
# Commands where a user's shell, account or disk is not as usual: standard streams that are closed, a folder that is read-only, a
# disk that is full. What is told is true, and nothing is left behind.
set -eu
# shellcheck source=tests/e2e/scratch.bash
. "$(dirname "$0")/scratch.bash"
rs() { "$ROCSMITH" "$@"; }
wheel=$top/tests/data/wheel/device.whl
mkdir w && cp "$wheel" w/demo-1.0-py3-none-any.whl

# ---- closed streams: no file that is opened gets what is meant for the user ----
status=0
rs verify w/demo-1.0-py3-none-any.whl --trace trace >&- 2>log || status=$?
[ $status = 3 ] && grep -q 'cannot write the result' log || no "without a standard output: status $status"
grep -q demo trace && no 'the result went into the trace'
ok 'without a standard output the result goes nowhere'
rs explain --trace trace nothing.log 2>&- >log && no 'a log that is not there'
grep -q error: trace && no 'the error went into the trace'
ok 'nor does an error without a standard error'
rs explain - <&- >log 2>&1 && no 'no standard input'
grep -q "cannot read 'stdin'" log || no 'no standard input'
ok 'a standard input that is closed is no empty log'

# ---- a pipe with a name is opened before anybody writes to it ----
mkfifo pipe
"$ROCSMITH" explain pipe >log 2>&1 &
sleep 1
timeout 60 sh -c 'echo "error: invalid target ID gfx0" >pipe' || no 'explain did not wait for who writes to a pipe'
wait $! && grep -q 'gfx0' log || no 'what came through the pipe is explained'
ok 'a pipe is waited for'
"$ROCSMITH" explain pipe >log 2>&1 &
sleep 1
kill $!
status=0
wait $! || status=$?
[ $status = 143 ] || no "waiting for a pipe is interrupted: status $status"
ok 'until it is interrupted'

# ---- disks ----
if ! [ "$(id -u)" = 0 ] || ! mkdir full ro || ! mount -t tmpfs -o size=12k none full 2>/dev/null; then
	echo 'skip awkward: disks need root, and a kernel that lets it mount'
	exit 0
fi
trap 'umount full ro 2>/dev/null || true' EXIT
mount -t tmpfs -o ro,size=12k none ro
rs wheel unpack w/demo-1.0-py3-none-any.whl -o ro/u >log 2>&1 && no 'unpacked into a folder that is read-only'
grep -q "cannot make 'ro/u/demo-1.0'" log && grep -q 'Read-only file system' log || no 'a folder that is read-only'
grep -q 'cannot remove' log && no 'it is said that what was never made cannot be removed'
ok 'a folder that is read-only'
ROCSMITH_HOME=$PWD/home rs build "$top/examples/montecarlo" --gpu gfx1201 -o ro/o >log 2>&1 && no 'built into a folder that is read-only'
grep -q "into 'ro/o': '$PWD/ro' is not writable" log && [ ! -e home/data ] || no 'a build that cannot be delivered'
ok 'is no place for a wheel, and that is told before anything is fetched or compiled'
rs doctor --record full/machine >log 2>&1 && no 'recorded on a full disk'
[ -z "$(ls -A full)" ] || no "a part of a recording: $(ls -A full)"
rs doctor --record machine >log 2>&1 || [ $? = 1 ]
rs doctor --sysroot machine >again 2>&1 || [ $? = 1 ]
grep -q '^system' again || no 'the recording'
ok 'a recording is whole or not there'
head -c 12288 /dev/zero >full/rest 2>/dev/null || true
mkdir -p rocm/llvm/bin rocm/amdgcn/bitcode rocm/include/hip rocm/lib
touch rocm/include/hip/hip_runtime.h rocm/amdgcn/bitcode/ocml.bc rocm/lib/libamdhip64.so
for name in clang clang++; do
	printf '#!/bin/sh\necho "AMD clang version 19.0.0git (https://example.org 1)"\n' >rocm/llvm/bin/$name
done
chmod +x rocm/llvm/bin/*
printf 'axes: {gpu: [gfx1201]}\n' >m.yaml
fails() { # COMMAND...: its result finds no room, and nothing of it is left
	rs "$@" >log 2>&1 && no "$1 on a full disk"
	grep -q 'No space left' log || no "$1 says that the disk is full"
	[ "$(ls -A full)" = rest ] || no "$1 leaves nothing: $(find full)"
}
fails wheel retag --build 1 w/demo-1.0-py3-none-any.whl -o full/a/b
fails wheel unpack w/demo-1.0-py3-none-any.whl -o full/a/b
fails split w/demo-1.0-py3-none-any.whl -o full/a/b
fails index w/demo-1.0-py3-none-any.whl -o full/a/b
fails stage w/demo-1.0-py3-none-any.whl --to full/a/store/dev
fails hipify "$top/examples/montecarlo" -o full/a/b
fails matrix run m.yaml -o full/a
fails sdk shims full/a/tools --sdk ./rocm --gpu gfx1201
ok 'a command for whose result there is no room leaves no folder for it'
rm full/rest
(umask 0 && rs matrix run m.yaml -o full/open >log 2>&1) || true
grep -q 'can be written by others' log && no 'a folder that a matrix makes where all may write can be written by its user only'
[ -e full/open/matrix.json ] || no 'a matrix in such a folder'
ok 'where all may write, a matrix makes a folder of its own'
rm -r full/open
mkdir closed
status=0
(cd closed && chmod 0 . && ulimit -v 4000000 &&
	timeout 60 setpriv --bounding-set=-dac_override,-dac_read_search "$ROCSMITH" wheel retag --build 1 "$OLDPWD/w/demo-1.0-py3-none-any.whl" -o out) \
	>log 2>&1 || status=$?
[ $status = 3 ] && grep -q "cannot create the folder 'out'" log || no "a folder that may not be searched: status $status"
ok 'a folder that may not be searched takes no result'
mkdir full/tools
rs sdk shims full/tools --sdk ./rocm --gpu gfx1201 >log 2>&1 && no 'shims on a full disk'
[ -z "$(ls -A full/tools)" ] || no "a part of a shim folder: $(find full/tools)"
ok 'a shim folder is whole or not there'
