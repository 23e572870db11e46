# For scripts that start containers, as root: a folder, $top, and a user whom only a mount namespace of ours knows, with numbers
# for podman. `no` ends the script, with the ends of all logs; make_user, outside, makes the files; as_user, in the namespace, mounts them and fills the array `user`,
# which starts a command as that user.

# Short, since sockets of podman lie in it, and open to another user.
top=$(mktemp -d /tmp/rsXXXXXX)
chmod 755 "$top"
cd "$top"
clean() {
	[ ! -s "$top/run/libpod/tmp/pause.pid" ] || kill "$(cat "$top/run/libpod/tmp/pause.pid")" 2>/dev/null || true
	rm -rf "$top"
}
trap clean EXIT
ok() { echo "ok $*"; }
skip() { echo "skip $(basename "$0" .sh): $*"; }
no() {
	echo "not ok $*"
	tail -n 20 "$top/log" "$top/out" "$top/work/log" 2>/dev/null | sed 's/^/# /'
	exit 1
}
[ "$(id -u)" = 0 ] || { skip 'only root may start systemd-nspawn, and become another user'; exit 0; }

make_user() {
	local file
	# what podman keeps is here; no limit above ours, which this root may not raise
	printf '[containers]\ndefault_ulimits=["nofile=1024:1024","nproc=1024:1024"]\n[engine]\ncgroup_manager="cgroupfs"\nevents_logger="file"\n' >containers.conf
	printf '[storage]\ndriver="vfs"\ngraphroot="%s"\nrunroot="%s"\n' "$top/root-store" "$top/root-run" >storage.conf
	mkdir home run
	chown 20001:20002 home run
	chmod 700 run
	printf 'rs-e2e:x:20001:20002::%s:/bin/sh\n' "$top/home" | cat /etc/passwd - >passwd
	for file in subuid subgid; do echo 'rs-e2e:1000000:65536' >$file; done
}
as_user() {
	local file
	for file in passwd subuid subgid; do
		[ ! -e "/etc/$file" ] || mount --bind "$top/$file" "/etc/$file"
	done
	# crun takes cgroups of version 1 or 2, but not both
	! mountpoint -q /sys/fs/cgroup/unified || umount /sys/fs/cgroup/unified
	user=(setpriv --reuid=20001 --regid=20002 --groups=20003 env -u ROCSMITH_HOME "HOME=$top/home" "XDG_RUNTIME_DIR=$top/run")
	user+=("CONTAINERS_CONF=$top/containers.conf")
}
