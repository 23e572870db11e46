#!/usr/bin/env bash
# `slim` with I/O calls failing once, dying at I/O calls, and killed at random moments: a library, a folder, a wheel, and
# in place. What it reads is never changed, and another run gives what was never disturbed.
# ROCSMITH_FAULT_POINTS says at how many calls (0 = each one), and ROCSMITH_KILLS how many random kills of each kind.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
faults=$top/tests/e2e/faults.py
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
points=${ROCSMITH_FAULT_POINTS:-3}
kills=${ROCSMITH_KILLS:-3}
[ "$points" = 0 ] && sample= || sample="--sample $points"
cd "$E2E_TMP"
chmod -R u+w . && rm -rf ./*
if [ ! -x "$fault" ]; then
	echo 'skip slim with failing calls: no rocsmith-fault'
	exit 0
fi

mkdir -p in/library w/p-1.dist-info
python3 - <<'PY'
import base64, hashlib, os, struct, zipfile
def bundle(path, size):
    parts = [(b"host-x86_64-unknown-linux-gnu-", 0), (b"hipv4-amdgcn-amd-amdhsa--gfx90a", size),
        (b"hipv4-amdgcn-amd-amdhsa--gfx1100", size)]
    at, head = 4096, b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 3)
    for name, n in parts:
        head += struct.pack("<QQQ", at, n, len(name)) + name
        at += -(-n // 4096) * 4096
    open(path, "wb").write(head.ljust(4096, b"\0") + bytes(range(256)) * ((at - 4096) // 256))
bundle("in/a.hipfb", 8 << 20)
bundle("in/b.hipfb", 4096)
for gpu in ("gfx90a", "gfx1100"):
    open(f"in/library/K_{gpu}.dat", "w").write(gpu)
with zipfile.ZipFile("p-1-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as z:
    rows = []
    texts = {"p-1.dist-info/METADATA": b"Metadata-Version: 2.1\nName: p\nVersion: 1\n",
        "p-1.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    for name in ("a.hipfb", "library/K_gfx90a.dat"):
        texts["p/" + name] = open("in/" + name, "rb").read()
    for name, data in texts.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")
        z.writestr(name, data)
    z.writestr("p-1.dist-info/RECORD", "".join(rows) + "p-1.dist-info/RECORD,,\n")
with zipfile.ZipFile("p-1-py3-none-any.whl") as z:
    z.extractall("site")
os.makedirs("site/tool-cuda/empty")
os.makedirs("site/tools/cuda")
for path in ("site/tool-cuda/a", "site/tools/cuda/a-cuda"):
    open(path, "w").write("for somebody else")
PY
ln -s a.hipfb in/link

three='[ "$STATUS" = 0 ] || [ "$STATUS" = 3 ]' # a disk or folder that cannot be used is no fault of the program, nor of the input
# shellcheck disable=SC2086
disturb() { # WHAT SETUP TREE WORD...
	local what=$1 setup=$2 tree=$3
	shift 3
	local same="--tree $tree --keep in --ignore *.slim.json"
	python3 "$faults" sweep $sample --errno ENOSPC,EIO,EACCES --check "$three" --setup "$setup" $same -- "$fault" slim -q --gpu gfx1100 "$@"
	echo "ok $what, with failing calls"
	python3 "$faults" sweep $sample --errno KILL --setup "$setup" $same -- "$fault" slim -q --gpu gfx1100 "$@"
	echo "ok $what, dying at calls"
	python3 "$faults" kill --times "$kills" --setup "$setup" $same -- "$ROCSMITH" slim -q --gpu gfx1100 "$@"
	echo "ok $what, killed $kills times"
}

fresh='rm -rf t && mkdir t'
disturb 'a file' "$fresh" t in/a.hipfb -o t/a.hipfb --force
disturb 'a folder' "$fresh" t in -o t/out --force
disturb 'a wheel' "$fresh" t p-1-py3-none-any.whl -o t/p-1-py3-none-any.whl --force
disturb 'a file in place' "$fresh && cp in/a.hipfb t" t t/a.hipfb --in-place
disturb 'a folder in place' "$fresh && cp -a site t" t t/site --in-place --strip-device --without '*cuda*'

# ---- two at once ----
two() { # WHAT ONE OTHER
	local what=$1 one=$2 other=$3 i status
	for i in $(seq 8); do
		rm -rf t && mkdir -p t/sub
		cp in/a.hipfb t/sub/a.hipfb && cp in/a.hipfb t/b.hipfb && cp in/a.hipfb t/sub/c.hipfb && ln -s sub t/name
		"$ROCSMITH" slim -q --in-place --gpu gfx1100 "$one" >one.log 2>&1 &
		status=0
		"$ROCSMITH" slim -q --in-place --gpu gfx90a "$other" >other.log 2>&1 || status=$?
		wait $! || status=$((status + 10 * $?))
		[ "$status" != 0 ] || {
			echo "not ok $what: both end with 0"
			exit 1
		}
		"$ROCSMITH" inspect --json t | python3 -c '
import json, sys
for f in json.load(sys.stdin)["files"]:
    assert [o for o in f["objects"] if o["size"]], f["path"]' || {
			echo "not ok $what: a file has no code left ($status)"
			exit 1
		}
	done
	echo "ok $what: two runs in place for different GPUs, at once, leave each file its code"
}
two 'one folder' t/sub t/sub
two 'two names of a folder' t/sub t/name
two 'one file' t/sub/a.hipfb t/name/a.hipfb

# ---- no room ----
rm -rf t && cp -a in t
status=0
(trap '' XFSZ && ulimit -f 100 && "$ROCSMITH" slim -q --in-place --strip-device --gpu gfx1100 t >log 2>&1) || status=$?
[ "$status" = 3 ] || { echo "not ok no room: status $status: $(cat log)" && exit 1; }
diff -r --no-dereference in t || { echo 'not ok a run that changed nothing leaves something' && exit 1; }
echo 'ok a run in place that finds no room for its first file leaves all as it was'
