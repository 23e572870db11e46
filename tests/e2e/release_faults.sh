#!/usr/bin/env bash
# Releases disturbed: index, stage, promote, rollback, quarantine and publish with I/O calls failing once, dying at I/O calls, and
# killed at random moments. What pip would read is whole at any time: the old or the new. ROCSMITH_FAULT_POINTS says at how many
# calls (0 = each one), and ROCSMITH_KILLS how many random kills of each kind.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
faults=$top/tests/e2e/faults.py
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
points=${ROCSMITH_FAULT_POINTS:-2}
kills=${ROCSMITH_KILLS:-2}
[ "$points" = 0 ] && sample= || sample="--sample $points"
cd "$E2E_TMP"
rm -rf ./*
if [ ! -x "$fault" ]; then
	echo "skip releases with failing calls: no rocsmith-fault"
	exit 0
fi
for version in 7.13.0rc2 7.13.1rc1; do
	python3 "$top/tests/e2e/release_set.py" "in-$version" $version --gpu gfx1100 --kib 1
done
"$ROCSMITH" index -q in-7.13.0rc2 -o site0
"$ROCSMITH" stage -q in-7.13.0rc2 --to store0/rc
"$ROCSMITH" promote -q store0/rc
cp -a store0 staged0
"$ROCSMITH" stage -q in-7.13.1rc1 --to staged0/rc
cp -a staged0 both0
"$ROCSMITH" promote -q both0/rc
"$ROCSMITH" publish -q --unread store0/rc --to pub0
"$ROCSMITH" promote -q both0/rc --to dev
cp -a both0 bad0
"$ROCSMITH" promote -q bad0/rc --quarantine bad
set=$(python3 -c 'import json; print(json.load(open("both0/rc/stream.json"))["sets"][-1])')

# whole.py FOLDER SETS...: each page has wheels of so many sets, all projects of as many; each file is there, as its hash says
cat >whole.py <<'END'
import hashlib, pathlib, re, sys, urllib.parse
folder, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:]
if not (folder / "simple").exists() and "0" in wanted:
    sys.exit(0)
counts = {}
for page in sorted((folder / "simple").glob("*/index.html")):
    links = re.findall(r'href="([^"#]+)#sha256=([0-9a-f]{64})"', page.read_text())
    counts[page.parent.name] = len(links)
    for url, sha256 in links:
        data = (page.parent / urllib.parse.unquote(url)).read_bytes()
        assert hashlib.sha256(data).hexdigest() == sha256, url
assert len(counts) == 7 and len(set(counts.values())) == 1 and str(counts["torch"]) in wanted, counts
END
# shellcheck disable=SC2086
disturb() { # WHAT SETUP FOLDER SETS TREE WORD...: a command
	local what=$1 setup=$2 check="python3 whole.py $3 $4" tree=$5
	shift 5
	python3 "$faults" sweep $sample --errno ENOSPC,EIO,EACCES --setup "$setup" --check "$check" --tree $tree --ignore '*.json' \
		--keep in-7.13.0rc2 -- "$fault" "$@"
	python3 "$faults" sweep $sample --errno KILL --setup "$setup" --check "$check" --tree $tree --ignore '*.json' --keep in-7.13.0rc2 -- "$fault" "$@"
	python3 "$faults" kill --times "$kills" --setup "$setup" --check "$check" --tree $tree --ignore '*.json' --keep in-7.13.0rc2 -- "$ROCSMITH" "$@"
	echo "ok $what, with failing calls, dying at calls, and killed $kills times"
}
disturb 'an index is made' 'rm -rf site' site '0 1' site index -q in-7.13.0rc2 -o site
disturb 'an index is replaced' 'rm -rf site && cp -a site0 site' site '1 2' site index -q in-7.13.0rc2 in-7.13.1rc1 -o site
disturb 'a set is staged' 'rm -rf store && cp -a store0 store' store/rc 1 store stage -q in-7.13.1rc1 --to store/rc
disturb 'a part is staged' 'rm -rf store && cp -a staged0 store' store/rc 1 store stage -q --add in-7.13.1rc1/torchvision --to store/rc
disturb 'a set is promoted' 'rm -rf store && cp -a staged0 store' store/rc '1 2' store/rc promote -q store/rc
disturb 'a set is renamed' 'rm -rf store && cp -a both0 store' store/nightly '0 1' store/nightly promote -q store/rc --to nightly \
	--version 7.13.1rc1=7.13.1
disturb 'a set is taken back' 'rm -rf store && cp -a both0 store' store/rc '1 2' store/rc promote -q store/rc --rollback --set "$set"
disturb 'a stream goes back to what was good' 'rm -rf store && cp -a bad0 store' store/rc '1 2' store/rc promote -q store/rc --last-good
disturb 'a set is quarantined' 'rm -rf store && cp -a both0 store' store/rc 2 store/rc promote -q store/rc --quarantine bad
disturb 'a folder is published to' 'rm -rf pub && cp -a pub0 pub' pub '1 2' pub publish -q --unread both0/rc --to pub
