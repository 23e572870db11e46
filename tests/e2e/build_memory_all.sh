#!/usr/bin/env bash
# slow: large compiles, and what fits into a limit of memory
# Our own build in a control group in which two of its large sources are too much, and so is one beside two small ones: with
# nothing known of them, and once their costs are known. Nothing is killed the second time, and the wheel has all of them.
set -eu
. "$(dirname "$(realpath "$0")")/group.bash"
cd "$E2E_TMP"
rm -rf ./*
fail() { echo "not ok $1"; cat log; exit 1; }
if ! "$ROCSMITH" sdk install debian --suite sid --components compiler >log 2>&1; then
	echo "skip a build in little memory: no SDK ($(tail -1 log))"
	exit 0
fi
limit 650 || { echo 'skip a build in little memory: no control group may be made here'; exit 0; }

# On the host side, a large one takes 480 MiB (150 of them are the compiler's file); everything else takes 150.
mkdir p
printf 'name: large\nversion: 1.0\n' >p/rocsmith.yaml
cat >p/table.h <<'CPP'
#ifndef __HIP_DEVICE_COMPILE__
#define TEN(x) x, x, x, x, x, x, x, x, x, x
#define MANY(x) TEN(TEN(TEN(TEN(TEN(x)))))
template <int T, int N> struct table {
	static constexpr long all[] = {MANY(T + N)};
};
template <int N> long get(int i)
{
	return table<0, N>::all[i] + table<1, N>::all[i] + table<2, N>::all[i] + table<3, N>::all[i] + table<4, N>::all[i] +
		table<5, N>::all[i] + table<6, N>::all[i] + table<7, N>::all[i] + table<8, N>::all[i] + table<9, N>::all[i];
}
#else
template <int N> long get(int);
#endif
CPP
for i in 1 2; do
	printf '#include "table.h"\n__global__ void k%d(int *p) { *p = %d; }\nlong large%d(int i) { return get<%d>(i); }\n' $i $i $i $i >p/l$i.cu
done
for i in 1 2 3 4; do printf '__global__ void s%d(int *p) { *p = %d; }\n' $i $i >p/s$i.cu; done
build() { inside "$ROCSMITH" build p --gpu gfx1100 -j 4 -o out --build-dir b "$@" >log 2>&1; }
build || fail 'a first build in little memory'
echo "ok a first build in little memory ($(grep -c 'once more, alone' log || true) of its compiles were killed, and run again)"
echo >>p/table.h
build || fail 'a second one, whose costs are known'
! grep 'once more, alone' log || fail 'with known costs, nothing was to be killed'
python3 -m zipfile -t out/*.whl >>log || fail 'there is no wheel'
echo 'ok with known costs, nothing is killed'
