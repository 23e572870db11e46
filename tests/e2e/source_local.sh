#!/usr/bin/env bash
# long
# `--source debian:SUITE/PACKAGE` against a small archive of our own: the same tree as dpkg-source makes, all
# that is wrong with archives, two at once, kills and failing I/O calls. No network.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for tool in apt-get apt-cache gpg diff dpkg-source; do
	command -v $tool >/dev/null || { echo "skip $tool is not installed"; exit 0; }
done
failed=0
kills=${ROCSMITH_KILLS:-3} points=${ROCSMITH_FAULT_POINTS:-3}
export ROCSMITH_HOME=$E2E_TMP/home
cache=$ROCSMITH_HOME/cache/source
settings=(--mirror "file://$E2E_TMP/ar/archive" --keyring "$E2E_TMP/ar/key.gpg" --gpu gfx1201)

archive() { python3 "$here/source_archive.py" "$E2E_TMP/ar" "$@"; }
fresh() { rm -rf "$ROCSMITH_HOME"; }
plan() { "$ROCSMITH" plan torch --source "$@" "${settings[@]}" >"$E2E_TMP/out" 2>"$E2E_TMP/err"; }
# The folder that the last plan speaks of.
folder() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["project"]["dir"])' "$E2E_TMP/out"; }
record() { python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["build"]["source"][sys.argv[2]])' "$E2E_TMP/out" "$1"; }
prove() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@"; then
		echo "ok $what"
	else
		echo "not ok $what"
		sed 's/^/# /' "$E2E_TMP/err"
		failed=1
	fi
}
refuses() { # STATUS TEXT COMMAND...: one error, which says this
	local status=$1 text=$2 got=0
	shift 2
	"$@" || got=$?
	[ "$got" = "$status" ] && grep -q -- "$text" "$E2E_TMP/err" &&
		[ "$(grep -c '^error:' "$E2E_TMP/err")" = 1 ]
}

# ---- a good archive ----
fresh
archive
prove 'a dry run that would have to fetch says so' refuses 4 'not here yet' plan debian:sid/tiny -n
prove 'and writes nothing' test ! -e "$ROCSMITH_HOME"
prove 'a plan fetches the sources' plan debian:sid/tiny --json
first=$(folder)
prove 'they lie in the cache' test "$(dirname "$first")" = "$cache"
(cd "$E2E_TMP" && rm -rf oracle && dpkg-source --no-check -x ar/archive/pool/tiny_*.dsc oracle) \
	>"$E2E_TMP/err" 2>&1
rm -rf "$E2E_TMP/oracle/.pc"
prove 'as dpkg-source unpacks and patches them' diff -r --no-dereference "$E2E_TMP/oracle" "$first"
prove 'with the same modes' diff <(cd "$E2E_TMP/oracle" && find . -printf '%P %M\n' | sort) \
	<(cd "$first" && find . -printf '%P %M\n' | sort)
prove 'the record names the patches' test "$(record patches | tr -cd , | wc -c)" = 3
prove 'and the versions' test "$(record version) $(record upstream)" = '1.0+dfsg-1 1.0'
before=$(find "$ROCSMITH_HOME" -type f -printf '%p %T@ %s\n' | sort | sha256sum)
mv "$E2E_TMP/ar/archive" "$E2E_TMP/ar/away"
prove 'the second time nothing is asked of the archive' plan debian:sid/tiny
prove 'and no file changes' test "$before" = \
	"$(find "$ROCSMITH_HOME" -type f -printf '%p %T@ %s\n' | sort | sha256sum)"
prove 'nor is a dry run different' plan debian:sid/tiny -n
prove 'a saved plan goes on with them' bash -c '"$1" plan torch --source debian:sid/tiny "${@:3}" -o "$2/p.json" &&
	"$1" plan "$2/p.json"' _ "$ROCSMITH" "$E2E_TMP" "${settings[@]}" >"$E2E_TMP/out" 2>"$E2E_TMP/err"
mv "$E2E_TMP/ar/away" "$E2E_TMP/ar/archive"
prove 'by the version of upstream' plan debian:sid/tiny=1.0 --json
prove 'it is the same folder' test "$(folder)" = "$first"
prove 'by the whole version' plan debian:sid/tiny=1:1.0+dfsg-1
prove 'a version that is not there' refuses 4 'in the version 1:1.0+dfsg-1, and not 3' plan debian:sid/tiny=3
prove 'a package that is not there' refuses 4 'no source package' plan debian:sid/large
prove 'a suite that is not there' refuses 4 'no such suite' plan debian:none/tiny
prove 'a word that is none' refuses 2 'does not name sources' plan debian:sid

# ---- what is new in the archive ----
archive --version 1:1.1-1
prove 'without --refresh the old sources stay' plan debian:sid/tiny --json
prove 'the same folder' test "$(folder)" = "$first"
prove 'an unknown version is looked for in a fresh index' plan debian:sid/tiny=1.1 --json
prove 'and found' test "$(record version)" = 1.1-1
archive --version 1:1.2-1
prove 'with --refresh the new ones come' plan debian:sid/tiny --refresh --json
prove 'in a folder of their own' test "$(record version)" = 1.2-1
prove 'next time without' plan debian:sid/tiny --json
prove 'the same' test "$(record version)" = 1.2-1

# ---- archives that lack something, or are wrong ----
fresh
archive --break dsc-gone
prove 'the .dsc is not needed' plan debian:sid/tiny --json
prove 'no word about it' test "$(record notes)" = '[]'
fresh
archive --break debian-gone
prove "without Debian's archive upstream's is taken" plan debian:sid/tiny --json
prove 'which is said' grep -q 'no longer serves .*debian.tar.xz' "$E2E_TMP/err"
prove 'and recorded' grep -q 'no longer serves' "$E2E_TMP/out"
prove 'unpatched' grep -q '^line 150$' "$(folder)/CMakeLists.txt"
fresh
archive --expired
prove 'an expired index is accepted' plan debian:sid/tiny --json
prove 'which is recorded' grep -q 'expired on' "$E2E_TMP/out"
try() { # OPTION KIND STATUS TEXT
	archive "$1" ${2:+"$2"}
	fresh
	prove "refused: $1 $2" refuses "$3" "$4" plan debian:sid/tiny
	prove 'there are no sources then' bash -c '! ls -d "$0"/tiny-* 2>/dev/null' "$cache"
}
try --other-key '' 4 'keyring does not hold'
try --break orig-gone 4 'no longer has .tiny_1.0+dfsg.orig.tar.xz'
try --break extra-gone 4 'no longer has .tiny_1.0+dfsg.orig-extra.tar.gz'
try --break truncate 4 'does not match its signed index'
try --break corrupt 4 'does not match its signed index'
try --break patch 4 "patch 'git.patch' does not fit 'tool'"
try --hostile dotdot 4 'leads out of the tree'
try --hostile absolute 4 'absolute path'
try --hostile control 4 'no acceptable file name'
try --hostile device 4 'device node'
try --hostile fifo 4 'device node'
try --hostile hardlink 4 'hard link to no file'
try --hostile symlink 4 'link that leads out'
try --hostile climb 4 'link that leads out'
try --hostile leave 4 'leads out of its folder'
try --hostile behind 4 'is to be a folder, and is none'
prove 'nothing got out' bash -c '! ls /tmp/rocsmith-test-evil "$0"/rocsmith-test-evil "$0"/../rocsmith-test-evil 2>/dev/null' "$cache"
archive
fresh

# ---- a source distribution from an index ----
index=$E2E_TMP/index
mkdir -p "$index/simple/tiny-pkg"
(cd "$E2E_TMP" && rm -rf up && cp -r oracle up && tar -czf "$index/simple/tiny-pkg/tiny_pkg-2.6.0.tar.gz" up)
sum=$(sha256sum "$index/simple/tiny-pkg/tiny_pkg-2.6.0.tar.gz" | cut -d' ' -f1)
page() { echo "<a href=\"tiny_pkg-2.6.0.tar.gz#sha256=$1\">tiny_pkg-2.6.0.tar.gz</a>" >"$index/simple/tiny-pkg/index.html"; }
python3 -u - "$index" "$E2E_TMP/port" <<'PY' &
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
handler.func.log_message = lambda *a: None
with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
    with open(sys.argv[2], "w") as f:
        f.write(str(server.server_port))
    server.serve_forever()
PY
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do [ -s "$E2E_TMP/port" ] || sleep 0.1; done
if python3 -m pip --version >/dev/null 2>&1; then
	export PIP_INDEX_URL="http://127.0.0.1:$(cat "$E2E_TMP/port")/simple" PIP_NO_INDEX=0 PIP_FIND_LINKS=
	export no_proxy=127.0.0.1
	page "$sum"
	prove 'an sdist of the index that pip is configured for' plan sdist:Tiny.Pkg==2.6.0 --json
	prove 'nobody ran its setup.py' diff -r --no-dereference "$E2E_TMP/oracle" "$(folder)"
	mkdir -p "$E2E_TMP/links/tiny_pkg-2.6.0"
	cp -r "$E2E_TMP/up/." "$E2E_TMP/links/tiny_pkg-2.6.0"
	echo other >"$E2E_TMP/links/tiny_pkg-2.6.0/other"
	tar -C "$E2E_TMP/links" -czf "$E2E_TMP/links/tiny_pkg-2.6.0.tar.gz" tiny_pkg-2.6.0
	PIP_FIND_LINKS=$E2E_TMP/links
	prove 'the same word with another index' plan sdist:Tiny.Pkg==2.6.0 --json
	prove 'is another project' test -e "$(folder)/other"
	PIP_FIND_LINKS=
	prove 'a version that it does not have' refuses 4 'in other versions: 2.6.0' plan sdist:tiny-pkg==9
	prove 'a project that it does not have' refuses 4 'no source distribution' plan sdist:other==1
	fresh
	page "${sum//[0-9]/0}"
	prove 'a wrong hash' refuses 4 'does not match the hash' plan sdist:tiny-pkg==2.6.0
	page ''
	prove 'no hash' refuses 4 'gives no sha256' plan sdist:tiny-pkg==2.6.0
	PIP_INDEX_URL=http://127.0.0.1:1/simple
	prove 'no index' refuses 4 'cannot be reached' plan sdist:tiny-pkg==2.6.0

	# ---- any project's, in the place of its folder ----
	PIP_INDEX_URL="http://127.0.0.1:$(cat "$E2E_TMP/port")/simple"
	mkdir -p "$index/simple/any-pkg" "$E2E_TMP/any_pkg-1.2.3"
	(cd "$E2E_TMP/any_pkg-1.2.3"
	echo "open('ran', 'w'); __import__('setuptools').setup()" >setup.py
	printf 'Metadata-Version: 2.1\nName: any-pkg\nVersion: 1.2.3\n' >PKG-INFO)
	tar -C "$E2E_TMP" -czf "$index/simple/any-pkg/any_pkg-1.2.3.tar.gz" any_pkg-1.2.3
	sum=$(sha256sum "$index/simple/any-pkg/any_pkg-1.2.3.tar.gz" | cut -d' ' -f1)
	anchor() { echo "<a href=\"any_pkg-1.2.3.tar.gz#sha256=$1\">any_pkg-1.2.3.tar.gz</a>" >"$index/simple/any-pkg/index.html"; }
	any() { "$ROCSMITH" "$@" --gpu gfx1201 >"$E2E_TMP/out" 2>"$E2E_TMP/err"; }
	anchor "$sum"
	prove 'the sources of any project are fetched' any plan sdist:any_pkg==1.2.3 --json
	prove 'it is that one' python3 - "$E2E_TMP/out" "$sum" <<'PY'
import json, sys
plan = json.load(open(sys.argv[1]))
source = plan["build"]["source"]
assert (plan["project"]["name"], plan["project"]["version"]) == ("any-pkg", "1.2.3"), plan["project"]
assert (source["kind"], source["from"]) == ("sdist", "sdist:any_pkg==1.2.3"), source
assert [f["sha256"] for f in source["files"]] == [sys.argv[2]], source
PY
	prove 'nobody ran its setup.py' test ! -e "$(folder)/ran"
	prove 'why knows it' any why sdist:any_pkg==1.2.3 'build system'
	prove 'a dry run of its build' any build sdist:any_pkg==1.2.3 -n
	prove 'as a file' any plan "$index/simple/any-pkg/any_pkg-1.2.3.tar.gz" --json
	prove 'the same project' grep -q '"name": "any-pkg"' "$E2E_TMP/out"
	prove 'not by --source' refuses 2 "give its sources instead of a folder: 'sdist:any_pkg==1.2.3'" any plan other --source sdist:any_pkg==1.2.3
	fresh
	anchor "${sum//[0-9]/0}"
	prove 'a wrong hash here, too' refuses 4 'does not match the hash' any plan sdist:any_pkg==1.2.3
	prove 'a folder that is not there' refuses 2 'no such project folder' any plan nowhere
	unset PIP_INDEX_URL PIP_NO_INDEX PIP_FIND_LINKS
else
	echo 'skip sdists: python3 has no pip'
fi
prove 'an sdist that lies here' plan "$index/simple/tiny-pkg/tiny_pkg-2.6.0.tar.gz" --json
prove 'is the same tree' diff -r --no-dereference "$E2E_TMP/oracle" "$(folder)"

# ---- two at once ----
fresh
archive
"$ROCSMITH" plan torch --source debian:sid/tiny "${settings[@]}" >/dev/null 2>&1 &
other=$!
prove 'two at once: the second waits' plan debian:sid/tiny --json
prove 'and the first succeeds too' wait $other
prove 'with one tree' diff -r --no-dereference "$E2E_TMP/oracle" "$(folder)"

# ---- kills and failing calls ----
sources=("$cache"/tiny-*/)
prove "$kills kills at random moments" python3 "$here/faults.py" kill --times "$kills" --timeout 60 \
	--setup "rm -rf '$ROCSMITH_HOME'" --tree "${sources[0]%/}" --check "'$here/../tools/source_check.sh' '$cache' '$E2E_TMP/oracle'" \
	-- "$ROCSMITH" plan torch --source debian:sid/tiny "${settings[@]}"
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
if [ -x "$fault" ]; then
	prove 'failing I/O calls' python3 "$here/faults.py" sweep --sample "$points" --timeout 60 \
		--setup "rm -rf '$ROCSMITH_HOME'" --tree "${sources[0]%/}" \
		--check "'$here/../tools/source_check.sh' '$cache' '$E2E_TMP/oracle'" \
		-- "$fault" plan torch --source debian:sid/tiny "${settings[@]}"
else
	echo 'skip rocsmith-fault is not built'
fi
exit $failed
