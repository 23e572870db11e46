#!/usr/bin/env bash
# slow: a hundred builds
# A build by CMake killed 50 times, and 40 of its I/O calls failing in turn.
export ROCSMITH_FAULT_POINTS=${ROCSMITH_FAULT_POINTS:-40} ROCSMITH_KILLS=${ROCSMITH_KILLS:-50}
exec bash "$(dirname "$0")/foreign_faults.sh"
