#!/usr/bin/env bash
# long
# Releases: wheels indexed, staged, gated, renamed, promoted, taken back and published, with the newest pip and uv, twine and a real
# index server as users. ROCSMITH_KILLS says how often promote and publish are killed.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export ROCSMITH_FAULT_JOBS=1 # addresses of folders are absolute
cd "$E2E_TMP" && rm -rf ./*
# shellcheck source=tests/e2e/release.bash
. "$top/tests/e2e/release.bash"
users releases
evidence() { # GPU PYTHON VERDICT FILE WHEEL...: as `rocsmith test` writes it
	python3 - "$@" <<-'PY'
	import hashlib, json, os, sys
	gpu, python, verdict, out, *wheels = sys.argv[1:]
	rows = [{"name": os.path.basename(w), "sha256": hashlib.sha256(open(w, "rb").read()).hexdigest()} for w in wheels]
	json.dump({"schema": "rocsmith.test/1", "verdict": verdict, "wheels": rows, "gpu": gpu, "python": python, "machine": {}, "tests": [{"id": "t", "outcome": "passed"}]}, open(out, "w"))
	PY
}

# ---- index ----
make in 7.13.0rc2
check 'an index is made' rs index in -o site
[ "$(sees "$(url site)" 7.13.0rc2)" = 7.13.0rc2 ] && ok 'the newest pip resolves a set from it' || no 'the newest pip resolves a set from it'
check 'uv takes it' "$bin/uv" pip compile -q --no-config --no-cache --python-version 3.12 --index-url "$(url site)" --prerelease allow \
	--generate-hashes -o locked <(echo 'torch[device-gfx1201]')
grep -q "amd-torch-device-gfx1201==2.9.1+rocm7.13.0rc2" out locked && ok 'uv finds the device wheel' || no 'uv finds the device wheel'
check 'twine check' "$peers/twine" check in/*/*.whl
cat >pages.py <<'END'
import hashlib, html, html.parser, json, pathlib, re, sys, urllib.parse
site = pathlib.Path(sys.argv[1])
names = {p["name"] for p in json.loads((site / "simple/index.json").read_text())["projects"]}
assert names == {p.name for p in (site / "simple").iterdir() if p.is_dir()}
class Links(html.parser.HTMLParser):
    def __init__(self): super().__init__(); self.found = []
    def handle_starttag(self, tag, attrs): self.found += [dict(attrs)] if tag == "a" else []
for name in names:
    page = site / "simple" / name
    doc, links = json.loads((page / "index.json").read_text()), Links()
    links.feed((page / "index.html").read_text())
    assert doc["name"] == name and doc["meta"]["api-version"] == "1.3" and len(doc["files"]) == len(links.found) > 0
    for f, a in zip(doc["files"], links.found):
        assert "+" not in f["url"], f
        path = page / urllib.parse.unquote(f["url"])
        data, meta = path.read_bytes(), pathlib.Path(f"{path}.metadata").read_bytes()
        assert path.name == f["filename"] and len(data) == f["size"]
        assert hashlib.sha256(data).hexdigest() == f["hashes"]["sha256"] == a["href"].split("#sha256=")[1]
        assert hashlib.sha256(meta).hexdigest() == f["core-metadata"]["sha256"] == a["data-core-metadata"][7:]
        assert f["requires-python"] == a["data-requires-python"] == ">=3.10" and f["upload-time"].endswith("Z")
        assert (f["yanked"] or None) == a.get("data-yanked"), (f, a)
people = (site / "index.html").read_text()
text = html.unescape(re.sub("<[^>]*>", "", people))
assert "amd-torch-device-gfx1100" in text and "'torch[device-gfx1201]==2.9.1+rocm" in text and "<script" not in people
END
check 'pages, JSON, hashes, metadata and the page for people agree' python3 pages.py site
rs index in -o site -q --yank "torch-2.9.1+rocm7.13.0rc2-cp312-none-any.whl=<wrong> \"kernels\"" >out 2>log
check 'a withdrawn wheel keeps its reason' python3 pages.py site
[ "$(sees "$(url site)" -)" = - ] && ok 'pip takes no withdrawn wheel' || no 'pip takes no withdrawn wheel'
mkdir other && echo x >other/file
refuses 'a folder of somebody else' 'no index of rocsmith' rs index in -o other
refuses 'an index that lacks torch' release-lacks rs index --complete in/torchvision -o x
make lacks 7.13.0rc2 --drop amd-torch-device-gfx1201
refuses 'an extra without its device wheel' release-dangling rs index lacks -o x
make lacks2 7.13.0rc2 --drop amd-torch-device-gfx1201 --drop amd-torch-device-gfx1100
refuses 'an extra of which no device wheel is there' release-dangling rs index lacks2 -o x
make clash 7.13.0rc2 --kib 5
refuses 'two files of one name' release-clash rs index in clash -o x
make ten 10.1.0
refuses 'rocm10 beside rocm7' version-order rs index in ten -o x
mkdir -p folder/torch && cp in/*/*.whl folder && mv folder/torchvision* folder/torch/
refuses 'a wheel in the folder of another project' release-folder rs index folder -o x
[ ! -e x ] && ok 'what is refused leaves nothing' || no 'what is refused leaves nothing'

# ---- half a promotion: retag and verify ----
check 'retag takes requirements along' rs wheel retag -q --local-version rocm7.13.0 -o retagged in/torch/*.whl
check 'verify passes it' rs verify -q retagged/*.whl
python3 -m zipfile -e retagged/torch-*.whl retagged/x
grep -qF "Requires-Dist: rocm[libraries]==7.13.0" retagged/x/*.dist-info/METADATA && grep -q "check_version='7.13.0'" retagged/x/torch/_rocm_init.py &&
	ok 'a retagged wheel requires the new version' || no 'a retagged wheel requires the new version'
sed -i 's/==7.13.0$/==7.13.0rc2/' retagged/x/*.dist-info/METADATA && rs wheel pack -q --force -o retagged retagged/x >/dev/null 2>log
refuses 'a version that names another ROCm than is required' rocm-mixed rs verify retagged/torch-*.whl

# ---- stage, gate, promote ----
check 'a set is staged' rs stage in --to store/rc -q
[ ! -e store/rc ] && ok 'nothing is visible then' || no 'nothing is visible then'
check 'it is promoted' rs promote store/rc -q
[ "$(sees "$(url store/rc)" 7.13.0rc2)" = 7.13.0rc2 ] && ok 'pip sees it' || no 'pip sees it'
stable=(rs promote store/rc --to stable --version 7.13.0rc2=7.13.0)
refuses 'a set without evidence' gate-missing "${stable[@]}"
evidence gfx1100 3.12 pass e1.json in/*/*.whl
evidence gfx1201 3.12 pass e2.json in/*/*.whl
evidence gfx1201 3.12 fail f2.json in/*/*.whl
evidence gfx1201 3.12 pass o2.json clash/*/*.whl
evidence gfx1201 3.12 pass p2.json in/torchvision/*.whl
refuses 'a GPU without evidence' gfx1201 "${stable[@]}" --require e1.json
refuses 'a failed test' gate-failed "${stable[@]}" --require e1.json --require e2.json --require f2.json
refuses 'evidence of another wheel' gate-other "${stable[@]}" --require e1.json --require o2.json
refuses 'evidence of a part of the set' gate-missing "${stable[@]}" --require e1.json --require p2.json
waiver() { printf 'waivers:\n- {gpu: gfx1201, python: "*", name: Jane Doe, reason: no runner, expires: "%s"}\n' "$1" >w.yaml; }
waiver 2020-02-29
refuses 'an expired waiver' gate-waiver-expired "${stable[@]}" --require e1.json --waivers w.yaml
printf 'waivers:\n- {gpu: gfx1201, python: "*", reason: no runner, expires: "2999-01-01"}\n' >w.yaml
refuses 'a waiver without a name' 'lacks gpu, python, name' "${stable[@]}" --require e1.json --waivers w.yaml
waiver 2999-01-01
[ ! -e store/stable ] && ok 'what is refused is not visible' || no 'what is refused is not visible'
check 'evidence and a waiver let it pass' "${stable[@]}" --require e1.json --waivers w.yaml
grep -q 'waived by Jane Doe until 2999-01-01: no runner' store/stable/stream.json && ok 'the waiver is kept' || no 'the waiver is kept'
[ "$(sees "$(url store/stable)" 7.13.0)" = 7.13.0 ] && ok 'pip sees the renamed set, whole' || no 'pip sees the renamed set, whole'
check 'twine check of renamed wheels' "$peers/twine" check store/files/*/*7.13.0-*.whl
check 'verify passes the renamed set' rs verify -q store/files/*/*7.13.0-*.whl
cat >renamed.py <<'END'
import glob, json, os, zipfile
old = {os.path.basename(p): p for p in glob.glob("in/*/*.whl")}
new = glob.glob("store/files/*/*7.13.0-*.whl")
assert len(new) == len(old) == 9
kept = 0
for path in new:
    was = old[os.path.basename(path).replace("7.13.0", "7.13.0rc2")]
    a, b = zipfile.ZipFile(was), zipfile.ZipFile(path)
    assert b.testzip() is None
    raw = lambda z, i: (i.compress_type, i.compress_size, i.CRC, open(z.filename, "rb").read()[i.header_offset + 30 + len(i.filename):][:i.compress_size])
    same = 0
    for i in b.infolist():
        text = b.read(i)
        assert b"rc2" not in text, (path, i.filename)
        if "dist-info" not in i.filename and a.read(i.filename) == text:
            assert raw(a, a.getinfo(i.filename)) == raw(b, i), i.filename
            same += 1
    kept += same
    statement = json.load(open(path + ".intoto.json"))
    assert statement["subject"][0]["digest"]["sha256"] == path.split("/")[-2]
assert kept == 10, kept
END
check 'no text of it names the old version; other files keep their bytes; provenance names what it was' python3 renamed.py
"${stable[@]}" --require e1.json --waivers w.yaml --json >out 2>log
grep -q '"action": "unchanged"' out && ok 'a second promotion changes nothing' || no 'a second promotion changes nothing'
make half 7.14.0rc1 --drop rocm-sdk-device-gfx1100 --drop rocm-sdk-device-gfx1201 --drop rocm-sdk-core --drop rocm-sdk-libraries --drop rocm
rm -rf half/amd* && make half2 7.14.0rc1 --drop rocm --gpu gfx1100
mkdir -p only && cp half/torchvision/*.whl only/
rs stage only --to store/dev -q >out 2>log || no 'a part is staged'
refuses 'a set that would be renamed by half' release-half-renamed rs promote store/dev --version 7.14.0rc1=7.14.0
refuses 'a version that nothing has' 'no wheel of the set' rs promote store/dev --version 7.99.0rc1=7.99.0
rs stage ten --to store/nightly -q >out 2>log && rs promote store/nightly -q >out 2>log || no 'another set'
evidence gfx1100 3.12 pass t1.json ten/*/*.whl
evidence gfx1201 3.12 pass t2.json ten/*/*.whl
refuses 'the trap of rocm10 in a stream' version-order rs promote store/nightly --to stable --require t1.json --require t2.json

# ---- taking back ----
make next 7.13.1
rs stage next --to store/bkc -q >out 2>log
evidence gfx1100 3.12 pass n1.json next/*/*.whl
evidence gfx1201 3.12 pass n2.json next/*/*.whl
check 'the next set is promoted' rs promote store/bkc -q --require n1.json --require n2.json
check 'it goes on to stable' rs promote store/bkc -q --to stable --require n1.json --require n2.json
[ "$(sees "$(url store/stable)" 7.13.1)" = 7.13.1 ] && ok 'pip sees the next set' || no 'pip sees the next set'
check 'a rollback' rs promote store/stable --rollback -q
[ "$(sees "$(url store/stable)" 7.13.0)" = 7.13.0 ] && ok 'pip sees the set before' || no 'pip sees the set before'
rs promote store/bkc -q --to stable --require n1.json --require n2.json >out 2>log
check 'a quarantine' rs promote store/stable --quarantine 'wrong kernels <gfx1201>'
[ "$(sees "$(url store/stable)" 7.13.0)" = 7.13.0 ] && ok 'pip passes over it' || no 'pip passes over it'
grep -q 'data-yanked="wrong kernels &lt;gfx1201&gt;"' store/bkc/simple/torch/index.html && ok 'all streams withdraw it' || no 'all streams withdraw it'
refuses 'a set in quarantine' release-quarantine rs promote store/bkc --to stable --require n1.json --require n2.json
refuses 'staging it again' quarantine rs stage next --to store/rc
check 'the last good state' rs promote store/stable --last-good -q
grep -q '7.13.1' store/stable/simple/torch/index.html && no 'it is without the bad set' || ok 'it is without the bad set'

# ---- a store and wheels of strangers ----
cp -a store planted
rm -rf planted/stable && mkdir outside && ln -s ../outside planted/stable
refuses 'a stream that is a link' 'is a link' rs promote planted/rc --to stable --version 7.13.0rc2=7.13.0 --require e1.json --waivers w.yaml
rm planted/stable && mv planted/sets outside/sets && ln -s ../outside/sets planted/sets
refuses 'sets behind a link' error: rs promote planted/rc
rm planted/sets && mv outside/sets planted/sets && rmdir outside && mkdir outside
wheel=$(ls planted/files/*/torch-2.9.1+rocm7.13.0rc2-*.whl)
cp "$wheel" kept && printf x | dd of="$wheel" bs=1 seek=300 conv=notrunc 2>/dev/null
refuses 'a wheel that was changed in the store' 'was changed' rs promote planted/rc --to nightly
python3 - planted/stable/stream.json "$PWD/outside/kept" <<'END'
import hashlib, json, os, sys
path, stream = sys.argv[1:]
os.makedirs(os.path.dirname(path))
def put(previous, stream):
    text = json.dumps({"schema": "rocsmith.stream/1", "stream": stream, "sets": [], "previous": previous, "time": "", "proofs": []})
    name = hashlib.sha256(text.encode()).hexdigest()
    for to in (path, f"planted/states/{name}.json"):
        open(to, "w").write(text)
    return name
put(put("", stream), "stable")
END
mkdir outside/kept && touch outside/kept/mine
refuses 'a state that leads out of the store' 'is a state of' rs promote planted/stable --rollback
[ -e outside/kept/mine ] && ok 'the folder that it names stays' || no 'the folder that it names stays'
rm -r planted/stable outside/kept
cp kept "$wheel" && sed -i 's/gfx1100/gfx1030/' planted/sets/*.json
refuses 'a set that was changed in the store' 'was changed' rs promote planted/rc --to nightly
[ -z "$(ls outside)" ] && ok 'nothing is written through links' || no 'nothing is written through links'
for wheel in "$top"/tests/data/wheel/{tampered,outside}.whl; do
	mkdir -p hostile && cp "$wheel" hostile/demo-1.0-py3-none-any.whl
	refuses "a hostile wheel (${wheel##*/})" error: rs stage hostile --to evil/dev
done
python3 - "$top" <<'END'
import pathlib, sys, zipfile
sys.path.insert(0, sys.argv[1] + "/tests/e2e")
from amd_index import wheel
for i, (name, more) in enumerate([("../../outside", ""), ("<script>", ""), ("x", "Requires-Python: >=3\"><script>\n")]):
    path = wheel(f"names/{i}", "x", "1.0", {"x.py": ""}, "py3-none-any")
    old = zipfile.ZipFile(path)
    files = {n: old.read(n) for n in old.namelist() if "RECORD" not in n and "dist-info" not in n}
    import amd_index
    text = amd_index.metadata("x", "1.0").replace("Name: x", f"Name: {name}").replace("Requires-Python: >=3.10\n", more or "Requires-Python: >=3.10\n")
    amd_index.metadata, keep = (lambda *a, **k: text), amd_index.metadata
    wheel(f"names/{i}", "x", "1.0", files, "py3-none-any")
    amd_index.metadata = keep
END
for i in 0 1; do refuses "a project's name that leads elsewhere ($i)" 'has the METADATA of' rs index names/$i -o evil-site; done
refuses 'a Requires-Python that closes a tag' error: rs stage names/2 --to evil/dev
rs index names/2 -o named -q >out 2>log
if grep -rq --include='*.html' '<script' named; then no 'pages escape it'; else ok 'pages escape it'; fi
[ ! -e evil/files ] && [ ! -e evil-site ] && ok 'nothing of it is stored' || no 'nothing of it is stored'

# ---- publish ----
check 'a folder is published, and read back' rs publish store/stable --to pub --python "$python"
check 'into a folder with all kinds of letters in its name, too' rs publish store/stable --to "p u'b ü@+%41;,[#?" --python "$python" && rm -r 'p u'*
[ "$(sees "$(url pub)" 7.13.0)" = 7.13.0 ] && ok 'pip sees it there' || no 'pip sees it there'
check 'once more, nothing is sent' grep -q 'sent 0 of' <(rs publish store/stable --to pub --python "$python" 2>log)
python3 - "$top/tests/e2e" <<'END' || no 'a wheel for a later Python'
import sys
sys.path.insert(0, sys.argv[1])
import amd_index
text = amd_index.metadata("later", "1.0").replace("Requires-Python: >=3.10\n", "Requires-Python: >=3.98\n")
amd_index.metadata = lambda *a, **k: text
amd_index.wheel("later", "later", "1.0", {"later.py": ""}, "cp398-none-any")
END
rs stage later --to later-store/rc -q >out 2>log && rs promote later-store/rc -q >out 2>log || no 'a wheel for a later Python is staged'
check 'what only a later Python may have is read back, too' rs publish later-store/rc --to later-pub --python "$python"
mkdir -p theirs/simple
refuses "somebody's own index" 'did not make' rs publish store/stable --to theirs
mv store/files/*/rocm-7.13.0-*.whl.metadata kept
refuses 'a store that lacks a file' error: rs publish store/stable --to pub2
mv kept "$(ls -d store/files/*/rocm-7.13.0-py3-none-any.whl).metadata"
mkdir served
"$peers/python" -c 'from passlib.apache import HtpasswdFile as F
f = F("htpasswd", new=True)
f.set_password("me", "pa55word")
f.save()' 2>log || no 'a file of passwords'
listen "$peers/pypi-server" run -i 127.0.0.1 -p PORT -P htpasswd -a update --disable-fallback served
server=http://127.0.0.1:$port
TWINE_USERNAME=me TWINE_PASSWORD=wr0ng refuses 'a wrong password' 'answers 40' rs publish store/stable --to "$server"
if grep -q wr0ng out log; then no 'no message has it'; else ok 'no message has a password'; fi
export TWINE_USERNAME=me TWINE_PASSWORD=pa55word
check 'an index server is published to, and read back' rs publish store/stable --to "$server" --python "$python"
[ "$(sees "$server/simple/" 7.13.0)" = 7.13.0 ] && ok 'pip sees it there' || no 'pip sees it there'
check 'a second run sends nothing there' grep -q 'sent 0 of' <(rs publish store/stable --to "$server" --python "$python" 2>log)
refuses 'an address with a password' 'a name or a password' rs publish store/stable --to "https://me:pa55word@localhost/"
if grep -q pa55word out log; then no 'no message has it'; else ok 'no message has it'; fi
refuses 'an address that is not encrypted' unencrypted rs publish store/stable --to http://example.org/
refuses 'a bucket without a key' AWS_ACCESS_KEY_ID rs publish store/stable --to s3://wheels/rocm

# ---- provenance, as others read it ----
if [ "${ROCSMITH_RELEASE_ALL-}" ] && bash "$top/tests/oracle/venv.sh" "$ROCSMITH_HOME/oracles-attest" in-toto-attestation pypi-attestations 2>log; then
	cat >attest.py <<-'END'
	import base64, glob, hashlib, json, sys
	import in_toto_attestation.predicates.provenance.v1.provenance_pb2 as slsa
	import in_toto_attestation.v1.statement_pb2 as statement
	from google.protobuf import json_format
	from in_toto_attestation.v1.statement import Statement
	from pypi_attestations import Attestation
	if sys.argv[1] == "sign":  # by nobody: the form is what counts
	    for path in glob.glob("in/torch/*.whl"):
	        name, data = path.split("/")[-1], open(path, "rb").read()
	        text = json.dumps({"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://docs.pypi.org/attestations/publish/v1",
	            "predicate": None, "subject": [{"name": name, "digest": {"sha256": hashlib.sha256(data).hexdigest()}}]})
	        b64 = lambda t: base64.b64encode(t.encode()).decode()
	        doc = {"version": 1, "verification_material": {"certificate": b64("x"), "transparency_entries": [{"logIndex": "1"}]},
	            "envelope": {"statement": b64(text), "signature": b64("y")}}
	        Attestation.model_validate(doc)
	        json.dump(doc, open(path + ".publish.attestation", "w"))
	        json.dump({"schema": "rocsmith.wheel/1", "rocsmith": "0.1.0", "wheel": {"sha256": hashlib.sha256(data).hexdigest()},
	            "name": "torch", "gpus": ["gfx1100"], "sdk": {"provider": "debian"}, "with": [],
	            "packages": [{"name": "wheel", "version": "1", "sha256": "0" * 64}]}, open(path + ".json", "w"))
	else:
	    seen = 0
	    for path in glob.glob("signed/files/*/*.intoto.json") + glob.glob("store/files/*/*.intoto.json"):
	        doc = json.load(open(path))
	        Statement.copy_from_pb(json_format.ParseDict(doc, statement.Statement())).validate()
	        assert json_format.ParseDict(doc["predicate"], slsa.Provenance()).build_definition.build_type.startswith("urn:rocsmith:")
	        seen += 1
	    bundle, = json.load(open(glob.glob("signed/files/*/torch-*.provenance")[0]))["attestation_bundles"]
	    one = Attestation.model_validate(bundle["attestations"][0])
	    assert seen > 9 and b"torch-2.9.1" in one.statement["subject"][0]["name"].encode()
	    file, = json.load(open("signed/dev/simple/torch/index.json"))["files"]
	    assert file["provenance"] == file["url"] + ".provenance"
	END
	"$ROCSMITH_HOME/oracles-attest/bin/python" attest.py sign >out 2>log && rs stage in --to signed/dev -q >>out 2>>log && rs promote signed/dev -q >>out 2>>log
	check 'in-toto and pypi-attestations read what is beside the wheels' "$ROCSMITH_HOME/oracles-attest/bin/python" attest.py read
	rm -f in/torch/*.attestation in/torch/*.json
fi

# ---- one moment ----
# Two stores: one as it was, and one with the next set as well.
rs promote store/rc --to nightly -q >out 2>log
rm -rf one two && mkdir one && cp -a store/rocsmith-store.json store/files store/sets store/states store/rc one/
rs stage in --to one/dev -q >out 2>log && rs promote one/dev -q >out 2>log && cp -a one two
make later 7.13.0
rs stage later --to two/dev -q >out 2>log && cp -a two staged && rs promote two/dev -q >out 2>log
[ "$(sees "$(url one/dev)" 7.13.0rc2) $(sees "$(url two/dev)" 7.13.0)" = '7.13.0rc2 7.13.0' ] || no 'two states of a stream'
later=$(python3 -c 'import json; print(json.load(open("two/dev/stream.json"))["sets"][-1])')
kill_it 'promote' 'rm -rf work && cp -a staged work' "$(url work/dev)" work/dev promote work/dev
[ $kills -lt 10 ] || kill_it 'promote with other versions' 'rm -rf work && cp -a one work' "$(url work/dev)" work/dev promote work/rc --to dev --version 7.13.0rc2=7.13.0
[ $kills -lt 10 ] || kill_it 'a rollback' 'rm -rf work && cp -a two work' "$(url work/dev)" work/dev promote work/dev --rollback --set "$later"
rs publish one/dev --to pub0 --unread -q >out 2>log || no 'a folder'
kill_it 'publish to a folder' 'rm -rf pub && cp -a pub0 pub' "$(url pub)" pub/simple publish two/dev --to pub --unread
rm -rf work && cp -a staged work
rs promote work/dev -q >log1 2>&1 &
first=$!
rs promote work/rc --to dev --version 7.13.0rc2=7.13.0rc9 -q >log2 2>&1
second=$?
wait $first && [ $second = 0 ] && [ "$(grep -o '7.13.0[rc0-9]*-cp312-none-any.whl</a>' work/dev/simple/torch/index.html | sort -u | wc -l)" = 3 ] &&
	ok 'two promotions at once: both sets are there' || no 'two promotions at once: both sets are there'
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	full() { mkdir small && mount -t tmpfs -o size=120k tmpfs small && cp -a in small/ && rs stage small/in --to small/store/dev; }
	export -f full rs
	refuses 'a full disk' 'No space left' unshare -m bash -c full
fi

exit $bad
