#!/usr/bin/env bash
# long: it waits for Slurm
# A matrix of 12 cells on a real Slurm with two nodes, of which one is lost in the middle: every cell ends right. Then jobs that are
# cancelled, two runs at once, a file that changes while jobs wait, and a step that fails.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP" || exit 1
rm -rf ./*
. "$top/tests/e2e/slurm.bash"
if ! why=$(slurm_can); then
	echo "skip a matrix on Slurm: $why"
	exit 0
fi
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,headers >log 2>&1; then
	echo "skip a matrix on Slurm: no SDK ($(tail -1 log))"
	exit 0
fi
fail() {
	echo "not ok $1"
	tail -n 12 "$slurm"/*.out log 2>/dev/null | sed 's/^/# /'
	exit 1
}
ok() { echo "ok $1"; }
# sockets have short paths
trap 'slurm_stop; rm -rf "$slurm"' EXIT
slurm=$(mktemp -d /tmp/rsXXXXXX)
slurm_start "$slurm" || fail 'munged, slurmctld and two slurmd start'
ok 'munged, slurmctld and two slurmd start without systemd'

# Compiles are short, as is what they read in place of HIP's headers: Slurm is what is tried here.
for n in 1 2 3; do
	mkdir -p "k$n/include/hip"
	cat >"k$n/include/hip/hip_runtime.h" <<-'END'
		#define __global__ __attribute__((global))
		struct dim3 { unsigned x, y, z; };
		typedef int hipError_t;
		typedef struct ihipStream_t *hipStream_t;
		extern "C" hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, __SIZE_TYPE__, hipStream_t);
	END
	printf 'name: k%s\nversion: 1.0\nincludes: [include]\nflags: [-nogpuinc]\n' $n >"k$n/rocsmith.yaml"
	printf '__global__ void twice(float *x) { *x *= %s; }\n' $n >"k$n/k.cu"
done
cat >m.yaml <<'END'
options: {sdk: debian}
axes:
  project: [k1, k2, k3]
  gpu: [gfx1100, gfx1201, gfx942, [gfx1030, gfx1200]]
request: {cpus: 1}
END

# ---- a node is lost while builds run on it ----
"$ROCSMITH" matrix run m.yaml --slurm >out 2>log &
run=$!
for _ in $(seq 300); do
	runs=$(squeue --noheader --states=R --nodelist=n2 --format=%j | grep -c build)
	[ "$runs" -gt 0 ] && break
	sleep 0.1
done
[ "$runs" -gt 0 ] || fail 'builds run on the second node'
before=$(ls m.out/cells/*/verify/result.json 2>/dev/null | wc -l)
slurm_kill n2
[ "$before" -lt 12 ] || fail 'the node is lost in the middle'
# two runs at once: the second finds all in the queue, and submits nothing
"$ROCSMITH" matrix run m.yaml --slurm --detach >out2 2>log2 || fail "a second run beside the first: $(cat log2)"
! grep -q Submitted log2 || fail "a second run submits nothing that is in the queue: $(cat log2)"
ok 'what is in the queue is not submitted again'
wait $run || fail 'the run ends well although a node was lost'
sinfo --noheader --Node --format='%N %T' | grep -q '^n2 down' || fail 'the node is down'
python3 - <<'END' || fail 'every cell ends right'
import glob, json, subprocess, os, zipfile
doc = json.loads(subprocess.run([os.environ["ROCSMITH"], "matrix", "report", "m.yaml", "--json"], stdout=subprocess.PIPE,
                                check=True).stdout)
assert (doc["schema"], doc["done"], doc["failed"], doc["missing"]) == ("rocsmith.matrix/1", 12, 0, 0), doc
for cell in doc["cells"]:
    assert [s["name"] for s in cell["steps"]] == ["plan", "build", "verify"], cell
    wheels = glob.glob(f"m.out/cells/{cell['name']}/wheels/*.whl")
    assert [os.path.basename(w) for w in wheels] == [cell["steps"][1]["result"]["wheel"]], cell
    assert zipfile.ZipFile(wheels[0]).testzip() is None
    gpus = {v.split("=")[0]: v.split("=")[1] for v in cell["values"]}["gpu"].split("+")
    text = b"".join(zipfile.ZipFile(wheels[0]).read(n) for n in zipfile.ZipFile(wheels[0]).namelist())
    for gpu in ("gfx1100", "gfx1201", "gfx942", "gfx1030", "gfx1200"):
        assert (b"amdgcn-amd-amdhsa--" + gpu.encode() in text) == (gpu in gpus), (cell["name"], gpu)
END
ok 'of 12 cells all end right although a node is lost in the middle'
"$ROCSMITH" matrix run m.yaml -o alone --cell 7 >out 2>log || fail 'a cell is built here'
cmp alone/cells/*/wheels/*.whl "m.out/cells/$(ls alone/cells)/wheels/"*.whl || fail 'a wheel of Slurm is that of a build here'
ok 'a wheel of Slurm is that of a build here, byte for byte'

# ---- resumed: only what failed or is missing; requests by what the others took ----
rm m.out/cells/k1-gfx942/build/result.json m.out/cells/k2-gfx942/verify/result.json
"$ROCSMITH" matrix run m.yaml --slurm >out 2>log || fail 'a run goes on'
[ "$(grep -c Submitted log)" = 3 ] && [ "$(grep Submitted log | grep -c '1 cell$')" = 3 ] || fail 'only what is missing is submitted'
ok 'only what is missing is submitted'
rm m.out/cells/k1-gfx942/build/result.json
"$ROCSMITH" matrix print m.yaml --as slurm >jobs 2>log && bash -n jobs || fail 'the jobs are printed'
grep -- '-build.0' jobs | grep -q -- '--array=2 .*--mem=2G --time=60 ' || fail "a request by what other cells took: $(cat jobs)"
sed -i "s|exec rocsmith|exec $ROCSMITH|" jobs
bash jobs >out 2>log || fail 'the printed script submits'
for _ in $(seq 100); do
	[ -z "$(squeue --noheader --me)" ] && break
	sleep 0.3
done
"$ROCSMITH" matrix report m.yaml >out 2>log || fail 'the printed script does what the run does'
ok 'the printed script does what is missing, with memory and time by what other cells took'

# ---- cancelled jobs; a file with other cells than those that wait ----
rm m.out/cells/*/build/result.json
scontrol update PartitionName=all State=DOWN
"$ROCSMITH" matrix run m.yaml --slurm --detach >out 2>log || fail 'a run that does not wait'
scancel --me --name="$(squeue --noheader --me --format=%j | grep -m1 -e -build.0)" || fail 'builds are cancelled'
scontrol update PartitionName=all State=UP
for _ in $(seq 100); do
	[ -z "$(squeue --noheader --me)" ] && break
	sleep 0.3
done
status=0
"$ROCSMITH" matrix report m.yaml >out 2>log || status=$?
[ $status = 1 ] && grep -q '^0 of 12 cells done, 0 failed, 12 missing$' out || fail 'cancelled jobs have no result'
ok 'cancelled jobs are missing, and those that needed them are no more in the queue'
scontrol update PartitionName=all State=DOWN
"$ROCSMITH" matrix run m.yaml --slurm --detach >out 2>log || fail 'a run that does not wait'
sed -i 's/gfx1100, gfx1201/gfx1201, gfx1100/' m.yaml
scontrol update PartitionName=all State=UP
for _ in $(seq 100); do
	[ -z "$(squeue --noheader --me)" ] && break
	sleep 0.3
done
grep -q 'has other cells than when this job was submitted' m.out/slurm-*.log || fail 'a file with other cells is told'
! ls m.out/cells/*/build/result.json 2>/dev/null || fail 'jobs of other cells do nothing'
ok 'jobs of a file that has other cells by now do nothing'

# ---- a build that fails ----
echo '#error on purpose' >>k3/k.cu
rm -rf m.out
sed -i 's/gfx942, .*/gfx942]/; s/\[k1, k2, k3\]/[k1, k3]/; s/gfx1201, gfx1100, //' m.yaml
status=0
"$ROCSMITH" matrix run m.yaml --slurm >out 2>log || status=$?
[ $status = 5 ] || fail "a cell that fails is status 5, not $status"
grep -q '^k1-gfx942  *done' out && grep -q '^k3-gfx942  *failed .*on purpose' out || fail "the error is reported: $(cat out)"
ok 'a cell that fails is reported with its error, and the others are done'
