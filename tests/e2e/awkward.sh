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
