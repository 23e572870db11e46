#!/usr/bin/env bash
# doc/cuda.md has the table of the CUDA projects of tests/data, as cuda_projects_all.sh has built them.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
python3 "$top/tests/e2e/cuda_projects.py" table "$top"/tests/data/cuda_projects{,_seen}.tsv >"$E2E_TMP/table"
if grep '^| `[^`]*` [0-9]' "$top/doc/cuda.md" | cmp -s - <(tail -n +3 "$E2E_TMP/table"); then
	echo 'ok doc/cuda.md has the table of projects'
else
	echo 'not ok doc/cuda.md has another table of projects'
	exit 1
fi
