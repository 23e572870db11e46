#!/usr/bin/env bash
# slow: thousands of runs
# hipify disturbed at each I/O call (of a real extension: at 300), and killed 100 times in each way.
export ROCSMITH_FAULT_POINTS=${ROCSMITH_FAULT_POINTS:-300} ROCSMITH_KILLS=${ROCSMITH_KILLS:-100}
exec bash "$(dirname "$0")/hipify_faults.sh"
