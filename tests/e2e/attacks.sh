#!/usr/bin/env bash
# The attacks that succeeded on an earlier version, each with two variants, on the program itself. What needs a compiler, a moment
# between two system calls, or hundreds of kills is in the tests that the table in doc/security.md names.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP" && chmod -R u+w . && rm -rf ./*
unset XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_CONFIG_HOME
export HOME=$PWD/home ROCSMITH_HOME=$PWD/home/rs PYTHONPATH=$top/tests/oracle
mkdir -p home secret
echo topsecret >secret/key
chmod 600 secret/key
root=$([ "$(id -u)" = 0 ] && echo yes)
failed=0
prove() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >log 2>&1; then echo "ok $what"; else echo "not ok $what"; sed 's/^/# /' log said 2>/dev/null | head -n 20; failed=1; fi
}
run() { timeout 60 "$ROCSMITH" "$@" >said 2>&1; }
refuses() { # STATUS TEXT WORD...
	local status=$1 text=$2 got=0
	shift 2
	run "$@" || got=$?
	[ "$got" = "$status" ] && grep -q -e "$text" said && [ "$(grep -c '^error:' said)" = 1 ]
}
untold() { ! grep -rqs topsecret said "$@"; } # FILE...: the key is in none of them

# ---- 1. a place below a folder that somebody else may change ----
if [ "$root" ]; then
	mkdir -p theirs/rs turned/sdk crowd group/rs home/rs
	ln -s "$PWD/turned" theirs/rs/data
	chown 1234 theirs crowd && chown -h 1234 theirs/rs/data
	chmod 1777 crowd && mkdir crowd/rs
	chgrp 1234 group && chmod 775 group
	ln -s "$PWD/theirs/rs" home/way
	for place in theirs/rs home/way theirs/../theirs/rs crowd/rs group/rs; do
		ROCSMITH_HOME=$PWD/$place prove "1: a place that others can turn: $place" refuses 3 'belongs to another user\|can be written by others' sdk list
	done
	XDG_CACHE_HOME=$PWD/crowd ROCSMITH_HOME='' prove '1: for the cache alone' refuses 3 'belongs to another user' \
		plan none-1.tar.gz --gpu gfx1201
	tar -czf s-1.tar.gz secret
	TMPDIR=$PWD/group prove '1: for temporary files' refuses 3 'for temporary files' inspect s-1.tar.gz
else
	echo 'skip 1: this is not root'
fi

# ---- 2. two runs of slim in place ----
python3 - <<'END'
from device_code import pack
open("a.hipfb", "wb").write(pack([(b"hipv4-amdgcn-amd-amdhsa--" + gpu, bytes(range(256)) * 400) for gpu in (b"gfx90a", b"gfx1100")]))
END
has_code() { "$ROCSMITH" inspect --json "$1" | python3 -c 'import json, sys
for f in json.load(sys.stdin)["files"]: assert [o for o in f["objects"] if o["size"]], f["path"]'; }
both() { # ONE OTHER: for different GPUs, several times
	local i one other
	for i in 1 2 3 4; do
		rm -rf t && mkdir -p t/sub t/far && cp a.hipfb t/sub && cp a.hipfb t/b.hipfb && ln t/b.hipfb t/far/b.hipfb && ln -s sub t/name
		"$ROCSMITH" slim -q --in-place --gpu gfx1100 $1 >one.log 2>&1 &
		other=0 one=0
		"$ROCSMITH" slim -q --in-place --gpu gfx90a $2 >other.log 2>&1 || other=$?
		wait $! || one=$?
		# one after the other, the second finds code for the wrong GPU only, and says so
		has_code t 2>why || { [ $one$other = 00 ] && grep -q 'has no code left' one.log other.log; } || { cat why && return 1; }
	done
}
prove '2: a folder, and a file in it' both t t/sub/a.hipfb
prove '2: two hard links of a file' both t/b.hipfb t/far/b.hipfb
prove '2: a folder by another name, from below' both t/name 't/sub/../sub/a.hipfb'
cp a.hipfb kept.hipfb && rm -rf t && mkdir t && ln kept.hipfb t/a.hipfb
prove '2: a hard link elsewhere, as uv makes them, keeps its content' bash -c '"$0" slim -q --in-place --gpu gfx1100 t && cmp a.hipfb kept.hipfb' "$ROCSMITH"

# ---- 3. a log that takes for ever ----
logs() {
	python3 - <<'END'
def put(name, text):
    open(name, "w").write((text * (1000000 // len(text) + 1))[:1000000])
put("log-word", "hipError")
put("log-cr", "hipErrorNoBinaryForGpu error: undefined symbol: \r")
put("log-ansi", "\033[31mhip\033[0mErrorNoBinaryForGpu no kernel image ")
put("log-frames", '  File "a.py", line 1, in hipErrorInvalidDeviceFunction\n')
END
}
logs
for log in log-word log-cr log-ansi log-frames; do
	prove "3: explain of 1 MB: $log" bash -c 'ulimit -t 10; "$0" explain "$1" || [ $? = 1 ]' "$ROCSMITH" $log
done
end_it() { # a signal is heard
	cat log-word log-word log-word log-word >long
	"$ROCSMITH" explain - <long >/dev/null 2>&1 &
	sleep 0.05
	kill -TERM $! 2>/dev/null
	timeout 10 tail --pid=$! -f /dev/null
}
prove '3: SIGTERM ends it' end_it

# ---- 4. a cache that answers for another archive ----
sdist() { # NAME TEXT
	mkdir -p "make/$1" && echo "$2" >"make/$1/setup.py" && echo "name = '$2'" >"make/$1/x.py"
	tar --sort=name --mtime=@0 -czf "$1.tar.gz" -C make "$1"
}
cached() { find "$1/cache/source" -maxdepth 1 -name "$2-*" -type d 2>/dev/null | head -n 1; }
answers() { # COMMAND...: the folder of one archive has the name of another's; this changes its receipt
	rm -rf one two && sdist p-1 good
	ROCSMITH_HOME=$PWD/one run plan p-1.tar.gz --gpu gfx1201 --sdk debian:sid
	local good bad
	good=$(cached one p) && sdist p-1 bad
	ROCSMITH_HOME=$PWD/two run plan p-1.tar.gz --gpu gfx1201 --sdk debian:sid
	bad=$(cached two p)
	[ -n "$good" ] && [ -n "$bad" ] && [ "$(basename "$good")" != "$(basename "$bad")" ] || return 1
	rm -rf "$good" && cp -a "$bad" "$good"
	"$@"
	sdist p-1 good
	ROCSMITH_HOME=$PWD/one run plan p-1.tar.gz --gpu gfx1201 --sdk debian:sid
	grep -qx good "$good/setup.py"
}
prove '4: the tree of another archive with its receipt' answers eval 'cp "$bad.json" "$good.json"'
prove '4: with none' answers eval 'rm "$good.json"'
prove '4: with the receipt of no whole tree' answers eval ': >"$good.json"'

# ---- 5. links and special files of a folder that is copied or translated ----
if [ "$root" ]; then
	folder() {
		rm -rf in out && mkdir in && cp a.hipfb in/a.hipfb && cp secret/key in/plain && ln in/plain in/second
		chown 1234 in/plain && chmod 6755 in/plain && chmod 3777 in
		run slim -q --gpu gfx1100 in -o out || return 1
		[ -z "$(find out -perm /7000)" ] && [ -z "$(find out -type f -links +1)" ] && [ -z "$(find out -uid 1234)" ]
	}
	prove '5: slim FOLDER -o takes no set-user-id bit, owner or hard link along' folder
	later() { echo changed >>in/second && ! grep -q changed out/plain && ! grep -q changed out/second; }
	prove '5: and what is changed later stays outside' later
	piped() { rm -rf out in/plain && mkfifo in/plain && { run slim -q --gpu gfx1100 in -o out; [ $? -lt 100 ]; }; }
	prove '5: a pipe in it is not waited for' piped
else
	echo 'skip 5, copies: this is not root'
fi
sources() {
	rm -rf evil led && mkdir -p evil/d
	printf '#include <cuda_runtime.h>\n#include "k.h"\n#embed "k.h"\nint f() { return cudaDeviceSynchronize(); }\n' | tee evil/a.cu >evil/d/b.cu
	"$@"
}
by_two() { ln -s ../secret/key evil/two && ln -s two evil/k.h && ln -s ../two evil/d/k.cu; }
by_folder() { ln -s ../secret evil/lib && ln -s lib/key evil/k.h && ln -s ../lib/key evil/d/k.cu; }
by_parent() { ln -s "d/../../secret/key" evil/k.h && ln -s /proc/self/cwd/secret/key evil/d/k.cu; }
for how in by_two by_folder by_parent; do
	for words in 'hipify evil -o led' 'hipify evil --in-place' 'hipify --diff evil' 'plan evil --gpu gfx1201' 'patch apply evil'; do
		sources $how
		run $words
		prove "5: no key by $how: $words" untold led evil/*.hip evil/d/*.hip evil/.rocsmith
	done
done
tree_of() { # a wheel's folder
	rm -rf pk && mkdir -p pk/p pk/p-1.dist-info
	printf 'Metadata-Version: 2.1\nName: p\nVersion: 1\n' >pk/p-1.dist-info/METADATA
	printf 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >pk/p-1.dist-info/WHEEL
	: >pk/p-1.dist-info/RECORD
	ln -s "$1" pk/p/x
}
for to in ../../secret/key ../../secret /dev/zero; do
	tree_of $to
	prove "5: wheel pack of a link to $to" refuses 2 'is a link or a device' wheel pack pk -o p-1-py3-none-any.whl
	prove '5: makes no wheel' test ! -e p-1-py3-none-any.whl
done

# ---- 6. archives and records ----
bombs() {
	python3 - <<'END'
import io, tarfile, zipfile
def tar(name, members, mode="w:gz"):
    with tarfile.open(name, mode, **({"compresslevel": 1} if mode == "w:gz" else {})) as out:
        for path, size in members:
            entry = tarfile.TarInfo(path)
            entry.size = size
            out.addfile(entry, io.BytesIO(bytes(size)))
tar("big-1.tar.gz", [("big-1/setup.py", 9), ("big-1/zeros", 200 << 20)])
tar("xz-1.tar.xz", [("xz-1/setup.py", 9), ("xz-1/zeros", 200 << 20)], "w:xz")
with zipfile.ZipFile("zip-1.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("zip-1/setup.py", "x")
    z.writestr("zip-1/zeros", bytes(200 << 20))
END
}
bombs
for bomb in big-1.tar.gz xz-1.tar.xz zip-1.zip; do
	prove "6: an sdist that unpacks to too much: $bomb" refuses 2 'unpacks to more than' plan $bomb --gpu gfx1201 --sdk debian:sid
	prove '6: leaves nothing' test -z "$(find home/rs/cache/source -name zeros 2>/dev/null)"
done
site() { # PATH-IN-RECORD: an environment whose RECORD names it
	rm -rf env && mkdir -p env/p-1.dist-info env/p && cp a.hipfb env/p && ln -s /dev env/dev && ln -s ../secret env/lnk && mkfifo env/pipe
	printf 'Metadata-Version: 2.1\nName: p\nVersion: 1\n' >env/p-1.dist-info/METADATA
	printf 'p/a.hipfb,sha256=x,1\n%s,sha256=x,1\np-1.dist-info/RECORD,,\n' "$1" >env/p-1.dist-info/RECORD
	run slim -q --in-place --gpu gfx1100 env
	local status=$?
	[ $status -lt 100 ] && ! grep -q "$(sha256sum secret/key | xxd -r -p 2>/dev/null | base64 | tr '/+' '_-' | cut -c1-43)" env/p-1.dist-info/RECORD
}
for name in dev/zero lnk/key pipe ../secret/key /dev/zero; do
	prove "6: RECORD names $name" site $name
done

# ---- 7. modes, originals, full disks, kills ----
open_files() { [ -z "$(find "$@" ! -type l -perm /22)" ]; }
(umask 0 && ROCSMITH_HOME=$PWD/fresh run plan p-1.tar.gz --gpu gfx1201 --sdk debian:sid) || cat said
prove '7: umask 0: fetched sources' open_files fresh
(umask 0 && HOME=$PWD/home2 ROCSMITH_HOME='' run hipify make/p-1)
prove '7: umask 0: in a new home' open_files home2/.cache home2/.local
python3 "$top/tests/e2e/amd_index.py" make amd --gpu gfx1201 --kib 1
(umask 0 && ROCSMITH_HOME=$PWD/fresh run sdk install rocm:10.1 --components compiler --find-links amd/rocm-sdk-core \
	--find-links amd/rocm-sdk-devel) || cat said
prove '7: umask 0: an SDK' open_files fresh
mkdir -p my tree/src
cp "$top/tests/cases/patch/apply-and-revert.case" case
sed -n '/^@file my\//,/^@/{/^@/!p}' case >my/one.yaml
patched() { rm -rf tree other && mkdir -p tree/src && printf '#pragma once\n#define SIZE 64\n' >tree/src/a.h && run patch apply --recipes my tree; }
if patched; then
	echo evil >>tree/.rocsmith-patches/originals/src/a.h
	prove '7: patch revert of a changed original' refuses 3 'is not the file that rocsmith replaced' patch revert tree
	patched && rm tree/.rocsmith-patches/originals/src/a.h && ln -s "$PWD/secret/key" tree/.rocsmith-patches/originals/src/a.h
	run patch revert tree
	prove '7: or of a link in its place' untold tree/src
	patched && mkdir -p other/src && cp -r tree/.rocsmith-patches other && echo mine >other/src/a.h
	prove '7: or by the manifest of another tree' refuses 3 'belongs to another folder' patch revert other
else
	echo "not ok 7: a recipe is applied"
	cat said
	failed=1
fi
if command -v gcc >/dev/null && python3 "$top/tests/oracle/gpus_wheel.py" . --small >log 2>&1; then
	whl=kern-1.0+rocm7.2-py3-none-linux_x86_64.whl
	"$ROCSMITH" split -q --format plain $whl -o parts >log 2>&1
	for kib in 8 40 200; do
		for words in "split -q --format kpack $whl -o full" "split -q --format plain $whl -o full" "slim -q --gpu gfx1100 $whl -o full/$whl" \
			"merge -q parts/*.whl -o full" "wheel unpack $whl -o full/x" "bundle -q $whl -o full"; do
			rm -rf full && mkdir full
			status=0
			# shellcheck disable=SC2086
			(trap '' XFSZ && ulimit -f $kib && TMPDIR=$PWD timeout 60 "$ROCSMITH" $words >said 2>&1) || status=$?
			prove "7: no room for files above $kib KiB: $words" test "$status" -le 3
			prove '7: then there is a whole set or none' bash -c '[ "$1" = 0 ] || [ -z "$(ls -A full)" ]' x $status
		done
	done
	for words in "split -q --format plain $whl -o killed" "merge -q parts/*.whl -o killed" "slim -q --gpu gfx1100 $whl -o killed/$whl"; do
		rm -rf killed && mkdir killed
		for pause in 0.01 0.03 0.06; do
			# shellcheck disable=SC2086
			"$ROCSMITH" $words --force >/dev/null 2>&1 &
			sleep $pause
			kill -9 $! 2>/dev/null
			wait $! 2>/dev/null
		done
		# shellcheck disable=SC2086
		run $words --force
		prove "7: nothing is left of killed runs: $words" test -z "$(find killed -name '.*' -mindepth 1)"
	done
else
	echo 'skip 7, wheels: no gcc'
fi

# ---- 8. files that are exchanged while others are read ----
swapped() { # a file of a tree becomes a link when it was found
	tree_of p-1 && rm pk/p/x && head -c 60000000 /dev/urandom >pk/p/a
	local pause
	for pause in 0.05 0.2 0.4; do
		rm -rf pk/p/z p-1-py3-none-any.whl && echo hello >pk/p/z
		run wheel pack -j1 pk -o p-1-py3-none-any.whl &
		sleep $pause
		rm pk/p/z && ln -s ../../secret/key pk/p/z
		wait $!
		[ ! -e p-1-py3-none-any.whl ] || ! python3 -m zipfile -e p-1-py3-none-any.whl z || ! grep -q topsec z/p/z || return 1
	done
}
prove '8: a link in the place of a file, while others are packed' swapped
rm -rf pk z two && mkdir -p two/good two/evil two/in
python3 - <<'END'
import base64, hashlib, os, zipfile
def wheel(folder, name, files):
    info = f"{name}-1.dist-info"
    files |= {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    hashes = {n: base64.urlsafe_b64encode(hashlib.sha256(d).digest()).rstrip(b"=").decode() for n, d in files.items()}
    files[f"{info}/RECORD"] = ("".join(f"{n},sha256={h},{len(files[n])}\n" for n, h in hashes.items()) + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(f"two/{folder}/{name}-1-py3-none-any.whl", "w") as z:
        for n, d in files.items():
            z.writestr(n, d)
wheel("good", "p", {"p.py": b"x"})
wheel("evil", "p", {"p.py": b"x", "p-1.data/evil/x": b"x"})
wheel("in", "q", {"q": os.urandom(150 << 20)})
END
exchanged() { # a wheel that verify refuses is another one while verify looks
	local p=p-1-py3-none-any.whl pauses whl
	for pauses in '0.08 0.15' '0.15 0.2' '0.3 0.3'; do
		rm -rf store && cp two/evil/$p two/in/$p
		run stage two/in --to store/dev -q &
		sleep "${pauses% *}"
		cp two/good/$p two/in/.new && mv two/in/.new two/in/$p
		sleep "${pauses#* }"
		cp two/evil/$p two/in/.new && mv two/in/.new two/in/$p
		wait $!
		for whl in store/files/*/$p; do
			[ ! -e "$whl" ] || "$ROCSMITH" verify -q "$whl" >log 2>&1 || [ ! -e store/staged/dev.json ] || return 1
		done
	done
}
prove '8: another wheel, while it is verified' exchanged
rm -rf store two

# ---- 9. thousands of one kind ----
python3 - "$top" <<'END'
import os, sys
code = open(sys.argv[1] + "/tests/data/devcode/gfx90a.hsaco", "rb").read()
for i in range(12000):
    os.makedirs(f"same/{i}")
    open(f"same/{i}/k.hsaco", "wb").write(code)
END
named() { (ulimit -v 1500000 -t 60 && run inspect --extract gfx90a same -o taken -n) && grep -q 'k.hsaco.0.gfx90a-12000.hsaco' said; }
prove '9: 12,000 objects of one name are told apart' named
rm -rf same
python3 - <<'END'
import os
def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write(text)
for i in range(256):
    node, pci = f"crowded/sys/class/kfd/kfd/topology/nodes/{i}", f"crowded/sys/bus/pci/devices/0000:{i:02x}:00.0"
    put(f"{node}/properties", f"gfx_target_version 110000\nsimd_count 64\nvendor_id 4098\ndevice_id 29772\ndrm_render_minor {128 + i}\n")
    put(f"{node}/gpu_id", f"{i + 1}")
    for name, value in {"vendor": "0x1002", "device": "0x744c", "class": "0x030000"}.items():
        put(f"{pci}/{name}", value + "\n")
END
crowded() { (ulimit -t 5 && run "$@" --sysroot crowded) || [ $? = 1 ]; }
prove '9: env of a recorded machine with 256 GPUs' crowded env
prove '9: doctor of it' crowded doctor
rm -rf crowded
exit $failed
