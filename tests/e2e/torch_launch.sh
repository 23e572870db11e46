# Kernel launches: generated texts and those of a real extension, compared byte for byte with
# processKernelLaunches() of the original Python. CASES is the number of texts for each torch.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
passes=$(dirname "$ROCSMITH")/tests/torch_passes
sources=$("$top/tools/sdist-get" mamba-ssm 2>"$E2E_TMP/log") || sources=
cd "$E2E_TMP" || exit 1
for version in 2.6.0 2.15.0; do
	folder=$("$top/tools/torch-get" $version 2>"$E2E_TMP/log")
	case $? in
	0) ;;
	77)
		echo "skip launches of torch $version: $(tail -n 1 "$E2E_TMP/log")"
		continue
		;;
	*)
		echo "not ok torch-get $version"
		continue
		;;
	esac
	if python3 -B "$top/tests/oracle/torch_launch.py" "$folder" "$passes" -n "${CASES:-2500}" \
		-s "${SEED:-$RANDOM}" ${sources:+"$sources"} >"$E2E_TMP/out" 2>"$E2E_TMP/log"; then
		echo "ok launches of torch $version: $(tail -n 1 "$E2E_TMP/out" | sed 's/^ok //')"
	else
		echo "not ok launches of torch $version"
		tail -n 20 "$E2E_TMP/out" "$E2E_TMP/log"
	fi
done
