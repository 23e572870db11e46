#!/usr/bin/env bash
# slow: a torch of half a gigabyte is fetched and unpacked, and its headers are compiled
# CUDA extensions for PyTorch as PyPI ships them, by their own setup.py, which knows nothing of ROCm,
# against the torch for CUDA of PyPI that --torch-as-rocm takes for one for ROCm: chamferdist 1.0.3 and
# torch-spline-conv 1.2.2. A torch for CUDA without that word is refused. torch-scatter
# 2.1.2 needs more than a translation for this ROCm, which has to be said at its place.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; cat log; exit 1; }
sum() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }

if ! "$ROCSMITH" sdk install debian --suite sid --components compiler,headers >log 2>&1; then
	echo "skip extensions of PyTorch: no SDK ($(tail -1 log))"
	exit 0
fi
command -v c++ >/dev/null || { echo 'skip extensions of PyTorch: no C++ compiler'; exit 0; }
python3 -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || {
	echo 'skip extensions of PyTorch: no Python headers'
	exit 0
}
[ "$(df --output=avail -k . | tail -1)" -gt 6000000 ] || { echo 'skip extensions of PyTorch: no 6 GB free'; exit 0; }

# Wheel and sdists stay in the cache of the tests.
. "$top/tools/fetch.sh"
get() ( # NAME VERSION wheel|sdist
	fetch_begin "$1-$2-$3-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
	if [ "$3" = wheel ]; then
		fetch_pip download -q --no-deps --only-binary=:all: -d "$fetch_new" "$1==$2" >&2 ||
			fetch_impossible "the package index does not give $1 $2"
	else
		folder=$(fetch_unearth) || fetch_impossible 'no unearth'
		PYTHONPATH=$folder python3 -m unearth --no-binary --download "$fetch_new" "$1==$2" >&2 ||
			fetch_impossible "the package index does not give $1 $2"
	fi
	fetch_end
)
torch=$(get torch 2.11.0 wheel 2>log) || { echo "skip extensions of PyTorch: no torch ($(tail -1 log))"; exit 0; }
torch=$(echo "$torch"/*.whl)

extension() { # NAME VERSION FOLDER
	local sdist
	sdist=$(get "$1" "$2" sdist 2>log) || return 77
	tar xf "$sdist"/*.tar.gz
	sum "$3" >before
}
build() { # FOLDER OPTION...
	local folder=$1
	shift
	status=0
	"$ROCSMITH" build "$folder" --with "$torch" --gpu gfx1201 -o out --build-dir b "$@" >log 2>&1 || status=$?
	sum "$folder" | cmp -s - before || fail "$folder was modified"
}

if ! extension chamferdist 1.0.3 chamferdist-1.0.3; then
	echo 'skip chamferdist: the package index does not give it'
	exit 0
fi
build chamferdist-1.0.3
[ $status = 5 ] && grep -q 'was built for CUDA' log || fail 'a torch for CUDA is refused'
echo 'ok a torch that is none for ROCm is refused'
build chamferdist-1.0.3 --torch-as-rocm
[ $status = 0 ] && grep -q 'built against a torch that counts as one' log || fail 'chamferdist'
grep -q '"id":"torch-as-rocm"' b/build.json || fail 'the record does not say what the torch is'
"$ROCSMITH" verify --require gfx1201 out/chamferdist-*.whl >log || fail 'the wheel of chamferdist'
python3 - <<'PY' || fail 'what the wheel needs'
import glob, subprocess, zipfile
with zipfile.ZipFile(glob.glob("out/chamferdist-*.whl")[0]) as wheel:
    name, = [n for n in wheel.namelist() if n.endswith(".so")]
    wheel.extract(name)
text = subprocess.run(["readelf", "-d", name], check=True, stdout=subprocess.PIPE).stdout.decode()
# The stand-ins for libc10_hip and libtorch_hip have no symbols, and no wheel may need what is not there.
assert "libamdhip64.so" in text
assert "libcuda" not in text and "libcudart" not in text
PY
echo 'ok chamferdist 1.0.3: its own setup.py, as it is, gives a verified wheel for ROCm'
rm b/log/*.log
build chamferdist-1.0.3 --torch-as-rocm
[ $status = 0 ] && [ -z "$(ls b/log/*.log 2>/dev/null)" ] || fail 'a second build runs something'
echo 'ok a second build runs nothing'
extension torch-spline-conv 1.2.2 torch_spline_conv-1.2.2 || { echo 'skip torch-spline-conv'; exit 0; }
build torch_spline_conv-1.2.2 --torch-as-rocm
[ $status = 0 ] || fail 'torch-spline-conv'
echo 'ok torch-spline-conv 1.2.2'
extension torch-scatter 2.1.2 torch_scatter-2.1.2 || { echo 'skip torch-scatter'; exit 0; }
build torch_scatter-2.1.2 --torch-as-rocm
[ $status = 0 ] || { [ $status = 5 ] && grep -q 'at .*/torch_scatter-2.1.2/csrc/cuda/.*\.cu:' log; } || fail 'torch-scatter'
echo "ok torch-scatter 2.1.2: $([ $status = 0 ] && echo builds || echo 'what stops it has its place')"
