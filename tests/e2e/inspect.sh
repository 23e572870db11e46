#!/usr/bin/env bash
# `inspect` on real libraries of the Debian archive, against readelf, zstd, a reader written in Python
# and llvm-readobj; what is downloaded stays in the cache folder.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
get() { "$top/tools/debian-get" "$@"; }

python=$(command -v python3) && command -v readelf >/dev/null || {
	echo 'skip python3 or readelf is missing'
	exit 0
}

# A library without device code, and the program itself.
"$ROCSMITH" inspect "$ROCSMITH" | grep -q '^no device code in '
echo 'ok no device code is no error'

# Every format, written by Python from the documents.
mkdir -p "$E2E_TMP/formats"
"$python" "$top/tests/oracle/device_formats.py" "$ROCSMITH" "$E2E_TMP/formats"

# hipSPARSELt is for hipsparselt_all.sh: 44 MB.
gloo=$(get sid libgloo-rocm libgloo-rocm-0) && fft=$(get experimental librocfft librocfft0) &&
	sparselt=$([ -z "${E2E_ALL:-}" ] || get experimental libhipsparselt libhipsparselt0) || {
	echo 'skip real libraries: no package archive can be reached'
	exit 0
}
"$python" "$top/tests/oracle/device_code.py" "$ROCSMITH" \
	"$(realpath "$gloo"/usr/lib/libgloo_hip.so.0)" \
	"$(realpath "$fft"/usr/lib/x86_64-linux-gnu/librocfft.so.0)" \
	${sparselt:+"$(realpath "$sparselt"/usr/lib/x86_64-linux-gnu/libhipsparselt.so.0)"}

if [ -z "$sparselt" ]; then
	:
elif command -v zstd >/dev/null; then
	find "$sparselt" -name '*.co' -size -400k | sort | head -n 12 >"$E2E_TMP/list"
	xargs -a "$E2E_TMP/list" "$python" "$top/tests/oracle/device_code.py" "$ROCSMITH"
else
	echo 'skip zstd is missing: compressed bundles are not compared'
fi

# Files beside a library, and code objects in arrays, against a count by Python.
hsa=$(get sid hsa-runtime libhsa-runtime64-1) || hsa=
"$python" - "$ROCSMITH" "$sparselt" $hsa <<'PY'
import collections, json, pathlib, re, struct, subprocess, sys
def inspect(path):
    done = subprocess.run([sys.argv[1], "inspect", "--json", path], stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)
want = collections.Counter()
if sys.argv[2]:
    for p in pathlib.Path(sys.argv[2]).rglob("*"):
        if p.is_file() and not p.is_symlink() and "/library/" in str(p) and p.suffix in (".dat", ".co", ".hsaco"):
            found = re.search("gfx[0-9a-f]+", p.name)
            want[found.group() if found else ""] += 1
    sets = inspect(sys.argv[2])["sets"]
    assert [s["kind"] for s in sets] == ["hipsparselt"], sets
    assert {t["target"]: t["files"] for t in sets[0]["targets"]} == want, (sets, want)
    print("ok", sum(want.values()), "side files are counted as by their names")
for root in sys.argv[3:]:
    for p in pathlib.Path(root).rglob("libhsa-runtime64.so.1.*"):
        data = p.read_bytes()
        there = [m.start() for m in re.finditer(rb"\x7fELF\x02\x01\x01", data)
                 if struct.unpack_from("<H", data, m.start() + 18)[0] == 224]
        d = inspect(p)
        objects = d["files"][0]["objects"]
        assert len(objects) == len(there) > 10, (len(objects), len(there))
        mach = sorted(data[at + 48] for at in there)
        assert sum(o["target"] == "unknown" for o in objects) == mach.count(0)
        print("ok", len(there), "code objects are found in arrays of", p.name)
PY

# A wheel of them (a zip by Python) says the same as the folder.
mkdir -p "$E2E_TMP/tree/lib"
cp "$gloo"/usr/lib/libgloo_hip.so.0.*.0 "$fft"/usr/lib/x86_64-linux-gnu/librocfft.so.0.1 \
	"$E2E_TMP/tree/lib/"
(cd "$E2E_TMP/tree" && "$python" -m zipfile -c ../some-1-py3-none-any.whl lib)
answer() { "$ROCSMITH" inspect --json --hash "$1" | sed 's/"path": "[^"]*\(some\|tree\)[^"]*"//'; }
answer "$E2E_TMP/tree" >"$E2E_TMP/folder.json"
answer "$E2E_TMP/some-1-py3-none-any.whl" >"$E2E_TMP/wheel.json"
cmp "$E2E_TMP/folder.json" "$E2E_TMP/wheel.json"
grep -q '"gfx1100"' "$E2E_TMP/wheel.json"
echo 'ok a wheel and a folder with the same libraries give the same answer'

# Stripping the section table away must not hide anything.
lib=$E2E_TMP/tree/lib/librocfft.so.0.1
"$ROCSMITH" inspect --json --hash "$lib" >"$E2E_TMP/before.json"
"$python" - "$lib" <<'PY'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(40)
    f.write(bytes(8))      # e_shoff
    f.seek(58)
    f.write(bytes(6))      # e_shentsize, e_shnum, e_shstrndx
PY
readelf -SW "$lib" 2>&1 | grep -q 'no sections'
"$ROCSMITH" inspect --json --hash "$lib" | cmp - "$E2E_TMP/before.json"
echo 'ok a library without a section table gives the same answer'

# shellcheck source=tests/e2e/llvm.bash
# The runtime's trap handlers and blit kernels, for 40 targets, do not bury what the other library serves.
if [ -n "$hsa" ]; then
	mkdir -p "$E2E_TMP/both"
	cp "$(realpath "$gloo"/usr/lib/libgloo_hip.so.0)" "$hsa"/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1.* "$E2E_TMP/both"
	"$ROCSMITH" inspect "$E2E_TMP/both" >"$E2E_TMP/both.txt"
	"$ROCSMITH" inspect --json "$E2E_TMP/both" | "$python" -c '
import json, sys
d = json.load(sys.stdin)
gloo = next(f for f in d["files"] if "gloo" in f["path"])
assert d["served"] == d["served_by_some"] == gloo["served"] and "gfx1100" in d["served"], d["served"]'
	grep -q 'not counted above: .*(libhsa-runtime64.so' "$E2E_TMP/both.txt"
	! grep -qE 'only a part|gfx702|unknown' "$E2E_TMP/both.txt" && echo "ok the runtime's own code is not counted as a program's"
fi

. "$top/tests/e2e/llvm.bash"
llvm_find || {
	echo "skip LLVM's tools cannot be had"
	exit 0
}
compare() { # FILE: target and hash of every object, as llvm-objdump takes them out, into files that end in its target
	rm -rf "$E2E_TMP/taken" && mkdir "$E2E_TMP/taken" && ln -s "$1" "$E2E_TMP/taken/lib"
	llvm llvm-objdump --offloading "$E2E_TMP/taken/lib" >/dev/null
	(cd "$E2E_TMP/taken" && sha256sum lib.*amdgcn*) | sed 's/^\([0-9a-f]*\) .*amdgcn-amd-amdhsa--\(.*\)$/\2 \1/' | sort >"$E2E_TMP/llvm"
	"$ROCSMITH" inspect --json --hash "$1" | "$python" -c '
import json, sys
for o in json.load(sys.stdin)["files"][0]["objects"]:
    print(o["target"], o["sha256"])' | sort >"$E2E_TMP/ours"
	if ! [ -s "$E2E_TMP/llvm" ] || ! cmp "$E2E_TMP/llvm" "$E2E_TMP/ours"; then
		echo "not ok llvm-objdump takes other objects out of ${1##*/}"
		return
	fi
	echo "ok llvm-objdump takes the same $(wc -l <"$E2E_TMP/ours") objects out of ${1##*/}"
}
compare "$(realpath "$gloo"/usr/lib/libgloo_hip.so.0)"
[ -z "$sparselt" ] || compare "$(realpath "$sparselt"/usr/lib/x86_64-linux-gnu/libhipsparselt.so.0)"

# Objects of the new offload driver that are not linked yet, with bitcode for the linker: one a target.
printf '%s\n' 'struct dim3 { unsigned x, y, z; };' \
	'extern "C" int hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, void *);' \
	'__attribute__((global)) void k(int *p) { *p = 1; }' >"$E2E_TMP/rdc.hip"
(cd "$E2E_TMP" && "$ROCSMITH" sdk run --sdk debian-sid -- clang++-21 -x hip -nogpuinc -nogpulib --offload-new-driver -fgpu-rdc \
	--offload-arch=gfx1201,gfx90a:xnack+ -c rdc.hip -o rdc.o)
llvm llvm-objdump --offloading "$E2E_TMP/rdc.o" | sed -n 's/^arch  *//p' >"$E2E_TMP/rdc.llvm"
"$ROCSMITH" inspect --json "$E2E_TMP/rdc.o" | "$python" -c '
import json, sys
for o in json.load(sys.stdin)["files"][0]["objects"]:
    assert o["encoding"] == "offload", o
    print(o["target"])' >"$E2E_TMP/rdc.ours"
[ -s "$E2E_TMP/rdc.llvm" ] && cmp "$E2E_TMP/rdc.llvm" "$E2E_TMP/rdc.ours" || echo 'not ok an object of clang with -fgpu-rdc'
echo "ok llvm-objdump finds the same $(wc -l <"$E2E_TMP/rdc.ours") images in an object of the new offload driver"

# A bundle by clang-offload-bundler, raw and compressed, in clang's default version and method.
printf one >"$E2E_TMP/one" && printf 'the second' >"$E2E_TMP/two" && : >"$E2E_TMP/host"
for flags in '' '-compress'; do
	llvm clang-offload-bundler -type=o -bundle-align=4096 $flags -output="$E2E_TMP/b" \
		-targets=host-x86_64-unknown-linux-gnu-,hipv4-amdgcn-amd-amdhsa--gfx1100,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack- \
		-input="$E2E_TMP/host" -input="$E2E_TMP/one" -input="$E2E_TMP/two"
	"$ROCSMITH" inspect --json --hash "$E2E_TMP/b" >"$E2E_TMP/b.json" || true
	"$python" - "$E2E_TMP/b.json" <<'PY'
import hashlib, json, sys
objects = json.load(open(sys.argv[1]))["files"][0]["objects"]
want = [("gfx1100", b"one"), ("gfx90a:xnack-", b"the second")]
assert [(o["target"], o["sha256"]) for o in objects] == [
    (t, hashlib.sha256(b).hexdigest()) for t, b in want], objects
PY
	echo "ok a bundle by clang-offload-bundler ${flags:-, raw}"
done

# A DLL and a static library for Windows, by clang and LLVM's linker, against the bundle that went in.
lld && command -v clang >/dev/null || {
	echo 'skip clang or lld is missing'
	exit 0
}
cat >"$E2E_TMP/dll.s" <<'S'
	.section .hip_fatbin,"dr"
	.p2align 12
fatbin:	.incbin "bundle"
	.section .hipFatBinSegment,"dw"
	.p2align 3
	.long 0x48495046, 1
	.quad fatbin, 0
S
(
	cd "$E2E_TMP"
	cp formats/alone.hipfb bundle
	clang --target=x86_64-pc-windows-msvc -c dll.s -o dll.obj
	lld-link /dll /noentry dll.obj /out:x.dll
	ar rc x.lib dll.obj
)
listing() { "$ROCSMITH" inspect --kernels --objects "$1" | sed -n '/^TARGET/,$p' | sed "s:$E2E_TMP/[a-z.]*::"; }
listing "$E2E_TMP/bundle" >"$E2E_TMP/want"
grep -q gfx942 "$E2E_TMP/want"
for file in x.dll x.lib; do
	listing "$E2E_TMP/$file" | diff "$E2E_TMP/want" -
	echo "ok $file by lld has what its bundle has"
done
