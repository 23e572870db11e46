#!/usr/bin/env bash
# slow: an SDK of 6 GB
# A program that needs what PyTorch needs of ROCm, built for three GPUs on all of Debian's ROCm, and bundled for one: pip and
# uv install the fat wheel into a Debian without any of ROCm, where it loads, asks each library, and compiles a kernel, all
# by libraries of the wheel.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
# shellcheck source=tests/oracle/whole_sdk.sh
. "$top/tests/oracle/whole_sdk.sh"

mkdir -p p/csrc
printf 'name: bigtorch\nversion: 2.9.0\nsdk: {use: debian:experimental}\n' >p/rocsmith.yaml
cat >p/csrc/all.hip <<'HIP'
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>
#include <hipblas/hipblas.h>
#include <hipblaslt/hipblaslt.h>
#include <hipfft/hipfft.h>
#include <hiprand/hiprand.h>
#include <hipsolver/hipsolver.h>
#include <hipsparse/hipsparse.h>
#include <miopen/miopen.h>
#include <rccl/rccl.h>
#include <rocblas/rocblas.h>
#include <rocfft/rocfft.h>
#include <rocrand/rocrand.h>
#include <rocsolver/rocsolver.h>
#include <rocsparse/rocsparse.h>
#include <cstdio>

__global__ void twice(float *x) { x[threadIdx.x] *= 2; }

/* What needs a device is only linked. */
extern "C" void *linked[];
__attribute__((visibility("default"))) void *linked[] = {(void *)hipblasLtCreate, (void *)hipsparseCreate,
	(void *)hipsolverCreate, (void *)rocsparse_create_handle, (void *)hipblasCreate, (void *)twice};

extern "C" int versions(char *out, size_t n)
{
	int devices = 0, rtc[2], fft, rand, nccl, rocrand;
	size_t dnn[3], blas = 0, solver = 0;
	char rocfft[100];
	(void)hipGetDeviceCount(&devices);
	if (hiprtcVersion(&rtc[0], &rtc[1]) || rocblas_get_version_string_size(&blas) ||
		miopenGetVersion(&dnn[0], &dnn[1], &dnn[2]) || rocfft_get_version_string(rocfft, sizeof(rocfft)) ||
		hipfftGetVersion(&fft) || rocsolver_get_version_string_size(&solver) || hiprandGetVersion(&rand) ||
		rocrand_get_version(&rocrand) || ncclGetVersion(&nccl))
		return 1;
	snprintf(out, n, "%d devices, rtc %d.%d, MIOpen %zu.%zu, rocFFT %s, RCCL %d", devices, rtc[0], rtc[1], dnn[0],
		dnn[1], rocfft, nccl);
	return 0;
}

/* By libraries that the loader does not know of: comgr, LLVM, the built-ins of hiprtc. */
extern "C" int compile(const char *arch)
{
	hiprtcProgram p;
	size_t n = 0;
	const char *source = "extern \"C\" __global__ void k(float *x) { x[threadIdx.x] *= 2; }\n";
	if (hiprtcCreateProgram(&p, source, "k.hip", 0, nullptr, nullptr) || hiprtcCompileProgram(p, 1, &arch) ||
		hiprtcGetCodeSize(p, &n))
		return -1;
	return (int)n;
}
HIP
build() { "$ROCSMITH" build p --gpu "$1" --build-dir b -o "$2" >log 2>&1 || { tail -n 20 log && exit 1; }; }
build gfx90a,gfx1201 two
build gfx1100 one
"$ROCSMITH" merge -q two/*.whl one/*.whl -o out >/dev/null
"$ROCSMITH" verify -q --sdk debian-experimental --require gfx90a,gfx1100,gfx1201 out/*.whl >verdict
if grep sbom verdict; then exit 1; fi
echo 'ok builds for two GPUs and for one become one for three'
"$ROCSMITH" bundle --json out/*.whl --sdk "$root" --gpu gfx1100 --local-version rocm7.2 -o fat >bundle.json 2>log || { tail log && exit 1; }
wheel=$(echo fat/*.whl)
python3 - "$libraries" <<'PY'
import json, sys
d = json.load(open("bundle.json"))
libs = {x["name"].split("/")[-1].split(".so")[0].lower(): x for x in d["libraries"]}
wanted = {"lib" + n for n in sys.argv[1].split(",")} | {"libamdhip64", "libhiprtc", "libhiprtc-builtins", "libamd_comgr"}
assert wanted <= set(libs), wanted - set(libs)
assert d["outside"] == [], d["outside"]
fat = [x for x in d["libraries"] if x["after"] < x["before"]]
assert len(fat) >= 6, fat
print(f"ok {len(libs)} libraries of the SDK: {sum(x['before'] for x in d['libraries']) / 1e6:.0f} MB for all GPUs, "
    f"{sum(x['after'] for x in d['libraries']) / 1e6:.0f} MB for one; {sum(x['files'] for x in d['side'])} files beside them; "
    f"all unpacked {d['before'] / 1e6:.0f} -> {d['after'] / 1e6:.0f} MB, the wheel {d['size'] / 1e6:.0f} MB")
PY
"$ROCSMITH" inspect --json "$wheel" >inspect.json
python3 -c 'import json
d = json.load(open("inspect.json"))
assert d["served"] == ["gfx1100"], d["served"]
# the runtime brings its own helpers for all GPUs
have = {o["target"].split(":")[0] for f in d["files"] for o in f["objects"] if "libhsa-runtime64" not in f["path"]}
assert have <= {"gfx1100", "gfx11-generic"}, have'
"$ROCSMITH" verify -q --require gfx1100 "$wheel" >verdict || { cat verdict && exit 1; }
if grep sbom verdict; then exit 1; fi
"$tools/bin/auditwheel" show "$wheel" >said 2>&1 && grep -q 'is consistent with' said || { cat said && exit 1; }
echo "ok inspect, verify and auditwheel take it, as $(sed -n 's/the following platform tag: //p' said)"

# ---- a machine without ROCm ----
cp "$tools/bin/uv" uv
cat "$bare"/usr/share/ca-certificates/mozilla/*.crt >certificates # nobody ran the packages' scripts
machine() {
	bwrap --unshare-all --die-with-parent --ro-bind "$bare/usr" /usr --ro-bind certificates \
		/etc/ssl/certs/ca-certificates.crt --symlink usr/lib /lib \
		--symlink usr/lib64 /lib64 --symlink usr/bin /bin --proc /proc --dev /dev --tmpfs /tmp --bind "$PWD" /w --chdir /w \
		--clearenv --setenv PATH /usr/bin --setenv HOME /tmp "$@"
}
cat >ask.py <<'PY'
import ctypes, sys, bigtorch
lib = ctypes.CDLL(next(l.split()[-1] for l in open("/proc/self/maps") if "libbigtorch" in l))
said = ctypes.create_string_buffer(500)
if lib.versions(said, ctypes.c_size_t(500)):
    sys.exit("a library does not answer")
size = lib.compile(b"--offload-arch=gfx1100")
if size < 1000:
    sys.exit("nothing was compiled")
print(said.value.decode() + f"; a kernel of {size} bytes is compiled")
PY
loaded() { # WORD...: what a program loads, one path a line
	rm -f debug.*
	machine --setenv LD_DEBUG libs --setenv LD_DEBUG_OUTPUT /w/debug "$@"
	cat debug.* | sed -n 's/.*calling init: //p' | sort -u >loaded
}
loaded python3 -c 'import ctypes'
mv loaded python
for how in pip uv; do
	machine python3 -m venv v-$how
	if [ $how = pip ]; then
		machine v-$how/bin/pip install -q --no-index --disable-pip-version-check "$wheel"
	else
		machine ./uv pip install -q --offline --no-cache --python v-$how/bin/python "$wheel"
	fi
	loaded v-$how/bin/python ask.py
	grep -c "^/w/v-$how/lib/python[0-9.]*/site-packages/bigtorch" loaded >count
	grep -v "/w/v-$how/" loaded | grep -vxF -f python | sed 's:.*/::' >outside
	[ "$(cat count)" -ge 30 ]
	echo "ok installed by $how, it loads $(cat count) libraries of its own, and of the machine beside Python's $(tr '\n' ' ' <outside)"
	if grep -vxE 'lib(stdc\+\+|gcc_s)\.so\.[0-9]+' outside; then
		echo 'not ok: these are in no wheel'
		exit 1
	fi
	rm -r v-$how
done
