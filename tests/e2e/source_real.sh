#!/usr/bin/env bash
# first: tools/debian-source takes the archives that this has fetched
# The real thing: PyTorch's source package of trixie, those of which the archive has upstream's files only, and
# an sdist, from where this machine gets its packages.
set -eu
for tool in apt-get dpkg-source; do
	command -v $tool >/dev/null || { echo "skip $tool is not installed"; exit 0; }
done
cd "$E2E_TMP"
failed=0
# plan PROJECT WORD: the folder of the sources
plan() {
	local got=0
	"$ROCSMITH" plan "$1" --source "$2" --gpu gfx1201 --json >out 2>err || got=$?
	[ $got = 0 ] || return $got
	python3 -c 'import json; print(json.load(open("out"))["project"]["dir"])'
}
tell() { # WHAT STATUS
	case $2 in
	0) echo "ok $1" ;;
	4) grep -q 'cannot be reached\|does not answer\|not known here\|names no Debian' err && {
		echo "skip $1: $(tail -1 err)"
		return
	} ;;&
	*) echo "not ok $1" && sed 's/^/# /' err && failed=1 ;;
	esac
}
status=0
torch=$(plan torch debian:trixie/pytorch=2.6.0) || status=$?
tell "PyTorch 2.6.0 of Debian, its patches applied" $status
[ $status = 0 ] || exit $failed
dsc=("$(dirname "$torch")"/files/pytorch_2.6.0*.dsc)
rm -rf oracle
dpkg-source --no-check -x "${dsc[0]}" oracle >log 2>&1
rm -rf oracle/.pc
diff -r --no-dereference oracle "$torch" >log 2>&1 || status=1
tell 'is what dpkg-source makes of it' $status
rm -rf oracle
start=$(date +%s%N)
plan torch debian:trixie/pytorch=2.6.0 >/dev/null
ms=$((($(date +%s%N) - start) / 1000000))
[ $ms -lt 2000 ] || status=1
tell "a second plan fetches nothing ($ms ms)" $status
for package in pytorch-audio; do
	status=0 project=${package/py/}
	project=${project/-/}
	dir=$(plan "$project" "debian:trixie/$package") || status=$?
	# without a torch to build against the plan may end there; the sources are what is asked for
	dir=$(ls -d "$(dirname "$torch")/$package"-*/ 2>/dev/null | tail -1)
	[ -z "$dir" ] || [ ! -f "$dir/setup.py" ] || status=0
	tell "$package" $status
done
exit $failed
