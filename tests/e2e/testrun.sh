#!/usr/bin/env bash
# `test torch` and `test diff` with the pytest of the index and suites of tests that crash, hang, flake, are killed, cannot be
# imported; without torch. Peers: pytest's own collection, python's xml and hashlib, pip.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
ok() { echo "ok $*"; }
no() {
	echo "not ok $*"
	sed 's/^/# /' log err 2>/dev/null | tail -40
	exit 1
}
skip() { echo "skip test torch: $*"; exit 0; }
# shellcheck source=tests/e2e/pytest.bash
. "$top/tests/e2e/pytest.bash"
make_env env 2>log || skip 'no pytest from the index'
cp -r "$top/tests/data/testrun/plain" "$top/tests/data/testrun/torch" .
export SUITE_STATE=$PWD/state GPU_DEVICE_ORDINAL=0
run() { # STATUS WORD...: test torch
	local want=$1 got=0
	shift
	rm -rf state logs && mkdir state
	"$ROCSMITH" test torch --python env --logs logs --timeout 4 -o e.json --junit e.xml "$@" >log 2>err || got=$?
	[ "$got" = "$want" ] || no "test torch $*: status $got, not $want"
}
has() { # PYTHON CONDITION: on e, t (tests by id), f (ids of findings)
	python3 - "$1" <<'PY' || no "$1"
import json, re, sys
e = json.load(open("e.json"))
t = {x["id"]: x for x in e["tests"]}
o = {x["id"]: x["outcome"] for x in e["tests"]}
f = [x["id"] for x in e["findings"]]
sys.exit(not eval(sys.argv[1]))
PY
}

# ---- everything that can happen ----
run 1 --source plain
has 'list(e)[:6] == ["schema", "verdict", "wheels", "gpu", "python", "source"] and e["schema"] == "rocsmith.test/1" and e["verdict"] == "fail"'
has 'o["test_deadly.py::test_segv"] == "crashed" and "killed by SIGSEGV" in t["test_deadly.py::test_segv"]["message"] and "Segmentation fault" in t["test_deadly.py::test_segv"]["message"]'
has 'o["test_deadly.py::test_killed"] == "crashed" and "SIGKILL" in t["test_deadly.py::test_killed"]["message"]'
has 'o["test_deadly.py::test_leaves_quietly"] == "crashed" and "status 0" in t["test_deadly.py::test_leaves_quietly"]["message"]'
has 'o["test_deadly.py::test_hangs"] == "timeout" and o["test_deadly.py::test_last"] == "passed" and o["test_deadly.py::test_before"] == "passed"'
has 'o["test_deadly.py::test_flaky"] == o["test_deadly.py::test_flaky_abort"] == "flaky" and f.count("test-flaky") == 2'
has 'all(t[x]["tries"] == 2 for x in t if o[x] in ("crashed", "timeout", "failed", "error", "flaky") and "::" in x)'
has 'o["test_import.py"] == "error" and "no_such_module" in t["test_import.py"]["message"]'
has 'o["test_plain.py::TestUnit::test_sub"] == "failed" and o["test_plain.py::test_torn"] == "error" and o["test_plain.py::TestUnit::test_environment"] == "passed"'
has 'o["test_plain.py::test_xfails"] == "xfailed" and o["test_plain.py::test_xpasses"] == "xpassed" and o["test_plain.py::test_skips"] == "skipped"'
ok 'each end of a test is told: passed, failed, torn down, crashed, killed, hung, flaky'
for log in $(python3 -c 'import json; print(*{t["log"] for t in json.load(open("e.json"))["tests"] if "log" in t})'); do [ -s "logs/$log" ] || no "the log $log"; done
grep -q 'in test_hangs' logs/*.log || no 'the log says where a test hangs'
# by its command line: another process may have its number by now
if tr '\0' ' ' 2>/dev/null <"/proc/$(cat state/child)/cmdline" | grep -q 'time.sleep(1000)'; then no 'the child of a hanging test is ended with it'; fi
ok 'a hang is ended with its children, after its stack is in the log'

# pytest's own names of all tests are our ids
(cd plain && PYTHONDONTWRITEBYTECODE=1 ../env/bin/python -m pytest -p no:cacheprovider --collect-only -q 2>/dev/null) | grep :: | sort >theirs
python3 -c 'import json; print(*[t["id"] for t in json.load(open("e.json"))["tests"] if "::" in t["id"]], sep="\n")' | sort >ours
cmp -s ours theirs || no "ids are those of pytest: $(diff ours theirs)"
python3 - <<'PY' || no "python's xml reads the JUnit XML as the evidence says"
import json, xml.etree.ElementTree as xml
e = json.load(open("e.json"))
suite = xml.parse("e.xml").getroot()[0]
bad = {"failed", "error", "crashed", "timeout"}
assert int(suite.get("tests")) == len(e["tests"]) == len(suite)
assert int(suite.get("failures")) + int(suite.get("errors")) == sum(t["outcome"] in bad for t in e["tests"])
for case, test in zip(suite, e["tests"]):
    assert case.find("properties")[0].get("value") == test["id"], test
    assert (case.find("failure") is not None or case.find("error") is not None) == (test["outcome"] in bad), test
PY
[ -z "$(find plain -name __pycache__ -o -name .pytest_cache)" ] || no 'the sources stay as they are'
ok "ids are pytest's, JUnit XML is what python reads, and sources stay as they are"

# ---- shards ----
cp e.json whole.json
for n in 1 2 3; do
	run 1 --source plain --shard $n/3 --exclude test_deadly.py::test_hangs
	mv e.json "shard$n.json"
done
python3 - <<'PY' || no 'three shards have every test once'
import hashlib, json
whole = {t["id"]: t["outcome"] for t in json.load(open("whole.json"))["tests"]}
seen = {}
for n in (1, 2, 3):
    for t in json.load(open(f"shard{n}.json"))["tests"]:
        if "::" not in t["id"]:
            continue # a file that cannot be collected fails in each
        assert t["id"] not in seen and int.from_bytes(hashlib.sha256(t["id"].encode()).digest()[:8], "big") % 3 == n - 1
        seen[t["id"]] = t["outcome"]
whole.pop("test_import.py")
whole["test_deadly.py::test_hangs"] = "listed"
assert seen == whole, {k: (seen.get(k), whole.get(k)) for k in seen.keys() | whole.keys() if seen.get(k) != whole.get(k)}
PY
ok 'three shards have every test once, with the same result'

# ---- skip lists ----
rm plain/test_import.py
run 1 --source plain --skip-list "$top/tests/data/testrun/skips.yaml" --exclude test_deadly.py::test_hangs
has 'o["test_deadly.py::test_segv"] == "listed" and o["test_plain.py::test_case[2]"] == "listed" and o["test_plain.py::test_case_all"] == "passed" and o["test_plain.py::test_passes"] == "passed"'
has '"https://example.org/1" in t["test_deadly.py::test_segv"]["message"] and o["test_plain.py::test_torn"] == "error"'
has 'sorted(x for x in f if x.startswith("skip")) == ["skip-expired", "skip-unmatched"] and any("2020-12-31" in x["message"] for x in e["findings"])'
run 0 --source plain --skip-list "$top/tests/data/testrun/skips.yaml" --only-skipped
has 'o == {k: "xfailed" if k in ("test_deadly.py::test_segv", "test_plain.py::test_case[2]", "test_plain.py::test_torn") else "xpassed" for k in o} and len(o) == 7'
has 'f.count("skip-passes") == 4'
run 1 --source plain --skip-list "$top/tests/data/testrun/skips.yaml" --only-skipped --strict-skips
run 0 --source plain --include test_plain.py::test_passes --include 'test_plain.py::test_case[1]'
has 'set(o) == {"test_plain.py::test_passes", "test_plain.py::test_case[1]"}'
ok 'skip lists: exact ids, reasons, expired entries, entries for other GPUs, what passes now'

# ---- run_test.py ----
run 0 --source torch --allow-version-mismatch
has 'len(o) == 30 and set(o.values()) == {"passed"} and "test/inductor/test_third.py::test_number[7]" in o and e["source"]["version"] == "2.6.0"'
SUITE_FAILS=second run 1 --source torch
has '[x for x in o if o[x] != "passed"] == ["test/test_second.py::test_number[3]"] and t["test/test_second.py::test_number[3]"]["tries"] == 2'
run 0 --source torch --include test/inductor/test_third.py --shard 2/3
has 'o and all(x.startswith("test/inductor/test_third.py::") for x in o)'
rm e.json
"$ROCSMITH" test torch -n --python env --source torch --config inductor -o e.json >log 2>err || no 'a dry run'
[ ! -e e.json ] && [ "$(grep -c 'Would run .*run_test.py --keep-going' err)" = 2 ] || no 'a dry run shows both runs of a configuration'
SUITE_RUNNER=fails run 1 --source torch
has 'f == ["test-none"] and "status 1" in e["findings"][0]["message"] and not o'
SUITE_RUNNER=dies run 1 --source torch
has 'f == ["test-crash"] and not o'
run 2 --source torch --config inducter
grep -q "did you mean 'inductor'" err || no 'a configuration that is none'
ok "a project's own run_test.py is driven, and its own failures fail the run"

# ---- nothing that looks like a result ----
mkdir -p none lost/test && echo x=1 >none/test_x.py
run 1 --source none
has 'f == ["test-none"] and e["verdict"] == "fail"'
cat >lost/conftest.py <<'PY'
import os, pytest
def pytest_runtest_logfinish(nodeid):
    if "liar" in nodeid and "rocsmith" not in os.environ.get("SUITE_LIE", ""):
        for name in os.listdir(os.environ["ROCSMITH_TEST"]):
            if name.endswith(".journal"):
                open(os.path.join(os.environ["ROCSMITH_TEST"], name), "a").write('{"event": "result", "id": "lost.py::forged", "outcome": "passed", "seconds": 0}\n')
@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    if os.environ.get("SUITE_LIE") == "xml":
        os.remove(config.option.xmlpath)
PY
printf 'def test_liar(): pass\ndef test_b(): pass\n' >lost/test_a.py
SUITE_LIE=xml run 1 --source lost
has 'f == ["test-no-xml"] and e["verdict"] == "fail" and "test_a.py::test_b" in e["findings"][0]["message"]'
python3 - <<'PY'
import os
os.makedirs("odd", exist_ok=True)
open(b"odd/test_\xff.py", "w").write("def test_y(): pass\n")
open("odd/test_\x1b[31m\nok.py", "w").write("def test_x(): assert 0, '\\x1b[2J\\x07'\n")
PY
run 1 --source odd
has 'o == {"test_\x1b[31m\nok.py::test_x": "failed", "test_\\udcff.py::test_y": "passed"}'
grep -q "$(printf '\033')" log && no 'a name controls the terminal'
python3 -c 'import xml.etree.ElementTree as x; x.parse("e.xml")' || no 'JUnit XML of odd names'
ok 'no tests, no XML, names with control characters'

# ---- wheels ----
cat >wheels.py <<'PY'
import base64, hashlib, os, zipfile
def wheel(folder, project, files):
    """A wheel of version 1.0 with these files."""
    info = f"{project}-1.0.dist-info"
    files = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    os.makedirs(folder)
    with zipfile.ZipFile(f"{folder}/{project}-1.0-py3-none-any.whl", "w") as z:
        record = ""
        for path, data in files.items():
            data = data if isinstance(data, bytes) else data.encode()
            z.writestr(path, data)
            record += f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        z.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
PY
python3 - <<'PY'
from wheels import wheel
pure = "demo-1.0.data/purelib/demo.py"
for name, file, text in (("one", "demo.py", "x = 1\n"), ("two", "demo.py", "x = 2\n"), ("pure", pure, "x = 1\n"), ("pure2", pure, "x = 2\n")):
    wheel(name, "demo", {file: text})
PY
own=$(echo env/lib/python3*/site-packages)
python3 -m pip install -q --no-index --no-deps --target "$own" one/demo-1.0-py3-none-any.whl >log 2>&1 || no 'pip installs the wheel'
alone=(--source plain --include test_plain.py::test_passes)
run 0 "${alone[@]}" --wheel one/demo-1.0-py3-none-any.whl
has 'e["wheels"] == [{"name": "demo", "version": "1.0", "sha256": __import__("hashlib").sha256(open("one/demo-1.0-py3-none-any.whl", "rb").read()).hexdigest()}]'
cp e.json kept.json
run 1 "${alone[@]}" --wheel two/demo-1.0-py3-none-any.whl
grep -q 'another wheel is installed' err || no 'another wheel'
cmp -s e.json kept.json || no 'a refusal leaves the old evidence'
run 1 "${alone[@]}" --wheel pure2/demo-1.0-py3-none-any.whl
grep -q 'another wheel is installed' err || no 'another wheel, whose files are in NAME.data'
run 0 "${alone[@]}" --wheel pure/demo-1.0-py3-none-any.whl
cp one/demo-1.0-py3-none-any.whl other-1.0-py3-none-any.whl
run 1 "${alone[@]}" --wheel other-1.0-py3-none-any.whl
echo >>"$own/demo.py"
run 1 "${alone[@]}" --wheel one/demo-1.0-py3-none-any.whl
ok 'evidence names a wheel only if each of its files is what is installed'
python3 - <<'PY'
import os
from wheels import wheel
wheel("swap/good", "large", {"large.bin": os.urandom(150 << 20)})
wheel("swap/evil", "large", {"large.bin": b""})
PY
python3 -m zipfile -e swap/good/large-1.0-py3-none-any.whl "$own"
for pause in 0.1 0.3; do
	rm -rf e.json logs && cp swap/good/large-1.0-py3-none-any.whl large-1.0-py3-none-any.whl
	"$ROCSMITH" test torch --python env -o e.json "${alone[@]}" --wheel large-1.0-py3-none-any.whl >log 2>err &
	sleep $pause
	cp swap/evil/large-1.0-py3-none-any.whl new && mv new large-1.0-py3-none-any.whl
	wait $! || true
	if [ -e e.json ] && grep -q "$(sha256sum swap/evil/large-1.0-py3-none-any.whl | cut -c1-64)" e.json; then no 'evidence for a wheel that took the place of the one that was compared'; fi
done
rm -rf swap large-1.0-py3-none-any.whl "$own"/large*
ok 'and not another wheel that takes its place meanwhile'

# ---- GPUs, as a torch would see them ----
mkdir -p fake/torch
cat >fake/torch/__init__.py <<'PY'
__version__ = "2.6.0+rocm6.4"
class version: hip = "6.4"; cuda = None
class cuda:
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 3)
    @staticmethod
    def get_device_properties(index):
        class found: gcnArchName = ("gfx1100", "gfx942:sramecc+:xnack-", "gfx1100")[index]; name = "a card"; major = 11; minor = 0
        return found
PY
cat >odd/test_env.py <<'PY'
import os
def test_gpus(): assert os.environ["HIP_VISIBLE_DEVICES"] == os.environ["WANT"] and os.environ["PYTORCH_TEST_WITH_ROCM"] == "1"
PY
find odd -name 'test_*' ! -name test_env.py -delete
echo "$PWD/fake" >"$own/fake.pth"
WANT=0 run 0 --source odd
has 'e["gpu"] == "gfx1100" and e["torch"] == "2.6.0+rocm6.4"'
WANT=GPU-b7 HIP_VISIBLE_DEVICES=GPU-a1,GPU-b7,4 run 0 --source odd --gpu gfx942
has 'e["gpu"] == "gfx942"'
WANT=0,1,2 run 0 --source odd --gpu all --config distributed
has 'e["gpu"] == "gfx942,gfx1100"'
WANT=4 HIP_VISIBLE_DEVICES=1,3,4 run 0 --source odd --gpu 2
run 3 --source odd --gpu gfx1201
# the kernel's log, as dmesg gives it: only what was said while the test ran (the lines are of ROCm/TheRock#1271)
mkdir -p bin reset
cat >bin/dmesg <<'SH'
#!/bin/sh
[ ! -e forbidden ] || { echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1; }
cat "$E2E_TMP/kmsg"
SH
printf '#!/bin/sh\nexit 1\n' >bin/journalctl
chmod +x bin/dmesg bin/journalctl
sed -i "s|-e forbidden|-e $PWD/forbidden|" bin/dmesg
echo '[   10.000000] amdgpu 0000:c5:00.0: amdgpu: an old line' >kmsg
cat >reset/test_reset.py <<'PY'
import os
def test_reset():
    with open(os.environ["E2E_TMP"] + "/kmsg", "a") as log:
        log.write("[  812.113370] usb 1-1: new device\n[  812.345678] amdgpu 0000:c5:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:169 vmid:8 pasid:32770)\n"
            "[  812.345999] amdgpu 0000:c5:00.0: amdgpu: GPU reset begin!\n")
    os.kill(os.getpid(), 6)
PY
PATH=$PWD/bin:$PATH run 1 --source reset --logs resetlogs
has '[x[:14] for x in e["kernel"]] == ["[  812.345678]", "[  812.345999]"] * 2 and "gfxhub" in e["kernel"][0]'
has 'any(f["id"] == "test-kernel" and "test_reset" in f["message"] for f in e["findings"])'
"$ROCSMITH" explain resetlogs/0001.log >log 2>err || [ $? = 1 ] || no 'explain reads the log of the process'
grep -q 'page fault' log || no 'explain reads what the kernel said'
touch forbidden
PATH=$PWD/bin:$PATH run 1 --source reset
has 'e["kernel"] == [] and any("Operation not permitted" in f["message"] for f in e["findings"])'
ok "what the kernel said of the GPU meanwhile, and why it cannot be read"
got=0
"$ROCSMITH" test smoke --python env -o e.json >log 2>err || got=$?
[ "$got" = 1 ] || no 'smoke tests of a torch that is none'
has 'o == {f"gpu{n}::import": "failed" for n in range(3)} and e["gpu"] == "gfx942,gfx1100" and e["suite"] == "smoke"'
run 2 --source torch --skip-list none.yaml
echo 2.7.0 >torch/version.txt
run 2 --source torch
ok 'GPUs: targets, indices, UUIDs of a list that was there, none that fits, another version'
rm "$own/fake.pth"
for command in "test smoke" "test smoke --gpu all" "bench lora" "bench micro" "bench micro --gpu 0"; do
	got=0
	# shellcheck disable=SC2086
	"$ROCSMITH" $command --python env >log 2>err || got=$?
	[ "$got" = 3 ] && grep -q 'has no torch' err || no "$command without a torch"
done
ok 'without a torch, smoke tests and benchmarks say so'

# ---- two runs ----
got=0
"$ROCSMITH" test diff --json whole.json shard1.json >d.json || got=$?
[ "$got" = 0 ] || no 'no new failure'
"$ROCSMITH" test diff kept.json whole.json >log || got=$?
[ "$got" = 1 ] && grep -q 'new failure: test_deadly.py::test_segv' log || no 'new failures'
(cd plain && ../env/bin/python -m pytest -q -p no:cacheprovider -o junit_family=xunit1 --junitxml ../theirs.xml test_plain.py >/dev/null) || true
"$ROCSMITH" test diff --json theirs.xml whole.json >d.json || true
python3 -c '
import json
d = json.load(open("d.json"))
changed = [x["id"] for x in d["failed"] + d["fixed"] if x["id"].startswith("test_plain.py")]
assert changed == ["test_plain.py::TestUnit::test_environment"], changed # pytest alone does not pin threads
assert not [x for x in d["missing"] if "test_case" not in x["id"]], d["missing"]' || no "pytest's own XML has the same tests"
ok "two runs are compared, also with pytest's own XML"
