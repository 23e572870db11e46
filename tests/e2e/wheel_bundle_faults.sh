#!/usr/bin/env bash
# `bundle` with I/O calls failing once, dying at I/O calls, and killed at random moments: the wheel and the SDK are never
# changed, and another run gives what was never disturbed.
# ROCSMITH_FAULT_POINTS says at how many calls (0 = each one), and ROCSMITH_KILLS how many random kills.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
faults=$top/tests/e2e/faults.py
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
points=${ROCSMITH_FAULT_POINTS:-3}
kills=${ROCSMITH_KILLS:-3}
[ "$points" = 0 ] && sample= || sample="--sample $points"
cd "$E2E_TMP"
chmod -R u+w . && rm -rf ./*
if [ ! -x "$fault" ] || ! command -v gcc >/dev/null; then
	echo 'skip bundle with failing calls: no rocsmith-fault, or no gcc'
	exit 0
fi
mkdir in t
(cd in && python3 "$top/tests/oracle/fat_wheel.py" make && rm -rf w x.* b?)
words="bundle -q in/torch-2.9.0-cp311-cp311-manylinux_2_5_x86_64.whl --sdk in/sdk --gpu gfx1030 -o t/out --force"
same="--tree t --keep in"
fresh='rm -rf t && mkdir t'
# shellcheck disable=SC2086
{
	python3 "$faults" sweep $sample --errno ENOSPC,EIO,EACCES --setup "$fresh" $same -- "$fault" $words
	echo 'ok bundle, with failing calls'
	python3 "$faults" sweep $sample --errno KILL --setup "$fresh" $same -- "$fault" $words
	echo 'ok bundle, dying at calls'
	python3 "$faults" kill --times "$kills" --setup "$fresh" $same -- "$ROCSMITH" $words
	echo "ok bundle, killed $kills times"
}
