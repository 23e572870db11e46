#!/usr/bin/env bash
# slow: hundreds of runs
# Tests disturbed at each I/O call, and killed 100 times.
export ROCSMITH_FAULT_POINTS=${ROCSMITH_FAULT_POINTS:-0} ROCSMITH_KILLS=${ROCSMITH_KILLS:-100}
exec bash "$(dirname "$0")/testrun_faults.sh"
