#!/usr/bin/env bash
# `container run` for real: bwrap, systemd-nspawn, podman with and without root, on a root folder with a few programs of
# this machine. What a command sees, whose its files are, its status, Ctrl-C; and that the printed command is the same.
set -eu

. "$(dirname "$0")/container.bash"

# ---- a root folder ----
cp "$ROCSMITH" rocsmith
ROCSMITH=$top/rocsmith
mkdir -p root/usr/bin root/usr/lib64 root/etc root/var/tmp root/root root/tmp root/proc root/sys root/dev root/run "$top/dir"
ln -sfn usr/bin root/bin
ln -sfn usr/lib64 root/lib64
for program in bash id cat touch sleep stat ls env mkdir setpriv "$ROCSMITH"; do
	file=$(command -v "$program")
	cp -L "$file" root/usr/bin/
	ldd "$file" | grep -o '/[^ ]*' | while read -r lib; do cp -L "$lib" root/usr/lib64/; done
done
echo '/usr/lib64' >root/etc/ld.so.conf
ldconfig -r root
ln -sfn bash root/usr/bin/sh
echo 'root:x:0:0:root:/root:/bin/sh' >root/etc/passwd
echo 'root:x:0:' >root/etc/group
printf 'ID=debian\nPRETTY_NAME="a root folder"\n' >root/etc/os-release
list() { (cd root && find . -printf '%p %y %m %s %U\n' | sort); }
list >before

# ---- the same of each engine: $1 is its name, $2 what it takes, the others start the rocsmith of a user ----
work="$top/w:o,ro r'k"
all() {
	local engine=$1 image=$2
	as=("${@:3}")
	run() { "${as[@]}" "$ROCSMITH" container run --gpu none --engine "$engine" --offline "$@" 2>"$top/log"; }
	rm -rf "$work"
	mkdir "$work"
	chown "$owner" "$work"
	cd "$work"
	# shellcheck disable=SC2016
	if run --work . --bind "$top/dir:/dir:ro" --env 'A=b c$' --shm-size 9m "$image" -- sh -c '
		echo "$PWD|$A"; ls /; stat -f -c "%b %S" /dev/shm; touch made; touch /dir/x 2>/dev/null && echo WRITTEN; exit 42' >"$top/out"; then
		no "$engine: the status is passed on"
	else
		[ $? = 42 ] || no "$engine: the status is passed on"
	fi
	cd "$top"
	grep -qxF "$work|b c\$" out || no "$engine: folder and variable"
	grep -qx '2304 4096' out || no "$engine: shared memory of 9 MiB"
	if grep -q WRITTEN out; then no "$engine: what is bound with ro is read-only"; fi
	grep -qx made <(ls "$work") || no "$engine: the folder is the one outside"
	[ "$(stat -c %u:%g "$work/made")" = "$owner" ] || no "$engine: files belong to the caller"
	run "$image" -- rocsmith doctor --json >out || [ $? = 1 ] || no "$engine: rocsmith runs inside"
	python3 - "$engine" <<-'PY' || no "$engine: doctor inside knows where it is"
		import json, sys
		facts = json.load(open("out"))["facts"]
		kind = {"nspawn": "systemd-nspawn"}.get(sys.argv[1], sys.argv[1])
		assert facts["container"] and facts["container_kind"] == kind, facts["container_kind"]
		assert [d for d in facts["disks"] if d["use"] == "shm" and d["size"] > 100e6], facts["disks"]
	PY
	# the printed command is a shell's, with the same words, by an independent reader of them
	run --json --work "$work" "$image" -- sh -c $'exit 7 # \033\n' >json || no "$engine: --json"
	run --print --work "$work" "$image" -- sh -c $'exit 7 # \033\n' >command || no "$engine: --print"
	bash -c "printf '%s\\0' $(cat command)" >words
	python3 -c 'import json
want = json.load(open("json"))["argv"]
assert open("words", "rb").read().decode().split("\0")[:-1] == want' || no "$engine: what is printed can be pasted"
	if "${as[@]}" bash command >out 2>&1; then no "$engine: a pasted command runs"; else [ $? = 7 ] || no "$engine: a pasted command runs"; fi
	interrupted
	ok "$engine as $owner: folder, variable, memory, owner, status, doctor, paste, Ctrl-C"
}
# On a terminal of its own: Ctrl-C reaches the command, and not only the engine.
interrupted() {
	rm -f "$work"/*
	timeout 60 python3 - "${as[@]}" "$ROCSMITH" container run --gpu none --engine "$engine" --offline --work "$work" "$image" -- \
		bash -c 'trap "touch got; exit 9" INT; touch ready; while :; do sleep 0.1; done' >out 2>&1 <<-'PY' || no "$engine: Ctrl-C reaches the command"
	import os, pty, select, sys, time
	work = sys.argv[sys.argv.index("--work") + 1]
	pid, fd = pty.fork()
	if not pid:
	    os.execvp(sys.argv[1], sys.argv[1:])
	sent, end = False, time.time() + 50
	while time.time() < end:
	    try:
	        if select.select([fd], [], [], 0.1)[0]:
	            os.write(1, os.read(fd, 4096))
	    except OSError:
	        break
	    if not sent and os.path.exists(work + "/ready"):
	        os.write(fd, b"\x03")
	        sent = True
	status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
	sys.exit(0 if status == 9 and os.path.exists(work + "/got") else f"status {status}")
	PY
}

# A machine of our own with two GPUs, whose nodes a group owns that only the user is in: the command that is printed for it
# is run. The group and the chosen nodes get through, the other node does not.
machine() {
	local node
	mkdir newdev
	mount -t tmpfs -o mode=755 tmpfs newdev
	cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty newdev
	[ ! -e /dev/fuse ] || cp -a /dev/fuse newdev
	mkdir newdev/dri newdev/pts newdev/shm newdev/mqueue
	mount --bind /dev/pts newdev/pts
	mount -t tmpfs -o mode=1777 tmpfs newdev/shm
	mknod -m 666 newdev/ptmx c 5 2
	ln -s /proc/self/fd newdev/fd
	for node in kfd dri/renderD128 dri/renderD129; do
		mknod -m 660 "newdev/$node" c 1 3
		chgrp 20003 "newdev/$node"
	done
	mount --rbind newdev /dev
	{
		printf 'rocsmith-machine 1\nproc/self/status:\n\tUid:%s\n\tGid:%s\n\tGroups:\t20003\n' \
			"$(printf '\t20001%.0s' 1 2 3 4)" "$(printf '\t20002%.0s' 1 2 3 4)"
		printf 'dev/%s (0660 0 20003)\n' kfd dri/renderD128 dri/renderD129
		for node in 1 2; do
			printf 'sys/class/kfd/kfd/topology/nodes/%s/properties:\n\tsimd_count 64\n\tgfx_target_version 120001\n\tdrm_render_minor %s\n' \
				$node $((127 + node))
		done
	} >m.machine
}
devices() { # ENGINE IMAGE COMMAND...: it starts what is printed
	rm -rf "$work"
	mkdir "$work"
	chown 20001:20002 "$work"
	"$ROCSMITH" container run --sysroot m.machine --gpu 1 --engine "$1" --offline --work "$work" "$2" -- \
		sh -c ': </dev/kfd && : >/dev/dri/renderD129 && [ ! -e /dev/dri/renderD128 ] && touch made' >command 2>log || no "$1: a command for the machine"
	# systemd may not run here, which a recorded machine does not tell
	[ -d /run/systemd/system ] || sed -i "s/ '--property=[^']*'//g; s/--quiet/--quiet --register=no --keep-unit/" command
	"${@:3}" bash command >out 2>&1 || no "$1: the group opens the chosen nodes, and there is no other"
	[ "$(stat -c %u:%g "$work/made")" = 20001:20002 ] || no "$1: files belong to the caller"
	sed -i 's/ --group-add=keep-groups//; s/--groups=20003/--clear-groups/' command
	if [ "$1" != bwrap ] && "${@:3}" bash command >out 2>&1; then no "$1: nobody else opens them"; fi
	ok "$1: the group of the chosen nodes opens them, and there is no other node"
}

owner=0:0
if command -v bwrap >/dev/null; then all bwrap "$top/root" env; else skip 'no bwrap'; fi
if command -v systemd-nspawn >/dev/null; then all nspawn "$top/root" env; else skip 'no systemd-nspawn'; fi
list | cmp -s before - || no 'the root folder is as it was'
ok 'the root folder is as it was'

# ---- docker, whose client reads the whole command before it looks for its daemon ----
if command -v docker >/dev/null; then
	"$ROCSMITH" container run --print --gpu none --engine docker --debug --ipc --offline --work "$top/root" --bind "$top/dir:/a,b:ro" \
		--bind "$top/w\\:o,ro r'k:/w:ro" --env A=b x >command 2>log || no 'a command of docker'
	if DOCKER_HOST=unix://$top/no-daemon bash command >out 2>&1 || ! grep -qE 'Cannot connect|failed to connect' out; then
		no "docker's client takes the command"
	fi
	ok "docker's client takes the command"
else
	skip 'no docker'
fi

# ---- podman, and bwrap as another user, whom only a mount namespace of ours knows ----
make_user
tar -C root -c . >root.tar
chown 20001:20002 rocsmith
inside() {
	as_user
	machine
	owner=20001:20002
	if ! command -v bwrap >/dev/null || ! "${user[@]}" bwrap --unshare-user --ro-bind / / true 2>log; then
		skip "no bwrap without root: $(tail -1 log)"
	else
		all bwrap "$top/root" "${user[@]}"
		devices bwrap "$top/root" "${user[@]}"
	fi
	if command -v systemd-nspawn >/dev/null && command -v sudo >/dev/null; then
		devices nspawn "$top/root" env
	fi
	command -v podman >/dev/null || { skip 'no podman'; return 0; }
	if ! "${user[@]}" podman import - localhost/rs-e2e:1 <root.tar >out 2>log ||
		! "${user[@]}" podman run --rm --init --network=none localhost/rs-e2e:1 sh -c : >out 2>log; then
		skip "podman does not run without root: $(tail -1 log)"
	else
		all podman localhost/rs-e2e:1 "${user[@]}"
		if "${user[@]}" podman info -f '{{.Host.OCIRuntime.Name}}' | grep -qx crun; then # which alone keeps groups
			devices podman localhost/rs-e2e:1 "${user[@]}"
		fi
		id=$("${user[@]}" podman images --no-trunc -q | head -1)
		"${user[@]}" "$ROCSMITH" container run --gpu none --offline "$id" -- sh -c : 2>log || no 'an image by its id'
		if grep -q 'no digest' log; then no 'an id pins an image'; fi
		ok 'an image by its id is pinned'
	fi
	owner=0:0
	local root=(env "CONTAINERS_CONF=$top/containers.conf" "CONTAINERS_STORAGE_CONF=$top/storage.conf")
	if ! "${root[@]}" podman import - localhost/rs-e2e:1 <root.tar >out 2>log ||
		! "${root[@]}" podman run --rm --init --network=none localhost/rs-e2e:1 sh -c : >out 2>log; then
		skip "podman does not run as root: $(tail -1 log)"
	else
		all podman localhost/rs-e2e:1 "${root[@]}"
	fi
}
if ! unshare -m true 2>log; then
	skip "no mount namespace: $(tail -1 log)"
	exit 0
fi
export -f ok skip no as_user all interrupted machine devices inside
export top work ROCSMITH
unshare -m --propagation private bash -eu -c inside
