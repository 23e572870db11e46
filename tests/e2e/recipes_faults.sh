#!/usr/bin/env bash
# Patches with I/O calls failing once, dying at I/O calls, and killed at random moments: applied, and
# reverted. After each disturbance a revert of a copy must give the original tree, and another run the
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
if [ ! -x "$fault" ]; then
	echo "skip patches with failing calls: no rocsmith-fault"
	exit 0
fi

mkdir -p src/sub recipes
for i in 1 2 3; do
	printf 'one\ntwo\n%s\n' "$i" >"src/sub/f$i.h"
done
chmod 755 src/sub/f2.h
cat >recipes/a.yaml <<'EOF'
id: a
title: files change, and new ones come
detect: [{file: sub/f1.h, contains: one}]
steps:
- {file: sub/f1.h, replace: one, with: ONE}
- {file: sub/f2.h, replace: two, with: TWO}
- {overlay: include/x/y.h, text: "new\n"}
- patch: |
    --- /dev/null
    +++ b/new/deep/z.h
    @@ -0,0 +1 @@
    +z
evidence: [e]
confidence: users
EOF
cat >recipes/b.yaml <<'EOF'
id: b
title: another one on the same file
detect: [{file: sub/f1.h, contains: two}]
steps:
- {file: sub/f1.h, replace: two, with: TWO}
- {file: sub/f3.h, replace: one, with: ONE}
evidence: [e]
confidence: users
EOF

cat >state <<'EOF'
cd "$1" && find . -path ./.rocsmith-patches -prune -o -printf '%P %M %l ' \
	\( -type f -printf '%T@ ' -exec sha256sum {} \; -o -printf '\n' \) | LC_ALL=C sort
EOF
cat >reverted <<EOF
rm -rf copy && cp -a "\$1" copy || exit 1
if [ -e copy/.rocsmith-patches ]; then '$ROCSMITH' patch revert -q copy || exit 1; fi
sh state src >want && sh state copy >got && diff want got >&2 || exit 1
[ ! -e copy/.rocsmith-patches ]
EOF
printf "rm -rf t && cp -a src t" >fresh
apply="patch apply -q --recipes recipes t"
same="--tree t --keep src --keep recipes --ignore hipify.manifest"

# shellcheck disable=SC2086
disturb() { # WHAT SETUP WORD...: a command
	local what=$1 setup=$2
	shift 2
	python3 "$faults" sweep $sample --errno ENOSPC,EIO,EACCES --setup "$setup" --check 'sh reverted t' $same -- \
		"$fault" "$@"
	echo "ok $what, with failing calls"
	python3 "$faults" sweep $sample --errno KILL --setup "$setup" --check 'sh reverted t' $same -- "$fault" "$@"
	echo "ok $what, dying at calls"
	python3 "$faults" kill --times "$kills" --setup "$setup" --check 'sh reverted t' $same -- "$ROCSMITH" "$@"
	echo "ok $what, killed $kills times"
}

# shellcheck disable=SC2086
disturb "patches are applied" 'sh fresh' $apply
disturb "one of two is reverted" "sh fresh && '$ROCSMITH' $apply >/dev/null" \
	patch revert -q --recipes recipes t a
# What the second run finds was named by an intent, not by a finished run; it gets a few calls further.
for later in 6 10; do
	# shellcheck disable=SC2086
	python3 "$faults" sweep --again "$later" --errno KILL --setup "sh fresh && '$ROCSMITH' $apply >/dev/null" \
		--check 'sh reverted t' $same -- "$fault" patch revert -q --recipes recipes t a
done
echo "ok one of two is reverted, dying twice"
# shellcheck disable=SC2016
python3 "$faults" sweep $sample --errno KILL,EIO --tree t --keep src --setup \
	"sh fresh && '$ROCSMITH' $apply >/dev/null" --check 'sh reverted t' -- \
	sh -c '[ ! -e t/.rocsmith-patches ] || exec "$0" patch revert -q t' "$fault"
echo "ok all are reverted, with failing calls and dying at them"

# Several at once: the later ones wait, and find nothing to do.
sh fresh
# shellcheck disable=SC2086
"$ROCSMITH" $apply >/dev/null
sh state t | sed 's/ [0-9.]* \([0-9a-f]\{64\}\)/ \1/' >want.t
pids=
rm -rf t && cp -a src t
for _ in 1 2 3; do
	# shellcheck disable=SC2086
	"$ROCSMITH" $apply >/dev/null &
	pids="$pids $!"
done
for pid in $pids; do
	wait "$pid"
done
sh state t | sed 's/ [0-9.]* \([0-9a-f]\{64\}\)/ \1/' >got.t
diff want.t got.t
echo "ok three runs at once give the same"
