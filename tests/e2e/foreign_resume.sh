#!/usr/bin/env bash
# A build of another build system that is killed in the middle goes on in another session: only what is missing is
# compiled. What setup.py reads from the environment counts, and is named when it changes.
set -eu
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; cat log; exit 1; }
skip() { echo "skip an interrupted build: $1"; exit 0; }
"$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1 || skip "no SDK ($(tail -1 log))"
command -v c++ >/dev/null && command -v ninja >/dev/null || skip 'no C++ compiler, or no ninja'

mkdir -p six/six bin
touch six/six/__init__.py slow
cat >six/k1.hip <<'HIP'
#include <hip/hip_runtime.h>
__global__ void k1(int *p) { *p = STEP; }
extern "C" void run1(int *p) { k1<<<1, 1>>>(p); }
HIP
for i in 2 3 4 5 6; do
	printf 'extern "C" int run%d() { return STEP; }\n' $i >six/k$i.cpp
done
cat >six/setup.py <<'PY'
# Writes its own build.ninja, as many do; what is built is packed as data.
import os, pathlib, subprocess
from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
steps = {"STEP": "7"}
for name in steps: # one name is written out, one is composed, one is that of a program
    steps[name] = os.environ.get("SIX_%s_WORD" % name, steps[name])
class Build(build_py):
    def run(self):
        end = " -fPIC -c $in -o $out -DSTEP=%s %s" % (steps["STEP"], os.environ.get("SIXFLAG", ""))
        lines = ["rule hip", " command = hipcc" + end, "rule link", " command = hipcc -shared $in -o $out",
            "rule cxx", " command = if [ -e ../../slow ]; then sleep 1; fi; " + os.environ["CXX"] + end]
        lines += ["build k1.o: hip k1.hip", *("build k%d.o: cxx k%d.cpp" % (i, i) for i in range(2, 7))]
        lines += ["build six/libsix.so: link " + " ".join("k%d.o" % i for i in range(1, 7))]
        word = subprocess.run(["six-word"], stdout=subprocess.PIPE, universal_newlines=True).stdout
        pathlib.Path("six/__init__.py").write_text("WORD = %r\n" % word)
        pathlib.Path("build.ninja").write_text("\n".join(lines) + "\n")
        subprocess.check_call(["ninja", "-j1"])
        super().run()
class Binary(Distribution):
    def has_ext_modules(self):
        return True
setup(name="six", version="1.0", packages=["six"], package_data={"six": ["*.so"]}, cmdclass={"build_py": Build}, distclass=Binary)
PY
printf '#!/bin/sh\necho of the user\n' >bin/six-word
chmod +x bin/six-word
seen() { wc -l <b/log/cc.jsonl; }
compiled() { # LINES: the sources in the log of compilers behind these
	tail -n +$(($1 + 1)) b/log/cc.jsonl | grep -o '\bk[1-6]\.[a-z]*p\b' | sort -u | tr '\n' ' '
}
build="$ROCSMITH build six --gpu gfx1201 -o out --build-dir b"
export PATH="$PATH:$PWD/bin"

EDITOR=vi HISTSIZE=10 WT_SESSION=1 TERM_SESSION_ID=a $build >log 2>&1 &
pid=$!
while [ ! -e b/tree/k3.o ] && kill -0 $pid 2>/dev/null; do
	sleep 0.1
done
kill -9 $pid 2>/dev/null || :
wait $pid 2>/dev/null || :
if grep -q 'cannot install what the build' log; then skip 'no package index'; fi
[ -e b/tree/k3.o ] && [ ! -e b/tree/k6.o ] || fail 'the build was not killed in the middle'
sleep 1 # what it started ends with it
rm slow
last=$(seen)
EDITOR=emacs HISTSIZE=99 WT_SESSION=2 TERM_SESSION_ID=b OF_NO_BUILD=1 $build >log 2>&1 || fail 'the build that goes on'
# k3 may have been half written, k4 may have been there
case "$(compiled $last)" in 'k4.cpp k5.cpp k6.cpp ' | 'k3.cpp k4.cpp k5.cpp k6.cpp ' | 'k5.cpp k6.cpp ') ;;
*) fail "$(compiled $last) are compiled by the build that goes on" ;; esac
if grep -q Changed log; then fail 'a session counts as a setting'; fi
python3 -m zipfile -e out/six-1.0-*.whl site
grep -q 'of the user' site/six/__init__.py || fail "the user's own programs are not found"
echo "ok a killed build goes on in another session, with $(compiled $last)"

last=$(seen)
EDITOR=ed SIXFLAG=-DMORE $build >log 2>&1 || fail 'another SIXFLAG'
grep -q "Changed variable 'SIXFLAG': 'six' is configured anew" log || fail 'what changed is not named'
[ "$(compiled $last)" = 'k1.hip k2.cpp k3.cpp k4.cpp k5.cpp k6.cpp ' ] || fail "only $(compiled $last) are compiled"
echo 'ok a variable that setup.py reads counts, and is named'
export SIXFLAG=-DMORE
SIX_STEP_WORD=8 $build >log 2>&1 || fail 'a composed name'
grep -q "Changed variable 'SIX_STEP_WORD': " log || fail 'a variable with a composed name'
printf '#!/bin/sh\necho another\n' >bin/six-word
touch bin/of-no-build
SIX_STEP_WORD=8 $build >log 2>&1 || fail 'another program'
grep -q "Changed program 'six-word'" log || fail "a program of the user's that setup.py names"
SIX_STEP_WORD=8 PATH="$PATH:/var" $build >log 2>&1 || fail 'the same again'
if grep -q Changed log; then fail 'a folder of PATH without such a program'; fi
echo "ok so do names that are composed, and programs of the user's own folders"
