#!/usr/bin/env bash
# long
# `sdk install rocm:VERSION` from an index as AMD publishes it, made by amd_index.py and served on loopback: what is
# installed, what is kept, and each way in which an index can be wrong. `sdk install tarball`, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
failed=0 server=
export ROCSMITH_HOME=$E2E_TMP/home
cd "$E2E_TMP"
sdk=$ROCSMITH_HOME/data/sdk
stop() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; server=; }
trap stop EXIT
make() { python3 "$here/amd_index.py" make "$@"; }
serve() { # SITE OPTION...: sets url
	stop
	rm -f port
	python3 "$here/amd_index.py" serve "$1" port "${@:2}" &
	server=$!
	until [ -f port ]; do sleep 0.1; done
	url=$(cat port)
}
prove() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >out 2>err; then
		echo "ok $what"
	else
		echo "not ok $what"
		sed 's/^/# /' out err
		failed=1
	fi
}
refused() { # STATUS TEXT ARGUMENT...: one error, which says this
	local status=$1 text=$2 got=0
	shift 2
	"$ROCSMITH" "$@" >said 2>&1 || got=$?
	cat said
	[ "$got" = "$status" ] && grep -q -- "$text" said && [ "$(grep -c '^error:' said)" = 1 ]
}
says() { # TEXT ARGUMENT...
	local text=$1
	shift
	"$ROCSMITH" "$@" >said 2>&1 || { cat said; return 1; }
	cat said
	grep -q -- "$text" said
}
receipt() { # a Python expression of r, the receipt
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); assert eval(sys.argv[2]), r' \
		"$sdk/rocm-10.1/sdk.json" "$1"
}
rocm() { "$ROCSMITH" sdk install rocm:10.1 "$@"; }

make site --version 10.0.0 --gpu gfx1151,gfx1201,gfx942
make site --version 10.1.0 --gpu gfx1151,gfx1201
make site --version 10.2.0a20261101 --gpu gfx1151
serve site --log asked
prove 'a dry run lists the wheels' says 'rocm-sdk-device-gfx1151 10.1.0' sdk install rocm:10.1 --gpu gfx1151 --index-url "$url" -n
prove 'and writes nothing' test ! -e "$sdk"
prove 'the newest release of a version is installed' rocm --gpu gfx1151 --index-url "$url"
prove 'for this GPU only' bash -c "! ls $sdk/rocm-10.1/records | grep gfx1201"
prove 'its receipt has versions and hashes' receipt 'sorted((p["name"], p["version"]) for p in r["packages"])[1:] == [
	("rocm-sdk-core", "10.1.0"), ("rocm-sdk-devel", "10.1.0"), ("rocm-sdk-device-gfx1151", "10.1.0"),
	("rocm-sdk-libraries", "10.1.0")] and all(len(p["sha256"]) == 64 for p in r["packages"][:4])'
prove 'the index without a login' receipt "r['mirror'] == '$url'"
root=$sdk/rocm-10.1/root
prove 'the devel tar is expanded' test -f "$root/_rocm_sdk_devel/include/hip/hip_runtime.h"
prove 'and gone' test ! -e "$root/rocm_sdk_devel/_devel.tar"
prove 'its links lead to the files of the other wheels' \
	test "$(readlink -f "$root/_rocm_sdk_devel/lib/libamdhip64.so")" = "$(readlink -f "$root/_rocm_sdk_core/lib/libamdhip64.so.7")"
prove 'as do those of the device wheel' test -f "$root/_rocm_sdk_devel/lib/rocblas/library/kernels_gfx1151.kpack"
prove 'the list names it, and its GPU' says 'rocm-10.1 .*gfx1151' sdk list
prove 'it knows its version' says '^  *clang  *23.0.0' sdk info rocm-10.1
prove 'it verifies' says 'as installed' sdk verify rocm-10.1
prove 'a second time nothing is done' says Unchanged sdk install rocm:10.1 --gpu gfx1151 --index-url "$url"
prove 'a further GPU is added' rocm --gpu gfx1201
prove 'beside the first' receipt '{p["name"] for p in r["packages"]} > {"rocm-sdk-device-gfx1151", "rocm-sdk-device-gfx1201"}'
prove 'from the same index' receipt "r['mirror'] == '$url'"
n=$(grep -c 'GET .*core.*whl' asked)
prove 'and no wheel came twice' test "$n" = 1
# ---- what the index lacks ----
prove 'a GPU that has no device wheel: which have one' refused 4 'has device code of gfx1151, gfx1201' \
	sdk install rocm:10.1 --gpu gfx942 --index-url "$url"
prove 'a version that is not there: which are' refused 4 '10.0.0, 10.1.0' sdk install rocm:10.3 --gpu gfx1201 --index-url "$url"
prove 'a nightly is taken by its whole version only' says Installed \
	sdk install rocm:10.2.0a20261101 --gpu gfx1151 --index-url "$url"
prove 'no GPU' refused 2 'GPUs to be named' sdk install rocm:10.0 --index-url "$url"
prove 'for the compiler alone none is needed' says Installed sdk install rocm:10.0 --components compiler --index-url "$url"
prove 'then there are no libraries' bash -c "! ls $sdk/rocm-10.0/records | grep libraries"
prove 'an index given as a page of files' refused 2 'is a simple index' sdk install rocm:10.0 --gpu gfx942 --find-links "$url"
prove 'no index at all: 403 is told' refused 4 'answers 403' sdk install rocm:9 --gpu gfx942 --index-url "$url/none"
prove 'a version that is none' refused 2 'no version' sdk install rocm:.x --gpu gfx942 --index-url "$url"
make old --version 10.1.0 --devices 10.0.0 --gpu gfx1201
serve old
prove 'core and device of different versions' refused 4 'may differ in .postN alone' \
	sdk install rocm:10.1.0 --gpu gfx1201 --index-url "$url"
make post --version 10.1.0 --devices 10.1.0.post2 --gpu gfx1201
serve post --no-ranges
prove 'but .postN may differ' says Installed sdk install rocm:10.1.0 --gpu gfx1201 --index-url "$url"
make pypi --version 0.1.0 --gpu gfx1201
serve pypi
prove 'placeholders are known' refused 4 'placeholder 0.1.0' sdk install rocm:7.14 --gpu gfx1201 --index-url "$url"
serve site --flat
prove 'a page of files given as an index' refused 2 'is a page of files' sdk install rocm:7 --gpu gfx942 --index-url "$url"
prove 'a page of files' says Installed sdk install rocm:10.0.0 --gpu gfx942 --find-links "$url"
serve site --no-hashes
rm -rf "$sdk/rocm-10.0" "$ROCSMITH_HOME/cache/sdk/rocm-10.0"
prove 'an index without hashes is told' says 'gives no hash' sdk install rocm:10.0 --gpu gfx942 --index-url "$url"
rm -rf "$sdk/rocm-10.0" "$ROCSMITH_HOME/cache/sdk/rocm-10.0"
serve site --cut rocm_sdk_core-10.0.0-py3-none-linux_x86_64.whl=15000
prove 'a server that stops in each file is continued until the third time' \
	refused 4 'ends after' sdk install rocm:10.0 --gpu gfx942 --index-url "$url"
prove 'and the next install takes the rest' says Installed sdk install rocm:10.0 --gpu gfx942 --index-url "$url"
# ---- files that are kept ----
kept=$ROCSMITH_HOME/cache/sdk/rocm-10.1/archives
core=rocm_sdk_core-10.1.0-py3-none-linux_x86_64.whl
cp "$kept/$core" good.whl
make other --version 10.1.0 --gpu gfx1151 --kib 65
cp other/rocm-sdk-core/$core "$kept" && rm "$root/_rocm_sdk_core/lib/libamdhip64.so.7"
serve site
prove 'a kept file that is not the one of the receipt is not used' says 'is not the file that was installed' \
	sdk install rocm:10.1 --gpu gfx1151 --index-url "$url"
prove 'but fetched again' cmp "$kept/$core" good.whl
prove 'so the SDK is what it was' receipt "[p['sha256'] for p in r['packages'] if p['name'] == 'rocm-sdk-core'] == ['$(sha256sum <good.whl | cut -d' ' -f1)']"
printf 'x' >>"$kept/$core" && rm "$root/_rocm_sdk_core/lib/libamdhip64.so.7"
stop
prove 'nor is one that was damaged' refused 4 'is not the file that was installed' sdk install rocm:10.1 --gpu gfx1151 --index-url "$url"
cp good.whl "$kept/$core"
# ---- without a server ----
rm -f "$root/_rocm_sdk_core/lib/libamdhip64.so.7"
prove 'a missing file is found' refused 1 'libamdhip64.so.7. is missing' sdk verify rocm-10.1 || true
prove 'and comes back from the files that are kept' rocm
prove 'then all is well' says 'as installed' sdk verify rocm-10.1
mkdir -p links && cp site/*/*10.1.0*.whl links
prove 'a folder of wheels is enough' says Installed sdk install rocm:10.1.0 --gpu gfx1201,gfx1151 --find-links links --refresh
# ---- tarballs ----
mkdir -p tree && cp -rL "$root/_rocm_sdk_devel/." tree
tar -czf therock-dist-linux-gfx120X-all-10.1.0.tar.gz -C tree .
mkdir -p outer/rocm && cp -r tree/. outer/rocm
tar -czf therock-dist-linux-multiarch-10.1.0.tar.gz -C outer rocm
sum=$(sha256sum therock-dist-linux-gfx120X-all-10.1.0.tar.gz | cut -d' ' -f1)
prove 'a tarball without its hash' refused 2 'SHA-256' sdk install tarball therock-dist-linux-gfx120X-all-10.1.0.tar.gz
prove 'with a wrong one' refused 4 'hash\|changed' sdk install tarball therock-dist-linux-gfx120X-all-10.1.0.tar.gz --sha256 "${sum//[0-9]/0}"
prove 'leaves no SDK' bash -c "! ls -d $sdk/tarball-*/ 2>/dev/null"
prove 'with the right one' says Installed sdk install tarball therock-dist-linux-gfx120X-all-10.1.0.tar.gz --sha256 "$sum"
prove 'it verifies' says 'as installed' sdk verify tarball-gfx120X-all-10.1.0
prove 'a folder in it, and no hash' says 'was not verified' sdk install tarball therock-dist-linux-multiarch-10.1.0.tar.gz --no-verify
prove 'it is told later, too' says 'was not verified' sdk info tarball-multiarch-10.1.0
prove 'no such tarball' refused 2 'no file' sdk install tarball none.tar.gz --suite x --no-verify
ball=therock-dist-linux-gfx120X-all-10.1.0.tar.gz from=gfx120X-all-10.1.0
prove 'another hash is not ignored because the SDK is there' refused 4 'changed' \
	sdk install tarball "$ball" --sha256 "${sum//[0-9]/0}"
rm "$sdk/tarball-$from/root/include/hip/hip_runtime.h"
prove 'a missing file is found' refused 1 "sdk install tarball:$from. repairs" sdk verify "tarball:$from" || true
prove 'the command that is named brings it back' says Installed sdk install "tarball:$from"
prove 'then all is well' says 'as installed' sdk verify "tarball:$from"
prove 'it is removed by the name of its provider' says Removed sdk remove "tarball:$from"
mkdir -p bad/aaa bad/zzz again && touch bad/aaa/stale.h && ln -s ../../../etc/passwd bad/zzz/out
tar -czf "again/$ball" -C bad aaa zzz
prove 'a tarball with a link that leads out' refused 4 'leads out of the tree' sdk install tarball "again/$ball" --no-verify
prove 'another one of this name' says Installed sdk install tarball "$ball" --sha256 "$sum"
prove 'has none of its files' test ! -e "$sdk/tarball-$from/root/aaa"
# ---- hostile wheels and indexes ----
python3 - "$here" <<'END'
import json
import pathlib
import sys
sys.path.insert(0, sys.argv[1])
import amd_index
deep = "p/" * 9
for name, links in {"dots": [{"relpath": deep + "d", "target": "../" * 10 + "_rocm_sdk_core"},
        {"relpath": "x", "target": deep + "d" + "/.." * 8 + "/etc/passwd"}],
        "line": [{"relpath": "x\nf\t1\t1\tz\tevil", "target": "include"}]}.items():
    amd_index.make(name, "11.0.0", ["gfx1201"])
    amd_index.wheel(name, "rocm-sdk-device-gfx1201", "11.0.0", {"_rocm_sdk_libraries/.devel_links/gfx1201.json":
        json.dumps({"version": "11.0.0", "links": links})})
many = pathlib.Path("many/rocm-sdk-core")
many.mkdir(parents=True)
for i in range(2500):
    (many / f"rocm_sdk_core-12.0.{i}-py3-none-linux_x86_64.whl").touch()
END
for kind in dots line; do
	serve "$kind"
	prove "a link of a device wheel that leads out, or is two lines: $kind" refused 4 'leads out of the SDK' \
		sdk install rocm:11.0 --gpu gfx1201 --index-url "$url"
done
prove 'thousands of versions that lack a wheel cost no gigabytes' bash -c \
	'ulimit -v 1500000; timeout 30 "$ROCSMITH" sdk install rocm:12.0 --components compiler --find-links many/rocm-sdk-core -n; [ $? = 4 ]'
stop
rm -f port
python3 - <<'END' &
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        file = '{"filename": "rocm_sdk_core-13.0.0-py3-none-any.whl", "url": "x.whl", "size": %s}'
        text = {"deep": "[" * 200000, "negative": file % -5}.get(self.path.split("/")[1], file % "Infinity")
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
        self.end_headers()
        self.wfile.write(f'{{"files": [{text}]}}'.encode())
Handler.log_message = lambda *words: None
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open("port.new", "w").write(f"http://127.0.0.1:{server.server_port}/")
os.rename("port.new", "port")
server.serve_forever()
END
server=$!
until [ -f port ]; do sleep 0.1; done
for kind in deep endless; do
	prove "an answer of an index that cannot be read: $kind" refused 4 'cannot be read' \
		sdk install rocm:13.0 --components compiler --index-url "$(cat port)$kind"
done
prove 'a negative size is none' refused 4 "has no 'rocm-sdk-devel'\|index has 'rocm-sdk-devel'\|no index" \
	sdk install rocm:13.0 --components compiler --index-url "$(cat port)negative"
stop
# ---- from https to http ----
if command -v openssl >/dev/null; then
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=127.0.0.1 \
		-addext subjectAltName=IP:127.0.0.1 2>/dev/null
	python3 - "$here" <<'END' &
import http.server, os, ssl, sys
sys.path.insert(0, sys.argv[1])
import amd_index
plain = {h: amd_index.Site("site", hashes=h == "hashes") for h in ("hashes", "none")}
for site in plain.values():
    site.__enter__()
class Handler(http.server.BaseHTTPRequestHandler):
    """/WHAT/HASHES/...: pages or files, or nothing, are elsewhere."""
    def do_HEAD(self):
        self.do_GET()
    def do_GET(self):
        _, what, hashes, rest = self.path.split("/", 3)
        to = plain[hashes].url + rest
        if what == ("pages" if rest.endswith("/") else "files"):
            self.send_response(302)
            self.send_header("Location", to)
            return self.end_headers()
        with amd_index.urllib.request.urlopen(to) as page:
            text = page.read()
            self.send_response(200)
            self.send_header("Content-Type", page.headers["Content-Type"])
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text if self.command == "GET" else b"")
    def log_message(self, *words):
        pass
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
import urllib.request
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True)
open("port.new", "w").write(f"https://127.0.0.1:{server.server_port}/")
os.rename("port.new", "port")
server.serve_forever()
END
	rm -f port
	server=$!
	until [ -f port ]; do sleep 0.1; done
	url=$(cat port)
	export PIP_CERT=$PWD/cert.pem
	one=(sdk install rocm:10.1 --components compiler --refresh --index-url)
	rm -rf "$ROCSMITH_HOME"
	prove 'files with a hash may come by http' says Installed "${one[@]}" "${url}files/hashes/"
	rm -rf "$ROCSMITH_HOME"
	prove 'files without one may not' refused 4 'which is not encrypted' "${one[@]}" "${url}files/none/"
	prove 'nor the pages that have the hashes' refused 4 'which is not encrypted' "${one[@]}" "${url}pages/hashes/"
	prove 'by https, all is well' says Installed "${one[@]}" "${url}nothing/none/"
	unset PIP_CERT
	stop
else
	echo 'skip from https to http: no openssl'
fi
# ---- kills and failing calls ----
one=(sdk install rocm:10.1 --gpu gfx1151 --find-links "$PWD/links")
rm -rf "$ROCSMITH_HOME"
prove 'kills at random moments' python3 "$here/faults.py" kill --times "${ROCSMITH_KILLS:-3}" --timeout 60 \
	--setup "rm -rf '$ROCSMITH_HOME'" --tree "$sdk" --ignore sdk.json --ignore '=made' --keep links -- "$ROCSMITH" "${one[@]}"
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
[ ! -x "$fault" ] || prove 'failing I/O calls' python3 "$here/faults.py" sweep --sample "${ROCSMITH_FAULT_POINTS:-3}" --timeout 60 \
	--setup "rm -rf '$ROCSMITH_HOME'" --tree "$sdk" --ignore sdk.json --ignore '=made' --keep links -- "$fault" "${one[@]}"
# ---- an SDK that is not there ----
mkdir -p p && echo '#include <hip/hip_runtime.h>' >p/a.hip && echo 'name: p' >p/rocsmith.yaml
prove 'plan looks at its SDK' refused 3 'no folder' plan p --gpu gfx1201 --sdk ./none
prove 'also at one that only a user can install' refused 3 'not installed' plan p --gpu gfx1201 --sdk tarball-x
prove 'build, too' refused 3 'no folder' build p --gpu gfx1201 --sdk ./none -o w
exit $failed
