#!/usr/bin/env bash
# `checkout` with I/O calls failing once, dying at I/O calls, and killed at random moments, with git or without it: another
# run gives the files and the lock of a run that was never disturbed.
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
if [ ! -x "$fault" ] || [ ! -x "$(git --exec-path)/git-daemon" ]; then
	echo 'skip checkout with failing calls: no rocsmith-fault, or no git daemon'
	exit 0
fi
. "$top/tests/e2e/checkout_repos.bash" "$E2E_TMP"
words="checkout -q torch,torchvision --ref release/2.14 --origin $url/pytorch --root t"
same="--tree t --ignore .git --ignore .rocsmith.lock"
fresh='rm -rf t'
# shellcheck disable=SC2086
{
	python3 "$faults" sweep $sample --errno ENOSPC,EIO --setup "$fresh" $same -- "$fault" $words
	echo 'ok checkout, with failing calls'
	python3 "$faults" sweep $sample --errno KILL --setup "$fresh" $same -- "$fault" $words
	echo 'ok checkout, dying at calls'
	python3 "$faults" kill --times "$kills" --setup "$fresh" $same -- "$ROCSMITH" $words
	echo "ok checkout, killed $kills times"
	# git itself was killed while it made the repository
	rm -rf t
	mkdir -p t/torch/.git
	echo 'ref: refs/heads/main' >t/torch/.git/HEAD
	printf files >t/torch/.git/rocsmith-incomplete
	"$ROCSMITH" $words
	git -C t/torch fsck --no-progress >fsck.log 2>&1
	echo 'ok checkout, with half a repository'
}
