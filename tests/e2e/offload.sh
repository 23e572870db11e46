#!/usr/bin/env bash
# Objects of clang's new offload driver, made by a real clang: code that is not linked yet, in an object, a static library and what
# `ld -r` joins, against llvm-objdump and clang-offload-packager; slim leaves it as it is, and says why.
set -eu
. "$(dirname "$0")/scratch.bash"
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,hiprand,headers >log 2>&1; then
	echo "skip offload: no SDK: $(grep -m1 error log)"
	exit 0
fi
"$ROCSMITH" sdk shims sdk --sdk debian-sid --gpu gfx1201,gfx90a >env.sh 2>log || no 'shims'
bin=$PWD/sdk/llvm/bin
for name in one two; do
	printf '#include <hip/hip_runtime.h>\n__global__ void %s(int *p) { *p = 1; }\n' $name >$name.hip
	"$bin/clang++" -x hip --offload-new-driver -fgpu-rdc --offload-arch=gfx1201 --offload-arch=gfx90a -O1 -c $name.hip -o $name.o >log 2>&1 ||
		no "clang makes $name.o"
done
ar rcs lib.a one.o two.o
ld -r -o joined.o one.o two.o
for file in one.o lib.a joined.o; do
	"$ROCSMITH" inspect --json $file >ours.json 2>log || no "inspect $file"
	"$bin/llvm-objdump" --offloading $file >theirs 2>log || no "llvm-objdump $file"
	python3 - <<-'PY' || no "$file: the images that llvm-objdump sees"
		import json, re
		(file,) = json.load(open("ours.json"))["files"]
		ours = [o["target"] for o in file["objects"]]
		theirs = re.findall(r"^arch +(\S+)$", open("theirs").read(), re.M)
		assert ours == theirs and set(ours) == {"gfx1201", "gfx90a"}, (ours, theirs)
		assert {o["encoding"] for o in file["objects"]} == {"offload"} and len({o["bundle"] for o in file["objects"]}) * 2 == len(ours)
	PY
done
ok 'objects, a static library and joined objects have the images that llvm-objdump sees'
"$ROCSMITH" inspect -q --extract gfx90a -o taken one.o >log 2>&1 || no 'an image is taken out'
objcopy -O binary --only-section=.llvm.offloading --set-section-flags .llvm.offloading=alloc one.o section
"$bin/clang-offload-packager" section --image=file=theirs.bc,triple=amdgcn-amd-amdhsa,arch=gfx90a >log 2>&1 || no 'clang-offload-packager'
cmp theirs.bc taken/one.o.0.gfx90a.bc || no 'the image is the one that clang-offload-packager takes out'
ok 'an image is taken out as by clang-offload-packager'
rc=0
"$ROCSMITH" slim --gpu gfx1201 -o slim.o one.o >log 2>&1 || rc=$?
[ $rc = 1 ] && grep -q 'no bundles of linked device code' log && [ ! -e slim.o ] || no 'slim refuses an object'
mkdir in
cp one.o lib.a in/
rc=0
"$ROCSMITH" slim --gpu gfx1201 -o out in >log 2>&1 || rc=$?
[ $rc = 1 ] && [ ! -e out ] || no 'slim of a folder of objects has nothing to do'
# linked, it is ordinary device code
"$bin/clang++" --hip-link --offload-new-driver -fgpu-rdc --offload-arch=gfx1201 --offload-arch=gfx90a -shared one.o two.o -o libx.so >log 2>&1 || no 'clang links them'
"$ROCSMITH" slim -q --gpu gfx1201 -o libslim.so libx.so >log 2>&1 || no 'slim of what was linked'
"$ROCSMITH" inspect --json libslim.so | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["served"] == ["gfx1201"] and sum(o["kernels"] for o in d["files"][0]["objects"] if o["target"] == "gfx1201") == 2, d' || no 'what was linked serves the GPU'
ok 'slim leaves what is not linked yet, and makes what is linked smaller'
