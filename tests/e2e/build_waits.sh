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
flock b/lock sleep 2 &
until ! flock -n b/lock true; do sleep 0.1; done
start=$(date +%s%N)
build 2>log && { echo 'not ok: it builds without an SDK'; exit 1; }
[ $((($(date +%s%N) - start) / 1000000)) -gt 500 ] && grep -q "Waiting for another rocsmith that builds 'p'" log &&
	grep -q "prefix\|none" log || { cat log; echo 'not ok: the second build does not wait'; exit 1; }
echo 'ok the second build of a project waits for the first'

flock -o b/lock sleep 20 &
holder=$!
: >log
until ! flock -n b/lock true; do sleep 0.1; done
"$ROCSMITH" build p --gpu gfx90a --sdk prefix:"$E2E_TMP/none" --build-dir "$E2E_TMP/b" 2>log &
until grep -q Waiting log; do sleep 0.1; done
kill -TERM $!
status=0
wait $! || status=$?
kill $holder
[ $status = 143 ] && grep -q interrupted log || { cat log; echo "not ok: a signal does not end the waiting ($status)"; exit 1; }
echo 'ok a signal ends the waiting'
