#!/usr/bin/env bash
# slow
# Known projects on their real sources (Debian's archive has them): each variable that a feature sets is one
# that the sources read, and PyTorch's copy in a build is what its own build_amd.py makes of the patched tree.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*

# Every NAME of build.env stands in the sources' CMake files or setup.py. Those of ROCm_ARCH and the like do not.
known_variables() { # PROJECT PLAN
	python3 - "$1" "$2" <<-'END'
	import json, pathlib, re, sys
	plan = json.load(open(sys.argv[2]))
	top = pathlib.Path(plan["project"]["dir"])
	files = [top / "CMakeLists.txt", top / "setup.py", *top.glob("cmake/**/*.cmake"), *top.glob("tools/**/*.py")]
	text = "\n".join(f.read_text(errors="replace") for f in files if f.is_file())
	names = {line.partition("=")[0] for line in plan["build"]["env"]}
	lost = sorted(n for n in names if not re.search(r"\b%s\b" % re.escape(n), text))
	if lost:
	    print("not ok", sys.argv[1], "does not know", *lost)
	    sys.exit(1)
	print("ok", sys.argv[1], plan["build"]["release"] + ": all", len(names), "variables are read by the sources")
	END
}

touch torch-2.6.0+rocm6.4-cp311-cp311-linux_x86_64.whl
for project in torch torchaudio; do # torchvision has the same reader, and 13 MB of sources
	with=()
	[ $project = torch ] || with=(--with torch-2.6.0+rocm6.4-cp311-cp311-linux_x86_64.whl)
	if ! "$ROCSMITH" plan $project "${with[@]}" --gpu gfx1201 -o $project.json >log 2>&1; then
		grep -q 'is for Python' log && { echo "skip $project: $(head -1 log)"; continue; }
		echo "skip $project: its sources cannot be had ($(tail -1 log))"
		continue
	fi
	known_variables $project $project.json
done
[ -f torch.json ] || exit 0
source=$(python3 -c 'import json; print(json.load(open("torch.json"))["project"]["dir"])')

# A build that ends behind the copy: what it wants of pip does not exist.
cat >torch.yaml <<-'END'
	name: torch
	hipify: {mode: torch}
	build: {system: python, requires: [no-such-package-of-rocsmith]}
END
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1; then
	echo "skip the copy of PyTorch: no SDK ($(tail -1 log))"
	exit 0
fi
"$ROCSMITH" build torch --source "$source" --config torch.yaml --gpu gfx1201 --build-dir bd -o out >log 2>&1 &&
	{ echo 'not ok a build without its requirements ended well'; exit 1; }
[ -d bd/tree/torch ] || { echo 'not ok there is no copy'; cat log; exit 1; }
cp -a "$source" want
chmod -R u+w want
"$ROCSMITH" patch apply want --gpu gfx1201 --sdk "prefix:$PWD/bd/rocm" >log 2>&1 || { echo 'not ok patch apply'; cat log; exit 1; }
rm -rf want/.rocsmith-patches
(cd want && python3 tools/amd_build/build_amd.py >../amd.log 2>&1) || { echo 'not ok build_amd.py'; tail -3 amd.log; exit 1; }
find want -name __pycache__ -prune -exec rm -rf {} +
if diff -r --no-dereference -x .rocsmith -x .rocsmith-patches -x __pycache__ want bd/tree >diff.log; then
	echo "ok the copy of PyTorch is what build_amd.py makes: $(find bd/tree -name '*.hip' | wc -l) .hip files"
else
	echo 'not ok the copy of PyTorch differs from what build_amd.py makes'
	head -20 diff.log
	exit 1
fi
