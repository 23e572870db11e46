#!/usr/bin/env bash
# Trees of strangers, special files and folders of others: what attacks found, tried on the program.
set -eu
cd "$E2E_TMP"
rm -rf ./*
unset XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME
ROCSMITH_HOME=
HOME=$PWD/home
export HOME ROCSMITH_HOME
count=0
check() { # WHAT COMMAND...: the victim's folder is as it was, and the command holds
	local what=$1
	shift
	[ "$(cd home/victim && find . -printf '%p %y %m ' -type f -exec cat {} \; | sort)" = "$before" ] || {
		echo "not ok $what: something outside changed"
		exit 1
	}
	"$@" || { echo "not ok $what: $*"; exit 1; }
	count=$((count + 1))
}
refused() { # COMMAND...: it fails in time, and not by a signal
	local status=0
	timeout 20 "$@" >said 2>&1 || status=$?
	[ "$status" -gt 0 ] && [ "$status" -lt 100 ] || { echo "not ok status $status of $*"; cat said; exit 1; }
}
good() { "$@" >said 2>&1 || { echo "not ok $*"; cat said; exit 1; }; }
tree() { # fresh sources in evil/
	rm -rf evil
	mkdir -p evil/d
	printf '#include <cuda_runtime.h>\nint f() { return cudaDeviceSynchronize(); }\n' >evil/a.cu
	cp evil/a.cu evil/d/b.cu
	printf '#include <cuda_runtime.h>\n' >evil/d/h.h
}
theirs() { tree; HOME=$PWD/attacker "$ROCSMITH" hipify evil --in-place >/dev/null 2>&1; }
mine() { tree; good "$ROCSMITH" hipify evil --in-place; }
mkdir -p attacker home/victim/new
printf 'key\n' >home/victim/authorized_keys
printf 'file\n' >home/victim/new/file
cp /dev/null home/victim/hipify.lock
tree
good "$ROCSMITH" hipify evil -o plain
cp plain/d/b.hip home/victim/b.hip
printf '#include <hip/hip_runtime.h>\n' >home/victim/h.h
before=$(cd home/victim && find . -printf '%p %y %m ' -type f -exec cat {} \; | sort)

# A .rocsmith that came with the tree.
theirs
for command in "hipify restore evil --force" "hipify evil --in-place" "hipify status evil" "hipify evil -o out" \
	"patch apply evil"; do
	refused "$ROCSMITH" $command
	check "a stranger's manifest: $command" grep -q "not written by this user's rocsmith" said
done
for name in .rocsmith .rocsmith-patches; do
	tree
	ln -s ../home/victim "evil/$name"
	for command in "hipify evil --in-place" "hipify restore evil" "patch apply evil" "patch revert evil" "patch status evil"; do
		timeout 20 "$ROCSMITH" $command >said 2>&1 || true
		check "a link as $name: $command" test -L "evil/$name"
	done
done
# A link, a pipe in place of each of its files; the same in one's own.
for start in tree mine; do
	for file in hipify.lock hipify.manifest .gitignore; do
		$start
		mkdir -p evil/.rocsmith
		ln -sf ../../home/victim/authorized_keys "evil/.rocsmith/$file"
		for command in "hipify evil --in-place" "hipify restore evil" "hipify evil -o out" "hipify status evil"; do
			timeout 20 "$ROCSMITH" $command >said 2>&1 || [ $? -lt 100 ] || { echo "not ok $file: $command"; exit 1; }
			check "$file is a link: $command" true
		done
		$start
		mkdir -p evil/.rocsmith
		rm -f "evil/.rocsmith/$file"
		mkfifo "evil/.rocsmith/$file"
		for command in "hipify evil --in-place" "hipify evil -o out" "hipify status evil" "hipify restore evil"; do
			timeout 20 "$ROCSMITH" $command >said 2>&1 || [ $? -lt 100 ] || { echo "not ok $file: $command"; exit 1; }
		done
	done
done
echo "ok a .rocsmith that came with the tree is not believed"

# One's own, and then links took the place of folders.
mine
rm -r evil/d
ln -s ../home/victim evil/d
timeout 20 "$ROCSMITH" hipify evil --in-place >said 2>&1 || true
check "d became a link: in place" true
refused "$ROCSMITH" hipify restore evil --force
check "d became a link: restore" grep -q "links are not followed" said
mine
rm -r evil/.rocsmith/originals
ln -s ../../home/victim evil/.rocsmith/originals
refused "$ROCSMITH" hipify restore evil
check "originals became a link" grep -q cudaDeviceSynchronize evil/a.cu
mine
mv evil/.rocsmith other
tree
ln -s ../other evil/.rocsmith
refused "$ROCSMITH" hipify restore evil
check "the journal of another tree" test -e other/hipify.manifest
rm -rf other
tree
ln -s ../home/victim evil/hip
timeout 20 "$ROCSMITH" hipify evil -o evil/hip --exclude hip >said 2>&1 || true
check "an overlay behind a link of the tree" true
echo "ok nothing is changed through links in a tree"

# A tree that is the user's own, moved, is known as before.
mine
mv evil moved
good "$ROCSMITH" hipify restore moved
[ ! -e moved/.rocsmith ] && cmp -s moved/a.cu moved/d/b.cu && [ ! -e moved/a.hip ] || { echo "not ok restore"; exit 1; }
echo "ok what is one's own is taken back"

# Modes.
tree
chmod 6755 evil/d/h.h evil/a.cu
good "$ROCSMITH" hipify evil -o modes
[ "$(stat -c %a modes/d/h.h)" = 755 ] || { echo "not ok $(stat -c %a modes/d/h.h)"; exit 1; }
(umask 077 && good "$ROCSMITH" hipify evil -o private)
[ -z "$(find private -perm /77)" ] || { echo "not ok umask"; ls -lR private; exit 1; }
chmod 6664 evil/d/h.h
good "$ROCSMITH" hipify evil --in-place
[ "$(stat -c %a evil/d/h.h)" = 664 ] || { echo "not ok in place $(stat -c %a evil/d/h.h)"; exit 1; }
echo "ok copies have no set-user-id bits, and the umask holds"

# Sources that lead out of the tree: a key of the user does not get into what is made of a stranger's tree.
outside() {
	tree
	printf '#include "key.h"\n#embed "lib/authorized_keys"\n' >>evil/a.cu
	ln -s ../home/victim/authorized_keys evil/k.cu
	ln -s "$PWD/home/victim/authorized_keys" evil/key.h
	ln -s ../home/victim evil/lib
	ln -s d/h.h evil/in.h
	chmod 600 evil/d/b.cu
}
for command in "hipify evil -o led" "hipify evil --in-place" "hipify lint evil" "plan evil --gpu gfx1201" "patch status evil" \
	"hipify evil/k.cu -o led" "hipify --diff evil" "hipify explain evil/key.h evil" "patch apply evil"; do
	rm -rf led
	outside
	timeout 20 "$ROCSMITH" $command >said 2>&1 || [ $? -lt 100 ] || { echo "not ok $command"; cat said; exit 1; }
	check "$command: a key" test -z "$(grep -ls '^key$' said; grep -rs '^key$' led evil/*.hip evil/.rocsmith)"
	if [ "$command" = "hipify evil -o led" ]; then
		check "what led out is told" grep -q "evil/k.cu: leads out of 'evil'" said
		check "a link inside" test -f led/d/h.h
		check "the mode of the source" test "$(stat -c %a led/d/b.hip)" = 600
	fi
done
for name in rocsmith.yaml setup.py; do
	outside
	ln -s ../home/victim/authorized_keys "evil/$name"
	refused "$ROCSMITH" plan evil --gpu gfx1201
	check "a link as $name" grep -q "leads out of" said
done
echo "ok nothing outside of a tree is read through it"

# Originals that are not the user's, and a journal in another tree.
mine
echo evil >>evil/.rocsmith/originals/d/h.h
refused "$ROCSMITH" hipify restore evil --force
check "a changed original" grep -q "is not the file that rocsmith replaced" said
mine
rm -rf other
mkdir other
cp -r evil/.rocsmith other
printf '#include <hip/hip_runtime.h>\nint other;\n' >other/d
refused "$ROCSMITH" hipify restore other --force
check "a journal of another tree" grep -q "belongs to another folder" said
rm -rf other
echo "ok originals and journals are those of their tree"

# Special files as outputs.
mkdir project rec
cp plain/a.hip project/a.cu
printf '{"schema":"rocsmith.build/1","seconds":1e308,"steps":[{"kind":"host","name":"a","start":1e308,"seconds":1e308}]}' >rec/build.json
for command in "plan project --gpu gfx1201" "report rec"; do
	rm -f pipe link target null
	mkfifo pipe
	timeout 20 cat pipe >through &
	good timeout 20 "$ROCSMITH" $command -o pipe
	wait $!
	[ -p pipe ] && [ -s through ] || { echo "not ok $command: pipe"; exit 1; }
	ln -s target link
	good "$ROCSMITH" $command -o link
	[ -L link ] && cmp -s target through || { echo "not ok $command: link"; exit 1; }
	(umask 077 && rm target && good "$ROCSMITH" $command -o target && [ "$(stat -c %a target)" = 600 ])
	good "$ROCSMITH" $command -o /dev/null
	[ -c /dev/null ] || { echo "not ok $command: /dev/null"; exit 1; }
done
echo "ok outputs that are no regular files are written to"

# Homes and folders of others.
if [ "$(id -u)" = 0 ]; then
	mkdir -p planted/.local/share/rocsmith/sdk/debian-sid planted/.cache/rocsmith/build planted/.local/state/rocsmith
	echo "{}" >planted/.local/share/rocsmith/sdk/debian-sid/sdk.json
	chown -R 1234 planted
	for command in "sdk list" "sdk env debian-sid" "hipify evil" "hipify project -o planted-out" "patch apply project"; do
		HOME=$PWD/planted refused "$ROCSMITH" $command
		check "another user's home: $command" grep -q "belongs to another user" said
	done
	# a folder of one's own in that of another user, who can turn what is in it
	mkdir -p shared/rs/state shared/own/data/sdk turned/sdk
	ln -s "$PWD/turned" shared/rs/data
	chown 1234 shared
	chown -h 1234 shared/rs/data
	for start in shared/rs shared/own shared/new shared/own/data/..; do
		for command in "sdk list" "hipify project -o shared-out" "patch apply project" \
			"build project --gpu gfx1201" "sdk install --mirror file://$PWD/none"; do
			ROCSMITH_HOME=$PWD/$start refused "$ROCSMITH" $command
			check "below another user's folder: $start: $command" grep -q "belongs to another user" said
		done
	done
	for name in DATA CACHE STATE; do
		export XDG_${name}_HOME="$PWD/shared/own"
	done
	for command in "sdk list" "hipify project -o shared-out" "plan project/a-1.tar.gz --gpu gfx1201"; do
		refused "$ROCSMITH" $command
		check "XDG variables: $command" grep -q "belongs to another user" said
	done
	unset XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME
	mkdir -m 700 mine
	ln -s "$PWD/shared/own" mine/rs
	ROCSMITH_HOME=$PWD/mine/rs refused "$ROCSMITH" sdk list
	check "a link of one's own into it" grep -q "export ROCSMITH_HOME=" said
	mkdir -m 1777 crowd
	ROCSMITH_HOME=$PWD/crowd/rs good "$ROCSMITH" sdk list
	[ -d crowd/rs ] || { echo "not ok a new name in a folder for all"; exit 1; }
	mkdir planned
	printf 'Signature: 8a477f597d28d172789f06886806bc55\n# A build folder of rocsmith: all in here can be made again.\n' >planned/CACHEDIR.TAG
	chown -R 1234 planned
	refused "$ROCSMITH" build project --gpu gfx1201 --build-dir planned
	check "a build folder that another user made" grep -q "belongs to another user" said
	tar -czf sources-1.tar.gz project
	TMPDIR=$PWD/shared refused "$ROCSMITH" inspect sources-1.tar.gz
	check "TMPDIR" grep -q "for temporary files" said
else
	echo "skip another user's home: this is not root"
fi
mkdir -p open/data
chmod 777 open/data
ROCSMITH_HOME=$PWD/open refused "$ROCSMITH" sdk list
check "a folder open to others" grep -q "can be written by others" said
(umask 0 && ROCSMITH_HOME=$PWD/fresh good "$ROCSMITH" hipify project -o o1)
[ -z "$(find fresh ! -type l -perm /22)" ] || { echo "not ok umask 0"; exit 1; }
[ "$(stat -c %a o1)" = 777 ] || { echo "not ok umask 0: $(stat -c %a o1)"; exit 1; }
(umask 0 && ROCSMITH_HOME=$PWD/fresh good "$ROCSMITH" hipify project)
[ -z "$(find fresh ! -type l -perm /22)" ] || { echo "not ok umask 0, in the cache"; exit 1; }
(umask 002 && good "$ROCSMITH" hipify project -o o2 && [ "$(stat -c %a o2)" = 775 ]) || { echo "not ok umask 002"; exit 1; }
(unset HOME && good timeout 20 "$ROCSMITH" inspect project && good timeout 20 "$ROCSMITH" plan project --gpu gfx1201 -o p.json)
[ ! -e /tmp/.cache/rocsmith ] || [ /tmp/.cache/rocsmith -ot project ] || { echo "not ok /tmp"; exit 1; }
mkdir -p home/.local/share/rocsmith/sdk/own
printf 'x' >home/.local/share/rocsmith/sdk/own/precious
refused "$ROCSMITH" sdk remove own
check "sdk remove" test -e home/.local/share/rocsmith/sdk/own/precious
mkdir -p locked/hip gone
printf '7' >locked/lock
refused "$ROCSMITH" build project --gpu gfx1201 --build-dir locked
check "--build-dir" grep -qx 7 locked/lock
cd gone
rmdir ../gone
for command in "inspect ." "hipify . -n" "plan ."; do
	status=0
	"$ROCSMITH" $command >../said 2>&1 || status=$?
	[ "$status" -gt 0 ] && grep -q "the current folder does not exist any more" ../said || { echo "not ok removed folder: $command"; exit 1; }
done
cd ..
echo "ok folders of others are neither believed nor changed ($count looks)"
