#!/usr/bin/env bash
# long
# `rocsmith sdk` against a small archive of our own: signatures, damage, hostile packages, resuming,
# repair, new versions, an ordinary user, full disks, kills and failing I/O calls. No network.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for tool in apt-get dpkg-deb gpg bwrap; do
	command -v $tool >/dev/null || { echo "skip $tool is not installed"; exit 0; }
done
failed=0
kills=${ROCSMITH_KILLS:-3} points=${ROCSMITH_FAULT_POINTS:-3}
home=$E2E_TMP/home
sdk=$home/data/sdk/debian-sid
export ROCSMITH_HOME=$home
mirror=(--mirror "file://$E2E_TMP/ar/archive" --keyring "$E2E_TMP/ar/key.gpg")

archive() { python3 "$here/sdk_archive.py" "$E2E_TMP/ar" "$@"; }
install_() { "$ROCSMITH" sdk install "${mirror[@]}" "$@" >"$E2E_TMP/out" 2>"$E2E_TMP/err"; }
# prove WHAT COMMAND...
prove() {
	local what=$1
	shift
	if "$@"; then
		echo "ok $what"
	else
		echo "not ok $what"
		sed 's/^/# /' "$E2E_TMP/err"
		failed=1
	fi
}
# The command ends with this status and one error that says this.
refuses() {
	local status=$1 text=$2 got=0
	shift 2
	"$@" || got=$?
	[ "$got" = "$status" ] && grep -q -- "$text" "$E2E_TMP/err" &&
		[ "$(grep -c '^error:' "$E2E_TMP/err")" = 1 ]
}

# ---- a good archive ----
rm -rf "$home"
archive
prove 'a first install' install_
prove 'clang++ runs in the sandbox' \
	bash -c '"$0" sdk run -- clang++ --version | grep -q "version 21.1.8"' "$ROCSMITH"
prove 'no script of a package ran' test ! -e /tmp/rocsmith-test-script-ran
prove 'verify finds nothing' "$ROCSMITH" sdk verify
prove 'the view holds ROCm headers only' \
	bash -c '[ "$(ls "$0/root/opt/rocm/include")" = hip ]' "$sdk"
before=$(find "$home" -type f -not -name '*.lock' -printf '%p %T@ %s\n' | sort | sha256sum)
prove 'a second install' install_
after=$(find "$home" -type f -not -name '*.lock' -printf '%p %T@ %s\n' | sort | sha256sum)
prove 'and changed no file' test "$before" = "$after"
mv "$E2E_TMP/ar/archive" "$E2E_TMP/ar/away"
prove 'nor does it need the archive' install_
mv "$E2E_TMP/ar/away" "$E2E_TMP/ar/archive"
prove 'a component completes the tree' install_ --components hiprand
prove 'with its header' test -e "$sdk/root/opt/rocm/include/hiprand/hiprand.h"
prove 'the library without its -dev package is there' test -e "$sdk/root/opt/rocm/lib/libhiprand.so.1"

# ---- repair ----
chmod u+w "$sdk/root/usr/bin/hipcc"
rm "$sdk/root/lib64" "$sdk/root/usr/include/hip/hip_runtime.h" "$sdk/root/opt/rocm/lib/libamdhip64.so"
prove 'verify finds missing files' bash -c '! "$0" sdk verify >"$1/out" 2>"$1/err"' "$ROCSMITH" "$E2E_TMP"
for lost in lib64 usr/include/hip/hip_runtime.h opt/rocm/lib/libamdhip64.so; do
	prove "and names $lost" grep -q "$lost" "$E2E_TMP/out" "$E2E_TMP/err"
done
prove 'install puts them back' install_
prove 'with no other package' grep -q 'Installed debian-sid: 1 package,' "$E2E_TMP/err"
prove 'verify is content' "$ROCSMITH" sdk verify
# same size, same time: only verify by content sees it
big=$sdk/root/usr/lib/llvm-21/lib/big.bin
cp -p "$big" "$E2E_TMP/big"
printf x | dd of="$big" bs=1 seek=100000 conv=notrunc status=none
touch -r "$E2E_TMP/big" "$big"
prove 'a changed byte is found' bash -c '"$0" sdk verify --json 2>/dev/null | grep -q sdk-file-changed' "$ROCSMITH"
prove 'and repaired' install_
prove 'byte for byte' cmp "$big" "$E2E_TMP/big"

# ---- new versions ----
rm -rf "$home"
prove 'the compiler alone' install_
archive --newer libhiprand1
prove 'the index stays as it was: the old version is asked for' \
	refuses 4 'refresh takes' install_ --components hiprand
prove 'which changed nothing' "$ROCSMITH" sdk verify
prove 'with --refresh the new version comes' install_ --refresh --components hiprand
prove 'and is what the manifest says' grep -q '6.4.3-1+new1' "$sdk/sdk.json"
archive --newer hipcc
prove 'a refresh that replaces a package makes a new tree' install_ --refresh
prove 'with all components' grep -q '7.0.2-3+new1' "$sdk/sdk.json"
prove 'nothing else is left' test ! -e "$home/data/sdk/.debian-sid.new"
prove 'verify is content' "$ROCSMITH" sdk verify

# ---- kernels of some GPUs ----
archive
rm -rf "$home"
kernels() { (cd "$sdk/root/usr/lib/x86_64-linux-gnu/hiprand" && echo *); }
lists() { "$ROCSMITH" sdk list --json | python3 -c 'import json, sys
sdk = json.load(sys.stdin)["installed"][0]
sys.exit(" ".join(sdk["gpus"]) != sys.argv[1] or sdk["downloads"] != 0)' "$1"; } # apt leaves file: where it is
prove 'a GPU can be named' install_ --components hiprand --gpu gfx1201
prove 'the others kernels are not unpacked' test "$(kernels)" = gfx1201.co
prove 'which the list tells' lists gfx1201
prove 'and verify accepts' "$ROCSMITH" sdk verify
prove 'who names none gets those' install_
prove 'and no others' test "$(kernels)" = gfx1201.co
"$ROCSMITH" bundle none.whl --sdk debian-sid --gpu gfx1201,gfx1100 2>"$E2E_TMP/err" || :
prove 'what bundles for another GPU is told' grep -qx "error: SDK '.*' has no kernels for gfx1100" "$E2E_TMP/err"
prove 'another GPU is added' install_ --gpu gfx1100
prove 'to the first one' test "$(kernels)" = 'gfx1100.co gfx1201.co'
prove 'two are listed, or all' lists ''
rm -rf "$home"
prove 'a compiler for all' install_
prove 'gets a library for one' install_ --components hiprand --gpu gfx1100
prove 'with its kernels' test "$(kernels)" = gfx1100.co
prove 'and at last all of them' install_ --gpu all
prove 'are there' test "$(kernels)" = 'gfx1100.co gfx1201.co'
prove 'as the list tells' lists ''

# ---- dry run ----
archive
rm -rf "$home"
prove 'a dry run' install_ -n
prove 'names packages' grep -q '^hipcc ' "$E2E_TMP/out"
prove 'the largest first' test "$(head -3 "$E2E_TMP/out" | cut -d' ' -f1 | xargs)" = 'libc6 clang-21 libamdhip64-6'
prove 'and changes nothing' test ! -e "$home"

# ---- archives that must be refused ----
try() { # KIND... -- STATUS TEXT
	local what="$*" args=() status text
	while [ "$1" != -- ]; do args+=("$1"); shift; done
	status=$2 text=$3
	archive "${args[@]}"
	rm -rf "$home"
	prove "refused: ${args[*]}" refuses "$status" "$text" install_
	prove 'there is no SDK then' test ! -e "$sdk"
}
try --unsigned -- 4 'not signed'
try --other-key -- 4 'keyring does not hold'
try --break truncate -- 4 'does not match its signed index'
try --break corrupt -- 4 'does not match its signed index'
try --break missing -- 4 'lacks a file of its index'
try --break short -- 4 'cannot unpack'
try --hostile dotdot -- 4 'leads out of the tree'
try --hostile absolute -- 4 'absolute path'
try --hostile device -- 4 'device node'
try --hostile fifo -- 4 'device node'
try --hostile hardlink -- 4 'leads out of the tree'
try --hostile symlink -- 4 'link'
try --hostile control -- 4 'no acceptable file name'
mkdir "$E2E_TMP/outside"
try --hostile view -- 4 'lies behind a link'
prove 'nor did we follow one' rmdir "$E2E_TMP/outside"
prove 'no hostile package got out' bash -c '! ls /tmp/rocsmith-test-evil /evil "$0/../evil" 2>/dev/null' "$home"
archive
prove 'a mirror that is not there' refuses 4 'Release file\|no such suite\|not signed' \
	bash -c '"$0" sdk install --mirror file://$1/none >"$1/out" 2>"$1/err"' "$ROCSMITH" "$E2E_TMP"
prove 'a host that is not there' refuses 4 'not known\|cannot be reached' \
	bash -c '"$0" sdk install --mirror http://rocsmith.invalid/debian >"$1/out" 2>"$1/err"' "$ROCSMITH" "$E2E_TMP"
archive --expired
rm -rf "$home"
prove 'an expired index is accepted' install_
prove 'said in one line' bash -c '[ "$(grep -c "expired on" "$0")" = 1 ]' "$E2E_TMP/err"
prove 'and recorded' grep -q 'expired on' "$sdk/sdk.json"
archive

# ---- an ordinary user ----
if [ "$(id -u)" = 0 ]; then
	chmod -R a+rX "$E2E_TMP/ar/archive" "$E2E_TMP/ar/key.gpg"
	user=$(mktemp -d) && chmod 755 "$user"
	cp "$ROCSMITH" "$user/rocsmith"
	cp -r "$E2E_TMP/ar/archive" "$E2E_TMP/ar/key.gpg" "$user"
	chmod -R a+rX "$user"
	chown 65534 "$user" # in a folder that is open to all, rocsmith would believe nothing
	as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	if "${as_user[@]}" bwrap --unshare-user-try --ro-bind / / true 2>/dev/null; then
		prove 'an ordinary user installs and runs' "${as_user[@]}" env ROCSMITH_HOME="$user/home" HOME="$user" bash -c '
			"$0/rocsmith" sdk install --mirror "file://$0/archive" --keyring "$0/key.gpg" 2>"$0/err" &&
			cd "$0" && "$0/rocsmith" sdk run -- clang++ --version | grep -q 21.1.8' "$user"
	else
		echo 'skip ordinary users have no name spaces here'
	fi
	rm -rf "$user"

	# ---- full disk ----
	small=$(mktemp -d)
	mount -t tmpfs -o size=2m tmpfs "$small" 2>/dev/null && {
		export ROCSMITH_HOME=$small
		prove 'a full disk is one clear error' refuses 3 'space\|disk' install_
		umount "$small"
		export ROCSMITH_HOME=$home
	} || echo 'skip no right to mount'
	rmdir "$small"
fi
rm -rf "$home"
prove 'a file size limit is one clear error' refuses 3 'cannot write\|large' \
	bash -c 'trap "" XFSZ; ulimit -f 200; "$@" >/dev/null 2>"'"$E2E_TMP"'/err"' _ \
	"$ROCSMITH" sdk install "${mirror[@]}"
prove 'without the limit it goes on' install_
prove 'and the tree is sound' "$ROCSMITH" sdk verify
prove 'another mirror is asked, although it is installed' refuses 4 'Release file\|no such suite\|not signed' \
	bash -c '"$0" sdk install --mirror file://$1/none >"$1/out" 2>"$1/err"' "$ROCSMITH" "$E2E_TMP"
prove 'and the tree is still sound' "$ROCSMITH" sdk verify

# ---- two at once ----
rm -rf "$home"
"$ROCSMITH" sdk install "${mirror[@]}" >/dev/null 2>&1 &
other=$!
prove 'two installs at once: the second waits' install_
prove 'and the first succeeds too' wait $other
prove 'the tree is sound' "$ROCSMITH" sdk verify

# ---- kills and failing calls ----
rm -rf "$home"
prove "$kills kills at random moments" python3 "$here/faults.py" kill --times "$kills" --timeout 60 \
	--setup "rm -rf '$home'" --tree "$sdk" --ignore sdk.json --ignore '=made' -- "$ROCSMITH" sdk install "${mirror[@]}"
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
if [ -x "$fault" ]; then
	prove 'failing I/O calls' python3 "$here/faults.py" sweep --sample "$points" --timeout 60 \
		--setup "rm -rf '$home'" --tree "$sdk" --ignore sdk.json --ignore '=made' -- "$fault" sdk install "${mirror[@]}"
	install_
	mv "$home" "$E2E_TMP/whole"
	# shellcheck disable=SC2016
	prove 'a removal that fails or dies can be repeated' python3 "$here/faults.py" sweep --sample $((points * 5)) --errno EIO,KILL \
		--setup "rm -rf '$home' && cp -a '$E2E_TMP/whole' '$home'" --tree "$home" -- \
		bash -c '[ -z "$(find "$0" -name "*debian-sid*" ! -name "*.lock")" ] || exec "$@"' "$home" "$fault" sdk remove debian-sid
else
	echo 'skip rocsmith-fault is not built'
fi
exit $failed
