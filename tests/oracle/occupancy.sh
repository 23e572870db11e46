#!/usr/bin/env bash
# occupancy.sh ROCSMITH SDK [GPU...]: what `rocsmith inspect --kernels --json` says of kernels, beside what that SDK's
# clang says itself when it compiles them (-Rpass-analysis=kernel-resource-usage).
set -eu
rocsmith=$1 sdk=$2
shift 2
[ $# -gt 0 ] || set -- gfx906 gfx90a gfx1010 gfx1030 gfx1100 gfx1102 gfx1201
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/k.cl" <<'CL'
#define KERNEL(N) kernel __attribute__((reqd_work_group_size(256, 1, 1))) \
void k##N(global float *out, global const float *in, int n) { \
	float v[N]; \
	_Pragma("unroll") for (int i = 0; i < N; i++) v[i] = in[i * n]; \
	for (int k = 0; k < n; k++) \
		_Pragma("unroll") for (int i = 0; i < N; i++) v[i] = v[i] * v[(i + 1) % N] + in[k]; \
	_Pragma("unroll") for (int i = 0; i < N; i++) out[i] = v[i]; \
}
KERNEL(1) KERNEL(20) KERNEL(30) KERNEL(60) KERNEL(75) KERNEL(110) KERNEL(140) KERNEL(300)
CL
for gpu; do
	"$rocsmith" sdk run --sdk "$sdk" -- clang -x cl -cl-std=CL2.0 -O2 -nogpulib -target amdgcn-amd-amdhsa \
		-mcpu="$gpu" -Rpass-analysis=kernel-resource-usage "$work/k.cl" -o "$work/k.o" 2>"$work/said"
	"$rocsmith" inspect --kernels --json "$work/k.o" >"$work/json"
	python3 - "$gpu" "$work/said" "$work/json" <<'PY'
import json, re, sys
gpu, said, ours = sys.argv[1:]
theirs, name = {}, ""
for line in open(said):
    m = re.search(r"remark:\s+([A-Z][^:]*): (\S+)", line)
    if m and m[1] == "Function Name":
        name = m[2]
    elif m:
        theirs.setdefault(name, {})[re.sub(r" *\[.*", "", m[1])] = m[2]
kernels = json.load(open(ours))["files"][0]["objects"][0]["resources"]
assert len(theirs) == len(kernels) == 8, (gpu, len(theirs), len(kernels))
for k in kernels:
    t = theirs[k["name"]]
    # What clang says of gfx90a's registers is apart for both kinds, and what the metadata has of SGPRs is with those
    # that the hardware keeps.
    vgprs = int(t["VGPRs"]) if not int(t.get("AGPRs", 0)) else k["vgprs"]
    pairs = {"vgprs": vgprs, "vgpr_spills": int(t["VGPRs Spill"]), "sgpr_spills": int(t["SGPRs Spill"]),
        "scratch": int(t["ScratchSize"]), "lds": int(t["LDS Size"]), "waves": int(t["Occupancy"])}
    for key, want in pairs.items():
        if k[key] != want:
            sys.exit(f"not ok {gpu} {k['name']}: {key} {k[key]}, clang says {want}")
print(f"ok kernels for {gpu}: registers, spills, scratch, LDS and waves are those that clang names")
PY
done
