#!/usr/bin/env bash
# slow: it installs an SDK of its own, and downloads a compiler
# Objects of clang 23, whose offload binaries have an image for each GPU, against its own llvm-objdump and clang-linker-wrapper; made
# smaller by slim. HIP's headers are not for that clang yet, so the source declares what it needs.
set -eu
. "$(dirname "$0")/scratch.bash"
mkdir -p home
cp -a "$ROCSMITH_HOME/cache" home/ 2>/dev/null || true
export ROCSMITH_HOME=$PWD/home
"$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1 || {
	echo "skip offload of clang 23: no SDK: $(grep -m1 error log)"
	exit 0
}
root=$("$ROCSMITH" sdk info debian-sid --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["paths"]["root"])')
(mkdir debs && cd debs && APT_CONFIG=$ROCSMITH_HOME/cache/sdk/debian-sid/apt.conf apt-get download clang-23 clang-tools-23 libclang-common-23-dev \
	libclang-cpp23 libclang1-23 libllvm23 lld-23 llvm-23 llvm-23-linker-tools) >log 2>&1 || {
	echo 'skip offload of clang 23: the archive has none'
	exit 0
}
for deb in debs/*.deb; do dpkg-deb -x "$deb" "$root"; done
ln -sfn ../../usr/lib/llvm-23 "$root/opt/rocm/llvm"
ln -sfn ../../../../llvm-21/lib/clang/21/amdgcn "$root/usr/lib/llvm-23/lib/clang/23/amdgcn"
"$ROCSMITH" sdk shims sdk --sdk debian-sid --gpu gfx1201,gfx90a >env.sh 2>log || no 'shims'
bin=$PWD/sdk/llvm/bin
"$bin/clang++" --version | grep -q 'version 23' || no 'the compiler is clang 23'
for name in one two; do
	cat >$name.hip <<-HIP
	struct dim3 { unsigned x, y, z; };
	typedef struct ihipStream_t *hipStream_t;
	typedef int hipError_t;
	extern "C" hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, hipStream_t);
	extern "C" hipError_t __hipPopCallConfiguration(dim3 *, dim3 *, unsigned long *, hipStream_t *);
	__attribute__((global)) void $name(int *p) { *p = 1; }
	HIP
done
compile() { # SOURCE OUT OPTION...
	"$bin/clang++" -x hip -nogpuinc -nogpulib --offload-arch=gfx1201 --offload-arch=gfx90a -O1 "${@:3}" -c "$1" -o "$2" >log 2>&1 || no "clang makes $2"
}
images() { # FILE: targets, as rocsmith sees them
	"$ROCSMITH" inspect --json "$1" | python3 -c '
import json, sys
print(" ".join(sorted(o["target"] for f in json.load(sys.stdin)["files"] for o in f["objects"])))'
}
compile one.hip linked.o
[ "$(images linked.o)" = 'gfx1201 gfx90a' ] || no 'an object has code for both GPUs'
compile one.hip one.o -fgpu-rdc
compile two.hip two.o -fgpu-rdc
ld -r -o joined.o one.o two.o
for file in one joined; do
	"$bin/llvm-objdump" --offloading $file.o >theirs 2>log || no "llvm-objdump $file.o"
	[ "$(images $file.o)" = "$(sed -n 's/^arch *//p' theirs | sort | xargs)" ] || no "$file.o: the images that llvm-objdump sees"
	"$ROCSMITH" slim --gpu gfx1201 -o slim-$file.o $file.o >log 2>&1 || no "slim of $file.o"
	"$bin/llvm-objdump" --offloading slim-$file.o >theirs 2>log || no "llvm-objdump of what slim made of $file.o"
	[ "$(grep -c '^arch *gfx1201$' theirs)" = "$([ $file = joined ] && echo 2 || echo 1)" ] && ! grep -q gfx90a theirs || no "the images that slim left: $(cat theirs)"
done
ok 'objects have the images that llvm-objdump sees, before slim and after it'
for file in joined slim-joined; do
	"$bin/clang++" --hip-link -nogpulib -fgpu-rdc --offload-arch=gfx1201 --offload-arch=gfx90a -shared $file.o -o $file.so >log 2>&1 || no "clang links $file.o"
	"$ROCSMITH" inspect --hash --json $file.so | python3 -c '
import json, sys
print(*sorted(o["sha256"] for f in json.load(sys.stdin)["files"] for o in f["objects"] if o["target"] == "gfx1201"))' >$file.code
done
[ -s joined.code ] && cmp joined.code slim-joined.code || no 'the linked code is another one'
[ "$(images slim-joined.so)" = gfx1201 ] || no 'the code of the other GPU is gone'
ok 'clang-linker-wrapper makes the same code of what is left'
