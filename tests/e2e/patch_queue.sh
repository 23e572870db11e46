#!/usr/bin/env bash
# Queues of patches on git checkouts that this test makes: saved, applied, rebased with a conflict that is resolved, taken
# back; with submodules and a translation. git itself is the oracle: tree hashes, and 'git am' of the same files.
# ROCSMITH_FAULT_POINTS and ROCSMITH_KILLS as in recipes_faults.sh.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
faults=$top/tests/e2e/faults.py
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
cd "$E2E_TMP" || exit 1
chmod -R u+w . && rm -rf ./*
export HOME=$PWD/home GIT_CONFIG_NOSYSTEM=1
mkdir home
git config --global user.name "A User"
git config --global user.email user@example.org
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git config --global advice.detachedHead false

check() { # NAME COMMAND...
	local name=$1
	shift
	if "$@" >log 2>&1; then echo "ok $name"; else echo "not ok $name: $(tail -n 15 log)"; fi
}
answers() { # STATUS WORDS COMMAND...: the status, and the words in the output
	local status=$1 words=$2
	shift 2
	"$@" >said 2>&1
	[ $? = "$status" ] && grep -qF -- "$words" said || { cat said; return 1; }
}
tree_of() { git -C "$1" rev-parse "${2:-HEAD}^{tree}"; }
rocsmith() { "$ROCSMITH" "$@"; }

# ---- a stranger's list of submodules ----
git init -q many
python3 -c 'print("".join(f"path={i % 251:x}/{i:x}\n" for i in range(70000)))' >many/.gitmodules
echo 1.0 >many/version.txt && git -C many add . && git -C many commit -qm base
echo two >many/two && git -C many add . && git -C many commit -qm two
git -C many format-patch -q -1 -o "$PWD/QM/1.0/many/base"
check "70,000 submodules in .gitmodules take no minutes" bash -c 'ulimit -t 4 && "$0" patch status many QM' "$ROCSMITH"

# ---- a repository with twenty commits, and others of each kind ----
git init -q lib
(cd lib && seq 1 9 >l.h && git add . && git commit -qm lib)
git init -q src
(
	cd src || exit 1
	echo 2.14.0a0 >version.txt
	mkdir c10
	for i in 0 1 2 3; do seq -f "file $i line %g" 1 60 >c10/f$i.h; done
	git submodule --quiet add "$PWD/../lib" third_party/lib
	git add . && git commit -qm base && git tag upstream
	git checkout -q -b work
	for i in $(seq 1 20); do
		sed -i "$((i * 2))s/\$/ patch $i/" c10/f$((i % 4)).h
		GIT_AUTHOR_NAME="Ä $i" git commit -qam "[ROCm] patch $i has a subject that is so long that a mail \
has to fold it"
	done
	printf '\0\1\2' >c10/b.bin && git add . && git commit -qm "a binary file"
	chmod 755 c10/f1.h && git commit -qam "a mode"
	printf 'a\r\nb\r\n' >c10/crlf.txt && git add . && git commit -qm "lines that end in CRLF"
	git rm -q c10/f3.h && git commit -qm "a file goes"
	cd third_party/lib && sed -i 's/5/five/' l.h && git commit -qam "in a submodule"
)
check "a queue is saved" rocsmith patch save src -o Q --base upstream
[ "$(wc -l <Q/2.14.0/src/base/series)" = 24 ] && [ -s Q/2.14.0/third_party/lib/base/series ] &&
	echo "ok with 24 patches, and one of the submodule" || echo "not ok series: $(find Q)"
mkfifo Q/2.14.0/pipe && cp -a Q/2.14.0/src kept
check "a set with a pipe is not written anew" answers 3 "2.14.0/pipe' is no file" rocsmith patch save src -o Q --base upstream
check "it stays, and the pipe" sh -c 'diff -r kept Q/2.14.0/src && [ -p Q/2.14.0/pipe ] && [ "$(ls -A Q)" = 2.14.0 ]'
rm -r Q/2.14.0/pipe kept
cp -a Q Q1 && echo keep >Q/2.14.0/README && rocsmith patch save src -o Q --base upstream -q >/dev/null
[ -e Q/2.14.0/README ] && rm Q/2.14.0/README && diff -r Q Q1 &&
	echo "ok saved again it is the same, and what else lies there stays"

fresh() { # NAME [REF]
	rm -rf "$1" && git clone -q src "$1" && git -C "$1" checkout -q "${2:-upstream}" &&
		git -C "$1" submodule --quiet update --init
}
fresh t
check "a dry run changes nothing" answers 1 fits rocsmith patch apply t Q -n
[ -z "$(git -C t status --porcelain)" ] && [ "$(tree_of t)" = "$(tree_of src upstream)" ] || echo "not ok it did"
check "the queue is applied" rocsmith patch apply t Q
[ "$(tree_of t)" = "$(tree_of src work)" ] && [ "$(tree_of t/third_party/lib)" = "$(tree_of src/third_party/lib)" ] &&
	echo "ok with the tree hash of the branch" || echo "not ok the tree hash differs"
[ "$(git -C t log --format='%an %ad %B' upstream..)" = "$(git -C src log --format='%an %ad %B' upstream..work)" ] &&
	echo "ok authors, dates and messages are kept" || echo "not ok messages"
fresh am && cat Q/2.14.0/src/base/*.patch | git -C am am -q --keep-cr --keep-non-patch
[ "$(tree_of am)" = "$(tree_of t)" ] && echo "ok git am of the same files gives the same tree"
check "its patches are known as applied" answers 0 "Found 25 of 25" rocsmith patch status t Q
check "applied again it does nothing" rocsmith patch apply t Q
check "saved from there it is the same queue" sh -c "'$ROCSMITH' patch save t -o Q2 -q >/dev/null &&
	diff -r Q2/2.14.0/t Q/2.14.0/src && diff -r Q2/2.14.0/third_party Q/2.14.0/third_party"
check "it is reverted" rocsmith patch revert t Q
[ "$(tree_of t)$(tree_of t/third_party/lib)" = "$(tree_of src upstream)$(tree_of lib)" ] &&
	echo "ok to the old tree hash" || echo "not ok the tree hash after revert"

check "status is JSON" sh -c "'$ROCSMITH' patch status t Q --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d[\"schema\"] == \"rocsmith.queue/1\" and len(d[\"patches\"]) == 25, d
assert {p[\"state\"] for p in d[\"patches\"]} == {\"fits\"}, d'"

mkdir root && git clone -q src root/torch && git -C root/torch checkout -q work && git -C root/torch submodule --quiet update --init
check "without a base it is asked for" answers 2 "--base" rocsmith patch save root/torch -o L
echo '{"schema": "rocsmith.lock/1", "projects": [{"name": "torch", "origin": "https://github.com/ROCm/pytorch", "ref": "main",
	"commit": "'"$(git -C src rev-parse upstream)"'", "tree": "'"$(git -C src rev-parse 'upstream^{tree}')"'"}]}' >root/rocsmith.lock
check "a lock of 'checkout' has the base" answers 0 "24 of 24" rocsmith patch save root/torch -o L

# ---- another base: one patch is upstream there, one conflicts, one needs a merge ----
(
	cd src && git checkout -q -b next upstream && git cherry-pick work~22 >/dev/null &&
		sed -i '10s/.*/upstream changed this line/' c10/f1.h && sed -i '1i new' c10/f2.h &&
		git add c10 && git commit -qm "upstream moves on" && git checkout -q work
)
fresh r && git -C r fetch -q origin next
check "a rebase stops at the conflict" answers 1 "<<<<<<<" rocsmith patch rebase r Q --onto origin/next
check "it says which patch, and what is upstream" sh -c "grep -q '^conflict .*0005-' said && grep -q '^upstream .*0002-' said &&
	grep -q '^hint: edit the files' said"
check "until then no other starts" answers 2 "not finished" rocsmith patch apply r Q
check "unresolved it does not go on" answers 1 conflict rocsmith patch apply r Q --continue
sed -i '/^<<<<<<<\|^=======\|^>>>>>>>\|^upstream changed/d' r/c10/f1.h && git -C r add c10/f1.h
check "resolved it goes on to the end" answers 0 "25 of 25" rocsmith patch apply r Q --continue
[ "$(git -C r rev-list --count origin/next..)" = 23 ] && [ -z "$(git -C r status --porcelain --ignore-submodules=all)" ] &&
	echo "ok with 23 commits on the new base" || echo "not ok $(git -C r log --oneline origin/next.. | wc -l) commits"
check "the rebased queue is saved" answers 0 "24 of 24" rocsmith patch save r -o Q3
check "and taken back" sh -c "'$ROCSMITH' patch revert r Q && [ \$(git -C r rev-parse HEAD) = \$(git -C src rev-parse upstream) ]"
rocsmith patch rebase r Q --onto origin/next >/dev/null 2>&1
check "a patch is skipped" answers 1 "24 of 25" rocsmith patch apply r Q --skip
rocsmith patch revert r Q >/dev/null 2>&1 && rocsmith patch rebase r Q --onto origin/next >/dev/null 2>&1
check "a rebase is aborted" sh -c "'$ROCSMITH' patch apply r --abort && [ \$(git -C r rev-parse HEAD) = \$(git -C src rev-parse upstream) ] &&
	[ -z \"\$(git -C r status --porcelain)\" ]"

# ---- what somebody else did since then stays ----
check "nothing to revert, in a dry run too" answers 2 "no patches of a queue" rocsmith patch revert am Q -n
fresh o && sed -i '6s/$/ mine/' o/c10/f3.h && git -C o commit -qam "mine"
cp -a Q/2.14.0 Q1/other
check "the hint names the set" answers 1 "--patchset other --continue" rocsmith patch apply o Q1 --patchset other
git -C o am --abort && echo later >>o/c10/f0.h
check "no revert over changes after 'git am --abort'" answers 2 "not committed" rocsmith patch revert o Q
git -C o commit -qam later && check "nor over commits" answers 2 "commits of others" rocsmith patch revert o Q
fresh o && git -C o update-ref refs/worktree/rocsmith/running HEAD && echo later >>o/c10/f0.h # as a killed run leaves it
check "nor does the run after a kill drop changes" answers 2 "not committed" rocsmith patch apply o Q
git -C o commit -qam later && check "or commits" answers 2 "commits of others" rocsmith patch apply o Q
[ "$(git -C o log -1 --format=%s)$(tail -n 1 o/c10/f0.h)" = laterlater ] && echo "ok they are there" || echo "not ok they are lost"
eval "$(sed -n 's/^hint: to keep them: \(.*\); to go.*/\1/p' said)"
check "and the hint helps" answers 0 "25 of 25" rocsmith patch apply o Q
rocsmith patch apply r Q1 --patchset other >/dev/null 2>&1 # stops at a conflict
git -C r worktree add -q ../other upstream
check "another worktree has nothing to revert" answers 2 "no patches of a queue" rocsmith patch revert other Q
git -C r worktree remove -f ../other && rocsmith patch apply r --abort >/dev/null 2>&1
git -C o update-ref refs/worktree/rocsmith/running HEAD && : >o/.git/refs/worktree/rocsmith/running.lock
check "locks that a killed git left are no obstacle" answers 0 "25 of 25" rocsmith patch apply o Q
fresh o && fresh p && rm -rf o/third_party/lib && ln -s ../../p/third_party/lib o/third_party/
check "a link is no submodule" answers 2 "a link leads" rocsmith patch apply o Q
[ "$(tree_of p/third_party/lib)" = "$(tree_of lib)" ] && echo "ok where it leads nothing changes" || echo "not ok p was changed"
index=$(touch p/c10/f0.h && sha256sum p/.git/index)
rocsmith patch save -n p -o N --base HEAD >/dev/null 2>&1
[ "$(sha256sum p/.git/index)" = "$index" ] && echo "ok a dry run leaves git's index" || echo "not ok the index changed"

# ---- patches on a translation ----
fresh h
(cd h && git tag THEROCK_UPSTREAM_DIFFBASE && sed -i 1s/line/LINE/ c10/f0.h && git commit -qam one &&
	echo hip >c10/f0.hip && git add . && git commit -qm "DO NOT SUBMIT: HIPIFY" && git tag THEROCK_HIPIFY_DIFFBASE &&
	echo more >>c10/f0.hip && git commit -qam "on the translation")
check "patches below and above a translation" answers 0 "2 of 2" rocsmith patch save h -o H
ls H/2.14.0/h/base/0001-one.patch H/2.14.0/h/hipified/0001-on-the-translation.patch >/dev/null && echo "ok in folders of their own"
fresh u
check "those above wait for it" answers 1 "untranslated   h/hipified/0001" rocsmith patch apply u H
check "the others are applied" answers 1 "applied        h/base/0001" rocsmith patch status u H

# ---- refused ----
fresh d && echo x >>d/c10/f0.h
check "changes that are not committed" answers 2 "not committed" rocsmith patch apply d Q
fresh n && git -C n submodule --quiet deinit -f third_party/lib && rm -rf n/third_party/lib/.git
check "a submodule that was never initialised" answers 2 "submodule update --init" rocsmith patch apply n Q
fresh m && (cd m && git checkout -q -b side && echo s >s && git add . && git commit -qm s && git checkout -q upstream &&
	git merge -q --no-ff -m merge side)
check "merges" answers 2 "has a merge above" rocsmith patch save m -o M --base upstream
fresh g && (cd g && git update-index --cacheinfo "160000,$(git rev-parse HEAD),third_party/lib" && git commit -qm moved)
check "a moved submodule" answers 4 "moves a submodule" rocsmith patch save g -o M --base upstream
mkdir -p crlf/2.14.0/src/base && sed 's/$/\r/' Q/2.14.0/src/base/0001-* >crlf/2.14.0/src/base/0001-x.patch
fresh c
check "a patch in CRLF" answers 4 "CRLF" rocsmith patch apply c crlf
git -C c config core.fsmonitor "touch $PWD/ran" && mkdir -p c/.git/hooks &&
	printf '#!/bin/sh\ntouch %s/ran\n' "$PWD" | tee c/.git/hooks/applypatch-msg c/.git/hooks/post-checkout >/dev/null &&
	chmod +x c/.git/hooks/*-msg c/.git/hooks/post-checkout
check "no hook of the tree is run" sh -c "'$ROCSMITH' patch apply c Q -q >/dev/null && [ ! -e ran ]"
check "nothing of it without a queue" answers 2 "no folder" rocsmith patch status c nothing

# ---- disturbed: in the end the same tree, and the same queue ----
[ -x "$fault" ] || { echo "skip queues with failing calls: no rocsmith-fault"; exit 0; }
fresh start

points=${ROCSMITH_FAULT_POINTS:-3}
setup="rm -rf t && cp -a start t"
disturb() { # NAME OPTION... -- WORD...
	local name=$1
	shift
	check "$name" python3 "$faults" "$@"
}
[ "$points" = 0 ] && sample=() || sample=(--sample "$points")
disturb "saving, with failing calls" sweep "${sample[@]}" --setup "rm -rf N" --tree N --keep src/c10 -- \
	"$fault" patch save -q src -o N --base upstream
disturb "saving, dying at calls" sweep "${sample[@]}" --errno KILL --setup "rm -rf N" --tree N --keep src/c10 -- \
	"$fault" patch save -q src -o N --base upstream
disturb "applying, with failing calls" sweep "${sample[@]}" --setup "$setup" --tree t/c10 --keep Q -- "$fault" patch apply -q t Q
disturb "applying, killed" kill --times "${ROCSMITH_KILLS:-3}" --setup "$setup" --tree t/c10 --tree t/third_party --ignore .git --keep Q -- \
	"$ROCSMITH" patch apply -q t Q
[ "$(tree_of t)" = "$(tree_of src work)" ] && echo "ok and the tree hash is that of the branch" || echo "not ok the tree hash"
setup="$setup && '$ROCSMITH' patch apply -q t Q >/dev/null"
# shellcheck disable=SC2016
disturb "reverting, killed" kill --times "${ROCSMITH_KILLS:-3}" --setup "$setup" --tree t/c10 --tree t/third_party --ignore .git -- \
	sh -c 'git -C t rev-parse -q --verify refs/worktree/rocsmith/before >/dev/null || git -C t/third_party/lib rev-parse -q --verify \
		refs/worktree/rocsmith/before >/dev/null || exit 0; exec "$0" patch revert -q t Q' "$ROCSMITH"
[ "$(tree_of t)" = "$(tree_of src upstream)" ] && echo "ok and the old tree hash" || echo "not ok the old tree hash"
