#!/usr/bin/env bash
# `checkout` of repositories that a git daemon on loopback serves: pins, locks, mirrors, a server that lacks something,
# changed folders. git is the judge of what lies there.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$E2E_TMP" && chmod -R u+w . && rm -rf ./*
[ -x "$(git --exec-path)/git-daemon" ] || { echo 'skip checkout: no git daemon'; exit 0; }
. "$here/checkout_repos.bash" "$E2E_TMP"
git config --global "url.$url/triton.insteadOf" https://github.com/ROCm/triton
failed=0
prove() {
	local what=$1
	shift
	if "$@"; then echo "ok $what"; else echo "not ok $what"; sed 's/^/# /' err; failed=1; fi
}
run() { "$ROCSMITH" checkout "$@" >out 2>err; }
refuses() { # STATUS TEXT WORDS...
	local status=$1 text=$2 got=0
	shift 2
	run "$@" || got=$?
	[ "$got" = "$status" ] && grep -q -e "$text" err && [ "$(grep -c '^error:' err)" = 1 ]
}
at() { [ "$(git -C "$1" rev-parse HEAD)" = "$2" ]; } # a checkout is at a commit
clean() { [ -z "$(git -C "$1" status --porcelain --ignore-submodules=none)" ]; }
field() { python3 -c 'import json, sys; print([p for p in json.load(open(sys.argv[1]))["projects"] if p["name"] == sys.argv[2]][0][sys.argv[3]])' "$@"; }

all=torch,torchvision,torchaudio,triton,apex
from=(--origin "$url/pytorch")
prove 'a dry run writes nothing' run $all --ref release/2.14 "${from[@]}" --root S -n
prove 'and says what torch will decide' grep -q 'torchvision .*torch, once it is there' out
prove 'no folder is there after it' test ! -e S
prove 'a set is checked out' run $all --ref release/2.14 "${from[@]}" --root S --manifest-out M.json
prove 'git finds torch unchanged' clean S/torch
prove 'torch is at its branch' at S/torch "$(git -C srv/pytorch rev-parse release/2.14)"
prove 'what was fetched is in packs, whole or not there' test -z "$(find S/*/.git/objects/?? -type f 2>err)"
prove 'its submodule has a submodule' at S/torch/third_party/a/deps/b "$(head_of b)"
prove 'git knows all submodules' bash -c '! git -C S/torch submodule status --recursive | grep -q "^[-+U]"'
prove 'related_commits pins torchvision' at S/torchvision "$(head_of vision)"
prove 'torch pins triton' at S/triton "$(head_of triton)"
prove 'the lock has the tree hash of git' \
	test "$(field S/rocsmith.lock torch tree)" = "$(git -C srv/pytorch rev-parse 'release/2.14^{tree}')"
prove 'the version of triton is in the manifest' grep -q '"version": "3.7.0"' M.json
cp S/rocsmith.lock L
prove 'a second run' run $all --ref release/2.14 "${from[@]}" --root S
prove 'leaves the same lock' cmp L S/rocsmith.lock
prove 'an annotated tag is its commit' run torch --ref v2.14.0 "${from[@]}" --root T
prove 'in the lock, too' test "$(field T/rocsmith.lock torch commit)" = "$(field L torch commit)"
# a checkout that a stranger prepared: what is removed, or written, is not removed or written through its links
for link in .git/modules .git third_party; do
	rm -rf LN outside
	run torch --ref release/2.14 "${from[@]}" --root LN
	mkdir outside
	mv "LN/torch/$link" outside/moved && ln -s "$E2E_TMP/outside/moved" "LN/torch/$link"
	case $link in
	.git/modules) rm -rf LN/torch/third_party/a && mkdir LN/torch/third_party/a ;;
	third_party) rm -rf LN/torch/.git/modules ;;
	esac
	find outside -name index -delete
	find outside ! -type d ! -name '*.lock' | sort >before
	run torch --ref release/2.14 "${from[@]}" --root LN
	find outside ! -type d ! -name '*.lock' | sort >after
	prove "nothing is removed or made through a link in the place of $link" cmp before after
done
prove 'a manifest is followed' run torch,torchvision --manifest M.json --root M --expect-ref release/2.14
prove 'to the same tree' test "$(field M/rocsmith.lock torch tree)" = "$(field L torch tree)"
prove 'a manifest of another ref is refused' refuses 4 "not 'release/2.13'" torch --manifest M.json \
	--root M --expect-ref release/2.13

# TheRock's own entry, and a manifest from a server
rock='{"repo": "https://github.com/ROCm/TheRock", "commit": "'$(printf '%040d' 7)'", "branch": "main", "version": "10.1.0"}'
python3 -c 'import json, sys; m = json.load(open("M.json")); m["therock"] = json.loads(sys.argv[1]); json.dump(m, open("R.json", "w"))' "$rock"
prove 'a manifest for a TheRock' run torch,torchvision --manifest R.json --root M --manifest-out R2.json
prove 'which comes back whole' python3 -c 'import json, sys
assert json.load(open("R2.json"))["therock"] == json.loads(sys.argv[1])' "$rock"
prove 'its commit is in the lock' test "$(field M/rocsmith.lock therock commit)" = "$(printf '%040d' 7)"
prove 'its sources are not wanted' test ! -e M/therock
prove 'without a commit there is none' refuses 2 "commit of 'therock' is wanted" therock --root N
mkdir -p web && cp R.json web/M.json && sed "s,$url/vision,$E2E_TMP/srv/vision," M.json >web/local.json
rm -f web.port
python3 - <<'END' &
import functools, http.server, os
server = http.server.HTTPServer(("127.0.0.1", 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory="web"))
http.server.SimpleHTTPRequestHandler.log_message = lambda *words: None
open("web.new", "w").write(str(server.server_port))
os.rename("web.new", "web.port")
server.serve_forever()
END
web=$!
until [ -f web.port ]; do sleep 0.05; done
site=http://127.0.0.1:$(cat web.port)
prove 'a manifest of a server' run torch,torchvision --manifest "$site/M.json" --root MU
prove 'to the same tree' test "$(field MU/rocsmith.lock torch tree)" = "$(field L torch tree)"
prove 'names no repository of this machine' refuses 2 'not the URL of a git repository' torchvision --manifest "$site/local.json" --root MV
prove 'a manifest that the server does not have' refuses 2 'answers 404' torch --manifest "$site/none.json" --root MV
prove 'one of another site, without a password in its URL' refuses 2 'a name or a password' torch --manifest http://u:s3cret@127.0.0.1/m --root MV
kill $web

# ---- a set that fails half-way ----
cp -r S F1
git -C srv/pytorch checkout -q -b release/2.15 release/2.14
git -C srv/vision commit -q --allow-empty -m newer
sed -i "s/torchvision|main|[0-9a-f]*/torchvision|main|$(head_of vision)/; s/torchaudio|main|[0-9a-f]*/torchaudio|main|$(printf '%040d' 3)/" srv/pytorch/related_commits
commit pytorch three
prove 'a set whose torchaudio is gone' refuses 4 'does not have the commit' $all --ref release/2.15 "${from[@]}" --root F1
prove 'leaves a lock of what is there' test "$(field F1/rocsmith.lock torch commit) $(field F1/rocsmith.lock torchvision commit)" = \
	"$(git -C F1/torch rev-parse HEAD) $(head_of vision)"
prove 'and nothing of the other torch' bash -c '! grep -q "\"torchaudio\"\|\"apex\"" F1/rocsmith.lock'
cp -r S F2
prove 'a torch alone' run torch --ref release/2.15 "${from[@]}" --root F2
prove 'takes no neighbour of the other torch along' bash -c '! grep -q "\"torchvision\"" F2/rocsmith.lock && grep -q "another torch" err'
git -C srv/pytorch checkout -q main
git -C srv/vision reset -q --hard HEAD~1

# ---- words ----
prove 'there is no default' refuses 2 'is not known' torch --root N
prove 'an unknown branch has no repository' refuses 2 'which repository' torch --ref mine --root N
prove 'a target is misspelt' refuses 2 'none of the projects' troch --root N
prove 'an option is no ref' refuses 2 'not the name of a branch' torch --ref=--upload-pack=x "${from[@]}" --root N
prove 'a password is not shown' refuses 2 'a name or a password' torch --ref x --origin https://u:s3cret@h/x --root N
prove 'nor in the error' bash -c '! grep -q s3cret err'
prove 'a ref that is gone' refuses 4 'no branch, tag or commit' torch --ref gone "${from[@]}" --root N
prove 'a neighbour without a torch' refuses 2 'depends on a torch' apex --root N2

# ---- changes of the user's ----
echo mine >>S/torch/README
prove 'a changed file is kept' refuses 4 'not committed' torch --ref release/2.14 "${from[@]}" --root S
prove 'unless --force' run torch --ref release/2.14 "${from[@]}" --root S --force
prove 'which keeps it in a ref' bash -c 'git -C S/torch show refs/rocsmith/kept:README | grep -q mine'
prove 'and takes it out of the tree' clean S/torch
git -C S/torch config core.fsmonitor 'touch ran'
git -C S/torch config filter.x.smudge 'touch ran'
prove 'a configuration that runs programs is refused' refuses 3 'filter.x.smudge' torch --ref release/2.14 \
	"${from[@]}" --root S
prove 'and nothing ran' test ! -e S/torch/ran
git -C S/torch config --unset filter.x.smudge
git -C S/torch config --unset core.fsmonitor
sub=$(git -C S/torch/third_party/a rev-parse --absolute-git-dir)
git -C S/torch/third_party/a config filter.x.clean "touch $E2E_TMP/ran; cat"
git -C S/torch/third_party/a config filter.x.smudge "touch $E2E_TMP/ran; cat"
mkdir -p "$sub/info" && echo '* filter=x' >"$sub/info/attributes"
touch -d '2 days ago' S/torch/third_party/a/README
prove 'that of a submodule, too' refuses 3 'filter.x.clean' torch --ref release/2.14 "${from[@]}" --root S
mv S/torch/third_party/a away && mkdir S/torch/third_party/a
prove 'even if its folder is gone' refuses 3 'filter.x.clean' torch --ref release/2.14 "${from[@]}" --root S
prove 'and nothing ran there' test ! -e ran
rm -r S/torch/third_party/a && mv away S/torch/third_party/a
git --git-dir="$sub" config --remove-section filter.x
rm "$sub/info/attributes"
echo 'ubuntu|pytorch|torchvision|main|12|https://h/x' >S/torch/related_commits
prove 'a wrong pin has its place' refuses 2 'not a whole commit id' torchvision --root S
prove 'file, line and column' grep -q 'related_commits:1:33' err
git -C S/torch checkout -q related_commits


# ---- folders and files that cannot be used ----
if [ "$(id -u)" = 0 ]; then
	run apex --ref main --origin "$url/apex" --root F
	chown -R 65534 F/apex
	prove 'a checkout of another user is not trusted' refuses 3 'belongs to another user' apex --ref main \
		--origin "$url/apex" --root F
	prove 'with the command that says otherwise' grep -q "safe.directory '.*F/apex'" err
fi
mkdir -p G/apex && touch G/apex/mine
prove 'a folder of something else is left alone' refuses 4 'no git checkout' apex --ref main --origin "$url/apex" --root G
git clone -q "$url/apex" K/apex && rm K/apex/.git/HEAD && echo mine >K/apex/README
prove 'so is a damaged checkout' refuses 4 'no git checkout' apex --ref main --origin "$url/apex" --root K
prove 'with its files' grep -q mine K/apex/README
git init -q srv/more && printf '*.log\n' >srv/more/.gitignore && git -C srv/more submodule --quiet add ../b s 2>/dev/null
commit more one && run apex --ref main --origin "$url/more" --root W
echo theirs >srv/b/NEW && commit b two && git -C srv/more/s pull -q && echo theirs >srv/more/NEW && mkdir srv/more/d &&
	echo theirs >srv/more/d/f && echo theirs >srv/more/x.log && git -C srv/more add -f x.log && commit more two
cp W/rocsmith.lock W.lock
for file in NEW d x.log s/NEW; do
	echo mine >"W/apex/$file"
	[ "$file" = s/NEW ] || echo changed >W/apex/.gitignore
	prove "--force does not replace $file, which git does not know" refuses 4 'are in the way' apex --ref main \
		--origin "$url/more" --root W --force
	prove 'and it stays' grep -qx mine "W/apex/$file"
	[ "$file" = s/NEW ] || prove 'as does the lock' cmp W.lock W/rocsmith.lock
	rm "W/apex/$file"
done
echo mine >W/apex/s/README
prove '--force goes on once they are gone' run apex --ref main --origin "$url/more" --root W --force
prove 'to what is wanted' clean W/apex
prove 'and keeps the change of a submodule' bash -c 'git -C W/apex/s show refs/rocsmith/kept:README | grep -qx mine'
git -C srv/b reset -q --hard HEAD~1
cp -r srv/apex srv/grown && run apex --ref main --origin "$url/grown" --root U
echo new >srv/grown/NEW && commit grown two && echo mine >U/apex/NEW
for n in first second; do
	prove "a file in the way stays, $n run" refuses 4 'are in the way' apex --ref main --origin "$url/grown" --root U
done
prove 'as it was' grep -q mine U/apex/NEW
run apex --ref main --origin "$url/a" --root V && echo mine >V/apex/deps/b/NEW
sed -i 's,submodule "deps/b",submodule "other",' srv/a/.gitmodules && commit a renamed
prove 'a submodule that has another name now' run apex --ref main --origin "$url/a" --root V --force
prove 'keeps its untracked files' grep -q mine V/apex/deps/b/NEW
git -C srv/a reset -q --hard HEAD~1
git init -q srv/large
echo '*.bin filter=lfs' >srv/large/.gitattributes
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 3\n' 1 >srv/large/a.bin
commit large one
prove 'pointers of Git LFS are no files' refuses 4 'pointers of Git LFS' apex --ref main --origin "$url/large" --root H
git init -q srv/sly && mkdir srv/sly/s
printf '[submodule "s"]\n\tpath = s\n\turl = %s\n' "$E2E_TMP/srv/b" >srv/sly/.gitmodules
git -C srv/sly update-index --add --cacheinfo "160000,$(head_of b),s"
commit sly one
prove 'a submodule may not lie on this machine' refuses 2 'not the URL of a git repository' apex --ref main \
	--origin "$url/sly" --root J
git init -q srv/crowd && python3 - >many <<'END'
with open("srv/crowd/.gitmodules", "w") as out:
    for i in range(4097):
        print(f"160000 {i + 1:040x} 0\ts{i}")
        print(f'[submodule "s{i}"]\n\tpath = s{i}\n\turl = ../b', file=out)
END
git -C srv/crowd update-index --add --index-info <many
git -C srv/crowd add .gitmodules && git -C srv/crowd commit -q -m one
mkdir counted && printf '#!/bin/sh\necho run >>"%s/runs"\nexec "%s" "$@"\n' "$PWD" "$(command -v git)" >counted/git
chmod +x counted/git
PATH=$PWD/counted:$PATH prove 'thousands of submodules are too many' refuses 2 'has too many submodules' apex --ref main \
	--origin "$url/crowd" --root X
prove 'which a few runs of git tell, not one for each' test "$(wc -l <runs)" -lt 40

# ---- what is not there ----
unserve
git config --global --unset "url.$url/triton.insteadOf"
prove 'all from a mirror, offline' run $all --lock L --root O --offline --mirror srv
prove 'gives the same lock' cmp L O/rocsmith.lock
prove 'and git finds it clean' clean O/torch
prove 'without one it cannot be had' refuses 4 'not on this machine' torch --lock L --root P --offline
git init -q --bare bare/pytorch.git
prove 'a mirror that lacks it is told offline' refuses 4 "cannot get it from the mirror 'file:.*bare/pytorch.git'" torch --lock L --root P \
	--offline --mirror bare
prove 'as it is beside the error of the network' refuses 4 "^also: cannot get it from the mirror 'file:.*bare/pytorch.git'" torch --lock L \
	--root P --mirror bare
prove 'a repository of this machine needs no network' run torch --ref release/2.14 --origin "$PWD/srv/pytorch" --root here --offline --no-submodules
prove 'what is there needs no server' run $all --lock L --root O --offline

# ---- sources of a build ----
export ROCSMITH_HOME=$E2E_TMP/home
plan() { "$ROCSMITH" plan torch --gpu gfx1201 --sdk debian:trixie "$@" >out 2>err; }
made() { ls -d home/cache/source/torch-*[0-9a-f]/ 2>/dev/null | wc -l; }
echo mine >>O/torch/README
prove 'a plan takes the sources from a lock, without the server' plan --lock O/rocsmith.lock
prove 'git finds them clean, whatever is in the folder' clean home/cache/source/torch-*[0-9a-f]/
prove 'with the tree hash of the lock' test "$(git -C home/cache/source/torch-*[0-9a-f]/ rev-parse 'HEAD^{tree}')" = "$(field L torch tree)"
prove 'again' plan --lock O/rocsmith.lock
prove 'from the same folder' test "$(made)" = 1
prove 'a lock and a source are one too many' bash -c '! "$0" plan torch --lock L --source O/torch 2>err' "$ROCSMITH"
serve
git clone -q "$url/pytorch" C
prove 'a folder without its submodules is refused' bash -c '! "$0" plan torch --source C --gpu gfx1201 2>err' "$ROCSMITH"
prove 'with the command that gets them' grep -q 'git -C .*C submodule update --init --recursive' err
git -C C submodule --quiet update --init --recursive 2>/dev/null
git -C C config -f .gitmodules submodule.old.path third_party/old
prove 'an entry of .gitmodules without a submodule is nothing' bash -c \
	'"$0" plan torch --source C --gpu gfx1201 --sdk ./none 2>err; ! grep -q "never fetched" err' "$ROCSMITH"
mv srv/b srv/gone
prove 'one submodule fails' refuses 4 "cannot get the submodule 'deps/b'" torch --ref release/2.14 "${from[@]}" --root Q
prove 'with its commit and URL' grep -q "commit $(head_of gone) of $url/b" err
prove 'and the commit that pins it' grep -q "which commit $(head_of a) pins" err
mv srv/gone srv/b
echo mine >>Q/torch/README
prove 'what was changed since is not lost' refuses 4 'not committed' torch --ref release/2.14 "${from[@]}" --root Q
git -C Q/torch checkout -q README
prove 'the next run completes it' run torch --ref release/2.14 "${from[@]}" --root Q
prove 'all of it' clean Q/torch
b=$(head_of b)
git -C srv/b commit -q --amend -m other
git -C srv/b reflog expire --expire=now --all && git -C srv/b gc -q --prune=now
prove 'a commit that vanished' refuses 4 'does not have the commit' torch --ref release/2.14 "${from[@]}" --root R
prove 'is named' grep -q "$b" err

exit $failed
