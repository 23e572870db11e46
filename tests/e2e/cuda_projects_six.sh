#!/usr/bin/env bash
# long
# Six small ones of the CUDA projects of tests/data/cuda_projects.tsv, of several build systems, are built and judged as
# cuda_projects_all.sh does it with all.
set -eu
export ROCSMITH_PROJECTS='cuda-kernels annoy-gpu custc cuda-rankic cuvec points-in-rbbox'
exec bash "$(dirname "$(realpath "$0")")/cuda_projects_all.sh"
