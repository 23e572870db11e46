#!/usr/bin/env bash
# slow: an SDK of 6 GB, and wheels of 300 MB
# JAX's two wheels for ROCm 7, as the package index has them, bundled for one GPU with all of Debian's ROCm: pip and uv install
# them into a Debian without any of ROCm, where JAX loads them, finds no GPU, and compiles for the chosen one.
# Debian has no librocprofiler-sdk, and another librocm_smi64 than the wheel needs: bundle says so, and gets empty ones.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
# shellcheck source=tests/oracle/whole_sdk.sh
. "$top/tests/oracle/whole_sdk.sh"
python=$(basename "$(readlink -f "$bare/usr/bin/python3")") # python3.14
all=${E2E_CACHE:-$PWD}/jax-rocm7-0.10.2-$python
[ -e "$all/complete" ] || timeout 600 python3 -m pip download -q --only-binary=:all: --python-version "${python#python}" \
	--disable-pip-version-check --platform manylinux2014_x86_64 --platform manylinux_2_27_x86_64 \
	--platform manylinux_2_28_x86_64 --dest "$all" jax==0.10.2 jax-rocm7-plugin==0.10.2 >pip.log 2>&1 ||
	{ echo "skip JAX for $python cannot be fetched"; exit 0; }
touch "$all/complete"
trap 'rm -rf sdk fat set v-*' EXIT
cp -al "$root" sdk 2>log || { echo 'skip the SDK is on another file system'; exit 0; }

# ---- what the SDK lacks ----
pjrt=$(echo "$all"/jax_rocm7_pjrt-*.whl) plugin=$(echo "$all"/jax_rocm7_plugin-*.whl)
status=0
"$ROCSMITH" bundle "$pjrt" --sdk sdk --gpu gfx90a -o fat >log 2>&1 || status=$?
[ $status = 3 ] && [ ! -e fat ] && grep -q "^error: 'sdk' lacks 2 of the libraries" log || { cat log && exit 1; }
grep -q "needs 'librocm_smi64.so.1'; in the SDK there is 'librocm_smi64.so.7'" log
grep -q "needs 'librocprofiler-sdk.so.1'\$" log
echo "ok a library that the SDK lacks, or has in another version, is told; nothing is written"
python3 - "$pjrt" <<'PY'
import re, subprocess, sys, zipfile
zipfile.ZipFile(sys.argv[1]).extract("jax_plugins/xla_rocm7/xla_rocm_plugin.so")
text = subprocess.run(["readelf", "--dyn-syms", "-W", "jax_plugins/xla_rocm7/xla_rocm_plugin.so"], check=True,
    capture_output=True, text=True).stdout
for library, start in ("librocprofiler-sdk.so.1", "rocprofiler_"), ("librocm_smi64.so.1", "rsmi_"):
    names = set(re.findall(rf"UND\s+({start}\w+)", text))
    assert names
    subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", f"-Wl,-soname,{library}", "-o", f"sdk/opt/rocm/lib/{library}"],
        check=True, text=True, input="".join(f"int {n}(void) {{ return 1; }}\n" for n in names))
PY
rm -r jax_plugins

# ---- the fat wheels ----
for wheel in "$pjrt" "$plugin"; do
	name=$(basename "$wheel" | sed 's/-.*//')
	"$ROCSMITH" bundle -n --json "$wheel" --sdk sdk --gpu gfx90a -o fat >dry.json
	[ ! -e "fat/$name"-*.whl ]
	"$ROCSMITH" bundle --json "$wheel" --sdk sdk --gpu gfx90a -o fat >real.json 2>log || { tail log && exit 1; }
	"$ROCSMITH" inspect --json "fat/$name"-*.whl >inspect.json
	python3 - "$name" <<'PY'
import base64, csv, hashlib, io, json, os, sys, zipfile
dry, real, seen = (json.load(open(f"{n}.json")) for n in ("dry", "real", "inspect"))
for key in ("output", "platform", "before", "side", "outside", "dropped", "edited"):
    assert dry[key] == real[key], key
for x, y in zip(dry["libraries"], real["libraries"], strict=True):
    assert x["name"] == y["name"] and x["before"] == y["before"] and abs(x["after"] - y["after"]) <= y["after"] / 4, (x, y)
    assert x["after"] == y["after"] or y["after"] < y["before"], (x, y)
assert real["outside"] == [] and abs(dry["after"] - real["after"]) < real["after"] / 20
z = zipfile.ZipFile(real["output"])
assert z.testzip() is None and len(set(z.namelist())) == len(z.namelist())
rows = {r[0]: r for r in csv.reader(io.StringIO(z.read(next(n for n in z.namelist() if n.endswith("/RECORD"))).decode()))}
assert set(rows) == set(z.namelist())
total = 0
for name, (_, digest, size) in rows.items():
    with z.open(name) as f:
        mine = base64.urlsafe_b64encode(hashlib.file_digest(f, "sha256").digest()).rstrip(b"=").decode()
    total += z.getinfo(name).file_size
    assert name.endswith("/RECORD") or (digest, int(size)) == (f"sha256={mine}", z.getinfo(name).file_size), name
assert seen["served"] == ["gfx90a"], seen["served"]
# the runtime brings its own helpers for all GPUs
have = {o["target"].split(":")[0] for f in seen["files"] for o in f["objects"] if "libhsa-runtime64" not in f["path"]}
assert have == {"gfx90a"}, have
names = {n.rsplit("/", 1)[-1] for n in z.namelist()}
assert any(".libs/share/miopen/db/gfx90a" in n for n in z.namelist()), "no databases of MIOpen"
assert {"librocblas.so.5", "libMIOpen.so.1", "libamdhip64.so.7", "libhiprtc-builtins.so.7", "libamd_comgr.so.3"} <= names
print(f"ok {sys.argv[1]}: {len(real['libraries'])} libraries, {real['before'] / 1e6:.0f} MB for all GPUs, {total / 1e6:.0f} for one "
    f"(a dry run said {dry['after'] / 1e6:.0f}), the wheel {real['size'] / 1e6:.0f} MB; RECORD, zip and code are right")
PY
	"$ROCSMITH" verify -q --require gfx90a "fat/$name"-*.whl >verdict || { cat verdict && exit 1; }
	grep -q ': pass (0 errors' verdict
	"$tools/bin/auditwheel" show "fat/$name"-*.whl 2>&1 | tr '\n' ' ' >said
	grep -q 'is consistent with' said || { tail -c 2000 said && exit 1; }
	echo "ok verify and auditwheel take it, as $(sed 's/.*platform tag: "\([a-z0-9_]*\)".*/\1/' said)"
done

# ---- a machine without ROCm ----
mkdir set
ln "$all"/*.whl set 2>/dev/null || cp "$all"/*.whl set
rm set/jax_rocm7_*
ln fat/*.whl set
cp "$tools/bin/uv" uv
cat "$bare"/usr/share/ca-certificates/mozilla/*.crt >certificates # nobody ran the packages' scripts
machine() {
	bwrap --unshare-all --die-with-parent --ro-bind "$bare/usr" /usr --ro-bind certificates \
		/etc/ssl/certs/ca-certificates.crt --symlink usr/lib /lib \
		--symlink usr/lib64 /lib64 --symlink usr/bin /bin --proc /proc --dev /dev --tmpfs /tmp --bind "$PWD" /w --chdir /w \
		--clearenv --setenv PATH /usr/bin --setenv HOME /tmp "$@"
}
cat >python.py <<'PY'
import importlib, pathlib, _ctypes
for path in pathlib.Path(_ctypes.__file__).parent.glob("*.so"):
    try:
        importlib.import_module(path.name.split(".")[0])
    except ImportError:
        pass
PY
cat >ask.py <<'PY'
import ctypes, importlib
from jax._src import hardware_utils
hardware_utils.num_available_amd_gpus = lambda stop_at=None: 1 # else the plugin does not even load its library
import jax
import jax.numpy as jnp
from jax.experimental import topologies

for name in "_hybrid _linalg _prng _rnn _solver _sparse _triton rocm_plugin_extension".split():
    importlib.import_module(f"jax_rocm7_plugin.{name}")
try:
    raise SystemExit(f"there are {jax.devices('rocm')}")
except RuntimeError as e:
    assert "No visible GPU devices" in str(e), e
assert float(jnp.arange(10.0).sum()) == 45 and jax.devices()[0].platform == "cpu"

# hiprtc, when it is not told the GPU, opens libamdhip64.so, and RCCL, once there is one, libhsa-runtime64.so: names that only
# links have elsewhere.
def loaded(name):
    lines = [line.split()[-1] for line in open("/proc/self/maps") if ".so" in line]
    return sorted({path for path in lines if path.rsplit("/", 1)[1].startswith(name)})
rtc, program = ctypes.CDLL(loaded("libhiprtc.so")[0]), ctypes.c_void_p()
assert rtc.hiprtcCreateProgram(ctypes.byref(program), b"int x;", b"x.hip", 0, None, None) == 0
rtc.hiprtcCompileProgram(program, 0, None)
ctypes.CDLL(loaded("librccl.so")[0].rsplit("/", 1)[0] + "/libhsa-runtime64.so").hsa_init()
for name in "libamdhip64.so", "libhsa-runtime64.so":
    found = loaded(name)
    assert len(found) == 2 and all("/jax_rocm7_" in path for path in found), (name, found)

# For a GPU that is not here; the bitcode of sin() and the linker are XLA's own.
gpu = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 64 shared_memory_per_block: 65536 shared_memory_per_core: 65536
  threads_per_core_limit: 2048 core_count: 104 fpus_per_core: 64 block_dim_limit_x: 2147483647 block_dim_limit_y: 65536
  block_dim_limit_z: 65536 memory_bandwidth: 1638400000000 l2_cache_size: 8388608 clock_rate_ghz: 1.7
  device_memory_size: 68702699520 shared_memory_per_block_optin: 65536 registers_per_core_limit: 65536
  registers_per_block_limit: 65536 rocm_compute_capability { gcn_arch_name: "gfx90a:sramecc+:xnack-" }
}
platform_name: "ROCM" dnn_version_info { major: 3 minor: 5 } device_description_str: "AMD Instinct MI250"
"""
there = topologies.get_topology_desc(platform="rocm", topology_name="", target_config=gpu, topology="1x1x1").devices[0]
where = jax.sharding.SingleDeviceSharding(there)
f = jax.jit(lambda x: jnp.sin(x) * 2 + jnp.exp(x).sum(), in_shardings=where, out_shardings=where)
code = f.lower(jax.ShapeDtypeStruct((1000,), jnp.float32)).compile().runtime_executable().serialize()
assert b"\x7fELF" in code and b"\x03\0\xe0\0\x01\0" in code and b"gfx90a" in code # ET_DYN, EM_AMDGPU; more is compressed
print(f"no GPU is found, the CPU counts, and XLA compiles {len(code)} bytes for gfx90a")
PY
loaded() { # WORD...: what a program loads, one path a line
	rm -f debug.*
	machine --setenv LD_DEBUG libs --setenv LD_DEBUG_OUTPUT /w/debug "$@" || return 1
	cat debug.* | sed -n 's/.*calling init: //p' | sort -u >loaded
}
loaded python3 python.py 2>log
mv loaded python
for how in pip uv; do
	machine python3 -m venv v-$how
	if [ $how = pip ]; then
		machine v-$how/bin/pip install -q --no-index --disable-pip-version-check --find-links set jax jax-rocm7-plugin
	else
		machine ./uv pip install -q --offline --no-cache --no-index --find-links set --python v-$how/bin/python jax jax-rocm7-plugin
	fi
	machine v-$how/bin/python -c 'import jax; assert [d.platform for d in jax.devices()] == ["cpu"]' 2>said
	grep -q 'No AMD GPUs were found' said
	loaded v-$how/bin/python ask.py >words 2>said || { tail said && exit 1; }
	grep "/w/v-$how/" loaded | grep -c '/jax_rocm7_[a-z]*\.libs/' >count
	grep -v "/w/v-$how/" loaded | grep -vxF -f python | sed 's:.*/::' | sort -u >outside || :
	[ "$(cat count)" -ge 30 ] && grep -q 'xla_rocm_plugin.so' loaded
	grep '^no GPU' words >word
	[ -z "$(grep "/w/v-$how/.*jax_rocm7" loaded | sed 's:.*/::' | sort | uniq -d)" ] # by whichever wheel it was needed first
	echo "ok installed by $how: $(cat word); $(cat count) libraries of the wheels are loaded, each once, and of the" \
		"machine beside Python's $(tr '\n' ' ' <outside)"
	if grep -vxE 'lib(stdc\+\+|gcc_s|dl|rt|pthread|m)\.so\.[0-9]+' outside; then
		echo 'not ok: these are in no wheel'
		exit 1
	fi
	rm -r v-$how
done
