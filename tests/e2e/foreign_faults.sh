#!/usr/bin/env bash
# long
# A build by CMake is killed at random moments, and its I/O calls fail one by one: the project stays as it
# is, and the next build gives what an undisturbed one gives. ROCSMITH_KILLS and ROCSMITH_FAULT_POINTS say
# how often.
set -eu
top=$(dirname "$(realpath "$0")")
kills=${ROCSMITH_KILLS:-6} points=${ROCSMITH_FAULT_POINTS:-4}
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
add_library(two SHARED one.cpp two.cpp)
install(TARGETS two DESTINATION lib)
CMAKE
echo 'int one() { return 1; }' >p/one.cpp
echo 'int one(); int two() { return one() + 1; }' >p/two.cpp
fast=$(mktemp -d /dev/shm/rocsmith-e2e.XXXXXX 2>/dev/null || mktemp -d)
trap 'rm -rf "$fast"' EXIT
# No path of the build folder is in what is installed, and the SDK is there before the first kill.
"$ROCSMITH" build p --gpu gfx1201 -o "$fast/first" --build-dir "$fast/first-b" >/dev/null 2>log || {
	echo 'not ok a CMake project'
	cat log
	exit 1
}
python3 "$top/faults.py" kill --times "$kills" --setup "rm -rf '$fast/o' '$fast/b'" \
	--tree "$fast/o" --keep p -- "$ROCSMITH" build p --gpu gfx1201 -o "$fast/o" --build-dir "$fast/b"
echo "ok $kills kills of a build by CMake: it goes on, and the result is the same"
if [ -x "$fault" ]; then
	python3 "$top/faults.py" sweep --sample "$points" --setup "rm -rf '$fast/o' '$fast/b'" \
		--tree "$fast/o" --keep p -- "$fault" build p --gpu gfx1201 -o "$fast/o" --build-dir "$fast/b"
	echo 'ok a failing I/O call is told, and the next build is whole'
else
	echo 'skip failing I/O: rocsmith-fault is not built'
fi
