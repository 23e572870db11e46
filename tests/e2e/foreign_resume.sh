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

mkdir -p six bin
for i in 1 2 3 4 5 6; do
	printf '#include <hip/hip_runtime.h>\n__global__ void k%d(int *p) { *p = STEP; }\nextern "C" void run%d(int *p) { k%d<<<1, 1>>>(p); }\n' $i $i $i >six/k$i.hip
done
cat >six/setup.py <<'PY'
# Writes its own build.ninja, as many do; what is built is packed as data.
import os, pathlib, subprocess
from setuptools import setup
from setuptools.command.build_py import build_py
steps = {"STEP": "7"}
for name in steps: # one name is written out, one is composed, one is that of a program
    steps[name] = os.environ.get("SIX_%s_WORD" % name, steps[name])
class Build(build_py):
    def run(self):
        flags = os.environ.get("SIXFLAG", "")
        lines = ["rule hip", " command = hipcc -fPIC -c $in -o $out -DSTEP=%s %s" % (steps["STEP"], flags),
            "rule link", " command = hipcc -shared $in -o $out"]
        objects = ["k%d.o" % i for i in range(1, 7)]
        lines += ["build %s: hip %s" % (o, o.replace(".o", ".hip")) for o in objects]
        lines += ["build six/libsix.so: link " + " ".join(objects)]
        pathlib.Path("six").mkdir(exist_ok=True)
        pathlib.Path("six/__init__.py").write_text("WORD = %r\n" % subprocess.run(["six-word"], stdout=subprocess.PIPE, text=True).stdout)
        pathlib.Path("build.ninja").write_text("\n".join(lines) + "\n")
        subprocess.check_call(["ninja", "-j1"])
        super().run()
setup(name="six", version="1.0", packages=["six"], package_data={"six": ["*.so"]}, cmdclass={"build_py": Build})
PY
mkdir six/six && touch six/six/__init__.py
printf '#!/bin/sh\necho of the user\n' >bin/six-word
chmod +x bin/six-word
compiled() { # the objects that were compiled since line $1 of the log
	python3 - "$1" <<'PY'
import json, re, sys
lines = open("b/log/cc.jsonl").read().splitlines()[int(sys.argv[1]):]
text = [" ".join(map(str, json.loads(line).values())) for line in lines]
print(" ".join(sorted(set(re.findall(r"\bk\d\.hip", " ".join(text))))))
PY
}
seen() { wc -l <b/log/cc.jsonl; }
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
done=$(cd b/tree && ls k?.o | tr '\n' ' ')
last=$(seen)
EDITOR=emacs HISTSIZE=99 WT_SESSION=2 TERM_SESSION_ID=b OF_NO_BUILD=1 $build >log 2>&1 || fail 'the build that goes on'
for object in $done; do
	[ "$object" = "$(echo $done | tr ' ' '\n' | tail -1)" ] && continue # it may have been half written
	case " $(compiled $last) " in *" ${object%.o}.hip "*) fail "$object was compiled again" ;; esac
done
case "$(compiled $last)" in *k6.hip*) ;; *) fail 'nothing was compiled' ;; esac
if grep -q Changed log; then fail 'a session counts as a setting'; fi
python3 -m zipfile -e out/six-1.0-*.whl site
grep -q 'of the user' site/six/__init__.py || fail "the user's own programs are not found"
echo "ok a killed build goes on in another session: $done are there, $(compiled $last) are compiled"

last=$(seen)
EDITOR=ed SIXFLAG=-DMORE $build >log 2>&1 || fail 'another SIXFLAG'
grep -q "Changed.*variable 'SIXFLAG': 'six' is configured anew" log || fail 'what changed is not named'
[ "$(compiled $last)" = 'k1.hip k2.hip k3.hip k4.hip k5.hip k6.hip' ] || fail "only $(compiled $last) are compiled"
echo 'ok a variable that setup.py reads counts, and is named'
SIX_STEP_WORD=8 SIXFLAG=-DMORE $build >log 2>&1 || fail 'a composed name'
grep -q "Changed.*variable 'SIX_STEP_WORD': " log || fail 'a variable with a composed name'
printf '#!/bin/sh\necho another\n' >bin/six-word
touch bin/of-no-build
SIX_STEP_WORD=8 SIXFLAG=-DMORE $build >log 2>&1 || fail 'another program'
grep -q "Changed.*program 'six-word'" log || fail "a program of the user's that setup.py names"
SIX_STEP_WORD=8 SIXFLAG=-DMORE PATH="$PATH:/var" $build >log 2>&1 || fail 'the same again'
if grep -q Changed log; then fail 'a folder of PATH without such a program'; fi
echo "ok so do names that are composed, and programs of the user's own folders"
