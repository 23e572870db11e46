#!/usr/bin/env bash
# One front end for several GPUs, with the real compiler: the same bytes as direct passes, both for our own builds and
# through the shims; what must not be shared; a GPU more; front ends that were tampered with. front_all.sh has kills.
set -eu

cd "$E2E_TMP"
ok() { echo "ok $*"; }
no() {
	echo "not ok $*"
	exit 1
}
if ! command -v bwrap >/dev/null && [ "$(id -u)" != 0 ]; then
	echo 'skip front: neither bwrap nor root'
	exit 0
fi
rocsmith() { "$ROCSMITH" "$@" 2>>log; }
# The device passes that ran, "gfx1100:made gfx1101:shared", out of build's JSON.
fronts() {
	python3 -c '
import json, sys
print(" ".join(sorted(s["gpu"] + ":" + s["front"] for s in json.load(open(sys.argv[1]))["steps"]
    if s["kind"] == "device" and s["done"] and not s["cached"])))' "$1"
}
made() { fronts "$1" | tr ' ' '\n' | grep -c ':made$' || true; }
stored() { find "$1/obj" -name '*.ll' | wc -l; }

mkdir -p p
printf 'name: tiny\nversion: 1.0\n' >p/rocsmith.yaml
cat >p/a.cu <<'CU'
#include <cuda_runtime.h>
#include <stdio.h>
#include <assert.h>
__device__ int shared_by_all[4];
__global__ void reduce(const float *p, float *q, int n)
{
	float v = threadIdx.x < n ? p[threadIdx.x] : 0, unused;
	for (int o = warpSize / 2; o > 0; o /= 2)
		v += __shfl_down_sync(~0ull, v, o);
	assert(v == v);
	if (threadIdx.x % warpSize == 0)
		atomicAdd(q, v * FACTOR);
	if (n < 0)
		printf("%d of %d\n", n, shared_by_all[n & 3]);
}
extern "C" int tiny_run(float *p) { reduce<<<1, 1>>>(p, p, 1); return 0; }
CU
echo 'flags: [-Wall, -DFACTOR=2]' >>p/rocsmith.yaml
gpus=gfx1100,gfx1101,gfx90a

# ---- our own build ----
rocsmith build p --gpu $gpus --share-frontend=off -o off --build-dir "$PWD/b-off" --json >off.json
rocsmith build p --gpu $gpus --share-frontend=auto -o auto --build-dir "$PWD/b" --json >auto.json
[ "$(fronts off.json)" = 'gfx1100: gfx1101: gfx90a:' ] || no "without sharing: $(fronts off.json)"
[ "$(made auto.json)" = 2 ] && [ "$(fronts auto.json | grep -c shared)" = 1 ] ||
	no "front ends of three GPUs: $(fronts auto.json)"
cmp off/*.whl auto/*.whl || no 'the wheel differs'
ok 'two front ends serve three GPUs, and the wheel is the same byte by byte'
warned() {
	python3 -c '
import json, sys
print(sorted((w["path"], w["message"]) for w in json.load(open(sys.argv[1]))["warnings"]))' "$1"
}
[ "$(warned off.json)" = "$(warned auto.json)" ] && [ "$(warned auto.json)" != '[]' ] ||
	no "warnings: $(warned off.json) and $(warned auto.json)"
ok "the compiler's warnings are the same, each once"
rocsmith build p --gpu $gpus --share-frontend=auto -o auto --build-dir "$PWD/b" --json >again.json
[ -z "$(fronts again.json)" ] || no "nothing changed, but these ran: $(fronts again.json)"
had=$(stored b)
rocsmith build p --gpu $gpus,gfx1102 --share-frontend=auto -o more --build-dir "$PWD/b" --json >more.json
[ "$(fronts more.json)" = gfx1102:shared ] && [ "$(stored b)" = "$had" ] ||
	no "a GPU more: $(fronts more.json), $had front ends became $(stored b)"
ok 'a GPU more costs no front end'
rocsmith build p --gpu gfx1100 --share-frontend=off -o mode --build-dir "$PWD/b" --json >mode.json
[ "$(fronts mode.json)" = 'gfx1100:' ] || no "another mode ran: $(fronts mode.json)"
ok 'objects of one mode are not those of another'

# ---- front ends that were tampered with: damaged ones are made again, false ones are found by proving ----
cat >tamper.py <<'PY'
import glob, hashlib, sys
changed = 0
for name in glob.glob(sys.argv[1] + "/obj/*.front/*.ll"):
    head, text = open(name).read().split("\n", 1)
    new = text.replace(", 2.000000e+00", ", 3.000000e+00")
    changed += new != text
    if sys.argv[2] == "false":
        words = head.split(" ")
        words[4] = hashlib.sha256(new.encode()).hexdigest()
        head = " ".join(words)
    open(name, "w").write(head + "\n" + new)
assert changed, "the constant is not in the IR"
PY
gpus=gfx1100,gfx1101
rocsmith build p --gpu $gpus --share-frontend=off -o two --build-dir "$PWD/b-off" --json >two.json
python3 tamper.py b damaged
rocsmith build p --gpu $gpus --share-frontend=prove -o prove --build-dir "$PWD/b" --json >prove.json
cmp two/*.whl prove/*.whl || no 'the wheel differs after a damage'
[ "$(made prove.json)" = 1 ] || no "damaged front ends were used: $(fronts prove.json)"
ok 'damaged front ends are made again; all objects are proved'
python3 tamper.py b false
rm -f b/stamp/*.co
status=0
rocsmith build p --gpu $gpus --share-frontend=prove -o false --build-dir "$PWD/b" --json >false.json || status=$?
[ $status = 1 ] || no "a false front end gave status $status"
python3 - <<'PY' || no 'the findings'
import json
found = [f for f in json.load(open("false.json"))["findings"] if f["id"] == "front-end-differs"]
assert found and all(f["severity"] == "error" for f in found), found
assert "front-end-differs" in {f["id"] for f in found}
PY
[ "$(find b/obj -name '*.co.shared' | wc -l)" -ge 1 ] || no 'the objects were not kept'
cmp two/*.whl false/*.whl || no 'the wheel has a false object'
ok 'a false front end is found, both objects are kept, the wheel has the direct one'

# ---- what clang refuses, is refused ----
mkdir dot && cat >dot/a.cu <<'CU'
__global__ void k(int *p) { p[0] = __builtin_amdgcn_sdot4(p[1], p[2], p[3], false); }
extern "C" int run(int *p) { k<<<1, 1>>>(p); return 0; }
CU
for how in off auto; do
	status=0
	"$ROCSMITH" build dot --gpu gfx1030,gfx1100 --share-frontend=$how -o no --build-dir "$PWD/dot-$how" \
		>/dev/null 2>err-$how.txt || status=$?
	[ $status = 5 ] || no "sdot4 for gfx1100, $how: $status"
	grep '^error' err-$how.txt >said-$how.txt
done
cmp said-off.txt said-auto.txt && grep -q 'needs target feature' said-auto.txt ||
	no "not the same error: $(cat said-off.txt said-auto.txt)"
ok 'a builtin that the second GPU lacks is the same error as without sharing'

# ---- through the shims ----
for how in off auto prove; do
	rocsmith sdk shims "$PWD/rocm-$how" --gpu gfx1030,gfx1031 --log "$PWD/log-$how" --share-frontend=$how >/dev/null
done
cp dot/a.cu dot.hip
sed 's/cuda_runtime/hip\/hip_runtime/; s/__shfl_down_sync(~0ull, /__shfl_down(/' p/a.cu >a.hip
two='--offload-arch=gfx1030 --offload-arch=gfx1031'
passes() {
	tail -n 1 "$1/cc.jsonl" | python3 -c '
import json, sys
print(" ".join(p["front"] for p in json.load(sys.stdin).get("passes", []) if p["gpu"]))'
}
for how in off auto; do
	rocm-$how/bin/hipcc -O2 -DFACTOR=2 -cuid=1 -c a.hip $two -o $how.o 2>>log
done
cmp off.o auto.o || no "hipcc's object differs"
[ "$(passes log-auto)" = 'made cloned' ] || no "passes of hipcc: $(passes log-auto)"
[ -z "$(find . -name '*.passes')" ] || no 'passes were left'
ok 'hipcc shares a front end and the code of gfx1030, and its object is the same'
echo '__attribute__((global)) void k(int *p) { *p = 1; }' >t.hip # without HIP's headers, which take most of the time
quick() {
	rocm-auto/bin/hipcc -nogpuinc -O2 -cuid=1 -c t.hip $two -o t.o "$@" 2>>log
	passes log-auto
}
[ "$(quick)" = 'made cloned' ] || no "a quick one: $(passes log-auto)"
[ -z "$(quick -g)" ] || no "with -g: $(passes log-auto)"
echo '__attribute__((target("dot1-insts"))) __attribute__((device)) int own() { return 1; }' >own.h
[ "$(quick -include "$PWD/own.h")" = 'direct direct' ] || no "with a target attribute: $(passes log-auto)"
# the IR lacks settings of the back end
[ "$(quick -ffast-math)" = 'direct direct' ] || no "with -ffast-math: $(passes log-auto)"
ok 'debug information, features of functions and fast arithmetic take direct passes'

# ---- GPUs whose features and headers differ, and one that differs in what is used ----
gpus='--offload-arch=gfx90a --offload-arch=gfx1030 --offload-arch=gfx1201'
rocm-prove/bin/hipcc -O2 -DFACTOR=2 -cuid=1 -c a.hip $gpus -o w.o 2>>log
[ "$(passes log-prove)" = 'made shared made' ] || no "GPUs of several kinds: $(passes log-prove)"
sed 's/atomicAdd(q, v \* FACTOR)/*q = v * FACTOR + clock64()/' a.hip >clock.hip
rocm-prove/bin/hipcc -O2 -DFACTOR=2 -cuid=1 -c clock.hip ${gpus#*90a} -o w.o 2>>log
[ "$(passes log-prove)" = 'made made' ] || no "GPUs with other clocks: $(passes log-prove)"
ok 'GPUs of several kinds share a front end, but not one whose header differs where it is used; all objects are proved'

# ---- another build system: a setup.py that is its own back end ----
mkdir -p f/src && cp dot/a.cu f/src/k.cu && sed -i 's/sdot4(p\[1\], p\[2\], p\[3\], false)/workgroup_id_x()/' f/src/k.cu
printf '[build-system]\nrequires = []\nbuild-backend = "setup"\nbackend-path = ["."]\n[project]\nname = "f"\nversion = "1"\n' >f/pyproject.toml
cat >f/setup.py <<'PY'
import base64, hashlib, os, subprocess, zipfile

def build_wheel(out, settings=None, meta=None):
    subprocess.check_call(["nvcc", "-O2", "-Xcompiler", "-fPIC", "-c", "src/k.cu", "-o", "k.o"])
    subprocess.check_call(["nvcc", "-shared", "k.o", "-o", "libf.so"])
    tag = "py3-none-linux_" + os.uname().machine
    files = {"libf.so": open("libf.so", "rb").read(), "f-1.dist-info/METADATA": b"Metadata-Version: 2.1\nName: f\nVersion: 1\n",
        "f-1.dist-info/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()}
    rows = ""
    with zipfile.ZipFile(os.path.join(out, f"f-1-{tag}.whl"), "w") as z:
        for path, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            rows += f"{path},sha256={digest},{len(data)}\n"
            z.writestr(path, data)
        z.writestr("f-1.dist-info/RECORD", rows + "f-1.dist-info/RECORD,,\n")
    return f"f-1-{tag}.whl"
PY
for how in off auto; do
	rm -rf b-f
	rocsmith build f --gpu gfx1030,gfx1031 --share-frontend=$how -o f-$how --build-dir "$PWD/b-f" >/dev/null ||
		no "the build of another system, $how: $(tail -3 log)"
done
python3 - f-off/*.whl f-auto/*.whl <<'PY' || no 'its library differs'
import sys, zipfile
one, two = ([(n, z.read(n)) for n in z.namelist() if n.endswith(".so")] for z in map(zipfile.ZipFile, sys.argv[1:]))
assert one == two and len(one) == 1
PY
grep -q '"front":"cloned"' b-f/log/cc.jsonl || no "nothing was shared: $(cat b-f/log/cc.jsonl)"
ok 'the build of another build system shares front ends, and its library is the same'
