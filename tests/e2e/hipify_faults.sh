#!/usr/bin/env bash
# hipify with I/O calls failing once, dying at I/O calls, and killed at random moments: into a
# folder, in place, and taken back; before that, proof that faults.py notices what it is there to
# notice. After each disturbance a restore of a copy must give the original tree, and another run the
# result that was never disturbed. ROCSMITH_FAULT_POINTS says at how many calls (0 = each one), and
# ROCSMITH_KILLS how many random kills of each kind.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
faults=$top/tests/e2e/faults.py
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
points=${ROCSMITH_FAULT_POINTS:-3}
kills=${ROCSMITH_KILLS:-3}
[ "$points" = 0 ] && sample= || sample="--sample $points"
cd "$E2E_TMP"
chmod -R u+w . && rm -rf ./*
mkdir -p keep

notices() { # WHAT TEXT ARG...
	local what=$1 text=$2
	shift 2
	if python3 "$faults" kill --times 3 "$@" >log 2>&1 || ! grep -q "$text" log; then
		echo "not ok faults.py does not notice $what"
		cat log
		exit 1
	fi
	echo "ok faults.py notices $what"
}

touch keep/file
slow='sleep 0.3'
notices "changed sources" "user's files changed" --keep keep -- sh -c "echo x >>keep/file; $slow"
notices "litter" "litter" --setup 'rm -rf bad; mkdir bad' --tree bad -- \
	sh -c ">bad/f.tmp-1; $slow; rm -f bad/none"
notices "a result that differs" "differs" --setup 'rm -rf bad; mkdir bad' --tree bad -- \
	sh -c "echo x >>bad/f; $slow"
notices "a failing check" "ended with 1" --check false -- sh -c "$slow"
if [ ! -x "$fault" ]; then
	echo "skip hipify with failing calls: no rocsmith-fault"
	exit 0
fi

# What a tree is: types, modes, contents, and times of files. A program of one argument: a folder.
cat >state <<'EOF'
cd "$1" && find . -path ./.rocsmith -prune -o -printf '%P %M %l ' \
	\( -type f -printf '%T@ ' -exec sha256sum {} \; -o -printf '\n' \) | LC_ALL=C sort
EOF
# Restoring a copy of t gives back src; what was killed at its very start has nothing to restore.
cat >restored <<EOF
rm -rf copy && cp -a "\$1" copy || exit 1
if [ -e copy/.rocsmith ]; then '$ROCSMITH' hipify restore -q copy || exit 1; fi
sh state src >want && sh state copy >got && diff want got >&2 || exit 1
[ ! -e copy/.rocsmith ]
EOF
printf "rm -rf t && cp -a src t" >fresh
cat >taken <<EOF
[ ! -e t/.rocsmith ] || exec '$ROCSMITH' hipify restore -q t
EOF
cat >translated <<EOF
sh fresh && '$ROCSMITH' hipify -q ARGS
EOF

# NAME ARG...: the words of a run in place of t.
disturb() {
	local name=$1
	shift
	local same="--tree t --keep src --ignore hipify.manifest"
	# shellcheck disable=SC2086
	python3 "$faults" sweep $sample --errno ENOSPC,EIO,EACCES --setup 'sh fresh' --check 'sh restored t' $same -- \
		"$fault" hipify -q "$@"
	echo "ok $name: in place, with failing calls"
	# shellcheck disable=SC2086
	python3 "$faults" sweep $sample --errno KILL --setup 'sh fresh' --check 'sh restored t' \
		$same -- "$fault" hipify -q "$@"
	echo "ok $name: in place, dying at calls"
	# shellcheck disable=SC2086
	python3 "$faults" kill --times "$kills" --setup 'sh fresh' --check 'sh restored t' $same \
		-- "$ROCSMITH" hipify -q "$@"
	echo "ok $name: in place, killed $kills times"
	# shellcheck disable=SC2016,SC2086
	python3 "$faults" sweep $sample --errno KILL,EIO --tree t --keep src --setup \
		"sh fresh && '$ROCSMITH' hipify -q $*" --check 'sh restored t' -- \
		sh -c '[ ! -e t/.rocsmith ] || exec "$0" hipify restore -q t' "$fault"
	echo "ok $name: taken back, with failing calls and dying at them"
	python3 "$faults" kill --times "$kills" --tree t --keep src --setup \
		"sh fresh && '$ROCSMITH' hipify -q $*" --check 'sh restored t' -- sh taken
	echo "ok $name: taken back, killed $kills times"
}

overlay() { # NAME ARG...: the words of a run from src to out
	local name=$1
	shift
	local same="--tree out --keep src --ignore hipify.manifest"
	# shellcheck disable=SC2086
	python3 "$faults" sweep $sample --setup 'rm -rf out' $same -- "$fault" hipify -q "$@"
	echo "ok $name: into a folder, with failing calls"
	# shellcheck disable=SC2086
	python3 "$faults" sweep $sample --errno KILL --setup 'rm -rf out' $same -- \
		"$fault" hipify -q "$@"
	echo "ok $name: into a folder, dying at calls"
	# shellcheck disable=SC2086
	python3 "$faults" kill --times "$kills" --setup 'rm -rf out' $same -- \
		"$ROCSMITH" hipify -q "$@"
	echo "ok $name: into a folder, killed $kills times"
	"$ROCSMITH" hipify restore -q out
	[ ! -e out ]
	echo "ok $name: the folder is taken back"
}

# Several at once on one tree: the later ones wait, and find nothing to do.
together() { # NAME RESULT ARG...
	local name=$1 result=$2 pids=
	shift 2
	for _ in 1 2 3; do
		"$ROCSMITH" hipify -q "$@" &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid"
	done
	sh state "$result" | sed 's/ [0-9.]* \([0-9a-f]\{64\}\)/ \1/' >got
	diff "want.$result" got
	echo "ok $name: three runs at once"
}

alone() { # RESULT ARG...
	local result=$1
	shift
	"$ROCSMITH" hipify -q "$@"
	sh state "$result" | sed 's/ [0-9.]* \([0-9a-f]\{64\}\)/ \1/' >"want.$result"
}

both() { # NAME ARG... with T for the folder
	local name=$1 in_place=() into=()
	shift
	for word in "$@"; do
		in_place+=("${word//TREE/t}")
		into+=("${word//TREE/src}")
	done
	disturb "$name" --in-place "${in_place[@]}"
	overlay "$name" -o out "${into[@]}"
	sh fresh
	alone t --in-place "${in_place[@]}"
	sh fresh
	together "$name in place" t --in-place "${in_place[@]}"
	alone out -o out "${into[@]}"
	"$ROCSMITH" hipify restore -q out
	together "$name into a folder" out -o out "${into[@]}"
	rm -rf out
}

mkdir -p src/sub src/.git
for i in 1 2 3; do
	printf '#include "h.h"\nvoid f%d() { cudaDeviceSynchronize(); }\n' "$i" >"src/sub/f$i.cu"
done
printf 'cudaError_t e;\n' >src/sub/h.h
chmod 755 src/sub/h.h
printf 'text\n' >src/README
both standalone --mode standalone TREE

# A full disk: nothing is changed, and nothing is left on it.
cat >full <<EOF
mount -t tmpfs -o size=400k none small && mkdir small/t || exit 77
for i in 1 2 3 4 5; do
	{ yes 'cudaFree(0);' | head -c 50000; echo; } >small/t/f\$i.cu
done
sh state small/t >before
'$ROCSMITH' hipify -q --in-place --mode standalone small/t 2>err && exit 1
sh state small/t >after
diff before after && [ ! -e small/t/.rocsmith/new ] && grep -q '^error: .*' err &&
	grep -q 'No space left' err
EOF
mkdir -p small
status=0
unshare -rm sh full || status=$?
case $status in
0) echo "ok a full disk changes nothing" ;;
1) echo "not ok a full disk changes nothing" ;;
*) echo "skip a full disk: no file system can be mounted" ;;
esac

# A real extension, as its own setup.py has it translated.
status=0
torch=$("$top/tools/torch-get" 2.6.0) && ext=$("$top/tools/sdist-get" torch-scatter==2.1.2) ||
	status=$?
if [ "$status" = 77 ]; then
	echo "skip hipify of a real extension: cannot be fetched"
	exit 0
fi
rm -rf src t out && cp -a "$ext" src
both torch-scatter --mode extension --torch "$torch" -I TREE/csrc TREE csrc/cuda/scatter_cuda.cu \
	csrc/scatter.cpp
