#!/usr/bin/env bash
# `split` and `merge` with I/O calls failing once, dying at I/O calls, and killed at random moments. What they read is never
# changed, no wheel is torn, and another run gives what was never disturbed.
# ROCSMITH_FAULT_POINTS says at how many calls (0 = each one), and ROCSMITH_KILLS how many random kills of each kind.
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
	echo 'skip split with failing calls: no rocsmith-fault, or no gcc'
	exit 0
fi
name=kern-1.0+rocm7.2-py3-none-linux_x86_64.whl
mkdir in
python3 "$top/tests/oracle/gpus_wheel.py" in --small
"$ROCSMITH" split -q --format kpack in/$name -o in/kpack >/dev/null
"$ROCSMITH" split -q --format plain in/$name -o in/plain >/dev/null

# After a failure all wheels are there or none, after a kill the host wheel is only there beside all of its device wheels; and
# no scratch folder stays behind, in the output or elsewhere.
mkdir tmp
export TMPDIR=$PWD/tmp
# shellcheck disable=SC2086
disturb() { # WHAT FILES WORD...
	local what=$1 files=$2
	shift 2
	local same="--tree t --tree tmp --keep in"
	python3 "$faults" sweep $sample --errno ENOSPC,EIO,EACCES --setup 'rm -rf t && mkdir t' $same \
		--check "n=\$(ls t | wc -l); [ \$n = 0 ] || [ \$n = $files ]" -- "$fault" "$@"
	echo "ok $what, with failing calls"
	python3 "$faults" sweep $sample --errno KILL --setup 'rm -rf t && mkdir t' $same \
		--check "[ ! -e t/$name ] || [ \$(ls t | wc -l) = $files ]" -- "$fault" "$@"
	echo "ok $what, dying at calls"
	python3 "$faults" kill --times "$kills" --setup 'rm -rf t && mkdir t' $same -- "$ROCSMITH" "$@"
	echo "ok $what, killed $kills times"
}

disturb 'a split into archives' "$(ls in/kpack | wc -l)" split -q --format kpack in/$name -o t --force
disturb 'a plain split' "$(ls in/plain | wc -l)" split -q --format plain in/$name -o t --force
disturb 'a merge of archives' 1 merge -q in/kpack/*.whl -o t --force
disturb 'a merge of plain wheels' 1 merge -q in/plain/*.whl -o t --force
