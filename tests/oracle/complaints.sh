# Sourced by tests/e2e/hipify_complaints*.sh: small projects, and the original run on a copy of one.
#
# The projects are made in $E2E_TMP; $v1 and $v2 are folders of tools/torch-get with a torch of either
# generation of hipify.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
failed=0

get_torches() {
	v1=$("$top/tools/torch-get" 2.6.0 2>>"$E2E_TMP/get.log") &&
		v2=$("$top/tools/torch-get" 2.15.0 2>>"$E2E_TMP/get.log") || {
		echo 'skip no torch wheel can be had here'
		exit 0
	}
}

# check NAME COMMAND...: an ok line when the command succeeds.
check() {
	local name=$1
	shift
	if "$@" >"$E2E_TMP/check.log" 2>&1; then
		echo "ok $name"
	else
		echo "not ok $name"
		sed 's/^/#   /' "$E2E_TMP/check.log" | head -n 20
		failed=1
	fi
}

# with status 0..255: not the shell's own failure of a pipeline.
status_is() { # WANTED COMMAND...
	local want=$1 got=0
	shift
	"$@" || got=$?
	[ "$got" = "$want" ] || {
		echo "exit status $got, not $want: $*"
		return 1
	}
}

# project DIR: a CUDA extension with a source, a header that is renamed, and one that is not.
project() {
	rm -rf "$1"
	mkdir -p "$1/csrc"
	printf '%s\n' '#include <cuda_runtime.h>' '#include "cuda_utils.cuh"' '#include "plain.h"' \
		'// one' '__global__ void k(int *p) { *p = 1; }' \
		'void run(int *p, cudaStream_t s) { k<<<1, 32, 0, s>>>(p); cudaDeviceSynchronize(); }' \
		>"$1/csrc/a.cu"
	printf '%s\n' '#pragma once' '#include <cuda.h>' 'using stream = cudaStream_t;' >"$1/csrc/cuda_utils.cuh"
	printf '%s\n' '#pragma once' 'int plain();' >"$1/csrc/plain.h"
	printf '%s\n' '#include "plain.h"' 'int plain() { return 1; }' >"$1/csrc/host.cpp"
}

copy() { # FROM TO
	rm -rf "$2"
	cp -a "$1" "$2"
}

# extension TORCH DIR WORD...: ours, in place or where WORD says; every file of DIR/csrc is a source.
extension() {
	local torch=$1 dir=$2
	shift 2
	"$ROCSMITH" hipify -q --mode extension --torch "$torch" -I csrc "$@" "$dir" csrc/a.cu csrc/host.cpp
}

# original TORCH DIR [SOURCE...]: the Python, in place, as CUDAExtension calls it.
original() {
	local torch=$1 dir
	dir=$(cd "$2" && pwd)
	shift 2
	[ $# -gt 0 ] || set -- csrc/a.cu csrc/host.cpp
	python3 - "$dir" "$@" >"$E2E_TMP/calls.json" <<-'PYTHON'
		import json, os, sys
		cwd, *sources = sys.argv[1:]
		print(json.dumps({"cwd": cwd, "calls": [{
		    "project_directory": cwd, "output_directory": cwd, "header_include_dirs": ["csrc"],
		    "includes": [cwd + "/*"], "extra_files": [os.path.join(cwd, s) for s in sources],
		    "is_pytorch_extension": True, "hipify_extra_files_only": True}]}))
	PYTHON
	python3 "$top/tests/oracle/hipify_calls.py" "$torch" "$E2E_TMP/calls.json" "$dir" "$E2E_TMP/result.json" \
		>>"$E2E_TMP/original.log" 2>&1
}

same() { python3 "$top/tests/oracle/tree.py" same "$1" "$2"; }
sum() { python3 "$top/tests/oracle/tree.py" sum "$1"; }

# The member of the last --json answer in $E2E_TMP/json that a Python expression on d gives.
json() { python3 -c 'import json,sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$E2E_TMP/json" "$1"; }
