#!/usr/bin/env bash
# `doctor --fix` on a recorded machine that stands in for this one: real shells see the variable, --undo gives the old
# bytes; with I/O calls failing once, dying at I/O calls, and killed at random moments, another run makes it right.
# ROCSMITH_FAULT_POINTS says at how many calls (0 = each one), and ROCSMITH_KILLS how many random kills of each kind.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
machine=$E2E_TMP.recorded
if [ "${DOCTOR_FIX_INSIDE:-}" != yes ]; then
	rm -rf "$machine"
	"$ROCSMITH" doctor --sysroot "$top/tests/machines/rdna3-igpu.machine" --record "$machine" >/dev/null 2>&1 || [ $? -eq 1 ]
	if ! unshare -rm sh -c "mount --bind '$machine/sys' /sys" 2>/dev/null; then
		echo 'skip doctor --fix: no mounts of our own here'
		exit 0
	fi
	DOCTOR_FIX_INSIDE=yes exec unshare -rm "$BASH" "$0"
fi
mount --bind "$machine/sys" /sys
faults=$top/tests/e2e/faults.py
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
points=${ROCSMITH_FAULT_POINTS:-3}
kills=${ROCSMITH_KILLS:-3}
[ "$points" = 0 ] && sample= || sample="--sample $points"
cd "$E2E_TMP"
chmod -R u+w . && rm -rf ./*
unset ROCSMITH_HOME XDG_CONFIG_HOME ROCR_VISIBLE_DEVICES BASH_ENV ENV

mkdir old
printf 'umask 22\nexport FROM_PROFILE=1' >old/.profile
printf '# mine\n' >old/.bashrc
cp -a old home
export HOME=$E2E_TMP/home
id=igpu-dgpu-conflict

"$ROCSMITH" doctor --fix $id -n >diff
diff -r old home
grep -q '^+export ROCR_VISIBLE_DEVICES=0 ' diff
echo 'ok a dry run shows it, and changes nothing'

"$ROCSMITH" doctor --fix $id | grep -q "^in this session: export ROCR_VISIBLE_DEVICES=0$"
for shell in dash bash; do
	command -v $shell >/dev/null || continue
	# shellcheck disable=SC2016
	got=$(env -i HOME="$HOME" PATH="$PATH" $shell -lc 'echo "$ROCR_VISIBLE_DEVICES $FROM_PROFILE"')
	[ "$got" = '0 1' ] || { echo "not ok $shell -l sees '$got'"; exit 1; }
	echo "ok $shell -l sees the variable"
done
"$ROCSMITH" doctor --fix $id | grep -q 'as they should be'
"$ROCSMITH" doctor --fix $id --undo >/dev/null
find home -type d -empty -delete
diff -r old home && [ "$(stat -c %a home/.profile)" = "$(stat -c %a old/.profile)" ]
echo 'ok --undo gives the old files'

eval "$("$ROCSMITH" env --shell --build)"
[ "$ROCR_VISIBLE_DEVICES:$PYTORCH_ROCM_ARCH" = 0:gfx1100 ]
eval "$("$ROCSMITH" env --shell --build --gpu 'RX 7900 XTX,gfx90a')"
[ "$PYTORCH_ROCM_ARCH" = 'gfx1100;gfx90a' ]
unset ROCR_VISIBLE_DEVICES PYTORCH_ROCM_ARCH MAX_JOBS
echo 'ok a shell takes the lines of env'
python3 -m venv --without-pip venv
"$ROCSMITH" env --json --python venv | python3 -c 'import json, sys; assert json.load(sys.stdin)["python"] == sys.argv[1]' "$PWD/venv"
echo 'ok an environment is found where it is named'

if [ ! -x "$fault" ]; then
	echo 'skip doctor --fix with failing calls: no rocsmith-fault'
	exit 0
fi
# shellcheck disable=SC2086
disturb() { # WHAT SETUP WORD...
	local what=$1 setup=$2
	shift 2
	python3 "$faults" sweep $sample --errno ENOSPC,EIO,EACCES --setup "$setup" --tree home -- "$fault" doctor -q "$@"
	echo "ok $what, with failing calls"
	python3 "$faults" sweep $sample --errno KILL --setup "$setup" --tree home -- "$fault" doctor -q "$@"
	echo "ok $what, dying at calls"
	python3 "$faults" kill --times "$kills" --setup "$setup" --tree home -- "$ROCSMITH" doctor -q "$@"
	echo "ok $what, killed $kills times"
}
disturb 'a fix' 'rm -rf home && cp -a old home' --fix $id
disturb 'an undo' "rm -rf home && cp -a old home && '$ROCSMITH' doctor -q --fix $id" --fix $id --undo
