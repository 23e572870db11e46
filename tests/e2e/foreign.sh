#!/usr/bin/env bash
# A foreign CUDA tree as PyPI ships it, never modified: libKMCUDA 6.2.3. It needs more than a
# translation, and rocsmith has to say exactly what; a copy with just that mended must build.
set -eu

tools=$(cd "$(dirname "$(realpath "$0")")/../../tools" && pwd)
cd "$E2E_TMP"
no() {
	echo "not ok $*"
	exit 1
}
if ! command -v bwrap >/dev/null && [ "$(id -u)" != 0 ]; then
	echo 'skip libKMCUDA: neither bwrap nor root'
	exit 0
fi
if ! from=$("$tools/sdist-get" libKMCUDA==6.2.3 6bab3d020c91c0dca169c2a236f315167daa0e62c6271fb46c94699dff8c21e0 2>log); then
	echo "skip libKMCUDA: the package index cannot be reached ($(tail -1 log))"
	exit 0
fi
tree=libKMCUDA-6.2.3
cp -r "$from" $tree
sum() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }
sum $tree >before

# The description lies beside the tree. The Python part needs numpy's headers; the C part does not.
cat >kmcuda.yaml <<'YAML'
name: libKMCUDA
version: 6.2.3
license: Apache-2.0
exclude: [python.cc]
defines: [CUDA_ARCH=50]
YAML
status=0
"$ROCSMITH" build $tree --config kmcuda.yaml --gpu gfx1201 -o out -k >out.txt 2>err.txt || status=$?
sum $tree | cmp -s - before || no 'the tree was modified'
echo 'ok the tree stays as it was'
if [ $status != 0 ]; then
	[ $status = 5 ] || no "the build gave $status: $(cat err.txt)"
	# Each place by name, in the CUDA source, as grep finds it there.
	while read -r what file pattern; do
		line=$(grep -n "$pattern" $tree/$file | head -1 | cut -d: -f1)
		grep -q "at .*/$tree/$file:$line:" err.txt || no "$what at $file:$line is not told: $(cat err.txt)"
		echo "ok told: $what, $file:$line"
	done <<'WHAT'
missing-intrinsic fp_abstraction.h return.__fmaf_rd
WHAT
	[ "$(grep -c '^error:' err.txt)" = "$(grep '^ *at ' err.txt | sort -u | wc -l)" ] ||
		no "errors are told twice: $(cat err.txt)"
	[ ! -e out ] || no 'a failed build left a wheel'
fi

# The same tree with that mended by hand, and nothing else.
cp -r $tree mended
sed -i 's/__fmaf_rd(/fmaf(/' mended/fp_abstraction.h
"$ROCSMITH" build mended --config kmcuda.yaml --gpu gfx1201 -o out >out.txt 2>err.txt ||
	no "the mended tree does not build: $(cat err.txt)"
"$ROCSMITH" verify --require gfx1201 out/*.whl >/dev/null
python3 -m zipfile -e out/*.whl site
got=$(PYTHONPATH=site "$ROCSMITH" sdk run --host -- python3 -c '
import ctypes, libKMCUDA
libKMCUDA.lib.kmeans_cuda.restype = ctypes.c_int
print(bool(libKMCUDA.lib.kmeans_cuda), bool(libKMCUDA.lib.knn_cuda))' 2>>log)
[ "$got" = 'True True' ] || no "the library gave '$got'"
echo 'ok with that mended the library builds, is verified and loads'
