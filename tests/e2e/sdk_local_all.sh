#!/usr/bin/env bash
# slow: hundreds of installs
# The same with 200 kills, and 100 I/O calls failing in turn.
export ROCSMITH_FAULT_POINTS=${ROCSMITH_FAULT_POINTS:-100} ROCSMITH_KILLS=${ROCSMITH_KILLS:-200}
exec bash "$(dirname "$0")/sdk_local.sh"
