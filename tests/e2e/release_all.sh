#!/usr/bin/env bash
# slow: hundreds of kills
# Releases with 200 kills in each way, more failing calls, and an object store that pip fetches if need be.
export ROCSMITH_KILLS=${ROCSMITH_KILLS:-200} ROCSMITH_FAULT_POINTS=${ROCSMITH_FAULT_POINTS:-0} ROCSMITH_RELEASE_ALL=1
exec bash "$(dirname "$0")/release.sh"
