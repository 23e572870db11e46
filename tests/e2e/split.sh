#!/usr/bin/env bash
# `split` and `merge`: what they make is compared by zipfile and readers in Python, installed by pip and uv, and libraries
# that were put together again look at their own bundles.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
oracle=$top/tests/oracle
cd "$E2E_TMP"
rm -rf ./*
command -v python3 >/dev/null && command -v readelf >/dev/null && command -v gcc >/dev/null && command -v zstd >/dev/null || {
	echo 'skip split: python3, readelf, gcc or zstd is missing'
	exit 0
}
export SOURCE_DATE_EPOCH=315532800
name=kern-1.0+rocm7.2-py3-none-linux_x86_64.whl
python3 "$oracle/gpus_wheel.py" . --bare

look() { # FOLDER NAME: what each library says, without its host
	rm -rf "$2.d"
	mkdir "$2.d"
	python3 -m zipfile -e "$1/$name" "$2.d"
	for lib in kern/lib/liba kern/ops/liba kern/lib/librdc kern/lib/libtwo; do
		readelf -lSsrW "$2.d/$lib.so" >/dev/null 2>complaints
		[ ! -s complaints ] || {
			echo "not ok $2: $lib.so: $(head -n 2 complaints)"
			exit 1
		}
		echo "$lib"
		python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).look())' "./$2.d/$lib.so" >raw && sort raw
	done >"$2.says"
}
look . whole

# ---- plain ----
"$ROCSMITH" split --format plain "$name" -o plain >/dev/null
"$ROCSMITH" inspect plain/$name >said
grep -q '^no device code' said
"$ROCSMITH" merge -q plain/$name plain/*_gfx*.whl -o again-plain >/dev/null
python3 "$oracle/merged.py" "$name" again-plain/$name
look again-plain plain
cmp whole.says plain.says
"$ROCSMITH" merge -q plain/$name plain/*_all-*.whl -o again-all >/dev/null
python3 "$oracle/merged.py" "$name" again-all/$name
echo 'ok a wheel that was split plainly and merged finds its own bundles when it runs'

# ---- kpack ----
"$ROCSMITH" split --format kpack "$name" -o kpack >/dev/null 2>said
grep -q "any.hsaco' keeps device code" said
python3 "$oracle/kpack.py" "$name" kpack
"$ROCSMITH" merge -q kpack/*.whl -o again-kpack >/dev/null
python3 "$oracle/merged.py" "$name" again-kpack/$name
look again-kpack kpack
cmp whole.says kpack.says
"$ROCSMITH" merge -q kpack/$name kpack/*_gfx1100-*.whl kpack/*_gfx11_generic-*.whl -o some >/dev/null
look some some
grep -e ^kern -e gfx11 whole.says | cmp - some.says
echo 'ok a wheel that was split into kpack archives and merged finds its own bundles when it runs'

# The set of what was merged is split as the first one was.
"$ROCSMITH" split --format kpack again-kpack/$name -o kpack2 >/dev/null 2>&1
python3 "$oracle/kpack.py" again-kpack/$name kpack2
"$ROCSMITH" split again-plain/$name -o plain2 --format plain >/dev/null
"$ROCSMITH" merge -q plain2/$name plain2/*_gfx*.whl -o again2 >/dev/null
python3 "$oracle/merged.py" "$name" again2/$name

# Sets as AMD's splitter makes them: no manifest, other program headers, one archive in a wheel, or all in the host's.
python3 "$oracle/amd_set.py" "$name" amd
python3 "$oracle/amd_set.py" "$name" amd-one --together
python3 "$oracle/amd_set.py" "$name" amd-counted --counted
"$ROCSMITH" inspect amd/$name | grep -q "liba.so.*those of 'lib/liba.so' are in '../.kpack/kern_@GFXARCH@.kpack', for wrappers of 4 numbers"
"$ROCSMITH" merge -q amd/*.whl -o again-amd >/dev/null
"$ROCSMITH" merge -q amd-one/$name -o again-amd-one >/dev/null
for again in again-amd again-amd-one; do
	python3 "$oracle/merged.py" "$name" $again/$name
	look $again amd
	cmp whole.says amd.says
done
"$ROCSMITH" merge -q amd-counted/*.whl -o counted >/dev/null 2>said
grep -q 'wrapper numbers have no device code' said
# what is missing is what no bundle had; numbers that were counted otherwise than bundles are found
"$ROCSMITH" verify --json kpack amd amd-counted >said || true
python3 - <<'PY'
import json
found = {}
for w in json.load(open("said"))["wheels"]:
    for f in w["findings"]:
        if f["id"].startswith("kpack"):
            found.setdefault(w["path"].split("/")[0], []).append(f["id"] + " " + f["path"] + ": " + f["message"])
assert "kpack" not in found, found["kpack"]
rdc = [t for t in found["amd-counted"] if "librdc" in t and t.startswith("kpack-index-missing")]
assert len(rdc) == 3 and all("for 5 of 6 numbers: #1, #2, #3, #4, #5" in t for t in rdc), rdc
assert not [t for t in found["amd"] if "librdc" in t and "index" in t]
PY
echo "ok sets without a manifest, as AMD's splitter makes them, are read, merged and judged"

# Twice the same bytes, with any number of jobs; a host wheel stays as it is.
"$ROCSMITH" split --format kpack -j1 "$name" -o once >/dev/null 2>&1
"$ROCSMITH" split --format kpack -j3 "$name" -o twice >/dev/null 2>&1
diff -r once twice
diff -r once kpack
mkdir host
"$ROCSMITH" split once/$name -o host >/dev/null
cmp once/$name host/$name
echo 'ok the same wheel gives the same bytes, and a host wheel stays as it is'

"$ROCSMITH" split -q --format kpack --variants draft-0.2.0 "$name" -o variants >/dev/null 2>&1
python3 - <<'PY'
import email, json, re, zipfile
z = zipfile.ZipFile("variants/kern-1.0+rocm7.2-py3-none-linux_x86_64-rocm.whl")
host = zipfile.ZipFile("variants/kern-1.0+rocm7.2-py3-none-linux_x86_64.whl")
text = z.read("kern-1.0+rocm7.2.dist-info/variant.json").decode()
assert text == open("variants/kern-1.0+rocm7.2-variants.json").read()
values = json.loads(text)["variants"]["rocm"]["amd"]["gfx_arch"]
assert json.loads(text)["default-priorities"] == {"namespace": ["amd"]}
assert values == sorted(["gfx803", "gfx90a", "gfx1201"] + [f"gfx11{n}" for n in ("00", "01", "02", "03", "50", "51", "52", "53", "54")]), values
wanted = {}
for line in email.message_from_bytes(z.read("kern-1.0+rocm7.2.dist-info/METADATA")).get_all("Requires-Dist"):
    m = re.match(r'amd-kern-device-(\S+) == 1.0\+rocm7.2; "amd :: gfx_arch :: (\w+)" in variant_properties$', line)
    if m:
        wanted.setdefault(m[2], set()).add(m[1])
assert sorted(wanted) == values
assert wanted["gfx1100"] == {"gfx1100", "gfx11", "gfx110x"} and wanted["gfx1151"] == {"gfx11-generic", "gfx11"}
assert set(z.namelist()) - set(host.namelist()) == {"kern-1.0+rocm7.2.dist-info/variant.json"}
assert all(z.read(n) == host.read(n) for n in host.namelist() if ".dist-info/" not in n)
PY
echo 'ok a variant wheel requires what the GPU needs that is found'
if bash "$top/tests/oracle/venv.sh" "$ROCSMITH_HOME/variantlib" variantlib==0.2.2 rocm-bootstrap==0.3.0 2>/dev/null; then
	"$ROCSMITH_HOME/variantlib/bin/python" "$oracle/variants.py" variants
	echo 'ok variantlib reads the variant wheel and its index file, and picks each GPU by the provider of AMD'
else
	echo 'skip variantlib: it cannot be had'
fi
rm variants/*-rocm.whl variants/*.json
diff -r variants once

# ---- the format ----
"$ROCSMITH" split -n "$name" -o n 2>said | grep -q 'amd_kern_device_all'
grep -q 'Format plain: the wheel is version 1.0+rocm7.2, and the HIP runtime reads kpack archives since ROCm 7.13' said
"$ROCSMITH" split -n --format kpack "$name" -o n >plan 2>said
grep -q 'warning: the archives will not be read: the wheel is version' said
# what a dry run expects is about what becomes of it, and nothing is written before plain wheels of 3 GB are warned of
python3 - "$oracle" <<'PY'
import hashlib, json, os, random, subprocess, sys, zipfile
sys.path.insert(0, sys.argv[1])
import gpus_wheel
split = [os.environ["ROCSMITH"], "split", "--json", "--format", "kpack"]
name = "kern-1.0+rocm7.2-py3-none-linux_x86_64.whl"
expected = {w["key"]: w["size"] for w in json.loads(subprocess.run(split + ["-n", name, "-o", "n"], check=True, capture_output=True).stdout)["wheels"]}
for key, size in expected.items():
    real = os.path.getsize(f"kpack/amd_kern_device_{key.replace('-', '_')}-{name[5:]}" if key else f"kpack/{name}")
    assert real / 3 < size + 2000 < 3 * real + 4000, (key, size, real)
assert not os.path.exists("n")
gpus = ["gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1012", "gfx1030", "gfx1031", "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201"]
gpus_wheel.library("large.so", [gpus_wheel.bundle(1, gpus)], [(0, "")])
data = open("large.so", "rb").read() + random.Random(1).randbytes(215_000_000)
os.remove("large.so")
with zipfile.ZipFile("large-1-py3-none-any.whl", "w", zipfile.ZIP_STORED) as z:
    rows = ""
    for n, d in (("large/x.so", data), ("large-1.dist-info/METADATA", b"Metadata-Version: 2.1\nName: large\nVersion: 1\n"),
            ("large-1.dist-info/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n")):
        rows += gpus_wheel.record_row(n, hashlib.sha256(d).digest(), len(d))
        z.writestr(n, d)
    z.writestr("large-1.dist-info/RECORD", rows + "large-1.dist-info/RECORD,,\n")
PY
"$ROCSMITH" split -qn large-1-py3-none-any.whl -o n >/dev/null 2>said
grep -q 'warning: plain wheels of about 3.. GB will be written' said
rm large-1-py3-none-any.whl
echo 'ok the format is the one that the runtime reads, and its cost is said before'

# ---- what belongs together ----
python3 - plain kpack <<'PY'
import email, glob, os, sys, zipfile
for folder in sys.argv[1:]:
    known, wanted, extras = {}, [], {}
    for path in glob.glob(folder + "/*.whl"):
        z = zipfile.ZipFile(path)
        m = email.message_from_bytes(z.read(next(n for n in z.namelist() if n.endswith("/METADATA"))))
        known[m["Name"]] = m["Version"]
        wanted += [(m["Name"], r) for r in m.get_all("Requires-Dist", [])]
        if m["Name"] == "kern":
            assert m.get_payload() == "A text.\n" and m["Requires-Python"] == ">=3.8"
            extras = {e: [r.split(";")[0].strip() for r in m.get_all("Requires-Dist") if f'"{e}"' in r]
                for e in m.get_all("Provides-Extra") if e != "test"}
    for who, line in wanted:
        name, version = line.split(";")[0].split(" == ")
        assert known[name] == version.strip() == "1.0+rocm7.2", (who, line)
    names = {n[len("amd-kern-device-"):] for n in known if n != "kern"}
    assert names == {"gfx803", "gfx90a", "gfx11-generic", "gfx1100", "gfx1201", "gfx11", "gfx110x", "gfx12-0"} | ({"all"} if folder == "plain" else set()), names
    covered = ["gfx" + n for n in ("1101", "1102", "1103", "1150", "1151", "1152", "1153", "1154")]
    assert set(extras) == {f"device-{n}" for n in ["gfx803", "gfx90a", "gfx11-generic", "gfx1100", "gfx1201", "all"] + covered}, extras
    for gpu in covered:
        more = {"gfx11", "gfx110x"} if gpu < "gfx115" else {"gfx11"}
        assert set(extras[f"device-{gpu}"]) == {f"amd-kern-device-{n} == 1.0+rocm7.2" for n in more | {"gfx11-generic"}}, extras
    # each bundle with generic code has code of gfx1100, too
    for key, more in (("gfx1100", ["gfx11", "gfx110x"]), ("gfx1201", ["gfx12-0"]), ("gfx90a", [])):
        want = {f"amd-kern-device-{n} == 1.0+rocm7.2" for n in [key, *more]}
        assert set(extras[f"device-{key}"]) == want, extras
        have = {r for w, r in wanted if w == f"amd-kern-device-{key}"}
        assert have == (want | {"kern == 1.0+rocm7.2"}) - {f"amd-kern-device-{key} == 1.0+rocm7.2"}, have
    # no file is in two wheels that are installed together
    owner = {}
    for path in glob.glob(folder + "/*.whl"):
        if folder == "plain" and ("_gfx" in path.replace("_gfx1100-", "") and "gfx11-" not in path and "gfx110x" not in path and "gfx12_0" not in path or "_all-" in path):
            continue
        for n in zipfile.ZipFile(path).namelist():
            assert n not in owner, (n, path, owner[n])
            owner[n] = path
print("ok names, extras and requirements agree in all wheels of a set")
PY

# Generic code is required by a GPU's wheel only where a bundle has none of its own.
python3 - "$oracle" <<'PY'
import os, sys
sys.path.insert(0, sys.argv[1])
import gpus_wheel
for name, second in (("own", ("gfx1100", "gfx11-generic")), ("mode", ("gfx1100", "gfx9-generic", "gfx906:xnack+")), ("lacking", ("gfx11-generic",))):
    gpus_wheel.library("g.so", [gpus_wheel.bundle(0, ("gfx11-generic", "gfx1100", "gfx906")), gpus_wheel.bundle(1, second)], [(0, ""), (1, "")])
    os.mkdir("g-" + name)
    gpus_wheel.wheel("g-" + name, {"g/g.so": open("g.so", "rb").read()}, "g-1-py3-none-linux_x86_64.whl", b"Metadata-Version: 2.1\nName: g\nVersion: 1\n")
PY
for which in own mode lacking; do
	"$ROCSMITH" split -q --format kpack g-$which/*.whl -o g-$which/set >/dev/null 2>&1
	for gpu in gfx1100 gfx906; do
		unzip -p g-$which/set/amd_g_device_$gpu-*.whl '*/METADATA' | sed -n "s/^Requires-Dist: amd-g-device-/$which $gpu /p"
	done
done >got
printf '%s == 1\n' 'mode gfx906 gfx9-generic' 'lacking gfx1100 gfx11-generic' | cmp - got
echo "ok generic code is required where a GPU's own is not complete"

# shellcheck source=tests/e2e/llvm.bash
. "$top/tests/e2e/llvm.bash"
lld 2>log || echo "skip lld: it cannot be had"

# ---- Windows ----
if command -v clang >/dev/null && command -v lld-link >/dev/null; then
	mkdir windows
	python3 "$oracle/kpack_dll.py" make windows
	"$ROCSMITH" split -q windows/*.whl -o windows/kpack >/dev/null
	python3 "$oracle/kpack_dll.py" check windows/*.whl windows/kpack
	"$ROCSMITH" merge -q windows/kpack/*.whl -o windows/again >/dev/null
	python3 "$oracle/kpack_dll.py" merged windows/*.whl windows/again/*.whl
	"$ROCSMITH" split -q windows/again/*.whl -o windows/second >/dev/null
	python3 "$oracle/kpack_dll.py" check windows/again/*.whl windows/second
	"$ROCSMITH" merge -q windows/kpack/win-*.whl windows/kpack/*gfx1100-*.whl -o windows/one >/dev/null
	"$ROCSMITH" inspect windows/one/*.whl >one 2>/dev/null || true # its objects are no code
	grep -q '^GPUs .*: gfx1100$' one
	python3 "$oracle/kpack_dll.py" bare windows/kpack windows/bare
	"$ROCSMITH" merge -q windows/bare/*.whl -o windows/guessed >/dev/null
	python3 "$oracle/kpack_dll.py" merged windows/*.whl windows/guessed/*.whl
	if "$ROCSMITH" split -q --format plain windows/*.whl -o windows/plain 2>said; then exit 1; fi
	echo 'ok DLLs are split and merged as libraries are'
else
	echo 'skip DLLs: no clang, or no lld-link'
fi

# ---- single-GPU builds ----
for gpu in gfx90a gfx1100 gfx1201; do
	mkdir "only-$gpu"
	"$ROCSMITH" slim -q --exact --gpu "$gpu,$gpu:xnack-,$gpu:xnack+" "$name" -o "only-$gpu" >/dev/null 2>&1 ||
		"$ROCSMITH" slim -q --exact --gpu "$gpu" "$name" -o "only-$gpu" >/dev/null
done
"$ROCSMITH" merge -q only-gfx90a/$name only-gfx1100/$name only-gfx1201/$name -o three >/dev/null
look three three
grep -v gfx11-generic whole.says | cmp - three.says
echo 'ok three wheels for one GPU each become one'

# Builds of one source for one GPU each: the size of device code moves what is behind it.
p=p-1-py3-none-linux_x86_64.whl
run() { # FOLDER: of the library in it
	python3 -c 'import ctypes, sys; l = ctypes.CDLL(sys.argv[1] + "/p/x.so"); sys.exit(any(l.extra(i) for i in range(7)) or l.look())' "$1"
}
built=0
builds() { # FLAG...
	rm -rf b-*
	mkdir b-gfx90a b-gfx1100 b-gfx1201
	for gpu in gfx90a:0 gfx1100:13 gfx1201:40; do
		python3 "$oracle/gpus_wheel.py" "b-${gpu%:*}" --one "${gpu%:*}" "${gpu#*:}" "$@" 2>log || return 0
		python3 -m zipfile -e "b-${gpu%:*}/$p" "b-${gpu%:*}"
	done
	"$ROCSMITH" merge -q b-gfx*/$p -o b-all >/dev/null
	python3 -m zipfile -e b-all/$p b-all
	readelf -lSsrW b-all/p/x.so >/dev/null 2>complaints
	[ ! -s complaints ]
	for folder in b-gfx90a b-gfx1100 b-gfx1201; do run ./$folder; done | sort >want
	run ./b-all | sort | cmp want -
	cmp -s b-gfx90a/p/x.so b-gfx1100/p/x.so && exit 1
	if "$ROCSMITH" verify b-all/$p | grep sbom; then exit 1; fi # the bill of what came out
	built=$((built + 1))
}
builds
builds -O2 -g -Wl,-z,noseparate-code
builds -fuse-ld=gold
builds -fuse-ld=lld
builds -Wl,-z,pack-relative-relocs -Wl,--build-id
builds -Wl,-z,max-page-size=0x10000 -s
[ "$built" -ge 3 ]
echo "ok builds for one GPU each become one that works, with $built ways to link"

refused() { # WHAT TEXT WORD...
	local what=$1 text=$2 status=0
	shift 2
	rm -rf out
	"$ROCSMITH" merge "$@" -o out >/dev/null 2>err || status=$?
	[ "$status" = 2 ] && grep -q "$text" err && [ ! -e out ] || {
		echo "not ok $what is not refused: $status $(cat err)"
		exit 1
	}
}
mkdir other changed
python3 - "$oracle" "$name" <<'PY'
import sys, zipfile
sys.path.insert(0, sys.argv[1])
import gpus_wheel
old = zipfile.ZipFile("only-gfx1201/" + sys.argv[2])
members = {n: old.read(n) for n in old.namelist() if ".dist-info/" not in n}
data = bytearray(members["kern/lib/liba.so"])
at = data.index(b"\x01\0\0\0\x02\0\0\0\x03\0\0\0")
data[at] = 7
members["kern/lib/liba.so"] = bytes(data)
gpus_wheel.wheel("changed", members)
members["kern/__init__.py"] += b"# changed\n"
gpus_wheel.wheel("other", members)
PY
refused 'another host part' 'differ in .data' only-gfx1100/$name changed/$name
refused 'another module' 'kern/__init__.py' only-gfx1100/$name other/$name
mkdir b-other
python3 "$oracle/gpus_wheel.py" b-other --one gfx942 2 -Wl,-z,max-page-size=0x10000 -s -DK=3
refused 'a build of other source' 'differ in .text' b-gfx90a/$p b-other/$p
"$ROCSMITH" split -q --format plain changed/$name -o changed-plain >/dev/null
refused 'a part of another wheel' 'part of another set' plain/$name changed-plain/*_gfx1201-*.whl
refused 'a set without its host' 'host wheel of its set' plain/*_gfx1201-*.whl plain/*_gfx1100-*.whl
refused 'a host wheel alone' 'needs two' plain/$name
refused 'wheels of two formats' 'part of another set' plain/$name kpack/*_gfx1201-*.whl
echo 'ok what does not belong together is refused'

# ---- installers ----
if python3 -m venv env >/dev/null 2>&1 && env/bin/python -m pip --version >/dev/null 2>&1; then
	env/bin/python -m pip install -q --no-index --disable-pip-version-check --find-links kpack 'kern[device-gfx1100]'
	env/bin/python -m pip check >/dev/null
	env/bin/python -m pip list --format freeze --disable-pip-version-check | grep kern | sort >got
	printf '%s==1.0+rocm7.2\n' amd-kern-device-gfx11 amd-kern-device-gfx1100 amd-kern-device-gfx110x kern | sort | cmp - got
	ls env/lib/python*/site-packages/kern/.kpack/kern_gfx1100.kpack >/dev/null
	env/bin/python -m pip install -q --no-index --disable-pip-version-check --find-links kpack 'kern[device-all]'
	env/bin/python -m pip check >/dev/null
	env/bin/python -m pip uninstall -q -y $(env/bin/python -m pip list --format freeze --disable-pip-version-check | grep kern | cut -d= -f1)
	env/bin/python -m pip install -q --no-index --disable-pip-version-check --find-links plain 'kern[device-gfx1100]'
	env/bin/python -c 'import ctypes, glob, sys; sys.exit(ctypes.CDLL(glob.glob("env/lib/python*/site-packages/kern/lib/liba.so")[0]).look())' | sort >got
	sed -n '/^kern.lib.liba/,/^kern.ops/p' whole.says | grep gfx11 | cmp - got
	# a GPU with generic code only gets that, and not the host wheel alone
	for format in kpack plain; do
		rm -rf generic
		python3 -m venv --without-pip generic
		env/bin/python -m pip --python generic/bin/python install -q --no-index --disable-pip-version-check --find-links $format 'kern[device-gfx1151]' 2>said
		[ ! -s said ]
		[ "$(echo generic/lib/python*/site-packages/amd_kern_device_*.dist-info | wc -w)" = 2 ]
	done
	python3 -c 'import ctypes, glob, sys; sys.exit(ctypes.CDLL(glob.glob("generic/lib/python*/site-packages/kern/lib/liba.so")[0]).look())' | sort >got
	sed -n '/^kern.lib.liba/,/^kern.ops/p' whole.says | grep gfx11-generic | cmp - got
	echo 'ok pip installs a host wheel with the extra of a GPU, of one with generic code only, and of all'
	if bash "$top/tests/oracle/venv.sh" "$ROCSMITH_HOME/oracles" 2>/dev/null; then
		uv=$ROCSMITH_HOME/oracles/bin/uv
		env/bin/python -m venv env2
		"$uv" pip install -q --no-index --python env2/bin/python --find-links kpack 'kern[device-all]'
		"$uv" pip check -q --python env2/bin/python
		[ "$(ls env2/lib/python*/site-packages/kern/.kpack/ | wc -l)" = 5 ]
		echo 'ok uv installs them, too'
	else
		echo 'skip uv: it cannot be had'
	fi
else
	echo 'skip installers: no venv with pip'
fi

# ---- a real wheel ----
cache=${E2E_CACHE:-$PWD}
wheel=$cache/jax_rocm7_plugin-0.10.2-cp311-cp311-manylinux_2_27_x86_64.whl
[ -e "$wheel" ] || timeout 90 python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.11 --disable-pip-version-check \
	--platform manylinux_2_27_x86_64 --dest "$cache" jax_rocm7_plugin==0.10.2 >/dev/null 2>&1 || {
	echo 'skip a real wheel: no package index can be reached'
	exit 0
}
"$ROCSMITH" split -q --format kpack "$wheel" -o real >/dev/null
python3 "$oracle/kpack.py" "$wheel" real
"$ROCSMITH" merge -q real/*.whl -o real-again >/dev/null
python3 "$oracle/merged.py" "$wheel" real-again/*.whl
"$ROCSMITH" split -q --format plain "$wheel" -o real-plain >/dev/null
"$ROCSMITH" merge -q real-plain/jax*.whl real-plain/*gfx*.whl -o real-again2 >/dev/null
python3 "$oracle/merged.py" "$wheel" real-again2/*.whl
