#!/usr/bin/env bash
# hipify under concurrency and kills: two runs on one folder, runs ended at any moment.
set -eu
cd "$E2E_TMP"
rm -rf src want out
mkdir -p src/sub
for i in $(seq 1 60); do
	printf '#include <cuda_runtime.h>\nvoid f%d() { cudaDeviceSynchronize(); }\n' "$i" >"src/sub/f$i.cu"
done
before=$(find src -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
"$ROCSMITH" hipify -q src -o want

"$ROCSMITH" hipify -q src -o out &
first=$!
"$ROCSMITH" hipify -q src -o out
wait "$first"
diff -r --exclude=.rocsmith want out
echo "ok two runs on one folder"

for i in $(seq 1 40); do
	[ $((i % 4)) -ne 0 ] || rm -rf out
	"$ROCSMITH" hipify -q src -o out >/dev/null 2>&1 &
	pid=$!
	sleep "0.0$((i % 10))"
	kill -9 "$pid" 2>/dev/null || :
	wait "$pid" 2>/dev/null || true
	find out -name '*.hip' 2>/dev/null | while read -r f; do
		cmp -s "$f" "want/${f#out/}" || { echo "not ok torn file $f"; exit 1; }
	done
done
"$ROCSMITH" hipify -q src -o out
diff -r --exclude=.rocsmith want out
echo "ok 40 kills leave whole files and a folder that the next run completes"
[ "$before" = "$(find src -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)" ]
echo "ok the sources are untouched"
