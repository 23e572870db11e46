#!/usr/bin/env bash
# Facts of Python environments against pip and python3; of libraries against readelf and a reader of bundles in Python.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
python3 -c 'import venv, ensurepip' 2>/dev/null || { echo 'skip python3 has no venv'; exit 0; }
# A real wheel, of AMD.
mkdir env real
timeout 300 python3 -m pip download -q --no-deps --only-binary=:all: --disable-pip-version-check \
	--dest real rocm_bindings_core==10.0.0.0.1.2 >pip.log 2>&1 ||
	echo 'skip real wheels: the package index does not give them'
find "$PWD/real" -name '*.whl' -exec python3 "$top/tests/oracle/pythons.py" "$ROCSMITH" env {} +

# Real libraries in the place of libtorch_hip.so: uncompressed bundles, compressed ones, one of all code.
get() { "$top/tools/debian-get" "$@"; }
gloo=$(get sid libgloo-rocm libgloo-rocm-0) && fft=$(get experimental librocfft librocfft0) || {
	echo 'skip real libraries: no package archive can be reached'
	exit 0
}
for file in "$gloo"/usr/lib/libgloo_hip.so.0 "$fft"/usr/lib/x86_64-linux-gnu/librocfft.so.0; do
	site=root/opt/venv/lib/python3.12/site-packages
	rm -rf root copy
	mkdir -p $site/torch/lib
	echo 'version = 3.12.1' >root/opt/venv/pyvenv.cfg
	echo "hip = '7.2.1'" >$site/torch/version.py
	cp "$(realpath "$file")" $site/torch/lib/libtorch_hip.so
	python3 - "$ROCSMITH" "$top/tests/oracle" $site/torch/lib/libtorch_hip.so <<'PY'
import json, re, subprocess, sys
sys.path.insert(0, sys.argv[2])
import device_code
rocsmith, library = sys.argv[1], sys.argv[3]
def run(*argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, check=False, encoding="utf-8").stdout
def facts(*more):
    return json.loads(run(rocsmith, "doctor", "--json", *more))["facts"]["pythons"]
(python,) = facts("--sysroot", "root")
torch = python["torch"]
dynamic = run("readelf", "-dW", library)
needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
assert torch["needed"] == [n for n in needed if n.startswith(("libamdhip", "libhip", "libroc"))], torch["needed"]
assert torch["runpath"] == "".join(re.findall(r"\(RUNPATH\).*\[(.*)\]", dynamic))
with open(library, "rb") as f:
    first = f.read()
at = re.search(r"\.hip_fatbin +PROGBITS +\S+ +(\S+) +(\S+)", run("readelf", "-SW", library))
section = first[int(at[1], 16) : int(at[1], 16) + int(at[2], 16)]
raw = device_code.decode(section, 0)[0] if section.startswith(b"CCOB") else section
want = {n.rpartition("--")[2] for n, _, size in device_code.entries(raw, 0) if size and not n.startswith("host")}
assert set(torch["targets"]) == want and want, (torch["targets"], want)
subprocess.run([rocsmith, "doctor", "-q", "--sysroot", "root", "--record", "copy"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
assert facts("--sysroot", "copy") == [python]
print(f"ok {library.split('/')[-1]}: {len(want)} targets, {len(needed)} libraries, also of its recording")
PY
	[ "$(find copy -size +64k | wc -l)" = 0 ]
done
