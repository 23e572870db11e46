#!/usr/bin/env bash
# long
# `build` is killed at random moments, and its I/O calls fail one by one: the sources stay as they are,
# nothing is torn, and the next build gives the wheel that an undisturbed one gives. ROCSMITH_KILLS says
# how many kills, ROCSMITH_FAULT_POINTS how many of the calls fail.
set -eu

top=$(dirname "$(realpath "$0")")
kills=${ROCSMITH_KILLS:-3} points=${ROCSMITH_FAULT_POINTS:-3}
cd "$E2E_TMP"
if ! command -v bwrap >/dev/null && [ "$(id -u)" != 0 ]; then
	echo 'skip build faults: neither bwrap nor root'
	exit 0
fi
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault

mkdir -p p
printf 'name: tiny\nversion: 1.0\n' >p/rocsmith.yaml
cat >p/a.cu <<'CU'
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
extern "C" int tiny_run(int *p) { twice<<<1, 1>>>(p); return 0; }
CU
# Memory is quicker than a disk, and what is tested are kills, not power cuts.
fast=$(mktemp -d /dev/shm/rocsmith-e2e.XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$fast"' EXIT
# The SDK is there before the first kill.
"$ROCSMITH" build p --gpu gfx1201 -o "$fast/first" --build-dir "$fast/first-b" >/dev/null 2>log

python3 "$top/faults.py" kill --times "$kills" --setup "rm -rf '$fast/o' '$fast/b'" \
	--tree "$fast/o" --keep p -- \
	"$ROCSMITH" build p --gpu gfx1201 -o "$fast/o" --build-dir "$fast/b"
echo "ok $kills kills of a build: it goes on, and the wheel is the same"
if [ -x "$fault" ]; then
	python3 "$top/faults.py" sweep --sample "$points" --setup "rm -rf '$fast/o' '$fast/b'" \
		--tree "$fast/o" --keep p -- \
		"$fault" build p --gpu gfx1201 -o "$fast/o" --build-dir "$fast/b"
	echo 'ok a failing I/O call is told, and the next build is whole'
else
	echo 'skip failing I/O: rocsmith-fault is not built'
fi
