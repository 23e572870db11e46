# shellcheck shell=bash
# Sourced by the tests that need all of Debian's ROCm (6 GB, kept): $bare is a Debian without any of it, $tools the oracles' venv, $root
# the SDK's root. Ends the test with "skip" where it cannot be had. In: $top.
for tool in apt-get bwrap gcc readelf python3; do
	command -v $tool >/dev/null || { echo "skip $tool is not installed"; exit 0; }
done
[ "$(df --output=avail -k . | tail -n 1)" -gt 12000000 ] || { echo 'skip the fat wheel: no 12 GB free'; exit 0; }
tools=$ROCSMITH_HOME/oracles
bash "$top/tests/oracle/venv.sh" "$tools" 2>pip.log || { echo 'skip no venv or package index'; exit 0; }
bare=$("$top/tools/debian-get" sid system++ python3-venv libstdc++6) || { echo 'skip: no package archive can be reached'; exit 0; }
# shellcheck source=tools/fetch.sh
. "$top/tools/fetch.sh"
unset ROCSMITH_HOME
export XDG_DATA_HOME=$FETCH_CACHE/whole-sdk # kept
libraries='hipblas,hipblaslt,hipfft,hiprand,hipsolver,hipsparse,miopen,rccl,rocblas,rocfft,rocrand,rocsolver,rocsparse'
status=0
"$ROCSMITH" sdk install debian --suite experimental --components "compiler,$libraries" >log 2>&1 || status=$?
[ $status != 4 ] || { echo 'skip the archive cannot be reached'; exit 0; }
[ $status = 0 ] || { tail -n 5 log && exit 1; }
root=$("$ROCSMITH" sdk info --json debian-experimental | python3 -c 'import json,sys; print(json.load(sys.stdin)["paths"]["root"])')
