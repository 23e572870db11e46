#!/usr/bin/env bash
# `matrix` without Slurm: a run here, and what is printed for other systems, each read by an independent program (PyYAML, the
# schemas of GitHub Actions and GitLab CI, shellcheck, bash) and then done. Hostile files, and folders of somebody else.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP" || exit 1
rm -rf ./*
fail() {
	echo "not ok $1"
	tail -n 20 log out 2>/dev/null | sed 's/^/# /'
	exit 1
}
ok() { echo "ok $1"; }
status() { # WANTED WHAT COMMAND...
	local want=$1 what=$2 got=0
	shift 2
	"$@" >out 2>log || got=$?
	[ $got = "$want" ] || fail "$what: status $got, not $want"
}

# ---- hostile files ----
# every value that a shell, YAML or sbatch could take for something else, as an option and as a name
python3 - <<'END'
values = ["$(touch owned)", "`touch owned`", "'; touch owned; '", '"; touch owned; "', "| touch owned", "&& touch owned", "${{ github.token }}",
          "a: b", "- x", "#", "%s", "../../owned", "-o/owned", "--wrap=touch owned", "*", "~", "3.10", "null"]
with open("evil.yaml", "w") as f:
    f.write("options: {project: '$(touch owned)'}\naxes:\n  with:\n")
    for v in values:
        f.write("  - '%s'\n" % v.replace("'", "''"))
with open("bomb.yaml", "w") as f:
    f.write("a: &a [x, x]\n")
    for a, b in zip("abcdefghijklmnopq", "bcdefghijklmnopqr"):
        f.write(f"{b}: &{b} [*{a}, *{a}, *{a}]\n")
    f.write("axes: {gpu: *r}\n")
with open("many.yaml", "w") as f:
    f.write("axes:\n")
    for i in range(9):
        f.write(f"  a{i}: [" + ", ".join(f"{{name: v{k}}}" for k in range(10)) + "]\n")
with open("stars.yaml", "w") as f:
    f.write("axes:\n" + "".join(f"  a{i}: [{{name: {'x' * 299}y}}, {{name: {'x' * 299}z}}]\n" for i in range(12)) + "exclude:\n")
    for i in range(64):
        f.write("- {" + ", ".join(f"a{k}: '*x*xQ'" for k in range(12)) + ", reason: r}\n")
with open("control.yaml", "w") as f:
    f.write('axes: {gpu: ["\\e]0;owned\\a"]}\n')
with open("python.yaml", "w") as f:
    f.write("axes: {python: [./evil]}\n")
END
printf '#!/bin/sh\ntouch %s/owned\n' "$PWD" >evil && chmod +x evil
for file in bomb many control python; do
	status 2 "$file.yaml" timeout 10 "$ROCSMITH" matrix plan $file.yaml
	status 2 "$file.yaml" timeout 10 "$ROCSMITH" matrix run $file.yaml
done
status 1 'patterns that match nothing for long' timeout 10 "$ROCSMITH" matrix report stars.yaml
for format in github gitlab shell slurm; do
	status 0 "evil.yaml as $format" "$ROCSMITH" matrix print evil.yaml --as $format
	cp out evil.$format
done
sh evil.shell >out 2>log && fail 'a matrix of nonsense fails'
status 5 'a matrix of nonsense' "$ROCSMITH" matrix run evil.yaml
[ ! -e owned ] && [ ! -e ../owned ] && [ ! -e ../../owned ] && [ ! -e /owned ] || fail 'values reach no shell'
python3 - evil.github evil.gitlab <<'END' || fail 'names of cells are plain in YAML'
import re, sys, yaml
for name in sys.argv[1:]:
    text = open(name).read()
    doc = yaml.safe_load(text)
    job = doc.get("jobs", doc)["cells-1"]
    cells = job["strategy"]["matrix"]["cell"] if "jobs" in doc else job["parallel"]["matrix"][0]["CELL"]
    assert len(cells) == 18 and all(isinstance(c, str) and re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_+.-]*", c) for c in cells), cells
    assert set(re.findall(r"\$\{\{.*?\}\}", text)) <= {"${{ matrix.cell }}", "${{ vars.ROCSMITH_WHEEL }}"}
END
ok 'hostile files are refused or harmless: aliases, 10^9 cells, control characters, programs, words for a shell'

# ---- folders of somebody else ----
printf 'options: {sdk: debian}\naxes: {gpu: [gfx1100, gfx1201]}\n' >m.yaml
mkdir -p m.out/cells/gfx1100/build
echo '{"schema":"rocsmith.matrix-result/1","status":0}' >m.out/cells/gfx1100/build/result.json
status 2 'a folder that came along' "$ROCSMITH" matrix run m.yaml
echo '{"schema":"rocsmith.matrix-folder/1","file":"'"$PWD"'/m.yaml","seal":"00"}' >m.out/matrix.json
status 2 'a folder with a mark that is not ours' "$ROCSMITH" matrix run m.yaml
rm -rf m.out && mkdir full && touch full/file
status 2 'a folder with something else' "$ROCSMITH" matrix run m.yaml -o full
if [ "$(id -u)" = 0 ]; then
	mkdir theirs && chown 12345 theirs
	status 3 'a folder of another user' "$ROCSMITH" matrix run m.yaml -o theirs
	mkdir open && chmod 777 open
	status 3 'a folder that others may write to' "$ROCSMITH" matrix run m.yaml -o open/here
fi
status 5 'cells that cannot be planned' "$ROCSMITH" matrix run m.yaml
mv m.out/cells/gfx1100 elsewhere && ln -s ../../elsewhere m.out/cells/gfx1100
find elsewhere -type f | xargs ls -l --time-style=full-iso >before
status 5 'a cell that is a link' "$ROCSMITH" matrix run m.yaml
find elsewhere -type f | xargs ls -l --time-style=full-iso | cmp - before || fail 'nothing is written through a link'
ok 'folders of others, or of nobody, are refused, and links in ours are not followed'
rm -rf m.out elsewhere

# ---- for other systems ----
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,headers >log 2>&1; then
	echo "skip a matrix that is built: no SDK ($(tail -1 log))"
	exit 0
fi
cat >k.cu <<'END'
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
extern "C" void launch(float *x) { twice<<<1, 64>>>(x); }
END
mkdir k && mv k.cu k
cat >m.yaml <<'END'
options: {sdk: debian, project: k}
axes: {gpu: [gfx1100, [gfx1201, gfx942]]}
END
for format in github gitlab shell slurm; do
	status 0 "print --as $format" "$ROCSMITH" matrix print m.yaml --as $format
	cp out m.$format
done
sh -n m.shell && bash -n m.slurm || fail 'the scripts are scripts'
if command -v shellcheck >/dev/null; then
	shellcheck m.shell evil.shell || fail 'shellcheck finds nothing in the script'
	# the variable with the number of an element is Slurm's, in single quotes on purpose
	shellcheck -e SC2016,SC2034 m.slurm || fail 'shellcheck finds nothing in the script for Slurm'
	ok 'shellcheck finds nothing in the printed scripts'
else
	echo 'skip shellcheck: it is not here'
fi
if bash "$top/tests/oracle/venv.sh" "$ROCSMITH_HOME/schemas" check-jsonschema; then
	check=$ROCSMITH_HOME/schemas/bin/check-jsonschema
	cp m.github g.yml && cp evil.github e.yml && cp m.gitlab l.yml && cp evil.gitlab v.yml
	"$check" --builtin-schema vendor.github-workflows g.yml e.yml >log 2>&1 || fail 'a workflow by the schema of GitHub Actions'
	"$check" --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci l.yml v.yml >log 2>&1 || fail 'a pipeline by the schema of GitLab CI'
	sed 's/steps:/stepz:/' g.yml >bad.yml
	! "$check" --builtin-schema vendor.github-workflows bad.yml >log 2>&1 || fail 'the schema sees a mistake'
	ok 'workflow and pipeline are valid by the schemas of GitHub Actions and GitLab CI'
else
	echo 'skip schemas of CI systems: no venv with check-jsonschema'
fi
# as a CI does it: each cell in a checkout of its own; the last job has what they left
cat >ci.py <<'END'
import os, shutil, subprocess, sys, yaml
name, doc = sys.argv[1], yaml.safe_load(open(sys.argv[1]))
jobs = doc.get("jobs", doc)
def run(script, where, **env):
    subprocess.run(["bash", "-e", "-c", script], cwd=where, env={**os.environ, **env}, check=True)
def scripts(job):
    return job["script"] if "script" in job else [s["run"] for s in job["steps"] if "run" in s]
cells = jobs["cells-1"]["strategy"]["matrix"]["cell"] if "jobs" in doc else jobs["cells-1"]["parallel"]["matrix"][0]["CELL"]
for cell in ["report", *cells]:
    where = f"{name}.d/{cell}"
    os.makedirs(where)
    shutil.copytree("k", where + "/k")
    shutil.copy("m.yaml", where)
for cell in cells:
    where = f"{name}.d/{cell}"
    for script in scripts(jobs["cells-1"]):
        run(script, where, CELL=cell)
    shutil.copytree(where + "/matrix.out", f"{name}.d/report/matrix.out", dirs_exist_ok=True, ignore=shutil.ignore_patterns("build"))
    os.makedirs(f"{name}.d/report/matrix.out/cells/{cell}/build", exist_ok=True)
    shutil.copy(f"{where}/matrix.out/cells/{cell}/build/result.json", f"{name}.d/report/matrix.out/cells/{cell}/build")
for script in scripts(jobs["report"]):
    run(script, f"{name}.d/report")
END
mkdir bin && ln -s "$ROCSMITH" bin/rocsmith
export PATH=$PWD/bin:$PATH
python3 ci.py m.github >out 2>log && tail -1 out | grep -qx '2 of 2 cells done, 0 failed, 0 missing' || fail 'the jobs for GitHub build the matrix'
python3 - <<'END' || fail 'the jobs for GitLab do the same'
import yaml
hub, lab = yaml.safe_load(open("m.github"))["jobs"], yaml.safe_load(open("m.gitlab"))
for name in ("cells-1", "report"):
    assert [s["run"] for s in hub[name]["steps"] if "run" in s] == lab[name]["script"], name
END
ok 'the jobs for a CI build the matrix and gather it'
status 0 'the script builds the matrix' sh m.shell
tail -1 out | grep -qx '2 of 2 cells done, 0 failed, 0 missing' || fail 'the script builds the matrix'
for wheel in m.out/cells/*/wheels/*.whl; do
	cell=$(basename "$(dirname "$(dirname "$wheel")")")
	python3 -m zipfile -t "$wheel" >log && cmp "$wheel" "m.github.d/$cell/matrix.out/cells/$cell/wheels/$(basename "$wheel")" || fail "the same wheel of $cell"
done
ok 'the script builds the matrix, with the same wheels'

# ---- here ----
status 0 'all is done already' "$ROCSMITH" matrix run m.yaml -j 2
! grep -q Building log || fail 'what is done is not done again'
rm -r m.out
status 0 'two cells at once' "$ROCSMITH" matrix run m.yaml -j 2 --json
python3 - <<'END' || fail 'the document of a run'
import json
d = json.load(open("out"))
assert (d["schema"], d["done"], d["unknown"]) == ("rocsmith.matrix/1", 2, 0)
assert all(c["cost"]["by"] == "its own run" and c["cost"]["memory"] > 1 << 20 and c["cost"]["disk"] for c in d["cells"])
END
status 0 'a page' "$ROCSMITH" matrix report m.yaml --html page.html
python3 - <<'END' || fail 'the page has the cells'
from html.parser import HTMLParser
seen = []
class P(HTMLParser):
    def handle_data(self, data): seen.append(data)
P().feed(open("page.html").read())
text = "".join(seen)
assert "gfx1201+gfx942" in text and "2 of 2 done, 0 failed" in text
assert "gfx1201 gfx942" in text and "What to do" in text, text
END
echo "#include <hipcub/on/purpose.hpp>" >>k/k.cu
rm m.out/cells/gfx1100/build/result.json
status 5 'a build that fails' "$ROCSMITH" matrix run m.yaml
grep -q '^gfx1100  *failed .* build: .*on/purpose' out && grep -q '^gfx1201+gfx942  *done' out || fail 'the error of a cell'
"$ROCSMITH" matrix report m.yaml --json --html page.html >out 2>log || true
python3 - <<'END' || fail 'one report has GPUs, sizes, errors and what to do'
import glob, json, os
cells = {c["name"]: c for c in json.load(open("out"))["cells"]}
good, bad = cells["gfx1201+gfx942"], cells["gfx1100"]
assert sorted(good["targets"]) == ["gfx1201", "gfx942"] and good["error"] == good["explained"] == "", good
(wheel,) = glob.glob("m.out/cells/gfx1201+gfx942/wheels/*.whl")
assert os.stat(wheel).st_size <= good["size"] <= os.stat(wheel).st_size + 8192, good["size"]
assert bad["explained"].startswith("rocm-library-headers-missing: "), bad
assert "rocm-library-headers-missing" in open("page.html").read()
END
sed -i '$d' k/k.cu
status 0 'only the failed one again' "$ROCSMITH" matrix run m.yaml
grep -q 'Done gfx1100 in' log && ! grep -q 'Done gfx1201' log || fail 'only the failed one again'
ok 'a run here: two at once, a page, a failure, and only that again'
