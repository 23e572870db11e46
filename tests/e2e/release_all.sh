#!/usr/bin/env bash
# slow: hundreds of kills
# Releases with 200 kills in each way, a failure of each I/O call and of each request, and an object store that pip fetches if need be.
export ROCSMITH_KILLS=${ROCSMITH_KILLS:-200} ROCSMITH_FAULT_POINTS=${ROCSMITH_FAULT_POINTS:-0} ROCSMITH_RELEASE_ALL=1
export ROCSMITH_FAULT_JOBS=${ROCSMITH_FAULT_JOBS:-$(nproc)}
status=0
for name in release_faults release release_bucket; do
	mkdir -p "$E2E_TMP/$name"
	E2E_TMP=$E2E_TMP/$name bash "$(dirname "$0")/$name.sh" || status=1
done
exit $status
