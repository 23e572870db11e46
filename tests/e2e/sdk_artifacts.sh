#!/usr/bin/env bash
# `sdk install artifacts DIR`: archives of TheRock's layout, made by artifacts.py: what is installed, what a set lacks, and
# each way in which an archive can be wrong.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
failed=0
export ROCSMITH_HOME=$E2E_TMP/home PYTHONPATH=$here
cd "$E2E_TMP"
sdk=$ROCSMITH_HOME/data/sdk
tell() { # WHAT STATUS
	[ "$2" = 0 ] && echo "ok $1" || { echo "not ok $1"; sed 's/^/# /' said; failed=1; }
}
says() { # WHAT STATUS TEXT ARGUMENT...
	local what=$1 status=$2 text=$3 got=0
	shift 3
	"$ROCSMITH" "$@" >said 2>&1 || got=$?
	tell "$what" "$([ "$got" = "$status" ] && grep -q -e "$text" said && echo 0 || echo 1)"
}
proves() { # WHAT COMMAND...
	local what=$1 got=0
	shift
	"$@" >said 2>&1 || got=$?
	tell "$what" $got
}
# the tree that TheRock's own flattening would make: each member below a stage, without it
flat() {
	python3 - "$@" <<'END'
import pathlib, subprocess, sys, tarfile, io, os
for path in (p for p in sys.argv[1:] if not p.endswith("sum")):
    program = ["xz", "-dc"] if path.endswith("xz") else ["zstd", "-dc"]
    with tarfile.open(fileobj=io.BytesIO(subprocess.run(program + [path], stdout=subprocess.PIPE, check=True).stdout)) as tar:
        members = iter(tar)
        stages = tar.extractfile(next(members)).read().decode().split()
        for m in members:
            at = next(m.name[len(s) + 1:] for s in stages if m.name.startswith(s + "/"))
            text = m.linkname if m.issym() else tar.extractfile(m).read().hex()
            print(at, "runs" if m.mode & 0o100 and m.isfile() else "", text[:80], len(text))
END
}
tree() {
	python3 - "$1" <<'END'
import os, pathlib, sys
for path, _, names in os.walk(sys.argv[1]):
    for name in names:
        full = pathlib.Path(path) / name
        text = os.readlink(full) if full.is_symlink() else full.read_bytes().hex()
        at = str(full.relative_to(sys.argv[1]))
        if not at.startswith("share/therock/artifacts/"):
            print(at, "runs" if not full.is_symlink() and full.stat().st_mode & 0o100 else "", text[:80], len(text))
END
}
python3 "$here/artifacts.py" set --gpu gfx1151,gfx1201
install=(sdk install artifacts set --suite 10.1)
says 'a dry run lists the archives' 0 '^blas_lib_gfx1201 10.1.0$' "${install[@]}" --gpu gfx1201 -n
proves 'and writes nothing' test ! -e "$sdk"
says 'it is installed' 0 Installed "${install[@]}" --gpu gfx1201
flat set/*_generic.tar.?* set/blas_lib_gfx1201.tar.?* | sort >want
tree "$sdk/artifacts-10.1/root" | sort >got
proves 'the tree is what all stages make' cmp want got
proves 'and more than a few files' test "$(wc -l <want)" -gt 8
says 'it knows its compiler' 0 '^  *clang  *23.0.0' sdk info artifacts-10.1
says 'and its GPU' 0 'artifacts-10.1 .*gfx1201' sdk list
says 'it verifies' 0 'as installed' sdk verify artifacts:10.1
says 'a second time nothing is done' 0 Unchanged "${install[@]}" --gpu gfx1201
says 'a further GPU is added' 0 Installed sdk install artifacts:10.1 --gpu gfx1151
proves 'beside the first' test -f "$sdk/artifacts-10.1/root/lib/rocblas/library/kernels_gfx1201.kpack" \
	-a -f "$sdk/artifacts-10.1/root/lib/rocblas/library/kernels_gfx1151.kpack"
rm "$sdk/artifacts-10.1/root/lib/libamdhip64.so.7"
says 'a missing file is found' 1 'libamdhip64.so.7. is missing' sdk verify artifacts-10.1
says 'and comes back from the folder' 0 Installed sdk install artifacts:10.1
says 'then all is well' 0 'as installed' sdk verify artifacts-10.1
says 'a folder names its SDK' 0 'artifacts-set' sdk install artifacts set
says 'all of them a second time: nothing is unpacked' 0 'Ready' sdk install artifacts set --gpu all
# ---- incomplete sets: all that is missing, and nothing is unpacked ----
cp -r set torn
rm torn/amd-llvm_dev_generic.tar.* torn/blas_lib_gfx1151.tar.* torn/core-runtime_lib_generic.tar.*
torn=(sdk install artifacts torn)
says 'each missing archive is named' 4 'has no amd-llvm_dev_generic, core-runtime_lib_generic, blas_lib_gfx1151$' "${torn[@]}" --gpu all
says 'also in a dry run' 4 'has no amd-llvm_dev_generic' "${torn[@]}" --gpu all -n
says 'a GPU that is not wanted is not missed' 4 'has no amd-llvm_dev_generic, core-runtime_lib_generic$' "${torn[@]}" --gpu gfx1201
says 'one that was not built is' 4 'blas_lib_gfx942' "${torn[@]}" --gpu gfx942
proves 'nothing was unpacked' test ! -e "$sdk/artifacts-torn" -a ! -e "$sdk/.artifacts-torn.new/tree"
cp set/amd-llvm_dev* set/core-runtime_lib* set/blas_lib_gfx1151* torn
python3 - <<'END'
import artifacts
for stem in ("miopen_lib_gfx1201", "miopen_test_generic"):
    artifacts.pack("torn", stem, ["ml-libs/MIOpen/stage"], {})
END
says 'then the set is whole' 0 Installed "${torn[@]}" --gpu all
proves 'tests are left out' test ! -e "$sdk/artifacts-torn/records/miopen_test_generic"
python3 "$here/artifacts.py" whole --whole
says 'libraries of two GPUs that were not split are refused' 2 'would replace each other' sdk install artifacts whole --gpu all
says 'one of them is fine' 0 Installed sdk install artifacts whole --gpu gfx1201
# ---- wheels: pip, zipfile and an install of our own have to make the same tree of them ----
cp -r set whole-set
cat >lib.c <<'END'
int answer(void) { return 42; }
END
echo 'int answer(void); int main(void) { return answer() != 42; }' >main.c
cc -shared -fPIC -Wl,-soname,libdemo.so.1 -o libdemo.so.1.2 lib.c && cc -o demo main.c libdemo.so.1.2 -Wl,-rpath,'$ORIGIN/../lib'
python3 - <<'END'
import pathlib
import artifacts
demo = {"c/lib/libdemo.so.1.2": pathlib.Path("libdemo.so.1.2"), "c/lib/libdemo.so.1": ("link", "libdemo.so.1.2"),
    "c/lib/libdemo.so": ("link", "libdemo.so.1"), "c/bin/hipify-perl": pathlib.Path("demo"), "c/bin/demo++": ("link", "hipify-perl"),
    "c/share/a.txt": b"text", "c/share/b.txt": ("link", "a.txt"), "c/more": ("link", "share"), "c/gone": ("link", "share/none"),
    "c/lib/cmake/a.cmake": b"x"}
artifacts.pack("whole-set", "hipify_run_generic", ["c"], demo)
artifacts.pack("whole-set", "rocalution_lib_generic", ["r"], {"r/lib/librocalution.so.1": b"r", "r/lib/" + 110 * "n" + ".h": b"long"})
artifacts.pack("whole-set", "rand_lib_gfx1151:xnack+", ["r"], {"r/lib/rand_gfx1151.kpack": b"k"})
END
wheels=(sdk install artifacts whole-set --suite w --gpu all --wheels-out)
says 'a dry run makes no wheels' 0 'make 6 wheels of ROCm in .*W' "${wheels[@]}" W -n
proves 'indeed' test ! -e W
"$ROCSMITH" "${wheels[@]}" W -n --json >before.json
says 'wheels are made' 0 'Made.* 6 wheels' "${wheels[@]}" W
"$ROCSMITH" "${wheels[@]}" W -n --json >after.json
"$ROCSMITH" "${wheels[@]}" W --json >made.json
proves 'both list them' python3 - <<'END'
import json, os
before, after, made = (json.load(open(f"{name}.json")) for name in ("before", "after", "made"))
wheels = made["done"]["wheels"]
assert sorted(map(os.path.basename, wheels)) == sorted(os.listdir("W")) and all(map(os.path.exists, wheels)), wheels
want = [" ".join(os.path.basename(w).split("-")[:2]).replace("_", "-") for w in wheels]
assert before["wheels"] == after["wheels"] == want and before["packages"] and not after["packages"], (before, after, want)
END
says 'a second time, by one thread' 0 'Made' "${wheels[@]}" W2 -j 1
proves 'they are the same' diff -r W W2
says 'also in place of the old ones' 0 'Made' "${wheels[@]}" W2
touch W2/mine
says 'but not of files of the user' 2 "more than ROCm's wheels: 'mine'" "${wheels[@]}" W2
says 'code that was not split off' 3 'was not split off' sdk install artifacts whole --gpu gfx1201 --wheels-out V
proves 'leaves no folder' test ! -e V
proves 'zipfile finds what RECORD says' python3 - <<'END'
import base64, csv, hashlib, io, pathlib, zipfile
wheels = sorted(pathlib.Path("W").iterdir())
assert [w.name.split("-")[0] for w in wheels] == ["rocm", "rocm_sdk_core", "rocm_sdk_devel", "rocm_sdk_device_gfx1151",
    "rocm_sdk_device_gfx1201", "rocm_sdk_libraries"], wheels
for path in wheels:
    assert path.name.endswith("-10.1.0-py3-none-any.whl" if "rocm-" in path.name else "-10.1.0-py3-none-linux_x86_64.whl"), path
    with zipfile.ZipFile(path) as whole:
        assert whole.testzip() is None
        info = next(n.split("/")[0] for n in whole.namelist() if ".dist-info/" in n)
        rows = list(csv.reader(io.StringIO(whole.read(info + "/RECORD").decode())))
        assert sorted(r[0] for r in rows) == sorted(whole.namelist()), path
        for name, value, size in rows:
            text = whole.read(name)
            made = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
            assert name.endswith("/RECORD") or (value == "sha256=" + made and int(size) == len(text)), name
with zipfile.ZipFile("W/rocm_sdk_core-10.1.0-py3-none-linux_x86_64.whl") as core:
    names = set(core.namelist())
assert "_rocm_sdk_core/lib/libdemo.so.1" in names and not names & {"_rocm_sdk_core/lib/libdemo.so", "_rocm_sdk_core/lib/libdemo.so.1.2",
    "_rocm_sdk_core/lib/cmake/a.cmake", "_rocm_sdk_core/lib/librocalution.so.1", "_rocm_sdk_core/more", "_rocm_sdk_core/gone"}, names
END
# the trees have the same files, however links lead to them; that of wheels is a Python package, too
same() { # PREFIX DEVEL
	python3 - "$@" <<'END'
import os, pathlib, sys
def tree(top):
    found = {}
    for path, folders, names in os.walk(top):
        for name in names + [f for f in folders if os.path.islink(os.path.join(path, f))]:
            full = pathlib.Path(path) / name
            found[str(full.relative_to(top))] = (full.read_bytes(), os.access(full, os.X_OK)) if full.is_file() else \
                "folder" if full.is_dir() else os.readlink(full)
    return found
one, other = tree(sys.argv[1]), tree(sys.argv[2])
assert other.pop("__init__.py") == (b"", False)
assert one.keys() == other.keys(), one.keys() ^ other.keys()
for name in one:
    assert one[name] == other[name], name
assert len(one) > 25
END
}
says 'our own install takes them' 0 Installed sdk install rocm:10.1.0 --gpu gfx1151,gfx1201 --find-links W
proves 'and has the tree of the artifacts' same "$sdk/artifacts-w/root" "$sdk/rocm-10.1.0/root/_rocm_sdk_devel"
says 'it verifies' 0 'as installed' sdk verify rocm-10.1.0
if python3 -c 'import venv, ensurepip' 2>/dev/null; then
	python3 -m venv env
	pip=(env/bin/python -m pip --disable-pip-version-check)
	find env/lib/python3*/site-packages ! -type d | grep -v __pycache__ | sort >before
	proves 'pip installs them by their requirements' "${pip[@]}" install -q --no-index --find-links W 'rocm[libraries,devel,device-gfx1151,device-gfx1201]'
	proves 'and finds them whole' "${pip[@]}" check
	site=$(echo env/lib/python3*/site-packages)
	proves 'a link to a program starts it' "$site/_rocm_sdk_core/bin/demo++"
	proves 'as does a command' env/bin/hipify-perl
	proves 'rocm-sdk expands the tree' test "$(env/bin/rocm-sdk path --root)" -ef "$site/_rocm_sdk_devel"
	proves 'which is that of the artifacts' same "$sdk/artifacts-w/root" "$site/_rocm_sdk_devel"
	proves 'it knows its GPUs' test "$(env/bin/python -m rocm_sdk targets)" = 'gfx1151;gfx1201'
	proves 'and loads libraries' env/bin/python -c 'import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=["demo"],
		check_version="10.1.*", fail_on_version_mismatch=True)'
	proves 'pip removes all of it' "${pip[@]}" uninstall -qy rocm rocm-sdk-core rocm-sdk-libraries rocm-sdk-devel \
		rocm-sdk-device-gfx1151 rocm-sdk-device-gfx1201
	find env/lib/python3*/site-packages ! -type d | grep -v '__pycache__\|_rocm_sdk_devel/gone$' | sort >after
	proves 'so that nothing is left but folders, and a link to nothing, which it cannot see' cmp before after
else
	echo 'skip pip: no venv'
fi
mkdir K
disturbed=(--timeout 60 --setup 'rm -rf K/W' --tree K --keep whole-set --keep "$sdk/artifacts-w/root"
	--check '[ ! -e K/W ] || [ $(ls K/W | wc -l) = 6 ]')
proves 'kills leave all wheels or none' python3 "$here/faults.py" kill --times "${ROCSMITH_KILLS:-3}" "${disturbed[@]}" -- "$ROCSMITH" "${wheels[@]}" K/W -q
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
[ ! -x "$fault" ] || proves 'as do failing I/O calls' python3 "$here/faults.py" sweep --sample "${ROCSMITH_FAULT_POINTS:-3}" \
	"${disturbed[@]}" -- "$fault" "${wheels[@]}" K/W -q
# ---- wrong archives ----
bad() { # WHAT TEXT PYTHON
	rm -rf bad
	cp -r set bad
	python3 -c "import artifacts; $3"
	says "$1" 4 "$2" sdk install artifacts bad --gpu gfx1201
	proves '  leaves no SDK' test ! -e "$sdk/artifacts-bad"
}
pack='artifacts.pack("bad", "core-hip_run_generic"'
bad 'a file outside of the stages' "has 'elsewhere/x', which is in no folder" "$pack, ['core/clr/stage'], {'elsewhere/x': b''})"
bad 'a name that only begins like a stage' 'in no folder of its' "$pack, ['core/clr/stage'], {'core/clr/stage2/x': b''})"
bad 'no manifest' "does not begin with 'artifact_manifest.txt'" "$pack, [], {'core/clr/stage/x': b''})"
bad 'stages that lead out' "does not begin with" "$pack, ['../x', '/etc'], {'etc/x': b''})"
bad 'links that lead out' 'leads out of the tree' "$pack, ['c'], {'c/bin/x': ('link', '../../etc/passwd')})"
bad 'another hash than the one beside it' 'changed\|hash' "open('bad/core-hip_run_generic.tar.xz', 'ab').write(b'x')"
bad 'an archive that ends early' 'ends early\|cannot be read' "import os; os.unlink('bad/core-hip_dev_generic.tar.xz.sha256sum'); \
	os.truncate('bad/core-hip_dev_generic.tar.xz', 200)"
says 'no folder' 2 'no folder of artifacts' sdk install artifacts none
mkdir empty
says 'an empty one' 4 'has no base_lib_generic' sdk install artifacts empty
exit $failed
