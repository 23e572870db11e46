#!/usr/bin/env bash
# long
# Six small ones of the CUDA projects of tests/data/cuda_projects.tsv: nvcc by hand and CMake, built or refused as they were
# when the table of doc/cuda.md was made. cuda_projects_all.sh has the others.
set -eu
export ROCSMITH_PROJECTS="cuda-kernels cuda-rankic custc cuimgops annoy-gpu cuTWED"
exec bash "$(dirname "$0")/cuda_projects_all.sh"
