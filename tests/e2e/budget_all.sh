#!/usr/bin/env bash
# slow: making the files takes longer than reading them
# What is read of strangers' files is bounded: time, memory and output on files that are meant to cost much.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
python3 "$top/tests/oracle/budget.py" "$ROCSMITH" "$E2E_TMP/budget" --deep
