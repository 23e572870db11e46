#!/usr/bin/env bash
# slow: it builds the program four times more, makes Debian systems of the oldest and the newest suite, and installs there
# `make dist`, as its users meet it: built twice, looked at by other tools, installed by dpkg, pip, uv, pipx and makepkg, and
# run in systems that have nothing of ours, for aarch64 by qemu. Wherever it runs it must answer as the program of this machine does.
set -eu
. "$(dirname "$0")/scratch.bash"
[ "$(id -u)" = 0 ] && [ "$(uname -m)" = x86_64 ] && command -v bwrap >/dev/null || { echo 'skip dist: needs root, bwrap, x86-64'; exit 0; }
"$top/tools/deps" build check dist dist_check || { echo 'skip dist: packages are missing'; exit 0; }

# ---- built twice ----
SOURCE_DATE_EPOCH=$(git -C "$top" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
for copy in a b/deeper; do
	mkdir -p "$copy"
	git -C "$top" ls-files -z | tar -C "$top" --null -T - -c | tar -x -C "$copy"
done
begin=$(date +%s)
make -C a dist >log 2>&1 || no 'make dist'
echo "# make dist: $(($(date +%s) - begin)) s"
(umask 077 && TZ=Asia/Tokyo LANG=de_DE.UTF-8 make -C b/deeper dist) >log 2>&1 || no 'make dist in another folder'
diff -r a/dist b/deeper/dist >log || no 'another folder, umask and time zone give other bytes'
(cd a/dist && sha256sum --check --quiet SHA256SUMS) >log || no SHA256SUMS
ok "two folders give the same $(ls a/dist | wc -l) files"
dist=$PWD/a/dist
qemu=$("$top/tools/arm64-root" 2>log)/usr/bin/qemu-aarch64-static || no 'an emulator'

# ---- the program ----
looks() { # ARCH MACHINE BUILD LEAST MOST: of bytes that the library of patterns takes
	local program=tar-$1/bin/rocsmith page file
	mkdir "tar-$1"
	tar -xzf "$dist"/rocsmith-*-"$1"-linux.tar.gz -C "tar-$1" --strip-components=1
	readelf -hW "$program" | grep -q "Machine: *$2" || no "$1: it is for $2"
	if readelf -lW "$program" | grep INTERP || readelf -dW "$program" | grep NEEDED; then no "$1: it is static"; fi
	if grep -qa -e "$E2E_TMP" -e "${qemu%/usr/*}" "$program"; then no "$1: it tells where it was built"; fi
	python3 - "$3/rocsmith.map" "$program" "$4" "$5" <<-'PY' || no "$1: the program has no more than 6 MB without the library of patterns"
		import os, re, sys
		text = open(sys.argv[1]).read().split("Linker script and memory map")[1]
		patterns = sum(int(size, 16) for at, size in re.findall(r"0x([0-9a-f]{16}) +0x([0-9a-f]+) \S*/libhs_runtime\.a\(", text) if int(at, 16))
		size = os.path.getsize(sys.argv[2])
		print(f"# {size} bytes, of which Hyperscan or Vectorscan {patterns}")
		sys.exit(not int(sys.argv[3]) < patterns < int(sys.argv[4]) or size - patterns > 6000000)
	PY
	ok "$1: a static program of the promised size"
	[ "$(find "tar-$1/share/doc/rocsmith/licenses" -type f | wc -l)" -ge 12 ] || no "$1: the licences of all libraries are there"
	for page in "tar-$1"/share/man/man*/*; do
		[ -z "$(groff -man -Tutf8 -ww -z "$page" 2>&1)" ] || no "$1: $page"
	done
	for file in bash-completion/completions/rocsmith zsh/site-functions/_rocsmith fish/vendor_completions.d/rocsmith.fish; do
		grep -q rocsmith "tar-$1/share/$file" || no "$1: $file"
	done
	ok "$1: licences, man pages, completions"
}
looks x86_64 'Advanced Micro Devices X86-64' a/build-dist 4000000 7000000
looks aarch64 AArch64 a/build-dist-aarch64 300000 3000000
program=$PWD/tar-x86_64/bin/rocsmith

# Under the emulator a program is a script that starts it. The cases of what takes an SDK, which is for x86-64 only, are left out: copies
# of the program in shim folders, which this kernel cannot start, and this machine's libraries; and those of `matrix`, which starts
# the program once more.
printf '#!/bin/sh\nexec %s %s "$@"\n' "$qemu" "$PWD/tar-aarch64/bin/rocsmith" >aarch64
chmod +x aarch64
cases=$(dirname "$ROCSMITH")/tests/case_runner
for tried in "$program" "$PWD/aarch64"; do
	[ -x "$cases" ] || { echo 'skip the case files: their runner is not built'; break; }
	(cd "$top" && "$cases" "$tried" "$top/tests/cases" --data "$top/tests/data") >log 2>&1 || true
	[ "$tried" = "$program" ] || sed -i '/^not ok .* - \(cc\|matrix\|plan\|sdk\)\//d' log
	if grep '^not ok' log || ! grep -q '^ok' log; then no "a case file by $tried"; fi
	ok "$(grep -c '^ok' log) case files by $(basename "$tried")"
done

# ---- what others say ----
python3 -m venv env
env/bin/pip install -q --disable-pip-version-check auditwheel uv >log 2>&1 || { echo 'skip dist: the package index cannot be reached'; exit 0; }
judged() { # ARCH
	local platform whl
	whl=$(echo "$dist"/*_"$1".whl)
	"$program" verify "$whl" >log 2>&1 && grep -q '(0 errors, 0 warnings)' log || no "$1: verify has something to say about the wheel"
	env/bin/auditwheel show "$whl" >log 2>&1 && grep -q 'requires no external shared libraries' log || no "$1: auditwheel"
	"$program" wheel retag -o "musl-$1" --platform-tag "musllinux_1_1_$1" "$whl" >log 2>&1
	env/bin/auditwheel show "musl-$1"/*.whl >log 2>&1 && tr '\n' ' ' <log | grep -q 'requires no external shared libraries' || no "$1: auditwheel of the musl tag"
	"$program" wheel repro "$whl" >log 2>&1 || no "$1: wheel repro"
	for platform in "manylinux2014_$1" "manylinux_2_17_$1" "musllinux_1_1_$1"; do
		env/bin/pip download -q --no-index --find-links "$dist" --only-binary :all: --platform "$platform" -d "got-$platform" rocsmith >log 2>&1 ||
			no "pip takes it for $platform"
		ls "got-$platform"/*_"$1".whl >log 2>&1 || no "pip takes the right one for $platform"
	done
	ok "$1: verify, auditwheel and pip believe the tags of the wheel"
	lintian --fail-on error,warning "$dist"/*_"$2".deb >log 2>&1 || no "$1: lintian is content"
	ok "$1: lintian is content"
	cp -R "$dist" "arch-$1"
	chown -R nobody "arch-$1"
	sed "s/^CARCH=.*/CARCH=$1/" /etc/makepkg.conf >"arch-$1/makepkg.conf"
	(cd "arch-$1" && setpriv --reuid=nobody --clear-groups makepkg --config makepkg.conf --nodeps >../log 2>&1) || no "$1: makepkg"
	mkdir "pkg-$1"
	bsdtar -xf "arch-$1"/rocsmith-bin-*-"$1".pkg.tar* -C "pkg-$1"
	cmp "tar-$1/bin/rocsmith" "pkg-$1/usr/bin/rocsmith" || no "$1: the package of makepkg has another program"
	ok "$1: makepkg makes a package"
}
judged x86_64 amd64
judged aarch64 arm64

# ---- systems ----
mkdir work got
"$ROCSMITH" build "$top/examples/montecarlo" --sdk debian-sid --gpu gfx1201,gfx942 --build-dir b-here -o work >log 2>&1 || { echo 'skip systems: no SDK'; exit 0; }
wheel=montecarlo-1.0-cp38-abi3-linux_x86_64.whl
cp "$top/tests/logs/build-oom/yes-1.txt" work/log.txt
cp -R "$top/examples/montecarlo" work/montecarlo
# What Linux 4.4 of January 2016 had: system calls up to number 326. No statx, openat2, close_range, clone3, rseq.
python3 - <<'PY' >old-kernel.bpf
import struct, sys
for code, yes, no, k in (0x20, 0, 0, 0), (0x25, 0, 1, 326), (6, 0, 0, 0x50000 + 38), (6, 0, 0, 0x7FFF0000):
    sys.stdout.buffer.write(struct.pack("<HBBI", code, yes, no, k))
PY
inside() { # ROOT COMMAND...: no network, and nothing of this machine but /mnt
	local root=$1
	shift
	env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root TMPDIR=/tmp LC_ALL=C.UTF-8 \
		bwrap --cap-add ALL --unshare-net --bind "$root" / --dev /dev --proc /proc --tmpfs /tmp --bind "$PWD/work" /mnt --chdir /mnt "$@" 9<old-kernel.bpf
}
answers() { # NAME ROOT PROGRAM: what it says in that system
	local to=got/$1
	shift
	mkdir -p "$to" work/slim
	inside "$@" --version >"$to/version"
	inside "$@" explain --json log.txt >"$to/explain" || [ $? = 1 ]
	inside "$@" inspect --json --hash $wheel >"$to/inspect"
	inside "$@" slim -q --gpu gfx1201 -o slim $wheel >"$to/slim"
	inside "$@" verify --json --require gfx1201 slim/$wheel | grep -o '"verdict": *"[a-z]*"' >"$to/verify"
	mv work/slim "$to/slimmed"
	inside "$@" doctor --json >work/doctor.json || [ $? = 1 ]
	python3 -c 'import json; assert json.load(open("work/doctor.json"))["schema"] == "rocsmith.doctor/1"'
}
same() { # NAME ROOT PROGRAM
	answers "$@" 2>log && diff -r got/here "got/$1" >log || no "$1: it answers as it does on this machine"
	ok "$1: doctor, explain, inspect, slim, verify"
}
cp "$ROCSMITH" work/here
inside / true || { echo 'skip systems: bwrap cannot'; exit 0; }
answers here / ./here 2>log || no 'the answers of this machine'
grep -q build-oom got/here/explain && grep -q gfx942 got/here/inspect && grep -q pass got/here/verify &&
	[ -s got/here/slimmed/$wheel ] || no 'the answers of this machine are the right ones'
mkdir bare
cp "$program" bare/
same 'a root with no other file' bare /rocsmith

# musl's C library and programs that need it, and no other C library.
mkdir -p alpine/bin alpine/lib alpine/etc alpine/root
cp "$(command -v busybox)" alpine/bin/ && cp "$program" alpine/bin/
cp -L /lib/ld-musl-x86_64.so.1 alpine/lib/
printf 'ID=alpine\nVERSION_ID=3.20\n' >alpine/etc/os-release
echo 'int main(void) { return 7; }' >seven.c && musl-gcc -o alpine/bin/seven seven.c
rc=0
inside alpine /bin/seven || rc=$?
[ $rc = 7 ] || no 'a program of musl runs'
same musl alpine /bin/rocsmith
rm -rf alpine
if from=$("$top/tools/alpine-root" 2>log); then
	cp -a "$from" alpine
	tar -xzf "$dist"/rocsmith-*-x86_64-linux.tar.gz --strip-components=1 -C alpine/usr
	inside alpine sh -c '. /etc/os-release && [ "$ID" = alpine ] && ! [ -e /lib64 ]' || no 'it is Alpine'
	same "Alpine $(cat alpine/etc/alpine-release)" alpine rocsmith
	python3 -c 'import json; assert "Alpine" in json.dumps(json.load(open("work/doctor.json"))["facts"])' || no 'doctor knows Alpine'
else
	echo "skip Alpine: $(tail -n 1 log)"
fi

same 'a kernel of 2016' bare --seccomp 9 /rocsmith

mkdir arm
cp "$qemu" tar-aarch64/bin/rocsmith arm/
same 'aarch64, by qemu, in a root with no other file' arm /qemu-aarch64-static /rocsmith

root() { # SUITE PACKAGE...: a copy in ./SUITE
	local from
	from=$("$top/tools/debian-root" "$@" 2>log) || { echo "skip $1: $(tail -n 1 log)"; return 1; }
	cp -a "$from" "$1"
}
whl=$(echo "$dist"/*_x86_64.whl) deb=$(echo "$dist"/*_amd64.deb)
cp "$deb" "$whl" work/
cp env/bin/uv work/uv
deb=/mnt/${deb##*/} whl=/mnt/${whl##*/}
if root bullseye python3-pip; then
	inside bullseye dpkg -i "$deb" >log 2>&1 || no 'dpkg installs it in the oldest Debian'
	same 'the oldest Debian' bullseye /usr/bin/rocsmith
	inside bullseye dpkg -r rocsmith >log 2>&1
	inside bullseye pip install -q --no-index "$whl" >log 2>&1 || no 'the pip of the oldest Debian installs it'
	same 'pip in the oldest Debian' bullseye /usr/local/bin/rocsmith
fi
if root sid python3-venv python3-pip pipx; then
	inside sid dpkg -i "$deb" >log 2>&1 || no 'dpkg installs it in sid'
	same 'Debian sid' sid /usr/bin/rocsmith
	inside sid dpkg -r rocsmith >log 2>&1
	env/bin/pip download -q --no-deps -d work pip >log 2>&1 || no 'pip can be had' # pipx wants the newest
	inside sid env PIP_NO_INDEX=1 PIP_FIND_LINKS=/mnt pipx install "$whl" >log 2>&1 || no 'pipx installs it'
	same 'pipx in sid' sid /root/.local/bin/rocsmith
	[ -L sid/root/.local/share/man/man1/rocsmith.1 ] || no 'pipx shows the man pages'
	same 'uvx in sid' sid ./uv -q tool run --offline --from "$whl" rocsmith
	# there is no Python and no C++ in there: those of the SDK are used, which cannot be fetched without a network
	"$ROCSMITH" sdk install debian --suite sid --components compiler,python,hiprand >log 2>&1 || no 'the SDK is completed'
	inside sid --bind "$ROCSMITH_HOME" /srv env ROCSMITH_HOME=/srv /root/.local/bin/rocsmith build montecarlo --sdk debian-sid \
		--gpu gfx1201 --build-dir b-sid -o out >log 2>&1 || no 'a project is built in sid'
	ok 'a project is built in sid'
fi

# ---- the action, from the wheel ----
python3 "$top/tests/e2e/action.py" "$top/packaging/action/action.yml" project=work/montecarlo rocsmith="$PWD/work/${whl##*/}" \
	sdk=debian-sid gpu=gfx1201 wheels=act 2>log >outputs || no 'the action installs the wheel, builds and verifies'
grep -q '"runs"' rocsmith.sarif || no 'the action reports'
ok 'the action installs the wheel, builds and verifies'
