#!/usr/bin/env bash
# slow: two translations of PyTorch, and what git makes of them
# `checkout --commit` of PyTorch 2.6.0 from a git repository made of Debian's tree: the commit has the tree hash that PyTorch's own
# script and git give, as TheRock's scripts run them.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
chmod -R u+w . && rm -rf ./*
source=$("$top/tools/debian-source" trixie pytorch 2>log) || { echo 'skip checkout of PyTorch: no sources'; exit 0; }
export HOME=$E2E_TMP GIT_CONFIG_NOSYSTEM=1
git config --global user.name n && git config --global user.email e@example.org
cp -r "$source" up && rm -rf up/.pc
(cd up && git init -q -b main && git add -A -f && git commit -qm 2.6.0)
git clone -q up therock
(cd therock && git tag THEROCK_UPSTREAM_DIFFBASE && python3 -B tools/amd_build/build_amd.py >../log 2>&1 &&
	git add -A && git commit -qm 'DO NOT SUBMIT: HIPIFY')
"$ROCSMITH" checkout torch --ref main --origin "$PWD/up" --root S --commit >out
want=$(git -C therock rev-parse 'HEAD^{tree}') got=$(git -C S/torch rev-parse 'THEROCK_HIPIFY_DIFFBASE^{tree}')
[ "$want" = "$got" ] && echo 'ok the hipify commit has the tree hash of the original' || echo "not ok the hipify commit: $got, not $want"
[ "$(git -C S/torch rev-parse THEROCK_UPSTREAM_DIFFBASE)" = "$(git -C up rev-parse main)" ] &&
	echo 'ok the base is upstream' || echo 'not ok the base is upstream'
[ -z "$(git -C S/torch status --porcelain)" ] && echo 'ok nothing is left' || echo 'not ok nothing is left'
"$ROCSMITH" checkout torch --ref main --origin "$PWD/up" --root S >out &&
	[ "$(git -C S/torch rev-parse 'HEAD^{tree}')" = "$(git -C up rev-parse 'main^{tree}')" ] &&
	echo 'ok the next checkout is upstream again' || echo 'not ok the next checkout is upstream again'
