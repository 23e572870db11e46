#!/usr/bin/env bash
# A project whose `flags` make the compiler load a library of the project: what that code sees and reaches,
# from inside, and what became of it outside. It tries what worked once, and what might.
set -eu

cd "$E2E_TMP"
ok() { echo "ok $*"; }
no() {
	echo "not ok $*"
	sed 's/^/# /' log 2>/dev/null | tail -20
	exit 1
}
command -v bwrap >/dev/null || { echo 'skip sandbox: no bwrap'; exit 0; }
top=$PWD secret=a-private-word
mkdir -p p private
echo $secret >private/file
cat >plugin.c <<'C'
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <unistd.h>
static int bad(const char *what, const char *object) { return fprintf(stderr, "REACHED %s %s\n", what, object); }
/* Written, if it can be; the folders that the build goes by are replaced by links. */
static void attack(const char *dir)
{
	char path[4096];
	static const char *const ours[] = {"log", "stamp", "obj", "mod", "hip", "lock", "build.json"};
	for (unsigned i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
		snprintf(path, sizeof(path), "%s/%s.old", dir, ours[i]);
		char was[4096];
		snprintf(was, sizeof(was), "%s/%s", dir, ours[i]);
		if (!rename(was, path) && !symlink(TOP "/private", was))
			bad("rename", was);
		snprintf(path, sizeof(path), "%s/%s/planted", dir, ours[i]);
		if (open(path, O_CREAT | O_WRONLY, 0644) >= 0)
			bad("write", path);
	}
}
__attribute__((constructor)) static void begin(void)
{
	static const char *const hidden[] = {TOP "/private/file", "/run/host" TOP "/private/file", "/run/host/etc/passwd",
		"/run/host/root", "/run/host/home", "/root", "/home", "/run/host/tmp", "/run/host/proc/1/root", "/dev/tty",
		"/run/host/run", "/run/host/var", "/dev/sda", "/dev/vda", "/dev/mem"};
	static const char *const fixed[] = {TOP "/p/a.cu", TOP "/p/new", "/usr/bin/new", "/run/host/usr/new",
		"/run/host/usr/bin/env", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/power/state",
		"/sys/kernel/uevent_helper", "/etc/new"};
	for (unsigned i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		if (open(hidden[i], O_RDONLY | O_NONBLOCK) >= 0)
			bad("read", hidden[i]);
	for (unsigned i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (open(fixed[i], O_WRONLY | O_CREAT | O_NONBLOCK, 0644) >= 0)
			bad("write", fixed[i]);
	attack(TOP "/b");
	if (!mount(NULL, TOP "/p", NULL, MS_REMOUNT | MS_BIND, NULL) || !mount("tmpfs", "/etc", "tmpfs", 0, NULL))
		bad("mount", "/");
	if (kill(1, 0) == 0 && getppid() > 1)
		bad("see", "other processes");
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	to.sin_port = htons(PORT);
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (!connect(s, (struct sockaddr *)&to, sizeof(to)))
		bad("connect", "127.0.0.1");
	fprintf(stderr, "PLUGIN RAN\n");
}
/* In the place of the result: what the build would take it for. */
__attribute__((destructor)) static void end(void)
{
#ifdef LINK
	char out[4096];
	snprintf(out, sizeof(out), "%s/" LINK, getenv("TMPDIR") ? getenv("TMPDIR") : "/");
	if (!unlink(out) && !symlink(TOP "/private/file", out))
		fprintf(stderr, "LINKED\n");
#endif
}
C
cat >p/a.cu <<'CU'
__global__ void k(float *p) { *p = 1; }
extern "C" void go(float *p) { k<<<1, 1>>>(p); }
CU
cat >p/rocsmith.yaml <<YAML
name: p
version: 1.0
sources: [a.cu]
flags: ["-fplugin=$top/p/plugin.so"]
YAML
python3 -c '
import socket, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
open("port", "w").write(str(s.getsockname()[1]))
time.sleep(600)' &
trap "kill $!" EXIT
while [ ! -s port ]; do sleep 0.1; done
plugin() { cc -shared -fPIC -DTOP="\"$top\"" -DPORT="$(cat port)" "$@" -o p/plugin.so plugin.c; }
# With a terminal of its own, which is what a program could type into.
build() { python3 -c '
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$ROCSMITH" build p --gpu gfx1201 --build-dir b -o o -j1 >log 2>&1 </dev/null; }
state() { (cd "$top" && find p private ! -name plugin.so -type f -exec sha256sum {} + | sort; find b -type l); }

plugin || { echo 'skip sandbox: no C compiler'; exit 0; }
state >before 2>/dev/null || true
build || no 'a project with a plugin builds'
grep -q 'PLUGIN RAN' b/log/*gfx1201*.log b/log/*.o.log || no 'the plugin runs, so that this proves something'
if grep -h REACHED b/log/*; then no 'the plugin reaches what is not its own'; fi
state | cmp -s - before || no "files outside changed: $(state | diff - before)"
ok 'code in the compiler sees no file of the user, no network, no terminal, and writes nothing that counts'

for file in out dep; do
	rm -rf b o
	plugin -DLINK="\"$file\""
	if build; then no "a link in the place of '$file' is taken"; fi
	grep -q LINKED b/log/* || no "the plugin makes '$file' a link"
	grep -q 'is not a regular file' log || no "the error names what is wrong with '$file'"
	if grep -rqs $secret b/obj b/mod b/stamp o; then no 'a private file is in the result'; fi
done
ok 'a link in the place of a result or its depfile is refused, and what it leads to is not read'
