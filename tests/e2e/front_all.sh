#!/usr/bin/env bash
# slow: hundreds of compiles
# Shared front ends proved for sources of many kinds (tests/corpus, as CUDA's nvcc gets them, and hipCUB), each object against
# the direct pass; a build that shares is killed, and its I/O calls fail. ROCSMITH_FRONT_GPUS, ROCSMITH_FRONT_SOURCES (a pattern),
# ROCSMITH_KILLS and ROCSMITH_FAULT_POINTS say how much.
set -eu

top=$(dirname "$(realpath "$0")")
gpus=${ROCSMITH_FRONT_GPUS:-gfx906,gfx90a,gfx942,gfx1030,gfx1031,gfx1100,gfx1101,gfx1201}
kills=${ROCSMITH_KILLS:-20} points=${ROCSMITH_FAULT_POINTS:-20}
cd "$E2E_TMP"
no() {
	echo "not ok $*"
	exit 1
}
if ! command -v bwrap >/dev/null && [ "$(id -u)" != 0 ]; then
	echo 'skip front: neither bwrap nor root'
	exit 0
fi
"$ROCSMITH" sdk install debian --suite sid --components compiler,hipcub -q >/dev/null 2>>log

# ---- all objects against direct ones ----
"$ROCSMITH" sdk shims "$PWD/rocm" --cuda --gpu "$gpus" --log "$PWD/log.d" --share-frontend=prove >/dev/null 2>>log
cat >cub.hip <<'CU'
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>
extern "C" hipError_t sum(void *t, size_t *n, const float *in, float *out, int k, hipStream_t s)
{ return hipcub::DeviceReduce::Sum(t, *n, in, out, k, s); }
CU
cp cub.hip cub.cu
for source in "$top"/../corpus/${ROCSMITH_FRONT_SOURCES:-*.cu} cub.cu; do
	rocm/cuda/bin/nvcc -O3 -c "$source" -o a.o >>log 2>&1 || echo "# $(basename "$source") does not compile here"
	tail -n 1 log.d/cc.jsonl >>runs
done
python3 - <<'PY' || no 'objects differ, or nothing was shared'
import collections, json
how, files = collections.Counter(), set()
for line in open("runs"):
    run = json.loads(line)
    for p in run.get("passes", []):
        if p["gpu"]:
            how[p["front"]] += 1
            files.add(run["input"])
print(f"# {len(files)} sources, objects: {dict(how)}")
assert how["shared"] > len(files) / 2 and not how["differs"]
PY
echo 'ok every object is the direct one'

# ---- kills and failing I/O ----
mkdir p
printf 'name: tiny\nversion: 1.0\n' >p/rocsmith.yaml
cat >p/a.cu <<'CU'
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
extern "C" int tiny_run(int *p) { twice<<<1, 1>>>(p); return 0; }
CU
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
fast=$(mktemp -d /dev/shm/rocsmith-e2e.XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$fast"' EXIT
build=(build p --gpu gfx1100,gfx1101 --share-frontend=auto -o "$fast/o" --build-dir "$fast/b")
python3 "$top/faults.py" kill --times "$kills" --setup "rm -rf '$fast/o' '$fast/b'" --tree "$fast/o" --keep p -- "$ROCSMITH" "${build[@]}"
echo "ok $kills kills of a build that shares: it goes on, and the wheel is the same"
if [ -x "$fault" ]; then
	python3 "$top/faults.py" sweep --sample "$points" --setup "rm -rf '$fast/o' '$fast/b'" --tree "$fast/o" --keep p -- \
		"$fault" "${build[@]}"
	echo 'ok a failing I/O call is told, and the next build is whole'
else
	echo 'skip failing I/O: rocsmith-fault is not built'
fi
