#!/usr/bin/env bash
# Objects of clang's two offload drivers, made by a real clang: code that is not linked yet, in an object, a static library and what
# `ld -r` joins, against llvm-objdump, clang-offload-packager, clang-offload-bundler and clang-linker-wrapper; made smaller by slim.
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
link() { # OUT OBJECT...: by clang-linker-wrapper
	"$bin/clang++" --hip-link --offload-new-driver -fgpu-rdc --offload-arch=gfx1201 --offload-arch=gfx90a -shared "${@:2}" -o "$1" >log 2>&1
}
code() { # FILE GPU: hashes of its code objects
	"$ROCSMITH" inspect --hash --json "$1" | python3 -c '
import json, sys
print(sorted(o["sha256"] for f in json.load(sys.stdin)["files"] for o in f["objects"] if o["target"] == sys.argv[1]))' "$2"
}
for file in one two joined; do
	"$ROCSMITH" slim --gpu gfx1201 -o slim-$file.o $file.o >log 2>&1 || no "slim of $file.o"
	"$bin/llvm-objdump" --offloading slim-$file.o >theirs 2>log || no "llvm-objdump of what slim made of $file.o"
	[ "$(grep -c '^arch *gfx1201$' theirs)" = "$([ $file = joined ] && echo 2 || echo 1)" ] && ! grep -q gfx90a theirs || no "the images that slim left: $(cat theirs)"
	for section in .text .rodata .eh_frame .symtab .rela.text llvm_offload_entries; do
		rm -f before after
		objcopy -O binary --only-section=$section --set-section-flags $section=alloc $file.o before 2>/dev/null || true
		objcopy -O binary --only-section=$section --set-section-flags $section=alloc slim-$file.o after 2>/dev/null || true
		cmp before after || no "slim changed $section of $file.o"
	done
	readelf -a slim-$file.o >/dev/null 2>log && [ ! -s log ] || no "readelf of what slim made of $file.o"
done
link libfull.so one.o two.o || no 'clang-linker-wrapper links the objects'
link libless.so slim-one.o slim-two.o || no 'clang-linker-wrapper links what slim left'
[ "$(code libless.so gfx1201)" = "$(code libfull.so gfx1201)" ] && [ "$(code libless.so gfx90a)" = '[]' ] || no 'the linked code is another one'
ok 'slim takes images out of objects, and clang-linker-wrapper makes the same code of the others'
mkdir in
cp one.o lib.a in/
"$ROCSMITH" slim -q --gpu gfx1201 -o out in >log 2>&1 || no 'slim of a folder'
cmp out/one.o slim-one.o && cmp out/lib.a lib.a || no 'an object of a folder is slimmed, and a static library is not opened'
rc=0
cp one.o place.o
"$ROCSMITH" slim --gpu gfx1201 --in-place place.o >log 2>&1 || rc=$?
[ $rc != 0 ] && grep -q 'not linked yet cannot have holes' log && cmp place.o one.o || no 'slim in place refuses an object'
for at in 8 16 40 56; do # a binary whose numbers are wrong
	python3 - one.o odd.o $at <<-'PY'
		import sys
		data = bytearray(open(sys.argv[1], "rb").read())
		at = data.index(b"\x10\xff\x10\xad") + int(sys.argv[3])
		data[at:at + 8] = b"\xff" * 8
		open(sys.argv[2], "wb").write(data)
	PY
	rc=0
	"$ROCSMITH" slim --gpu gfx1201 -o odd-slim.o odd.o >log 2>&1 || rc=$?
	[ $rc != 0 ] && [ $rc -lt 100 ] && [ ! -e odd-slim.o ] || no "a damaged object: $rc"
done
ok 'slim in place, and of damaged objects, is refused'

# ---- the old driver ----
for name in one two; do
	"$bin/clang++" -x hip --no-offload-new-driver -fgpu-rdc --offload-arch=gfx1201 --offload-arch=gfx90a -O1 -c $name.hip -o old-$name.o >log 2>&1 ||
		no "clang makes old-$name.o"
done
ar rcs old.a old-one.o old-two.o
"$ROCSMITH" inspect --json old.a >ours.json 2>log || no 'inspect old.a'
python3 - <<'PY' || no 'the images of the old driver'
import json
(file,) = json.load(open("ours.json"))["files"]
assert sorted((o["bundle"], o["target"], o["encoding"]) for o in file["objects"]) == [
    (b, t, "unlinked") for b in (0, 1) for t in ("gfx1201", "gfx90a")], file
PY
"$ROCSMITH" inspect -q --extract gfx90a -o old-taken old-one.o >log 2>&1 || no 'an image of the old driver is taken out'
"$bin/clang-offload-bundler" -unbundle -type=o -input=old-one.o -targets=hip-amdgcn-amd-amdhsa--gfx90a -output=theirs.bc >log 2>&1 || no 'clang-offload-bundler'
cmp theirs.bc old-taken/old-one.o.0.gfx90a.bc || no 'the image is the one that clang-offload-bundler takes out'
ok 'objects of the old driver have the images that clang-offload-bundler takes out'
ar rcs mixed.a old-one.o two.o
mkdir both
cp old-one.o two.o both/
for what in mixed.a both; do
	"$ROCSMITH" inspect $what >log 2>&1 || no "inspect $what"
	grep -q 'offload-drivers-mixed' log || no "$what has objects of both drivers: $(cat log)"
done
"$ROCSMITH" inspect old.a >log 2>&1 && ! grep -q offload-drivers-mixed log || no 'objects of one driver'
ok 'objects of both drivers together are told'
# linked, it is ordinary device code
"$ROCSMITH" slim -q --gpu gfx1201 -o libslim.so libfull.so >log 2>&1 || no 'slim of what was linked'
"$ROCSMITH" inspect --json libslim.so | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["served"] == ["gfx1201"] and sum(o["kernels"] for o in d["files"][0]["objects"] if o["target"] == "gfx1201") == 2, d' || no 'what was linked serves the GPU'
ok 'slim makes what is linked smaller'
