#!/usr/bin/env bash
# What doctor says of machines of public reports that the rules were not written for; prints the table.
set -eu
if [ "$(id -u)" != 0 ] || ! python3 -c 'import yaml'; then
    echo "skip the held-out machines: root and python3-yaml are needed"
    exit 0
fi
machines=$(dirname "$0")/../machines
if python3 "$machines/held_out.py" "$ROCSMITH" --keep "$E2E_TMP/held-out"; then
    echo "ok doctor is right about machines that it never saw"
else
    echo "not ok doctor is wrong about a machine"
fi
