#!/usr/bin/env bash
# doctor runs no program, opens no socket and writes nothing: on this machine, and on every one of tests/machines.
set -eu

machines=$(dirname "$0")/../machines

calls() { # WORDS of doctor: the system calls that would be wrong, but for the start itself
	strace -f -o "$E2E_TMP/trace" -e trace=process,network,file "$ROCSMITH" doctor --json "$@" >"$E2E_TMP/out" || [ $? -eq 1 ]
	grep -E '(execve|fork|vfork|clone3?|posix_spawn|socket|connect|unlink|rename|mkdir)[a-z0-9]*\(|O_(WRONLY|RDWR|CREAT)' "$E2E_TMP/trace" |
		sed 1d
}

if ! strace -o /dev/null true 2>/dev/null; then
	echo 'skip strace cannot be used here'
	exit
fi
wrong=$(calls)
[ -z "$wrong" ] && echo 'ok doctor only reads this machine' || echo "not ok doctor does more than read: $wrong"
bad=
for machine in "$machines"/*.machine; do
	wrong=$(calls --sysroot "$machine")
	[ -z "$wrong" ] || bad="$bad $machine: $wrong"
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))["findings"]' "$E2E_TMP/out"
done
[ -z "$bad" ] && echo 'ok so it is on the machines of tests/machines' || echo "not ok doctor does more than read:$bad"
