#!/usr/bin/env bash
# CUDA extensions as PyPI has them, through the arguments that their own setup.py gives to
# CUDAExtension, beside the original hipify of both generations, byte for byte.
# hipify_extensions_all.sh has all eleven projects and all releases.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
run() { python3 "$top/tests/oracle/identity.py" extensions "$E2E_TMP/work" "$@" || failed=1; }
failed=0
run 2.6.0,2.15.0 torch-scatter@torch-scatter==2.1.2:rocm+all fast-hadamard-transform@fast-hadamard-transform==1.1.0
run 2.6.0 mamba-ssm@mamba-ssm==2.3.2.post1
run 2.15.0 torch-cluster@torch-cluster==1.6.3 exllamav2@exllamav2==0.0.4:rocm+all
exit $failed
