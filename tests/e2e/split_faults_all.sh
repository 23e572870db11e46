#!/usr/bin/env bash
# slow: thousands of runs
# Splits and merges disturbed at each I/O call, and killed 100 times in each way.
export ROCSMITH_FAULT_POINTS=${ROCSMITH_FAULT_POINTS:-0} ROCSMITH_KILLS=${ROCSMITH_KILLS:-100} ROCSMITH_FAULT_JOBS=${ROCSMITH_FAULT_JOBS:-$(nproc)}
exec bash "$(dirname "$0")/split_faults.sh"
