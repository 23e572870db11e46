#!/usr/bin/env bash
# hipify with each I/O call failing once, and killed 100 times; before that, proof that faults.py
# notices what it is there to notice.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
faults=$top/tests/e2e/faults.py
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
cd "$E2E_TMP"
rm -rf src out bad keep
mkdir -p src/sub keep

notices() { # WHAT TEXT ARG...
	local what=$1 text=$2
	shift 2
	if python3 "$faults" kill --times 3 "$@" >log 2>&1 || ! grep -q "$text" log; then
		echo "not ok faults.py does not notice $what"
		cat log
		exit 1
	fi
	echo "ok faults.py notices $what"
}

touch keep/file
slow='sleep 0.3'
notices "changed sources" "user's files changed" --keep keep -- sh -c "echo x >>keep/file; $slow"
notices "litter" "litter" --setup 'rm -rf bad; mkdir bad' --tree bad -- \
	sh -c ">bad/f.tmp-1; $slow; rm -f bad/none"
notices "a result that differs" "differs" --setup 'rm -rf bad; mkdir bad' --tree bad -- \
	sh -c "echo x >>bad/f; $slow"
notices "a failing check" "ended with 1" --check false -- sh -c "$slow"
if [ ! -x "$fault" ]; then
	echo "skip hipify with failing calls: no rocsmith-fault"
	exit 0
fi

for i in 1 2 3; do
	printf '#include <cuda_runtime.h>\nvoid f%d() { cudaDeviceSynchronize(); }\n' "$i" >"src/sub/f$i.cu"
done
python3 "$faults" sweep --setup 'rm -rf out' --tree out --keep src -- "$fault" hipify -q src -o out
echo "ok hipify with each call failing"
python3 "$faults" kill --times 100 --setup 'rm -rf out' --tree out --keep src -- \
	"$ROCSMITH" hipify -q src -o out
echo "ok hipify killed 100 times"
