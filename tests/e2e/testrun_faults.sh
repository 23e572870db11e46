#!/usr/bin/env bash
# `test torch` with I/O calls failing once, dying at I/O calls, and killed at random moments: the evidence and the JUnit XML are
# those of before or whole, the sources stay as they are, and nothing is left running.
# ROCSMITH_FAULT_POINTS says at how many calls (0 = each one), and ROCSMITH_KILLS how many random kills.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
faults=$top/tests/e2e/faults.py
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
points=${ROCSMITH_FAULT_POINTS:-4}
kills=${ROCSMITH_KILLS:-4}
[ "$points" = 0 ] && sample= || sample="--sample $points"
cd "$E2E_TMP"
rm -rf ./*
[ -x "$fault" ] || { echo 'skip test torch with failing calls: no rocsmith-fault'; exit 0; }
# shellcheck source=tests/e2e/pytest.bash
. "$top/tests/e2e/pytest.bash"
make_env env || { echo 'skip test torch with failing calls: no pytest from the index'; exit 0; }
mkdir -p in tmp
cat >in/test_x.py <<'PY'
import pytest
@pytest.mark.parametrize("n", range(20))
def test_n(n): pass
PY
cat >setup <<'SH'
rm -rf out tmp && mkdir out tmp
echo '{"old": 1}' >out/e.json && echo '<old/>' >out/e.xml
SH
cat >check <<'SH'
python3 - <<'PY'
import json, os, sys, xml.etree.ElementTree as xml
e, x = json.load(open("out/e.json")), xml.parse("out/e.xml").getroot()
# without the XML of the tests' process, the tests count as failed
lost = [f["id"] for f in e.get("findings", [])] == ["test-no-xml"]
assert "old" in e or (e["schema"] == "rocsmith.test/1" and len(e["tests"]) == 20 and e["verdict"] == ("fail" if lost else "pass")), "torn evidence"
assert x.tag == "old" or len(x[0]) == 20, "torn XML"
PY
SH
export TMPDIR=$PWD/tmp
run=(test torch -q --python env --source in --output out/e.json --junit out/e.xml)
# shellcheck disable=SC2086
for errno in ENOSPC,EIO,EACCES KILL; do
	python3 "$faults" sweep $sample --errno $errno --setup 'sh setup' --check 'sh check' --tree out --keep in --ignore 'e.*' -- "$fault" "${run[@]}" &&
		echo "ok test torch with calls that fail ($errno)" || exit 1
done
python3 "$faults" kill --times "$kills" --setup 'sh setup' --check 'sh check' --tree out --keep in --ignore 'e.*' -- "$ROCSMITH" "${run[@]}" &&
	echo "ok test torch killed $kills times" || exit 1
