#!/usr/bin/env bash
# long
# A small one of the CUDA projects of tests/data/cuda_projects.tsv is built, as it was when the table of doc/cuda.md was made,
# without another library of ROCm. cuda_projects_all.sh has the others.
set -eu
export ROCSMITH_PROJECTS=cuda-kernels
top=$(cd "$(dirname "$0")/../.." && pwd)
python3 "$top/tests/e2e/cuda_projects.py" table "$top"/tests/data/cuda_projects{,_seen}.tsv >"$E2E_TMP/table"
if grep '^| `[^`]*` [0-9]' "$top/doc/cuda.md" | cmp -s - <(tail -n +3 "$E2E_TMP/table"); then
	echo 'ok doc/cuda.md has the table of projects'
else
	echo 'not ok doc/cuda.md has another table of projects'
	exit 1
fi
exec bash "$(dirname "$0")/cuda_projects_all.sh"
