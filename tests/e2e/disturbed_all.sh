#!/usr/bin/env bash
# slow: hundreds of runs
# Scripts that disturb their command a few times among other things, with 60 failing I/O calls and 50 kills each.
set -u
export ROCSMITH_FAULT_POINTS=${ROCSMITH_FAULT_POINTS:-60} ROCSMITH_KILLS=${ROCSMITH_KILLS:-50}
status=0
for name in cc checkout_faults doctor_fix get matrix_faults patch_queue sdk_artifacts sdk_rocm slim_faults source_local testrun_faults; do
	mkdir -p "$E2E_TMP/$name"
	E2E_TMP=$E2E_TMP/$name bash "$(dirname "$0")/$name.sh" || status=1
done
exit $status
