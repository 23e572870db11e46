#!/usr/bin/env bash
# Our own builds precompile hip/hip_runtime.h for passes that would compile it alike: the wheel is the same, byte by byte, whatever
# becomes of these files. cc.sh has the builds of others.
set -eu
. "$(dirname "$0")/scratch.bash"
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1; then
	echo "skip precompiled headers: no SDK ($(tail -1 log))"
	exit 0
fi
build() { # FOLDER: from p
	"$ROCSMITH" build p --gpu gfx1100 -o "$1/out" --build-dir "$PWD/$1/b" >log 2>&1 || no "the build in $1: $(tail -3 log)"
}
same() { cmp one/out/*.whl two/out/*.whl || no "$1: the wheel is another one"; }
made() { find "one/b/obj" -name '*.pch' | sort; }
each() { # LINE for all sources
	mkdir -p p
	for i in 1 2 3 4; do
		printf '%s\n#include <cuda_runtime.h>\n#include <assert.h>\n__global__ void k%d(float *p, int n) { assert(n > %d); p[threadIdx.x] = __shfl_down_sync(~0ull, p[n], %d); }\nextern "C" void run%d(float *p) { k%d<<<1, 64>>>(p, 2); }\n' \
			"$1" $i $i $i $i $i >p/k$i.cu
	done
}
printf 'name: many\nversion: 1.0\n' >p.yaml
each '// a kernel'
cp p.yaml p/rocsmith.yaml
build one
ROCSMITH_PRECOMPILE=off build two
[ "$(made | wc -l)" = 2 ] || no "files for the GPU and the host: $(made)"
[ -z "$(find two -name '*.pch')" ] || no 'they were made, though that was turned off'
same 'with precompiled headers'
ok 'the GPU and the host have hip_runtime.h precompiled, and the wheel is the same'
before=$(made | xargs sha256sum)
sed -i 's/n > 3/n > 5/' p/k3.cu
build one
ROCSMITH_PRECOMPILE=off build two
[ "$(made | xargs sha256sum)" = "$before" ] || no 'they were made again'
same 'a source that was edited'
build one
grep -q 'Compiled' log && no "a build without changes compiles: $(cat log)"
ok 'an edited source uses those that are there'
for file in $(made); do head -c 5000 "$file" >torn && mv torn "$file"; done
sed -i 's/n > 5/n > 6/' p/k3.cu
build one
ROCSMITH_PRECOMPILE=off build two
same 'torn files'
[ -z "$(made)" ] || no "torn files stay: $(made)"
ok 'files that are torn are dropped'
echo 'flags: [-DMORE=1]' >>p/rocsmith.yaml
build one
before=$(made)
echo 'flags: [-DMORE=2]' >p/more && cat p.yaml p/more >p/rocsmith.yaml && rm p/more
build one
[ "$(made | wc -l)" = 2 ] && [ "$(made)" != "$before" ] || no "files of other options: $(made)"
ok 'files of options that are no more go'
sed -i 's/p\[n\]/wrong/' p/k2.cu
"$ROCSMITH" build p --gpu gfx1100 -o one/out --build-dir "$PWD/one/b" >log 2>&1 && no 'an error of a source'
grep -q "p/k2.cu:4:" log && grep -q "use of undeclared identifier 'wrong'" log || no "the message of an error: $(cat log)"
[ "$(made | wc -l)" = 2 ] || no 'an error of a source is no fault of the headers'
each 'static int first;'
build one
[ "$(made | wc -l)" = 2 ] || no 'sources that begin otherwise'
ok 'errors, and sources that begin with something else'
