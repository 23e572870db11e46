#!/usr/bin/env bash
# slow: eleven projects, twelve releases
# CUDA extensions as PyPI has them, through the arguments that their own setup.py gives to
# CUDAExtension, beside the original hipify of every release from 2.4 to 2.15, byte for byte.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
run() { python3 "$top/tests/oracle/identity.py" extensions "$E2E_TMP/work" "$@" || failed=1; }
failed=0
small='torch-scatter@torch-scatter==2.1.2 torch-sparse@torch-sparse==0.6.18
	torch-cluster@torch-cluster==1.6.3 causal-conv1d@causal-conv1d==1.7.0
	mamba-ssm@mamba-ssm==2.3.2.post1 exllamav2@exllamav2==0.0.4
	fast-hadamard-transform@fast-hadamard-transform==1.1.0 gsplat@gsplat==1.5.3
	deepspeed@deepspeed==0.19.8'
# shellcheck disable=SC2086
run 2.4.1,2.5.1,2.6.0,2.7.1,2.8.0,2.9.1,2.10.0,2.11.0,2.12.1,2.13.0,2.14.1,2.15.0 $small
# Large ones; and every file of a project, as hipify_torch and vLLM take it.
run 2.6.0,2.15.0 flash-attn@flash-attn==2.8.3.post2:cuda flash-attn@flash-attn==2.8.3.post2:rocm \
	xformers@xformers==0.0.35:rocm xformers@xformers==0.0.35:cuda
run 2.6.0,2.10.0,2.15.0 deepspeed@deepspeed==0.19.8:rocm+all mamba-ssm@mamba-ssm==2.3.2.post1:rocm+all \
	gsplat@gsplat==1.5.3:cuda+all torch-sparse@torch-sparse==0.6.18:cuda+all
exit $failed
