#!/usr/bin/env bash
# The whole flow on the example, step by step, with a check behind each: from CUDA source to a verified
# ROCm wheel that imports, on a machine without a GPU and without ROCm.
#
#     tools/demo.sh ROCSMITH OUT
set -eu

[ $# = 2 ] || { echo "usage: demo.sh ROCSMITH OUT" >&2; exit 2; }
rocsmith=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
project=$(realpath "$(dirname "$0")/../examples/montecarlo")
gpus=gfx1201,gfx1100,gfx942

step() {
	printf '\n\033[1m$ %s\033[0m\n' "$*" >&2
	"$@"
}

fail() {
	echo "demo: $*" >&2
	exit 1
}

began=$(date +%s)
step "$rocsmith" sdk install debian --suite sid --components compiler,hiprand
rm -f "$out"/*.whl
step "$rocsmith" build "$project" --gpu $gpus -o "$out"
wheel=$(ls "$out"/*.whl)
step "$rocsmith" verify --require $gpus "$wheel"
step "$rocsmith" inspect "$wheel"

# An interpreter of its own, so that pip's verdict counts.
if [ ! -x "$out/venv/bin/python" ]; then
	step python3 -m venv --without-pip "$out/venv"
fi
site=$("$out/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
rm -rf "$site"/montecarlo*
step python3 -m pip --disable-pip-version-check --python "$out/venv/bin/python" install --quiet \
	--no-index --no-deps --force-reinstall "$wheel"

# Where ROCm is not installed, the SDK's own runtime stands in. Without a GPU the call must fail with
# HIP's own words, not crash; with one it must be right.
said=$(step "$rocsmith" sdk run --host -- "$out/venv/bin/python" - <<'PY'
import montecarlo
try:
    pi = montecarlo.pi(samples=10_000_000, seed=1)
except RuntimeError as error:
    print("RuntimeError:", error)
else:
    assert abs(pi - 3.14159265) < 0.01, pi
    mean, variance = montecarlo.noise(samples=1_000_000, seed=1)
    assert abs(mean) < 0.01 and abs(variance - 1) < 0.01, (mean, variance)
    print("pi =", pi)
PY
)
echo "$said"
case $said in
'pi = 3.1'*) ;;
'RuntimeError: no ROCm-capable device is detected')
	[ ! -e /dev/kfd ] || echo "demo: /dev/kfd is there, but no GPU could be used" >&2
	;;
*) fail "the wheel's Python call gave '$said'" ;;
esac

step "$rocsmith" report "$project" -o "$out/report.html"
echo "demo: $(basename "$wheel") and report.html are in $out, after $(($(date +%s) - began)) s" >&2
