#!/usr/bin/env bash
# What doctor says of machines of public reports that the rules were not written for; prints the table.
set -eu
if python3 "$(dirname "$0")/../machines/held_out.py" "$ROCSMITH"; then
    echo "ok doctor is right about machines that it never saw"
else
    echo "not ok doctor is wrong about a machine"
fi
