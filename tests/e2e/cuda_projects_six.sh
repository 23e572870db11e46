#!/usr/bin/env bash
# long
# Six small ones of the CUDA projects of tests/data/cuda_projects.tsv (setup.py twice, a plugin of setuptools, CMake with pybind11,
# JAX FFI, an extension of torch) are built and judged as cuda_projects_all.sh does it with all.
set -eu
export ROCSMITH_PROJECTS='cuda-kernels annoy-gpu custc pfcuda cuda-rankic points-in-rbbox'
exec bash "$(dirname "$(realpath "$0")")/cuda_projects_all.sh"
