#!/usr/bin/env bash
# Two builds of one project at once: the second waits, says so, and goes on when the first is done.
set -eu

mkdir -p "$E2E_TMP/p" && cd "$E2E_TMP"
printf '__global__ void k(int *x) { *x = 1; }\n' >p/a.cu
# what looks like an SDK, and compiles nothing
mkdir -p none/llvm/bin none/amdgcn/bitcode none/include/hip none/lib
: >none/amdgcn/bitcode/ocml.bc >none/include/hip/hip_runtime.h >none/lib/libamdhip64.so
printf '#!/bin/sh\ncase "$*" in *--version*) echo clang version 21.1.8 ;; *) exit 1 ;; esac\n' >none/llvm/bin/clang++
chmod 755 none/llvm/bin/clang++
build() { "$ROCSMITH" build p --gpu gfx90a --sdk prefix:"$E2E_TMP/none" --build-dir "$E2E_TMP/b"; }

build 2>log && exit 1 # makes the folder
# The other build is a lock that is held until the waiting is seen, however slow the machine is.
hold() {
	flock -o b/lock sleep 300 &
	holder=$!
	: >log
	until ! flock -n b/lock true; do sleep 0.1; done
}
await() { # PATTERN: in the log, within half a minute
	local i
	for i in $(seq 300); do
		grep -q "$1" log && return
		sleep 0.1
	done
	cat log
	echo "not ok: there was to be '$1'"
	exit 1
}
hold
build 2>log &
await "Waiting for another rocsmith that builds 'p'"
kill $holder
wait $! && { echo 'not ok: it builds without an SDK'; exit 1; }
grep -q "cannot compile for 'gfx90a'" log || { cat log; echo 'not ok: the second build does not go on'; exit 1; }
echo 'ok the second build of a project waits for the first'

hold
"$ROCSMITH" build p --gpu gfx90a --sdk prefix:"$E2E_TMP/none" --build-dir "$E2E_TMP/b" 2>log &
await Waiting
kill -TERM $!
status=0
wait $! || status=$?
kill $holder
[ $status = 143 ] && grep -q interrupted log || { cat log; echo "not ok: a signal does not end the waiting ($status)"; exit 1; }
echo 'ok a signal ends the waiting'
