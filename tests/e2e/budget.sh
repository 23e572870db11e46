#!/usr/bin/env bash
# What is read of strangers' files is bounded: time, memory and output on a third of the files that are meant to cost much.
# budget_all.sh has them all.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
python3 "$top/tests/oracle/budget.py" "$ROCSMITH" "$E2E_TMP/budget" --every 3
