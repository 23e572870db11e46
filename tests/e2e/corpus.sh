#!/usr/bin/env bash
# long: the programs of tests/corpus, translated, and a third of them compiled for one GPU; two of them as whole builds.
# corpus_all.sh compiles each of them.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,headers >sdk.log 2>&1; then
	echo "skip corpus: no SDK ($(tail -1 sdk.log))"
	exit 0
fi
python3 "$top/tests/e2e/corpus.py" "$E2E_TMP" gfx1201 --every 3

# Our header for 16-bit numbers with what PyTorch's extensions are compiled with.
cat >half.hip <<'E'
#include <hip/hip_runtime.h>
#include <rocsmith/half.h>
/* a project's own, as it is translated */
static __device__ __hip_bfloat162 rocsmith_make_bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat162(b, a); }
__global__ void k(__half2 *p, __hip_bfloat162 *q, __half *r, double x)
{
	q[1] = rocsmith_make_bfloat162(q[0].x, q[0].y);
	p[0] = rocsmith_hmax2(p[0], p[1]);
	q[0] = rocsmith_hmin2(q[0], q[1]);
	*r = rocsmith_double2half(x);
	atomicAdd(r, *r);
}
E
if "$ROCSMITH" sdk run -- clang++ -x hip -std=c++17 -Werror -D__HIP_NO_HALF_OPERATORS__=1 -D__HIP_NO_HALF_CONVERSIONS__=1 \
	-I"$top/data" --offload-arch=gfx1201 -fsyntax-only half.hip >log 2>&1; then
	echo 'ok halves without operators and conversions'
else
	cat log
	echo 'not ok halves without operators and conversions'
fi

# A program that HIP has no counterpart for ends before a compiler runs, and says where.
mkdir -p stops
cp "$top/tests/corpus/ptx_cp_async.cu" "$top/tests/corpus/saxpy.cu" stops
if "$ROCSMITH" build stops --gpu gfx1201 -o out --build-dir b >log 2>&1; then
	echo 'not ok ptx_cp_async is built'
	exit 1
fi
grep -q 'ptx_cp_async.cu:8:15' log && grep -q 'ptx_cp_async.cu:10:15' log && grep -q 'cp.async.cg' log ||
	{ cat log && echo 'not ok it ends with all places' && exit 1; }
[ -z "$(ls b/log 2>/dev/null)" ] || echo 'not ok no compiler ran'
echo 'ok what has no counterpart ends a build before a compiler runs'

# What has main() becomes a program, and without a GPU it says so.
rm stops/ptx_cp_async.cu
"$ROCSMITH" build stops --gpu gfx1201 -o out --build-dir b >log 2>&1 || { cat log && echo 'not ok saxpy is built' && exit 1; }
python3 - out/*.whl <<'PY'
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
name, = [n for n in z.namelist() if n.endswith(".data/scripts/saxpy")]
assert z.getinfo(name).external_attr >> 16 & 0o111
open("saxpy", "wb").write(z.read(name))
PY
echo 'ok a program is among the scripts of its wheel'
