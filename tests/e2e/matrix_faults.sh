#!/usr/bin/env bash
# `matrix run` with I/O calls failing once, dying at them, and killed at random moments, together with its children: afterwards
# every result is whole, and the same command comes to the end of an undisturbed one. ROCSMITH_FAULT_POINTS says at how many calls
# (0 = each one), and ROCSMITH_KILLS how many random kills.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
faults=$top/tests/e2e/faults.py
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
points=${ROCSMITH_FAULT_POINTS:-3}
kills=${ROCSMITH_KILLS:-3}
[ "$points" = 0 ] && sample= || sample="--sample $points"
cd "$E2E_TMP"
rm -rf ./*
if [ ! -x "$fault" ] || ! "$ROCSMITH" sdk install debian --suite sid --components compiler,headers >log 2>&1; then
	echo 'skip a matrix with failing calls: no rocsmith-fault, or no SDK'
	exit 0
fi
mkdir k
cat >k/k.cu <<'END'
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
extern "C" void launch(float *x) { twice<<<1, 64>>>(x); }
END
printf 'options: {sdk: debian, project: k}\naxes: {gpu: [gfx1100, gfx1201]}\n' >m.yaml
"$ROCSMITH" matrix run m.yaml >log 2>&1
# A result is whole; one that says done has its wheel. Errors of a disturbed child are results, too.
cat >whole.py <<'END'
import glob, json, os, zipfile
for path in glob.glob("m.out/cells/*/*/result.json"):
    result = json.load(open(path))
    assert len(result["key"]) == 64 and (result["status"] == 0) == (result["error"] == ""), path
    if result["wheel"]:
        assert zipfile.ZipFile(f"{path.split('/build/')[0]}/wheels/{result['wheel']}").testzip() is None
for path in glob.glob("m.out/cells/*/plan/plan.json"):
    assert json.load(open(path))["schema"] == "rocsmith.plan/1"
if os.path.exists("m.out/matrix.json"):
    json.load(open("m.out/matrix.json"))
END
# what was compiled stays, so that runs are short; times and logs differ, wheels do not
setup='rm -rf m.out/cells/*/*/result.json m.out/cells/*/plan m.out/cells/*/wheels; cp seal m.out/matrix.json'
cp m.out/matrix.json seal
# shellcheck disable=SC2086
disturb() { # WORD...: a command
	python3 "$faults" sweep $sample --errno ENOSPC,EIO,EACCES --setup "$setup" --check 'python3 whole.py' --tree m.out --keep k \
		--ignore result.json --ignore 'log' --ignore 'build' -- "$fault" "$@"
	echo 'ok a matrix, with failing calls'
	python3 "$faults" sweep $sample --errno KILL --setup "$setup" --check 'python3 whole.py' --tree m.out --keep k \
		--ignore result.json --ignore 'log' --ignore 'build' -- "$fault" "$@"
	echo 'ok a matrix, dying at calls'
	python3 "$faults" kill --times "$kills" --setup "$setup" --check 'python3 whole.py' --tree m.out --keep k \
		--ignore result.json --ignore 'log' --ignore 'build' -- "$ROCSMITH" "$@"
	echo "ok a matrix, killed $kills times"
}
disturb matrix run m.yaml -j 2
