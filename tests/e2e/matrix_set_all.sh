#!/usr/bin/env bash
# slow: it makes a set of projects twice
# A set as a cell of a matrix: triton, torch and torchaudio of build_set.sh, each a step that waits for those that it needs, its
# sources out of one list; the wheels are those of `build`.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$E2E_TMP/set"
E2E_TMP=$E2E_TMP/set bash "$top/tests/e2e/build_set.sh" || exit 1
cd "$E2E_TMP/set" || exit 1
[ -d out ] || exit 0 # it was skipped
fail() {
	echo "not ok $1"
	tail -n 20 log out.txt | sed 's/^/# /'
	exit 1
}
# what that script did to triton in the end
rm triton/python/triton/true
sed -i 's/package_data={"triton": \["true"\]}, //' triton/setup.py
export PIP_FIND_LINKS="$PWD/house/cmake $PWD/house/numpy ${PIP_FIND_LINKS:-}"
cat >set.yaml <<END
options: {sdk: "prefix:$PWD/tb/rocm", source: "torch=torch,torchaudio=torchaudio,triton=triton"}
axes:
  project: ["torchaudio,torch,triton"]
  gpu: [gfx1201]
END
! "$ROCSMITH" matrix plan set.yaml >out.txt 2>log && grep -q 'not for a matrix file to choose' log || fail 'a folder as SDK needs trust'
"$ROCSMITH" matrix print set.yaml --trust --as slurm >jobs.sh 2>log || fail 'a set on Slurm is printed'
python3 - <<'END' 2>log || fail 'the steps of a set wait for each other'
import re
text = open("jobs.sh").read()
jobs = {m[2]: (m[1], m[0]) for m in re.finditer(r"^(job_\d+)=.*--step (\w+) .*$", text, re.M)}
assert list(jobs) == ["triton", "torch", "torchaudio", "verify"], jobs
waits = {n: re.search(r'"--dependency=(.*?)"', line) for n, (_, line) in jobs.items()}
assert waits["triton"] is None
assert waits["torch"][1] == "aftercorr:${%s}" % jobs["triton"][0]
assert waits["verify"][1].count("aftercorr") == 3
END
echo 'ok the steps of a set wait for those that they need'
"$ROCSMITH" matrix run set.yaml --trust --json >out.txt 2>log || fail 'a set is built as a cell'
python3 - <<'END' 2>log || fail 'each step has its wheel'
import json
cell, = json.load(open("out.txt"))["cells"]
steps = {s["name"]: s["result"]["wheel"].split("-")[0] for s in cell["steps"]}
assert steps == {"plan": "", "triton": "triton", "torch": "torch", "torchaudio": "torchaudio", "verify": ""}, steps
END
unzip -p set.out/cells/*/wheels/torch-2*.whl '*/METADATA' | grep -qx 'Requires-Dist: triton==3.2.0+rocm6.4.3' || fail "torch pins the triton of the matrix"
python3 -m venv env2 && env2/bin/pip install -q --no-index --no-deps set.out/cells/*/wheels/*.whl >log 2>&1 && env2/bin/pip check >log 2>&1 ||
	fail 'pip finds nothing missing'
echo 'ok a set is built as a cell, step by step, and pip finds nothing missing'
