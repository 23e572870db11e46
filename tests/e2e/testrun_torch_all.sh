#!/usr/bin/env bash
# slow: PyTorch 2.6.0 of the package index (on x86_64 with CUDA's libraries, 5 GB), which runs on the CPU here
# Smoke tests of it, also of one with wrong results and one that dies; benchmarks with a hang, a NaN, earlier results; PyTorch's own
# test_torch.py in three shards, from Debian's source, driven by its run_test.py.
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
skip() { echo "skip test torch of PyTorch: $*"; exit 0; }
packages() {
	. "$top/tools/fetch.sh"
	fetch_begin "torch-2.6.0-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
	fetch_pip install -q --root-user-action=ignore --only-binary=:all: --target "$fetch_new" torch==2.6.0 numpy 'pytest<9' expecttest \
		hypothesis psutil pyyaml 'setuptools<81' pytest-rerunfailures pytest-flakefinder pytest-xdist >&2 ||
		fetch_impossible 'the package index does not give torch 2.6.0 for this Python'
	fetch_end
}
site=$(packages 2>log) || skip 'no torch 2.6.0 from the index'
python3 -m venv --without-pip env
own=$(echo env/lib/python3*/site-packages)
echo "$site" >"$own/torch.pth"
json() { # FILE PYTHON CONDITION on e and o (outcomes by id)
	python3 - "$1" "$2" <<'PY' || no "$2"
import json, sys
e = json.load(open(sys.argv[1]))
o = {x["id"]: x["outcome"] for x in e.get("tests", [])}
sys.exit(not eval(sys.argv[2]))
PY
}
want() { # STATUS WORD...
	local want=$1 got=0
	shift
	"$@" >log 2>err || got=$?
	[ "$got" = "$want" ] || no "$*: status $got, not $want"
}

# ---- smoke ----
want 0 "$ROCSMITH" test smoke --python env --gpu none -o s.json
json s.json 'e["verdict"] == "pass" and e["gpu"] == "" and e["torch"].startswith("2.6.0") and o["cpu::available"] == "skipped"'
json s.json 'all(o[f"cpu::{x}"] == "passed" for x in ("import", "mm[bfloat16]", "convolution[conv_transpose3d]", "svd[cpu]", "attention[flash]", "backward"))'
json s.json '"test-no-gpu" in [f["id"] for f in e["findings"]]'
want 3 "$ROCSMITH" test smoke --python env --gpu 0
cat >"$own/sitecustomize.py" <<'PY'
import os
if os.environ.get("SUITE_TORCH"):
    import torch
    real = torch.mm
    torch.mm = lambda x, y: real(x, y) * (1.01 if x.dtype == torch.float32 else 1)
    torch.linalg.svd = lambda *x, **more: os.abort()
PY
SUITE_TORCH=wrong want 1 "$ROCSMITH" test smoke --python env -o s.json
json s.json '{x for x in o if o[x] not in ("passed", "skipped")} == {"cpu::mm[float32]", "cpu::svd[cpu]"} and o["cpu::svd[cpu]"] == "crashed" and o["cpu::backward"] == "passed"'
ok 'smoke tests: on the CPU, with wrong results, with a crash'

# ---- benchmarks ----
small=(bench lora -j 1 --python env --shape small --steps 60)
want 0 "$ROCSMITH" "${small[@]}" -o b.json
json b.json 'e["schema"] == "rocsmith.bench/1" and e["trainable"] == 17920 and e["parameters"] == 137280 and len(e["loss"]) == e["steps"] == 60 and e["samples"] == 480'
json b.json 'sum(e["loss"][-10:]) < sum(e["loss"][:10]) and e["peak_memory"] > 1e8 and e["first_step_seconds"] > 0 and e["kernels"]'
want 0 "$ROCSMITH" "${small[@]}" --compare b.json --tolerance 90 -o c.json
python3 - <<'PY' || no 'the same seed gives the same losses'
import json
b, c = (json.load(open(name))["loss"] for name in ("b.json", "c.json"))
assert all(abs(x - y) < 1e-3 for x, y in zip(b, c))
b = json.load(open("b.json")); b["steps_per_second"] *= 100; json.dump(b, open("fast.json", "w"))
b = json.load(open("b.json")); b["loss"] = [x / 2 for x in b["loss"]]; json.dump(b, open("better.json", "w"))
b = json.load(open("b.json")); b["settings"]["batch"] = 4; json.dump(b, open("other.json", "w"))
open("none.json", "w").write("[]")
PY
for file in fast:slower better:loss other:compare none:compare; do
	want 1 "$ROCSMITH" "${small[@]}" --compare "${file%:*}.json" --tolerance 90 -o c.json
	json c.json "e['verdict'] == 'fail' and e['errors'][0]['kind'] == '${file#*:}'"
done
want 3 "$ROCSMITH" "${small[@]}" --gpu 0
bench=(env OMP_NUM_THREADS=1 env/bin/python "$top/src/testrun/bench.py" lora --shape small --steps 60 --device cpu -o d.json)
want 1 "${bench[@]}" --test-nan 5
json d.json 'e["errors"][0]["kind"] == "nan" and e["steps"] == 4'
want 1 "${bench[@]}" --test-hang 5 --hang 5
json d.json 'e["errors"][0]["kind"] == "hang" and e["steps"] == 4 and len(e["loss"]) == 4'
grep -q 'File .*bench.py.* in lora' err || no 'a hang shows where'
# the full shape has as many parameters as its name says, which the benchmark asserts
want 0 env/bin/python - <<PY
import sys; sys.path.insert(0, "$top/src/testrun")
import torch, bench
with torch.device("meta"):
    print(bench.count(bench.Model(bench.SHAPES["qwen2.5-0.5b"])))
PY
grep -qx '(494032768, 4399104)' log || no 'parameters of the full shape'
want 0 "$ROCSMITH" bench micro -j 1 --python env --shape small --json
cp log m.json
json m.json '{r["kind"] for r in e["results"]} == {"gemm", "attention", "convolution"} and all(r["tflops"] > 0 or r["skipped"] for r in e["results"])'
ok 'benchmarks: figures, seeds, earlier results, NaN, hang'

# ---- results with I/O calls that fail ----
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
cat >check <<'SH'
python3 -c 'import json; e = json.load(open("out/e.json")); assert e.get("old") or e["schema"] in ("rocsmith.test/1", "rocsmith.bench/1"), e'
SH
disturb() { # WHAT WORD...
	local what=$1
	shift
	for errno in ENOSPC,EIO,EACCES KILL; do
		python3 "$top/tests/e2e/faults.py" sweep --sample "${ROCSMITH_FAULT_POINTS:-6}" --errno $errno --check 'sh check' --tree out --ignore e.json \
			--setup 'rm -rf out && mkdir out && echo "{\"old\": 1}" >out/e.json' -- "$fault" "$@" >log 2>err || no "$what with calls that fail ($errno)"
	done
	ok "$what with calls that fail"
}
if [ -x "$fault" ]; then
	disturb 'smoke tests' test smoke -q --python env --gpu none -o out/e.json
	disturb 'a benchmark' bench micro -q -j 1 --python env --shape small -o out/e.json
fi

# ---- PyTorch's own tests ----
source=$("$top/tools/debian-source" trixie pytorch 2>log) || skip 'no sources of PyTorch'
mkdir pytorch
cp -r "$source/test" "$source/tools" "$source/pytest.ini" "$source/version.txt" pytorch
for n in 1 2 3; do
	"$ROCSMITH" test torch --source pytorch --python env --gpu none --include test/test_torch.py --shard $n/3 --logs logs$n \
		-o "p$n.json" --junit "p$n.xml" >log 2>err || [ $? = 1 ] || no "shard $n"
	tail -1 log | sed "s/^/# shard $n: /"
done
(cd pytorch/test && ../../env/bin/python -m pytest --collect-only -q -p no:cacheprovider test_torch.py 2>/dev/null) | grep :: | sed 's|^|test/|; s|^test/test/|test/|' | sort >theirs
python3 - <<'PY' || no 'three shards have every test of test_torch.py once, and each has a result'
import json
shards = [json.load(open(f"p{n}.json")) for n in (1, 2, 3)]
ids = [t["id"] for e in shards for t in e["tests"]]
theirs = [line.rstrip("\n") for line in open("theirs")]
print(len(ids), "tests,", sum(e["counts"].get("passed", 0) for e in shards), "passed")
assert len(ids) == len(set(ids)) and sorted(ids) == sorted(theirs), (len(ids), len(theirs), set(ids) ^ set(theirs))
assert not any(e["counts"].get(word) for e in shards for word in ("lost", "crashed", "timeout"))
PY
ok "PyTorch's own test_torch.py: three shards have every test once"
