#!/usr/bin/env bash
# long
# A build by CMake is killed at random moments, and its I/O calls fail one by one: the project stays as it
# is, the next build goes on and gives what an undisturbed one gives, and no source is compiled twice but
# those that a kill interrupted. ROCSMITH_KILLS and ROCSMITH_FAULT_POINTS say how often.
set -eu
top=$(dirname "$(realpath "$0")")
kills=${ROCSMITH_KILLS:-3} points=${ROCSMITH_FAULT_POINTS:-3}
cd "$E2E_TMP"
command -v cmake >/dev/null && command -v ninja >/dev/null && command -v c++ >/dev/null || {
	echo 'skip faults of other build systems: no CMake'
	exit 0
}
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1; then
	echo "skip faults of other build systems: no SDK ($(tail -1 log))"
	exit 0
fi
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
mkdir -p p
cat >p/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(two LANGUAGES CXX)
add_library(two SHARED one.cpp two.cpp 1.cpp 2.cpp 3.cpp 4.cpp)
install(TARGETS two DESTINATION lib)
CMAKE
echo 'int one() { return 1; }' >p/one.cpp
echo 'int one(); int two() { return one() + 1; }' >p/two.cpp
for i in 1 2 3 4; do
	printf '#include <map>\n#include <string>\nint r%d(std::map<std::string, int> &m) { return m["a"]; }\n' $i >p/$i.cpp
done
fast=$(mktemp -d /dev/shm/rocsmith-e2e.XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$fast"' EXIT
# No path of the build folder is in what is installed, and the SDK is there before the first kill.
"$ROCSMITH" build p --gpu gfx1201 -o "$fast/first" --build-dir "$fast/first-b" >/dev/null 2>log || {
	echo 'not ok a CMake project'
	cat log
	exit 1
}
python3 "$top/faults.py" kill --times "$kills" --setup "rm -rf '$fast/o' '$fast/b' '$fast/kills'" \
	--check "python3 '$top/once.py' '$fast/b/log/cc.jsonl' '$fast/kills' 0.5" --tree "$fast/o" --keep p -- "$ROCSMITH" build p --gpu gfx1201 -o "$fast/o" --build-dir "$fast/b"
STATUS=0 python3 "$top/once.py" "$fast/b/log/cc.jsonl" "$fast/kills" 0.5 || exit 1 # also after the run that came to its end
[ "$(tail -n 1 compiled)" = 6 ] || { echo 'not ok compiles were to be counted'; exit 1; }
echo "ok $kills kills of a build by CMake: it goes on, nothing is compiled twice, the result is the same"
if [ -x "$fault" ]; then
	python3 "$top/faults.py" sweep --sample "$points" --setup "rm -rf '$fast/o' '$fast/b'" \
		--tree "$fast/o" --keep p -- "$fault" build p --gpu gfx1201 -o "$fast/o" --build-dir "$fast/b"
	echo 'ok a failing I/O call is told, and the next build is whole'
else
	echo 'skip failing I/O: rocsmith-fault is not built'
fi
