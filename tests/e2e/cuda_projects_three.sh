#!/usr/bin/env bash
# long
# Three small ones of the CUDA projects of tests/data/cuda_projects.tsv (setup.py, a plugin of setuptools, CMake with pybind11)
# are built and judged as cuda_projects_all.sh does it with all. Extensions of torch are built by foreign_torch.sh.
set -eu
export ROCSMITH_PROJECTS='cuda-kernels annoy-gpu custc'
exec bash "$(dirname "$(realpath "$0")")/cuda_projects_all.sh"
