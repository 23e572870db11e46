#!/usr/bin/env bash
# An editable build: the modules of an extension are those of the copy, and an environment imports them. After an edit the same
# command compiles one source. So with setuptools (build_editable), and with one that has only setup.py develop; pip
# uninstalls what was installed. The sources stay as they are.
set -eu
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; cat log; exit 1; }
sum() { (cd "$1" && find . -printf '%p %m %T@ ' -type f -exec sha256sum {} \; | sort); }
"$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1 || { echo "skip editable builds: no SDK ($(tail -1 log))"; exit 0; }
if ! python3 -c 'import sysconfig, os, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
	! python3 -m venv env >log 2>&1; then
	echo 'skip editable builds: no Python headers, or no environments'
	exit 0
fi

sources() { # NAME: a module whose answer() is host code of a .cu beside a kernel
	mkdir -p "$1/$1"
	echo "from .module import answer" >"$1/$1/__init__.py"
	cat >"$1/kernel.cu" <<'CUDA'
#include <cuda_runtime.h>
__global__ void add(const float *a, float *b) { b[threadIdx.x] += a[threadIdx.x]; }
extern "C" int launch(const float *a, float *b)
{
	if (a)
		add<<<1, 64>>>(a, b);
	return 1;
}
CUDA
	cat >"$1/module.cpp" <<'CPP'
#include <Python.h>
extern "C" int launch(const float *, float *);
static PyObject *answer(PyObject *, PyObject *) { return PyLong_FromLong(launch(nullptr, nullptr)); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, nullptr}, {}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "module", nullptr, -1, methods};
PyMODINIT_FUNC PyInit_module() { return PyModule_Create(&module); }
CPP
	# writes a build.ninja, as torch's BuildExtension does
	cat >"$1/setup.py" <<PY
import os, subprocess, sysconfig
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
class Ninja(build_ext):
    def build_extension(self, ext):
        here, temp, out = os.getcwd(), os.path.abspath(self.build_temp), os.path.abspath(self.get_ext_fullpath(ext.name))
        os.makedirs(temp, exist_ok=True)
        os.makedirs(os.path.dirname(out), exist_ok=True)
        include = sysconfig.get_path("include")
        with open(os.path.join(temp, "build.ninja"), "w") as f:
            f.write(f"rule cu\n command = nvcc -arch=native -Xcompiler -fPIC -c \$in -o \$out\n"
                f"rule cxx\n command = {os.environ['CXX']} -fPIC -I{include} -c \$in -o \$out\n"
                f"rule link\n command = nvcc -shared \$in -o \$out\n"
                f"build kernel.o: cu {here}/kernel.cu\nbuild module.o: cxx {here}/module.cpp\nbuild {out}: link kernel.o module.o\n")
        subprocess.check_call(["ninja", "-C", temp])
setup(name="$1", version="1.0", packages=["$1"], cmdclass={"build_ext": Ninja},
    ext_modules=[Extension("$1.module", ["kernel.cu", "module.cpp"])])
PY
}
import() { # NAME: what it answers in the environment, on the libraries of the SDK
	"$ROCSMITH" sdk run --host env/bin/python3 -I -c "import $1, os; print($1.answer(), os.path.dirname($1.module.__file__))" 2>>log
}
compiled() { # FOLDER LINES: the sources in the log of compilers behind these
	tail -n +$(($2 + 1)) "$1/log/cc.jsonl" | grep -o '\b\(kernel\|module\)\.c[up]*\b' | sort -u | tr '\n' ' '
}
trial() { # NAME WHAT FOLDER: twice, the second time with an edit
	local name=$1 live
	sum "$name" >before
	"$ROCSMITH" build "$name" --editable --python env --gpu gfx1201 --build-dir "b$name" >out 2>log || {
		grep -q 'cannot install what the build' log && echo 'skip editable builds: no package index' && exit 0
		fail "$2"
	}
	live=$(cat out)
	[ "$live" = "$PWD/b$name/tree" ] && grep -q "Live.*'$live', and not '$PWD/$name'" log || fail "$2: which folder is live"
	sum "$name" | cmp -s - before || fail "$2: the project was modified"
	[ "$(import "$name" | cut -d' ' -f1)" = 1 ] || fail "$2: the import gives $(import "$name")"
	sed -i 's/return 1/return 2/' "$name"/kernel.*
	last=$(wc -l <"b$name/log/cc.jsonl")
	"$ROCSMITH" build "$name" --editable --python env --gpu gfx1201 --build-dir "b$name" >out 2>log || fail "$2, again"
	[ "$(compiled "b$name" "$last")" = "$(basename "$name"/kernel.*) " ] || fail "$2: $(compiled "b$name" "$last") are compiled after an edit of one"
	case $(import "$name") in "2 $PWD/$3"*) ;; *) fail "$2: the import gives $(import "$name") after an edit" ;; esac
	echo "ok $2: an edit compiles one source, and the environment imports the result"
}

sources new
trial new 'build_editable of setuptools' bnew/tree/new
last=$(wc -l <bnew/log/cc.jsonl)
"$ROCSMITH" build new --editable --python env --gpu gfx1201 --build-dir bnew --json >json 2>log || fail 'a third time'
[ "$last" = "$(wc -l <bnew/log/cc.jsonl)" ] && ! grep -q Installing log || fail 'something is done, and nothing changed'
python3 -c 'import json, os; r = json.load(open("json")); assert r["installed"] == os.getcwd() + "/env" and r["live"] == os.getcwd() + "/bnew/tree", r
assert r["inspect"]["served"] == ["gfx1201"] and r["verify"]["wheels"][0]["verdict"] == "pass"' >>log 2>&1 || fail 'the report'
env/bin/python3 -m pip uninstall -q -y new >log 2>&1 || fail 'pip uninstall'
[ -z "$(find env/lib -name '*new*' -path '*site-packages/*new-1*' -o -name '__editable__*new*')" ] || fail 'something stays after pip uninstall'
"$ROCSMITH" build new --editable --python env --gpu gfx1201 --build-dir bnew >out 2>log && [ "$(import new | cut -d' ' -f1)" = 2 ] || fail 'installed again'
echo 'ok nothing is done when nothing changed; pip uninstalls it; the report names folder and environment'
status=0
"$ROCSMITH" build new --gpu gfx1201 --build-dir bnew >out 2>log || status=$?
[ $status = 2 ] && grep -q "modules in '.*bnew' are in use" log && [ "$(import new | cut -d' ' -f1)" = 2 ] || fail 'another build in this folder'
rm -rf env/lib/python3*/site-packages/pip*
sources old
printf '[build-system]\nrequires = ["setuptools<64", "wheel"]\nbuild-backend = "setuptools.build_meta:__legacy__"\n' >old/pyproject.toml
# no device code, for speed
sed -i 's/kernel\.cu/kernel.cpp/; s/: cu /: cxx /' old/setup.py
printf 'extern "C" int launch(const float *, float *)\n{\n\treturn 1;\n}\n' >old/kernel.cpp
rm old/kernel.cu
trial old 'setup.py develop, for an environment without pip' bold/tree/old
