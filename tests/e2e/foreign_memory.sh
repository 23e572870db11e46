#!/usr/bin/env bash
# alone: it measures what fits into a limit of memory
# A build by CMake in a control group in which `ninja -j2` alone is killed: it ends well, the first time (by what
# is known of compilers), and the second time with small sources beside large ones. A killed linker is run again.
set -eu
. "$(dirname "$(realpath "$0")")/group.bash"
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; cat log; exit 1; }
for program in cmake ninja g++ python3; do
	command -v $program >/dev/null || { echo "skip a build in little memory: no $program"; exit 0; }
done
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1; then
	echo "skip a build in little memory: no SDK ($(tail -1 log))"
	exit 0
fi
limit 500 || { echo 'skip a build in little memory: no control group may be made here'; exit 0; }

# Each of the large ones takes 340 MiB.
mkdir p
cat >p/table.h <<'CPP'
#define TEN(x) x, x, x, x, x, x, x, x, x, x
#define MANY(x) TEN(TEN(TEN(TEN(TEN(x)))))
template <class T, int N> struct table {
	static constexpr T all[] = {MANY(sizeof(T) + N)};
};
template <int N> int get(int i)
{
	return table<int, N>::all[i] + (int)table<long, N>::all[i] + table<short, N>::all[i] +
		table<char, N>::all[i] + (int)table<unsigned, N>::all[i] + table<wchar_t, N>::all[i] +
		(int)table<unsigned long, N>::all[i] + (int)table<long long, N>::all[i];
}
CPP
cat >p/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(large LANGUAGES CXX)
add_library(large SHARED l1.cpp l2.cpp s1.cpp s2.cpp s3.cpp s4.cpp s5.cpp s6.cpp)
install(TARGETS large DESTINATION lib)
CMAKE
for i in 1 2; do printf '#include "table.h"\nint l%d(int i) { return get<%d>(i); }\n' $i $i >p/l$i.cpp; done
for i in 1 2 3 4 5 6; do printf '#include <string>\nstd::string s%d() { return std::to_string(%d); }\n' $i $i >p/s$i.cpp; done

cmake -G Ninja -S p -B plain >log 2>&1 || fail cmake
plain=passed
for _ in 1 2 3 4 5; do # their peaks are short, and have to meet
	rm -f plain/CMakeFiles/large.dir/l?.cpp.o
	inside ninja -C plain -j2 CMakeFiles/large.dir/l1.cpp.o CMakeFiles/large.dir/l2.cpp.o >log 2>&1 || { plain=killed && break; }
done
[ "$plain" = killed ] || fail 'ninja alone was to be killed'
grep -q -i 'killed' log || fail "ninja's compilers were to be killed"
build() { inside "$ROCSMITH" build p --gpu gfx1201 -j2 -o out --build-dir b >log 2>&1; }
build || fail 'a build in little memory'
[ -f out/large/lib/liblarge.so ] || fail 'the library'
cat >look.py <<'PY'
import json, sys

runs = [json.loads(line) for line in open("b/log/cc.jsonl")]
name = lambda run: run["input"].rsplit("/", 1)[-1]
large = lambda run: name(run)[0] == "l"
runs = [r for r in runs if r["kind"] == "c++" and name(r)[0] in "ls"][-8:]
assert len(runs) == 8 and all(r["status"] == 0 for r in runs), runs
for r in runs:
    r["from"] = r["start"] + r["waited"]
    print(name(r), r["by"], r["predicted"] >> 20, r["memory"] >> 20, r["tries"], r["from"], r["seconds"])
beside = [(a, b) for a in runs for b in runs if a["from"] < b["from"] and a["from"] + a["seconds"] > b["from"] + 0.02]
assert not any(large(a) and large(b) for a, b in beside), "two large ones at once"
assert all(r["tries"] == 1 for r in runs), "something was killed"
if sys.argv[1] == "second":
    assert any(large(a) != large(b) for a, b in beside), "nothing ran beside a large one"
    assert all(r["by"] == "source" for r in runs), runs
PY
python3 look.py first >log 2>&1 || fail 'what ran in the first build'
echo 'ok a build in which ninja alone is killed ends well'
CXXFLAGS=-DOTHER build || fail 'a build with other flags'
python3 look.py second >log 2>&1 || fail 'what ran in the second build'
echo 'ok what its sources took is known when flags change: small ones run beside large ones'

# ---- a linker ----
mkdir -p s/.rocsmith/programs bin
ln -s "$(command -v g++)" s/.rocsmith/programs/g++
echo "{\"schema\": \"rocsmith.cc/1\", \"memory\": $((400 << 20)), \"log_dir\": \"$PWD\"}" >s/.rocsmith/cc.json
printf '#!/bin/sh\n[ -e died ] || { : >died; kill -9 $$; }\nexec %s "$@"\n' "$(command -v ld)" >bin/ld
chmod +x bin/ld
echo 'int main() { return 0; }' >main.cpp
"$ROCSMITH" cc --shims s g++ -c main.cpp -o main.o
"$ROCSMITH" cc --shims s g++ -B"$PWD/bin" main.o -o main >log 2>&1 || fail 'a killed linker'
[ -e died ] && ./main && grep -q 'once more, alone' log || fail 'it was to be run again'
echo 'ok a killed linker is run once more, alone'
