#!/usr/bin/env bash
# slow: hundreds of builds
# `build` killed 200 times, and 60 of its I/O calls failing in turn.
export ROCSMITH_FAULT_POINTS=${ROCSMITH_FAULT_POINTS:-60} ROCSMITH_KILLS=${ROCSMITH_KILLS:-200}
exec bash "$(dirname "$0")/build_faults.sh"
