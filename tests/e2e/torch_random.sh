# Random small extensions (include graphs, circles, include folders, links, odd names) through the
# original Python and through our engine, without a difference; and whether a second hipify would
# change something is told right. One torch of each generation. PROJECTS is the number for each.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
program=$(dirname "$ROCSMITH")/tests/torch-run
if ! ninja -C "$(dirname "$ROCSMITH")" tests/torch-run >"$E2E_TMP/log" 2>&1; then
	echo 'not ok torch-run does not build'
	exit 0
fi
for version in 2.6.0 2.15.0; do
	folder=$("$top/tools/torch-get" $version 2>"$E2E_TMP/log")
	case $? in
	0) ;;
	77)
		echo "skip random extensions with torch $version: $(tail -n 1 "$E2E_TMP/log")"
		continue
		;;
	*)
		echo "not ok torch-get $version"
		cat "$E2E_TMP/log"
		continue
		;;
	esac
	seed=${SEED:-$version}
	if python3 -B "$top/tests/oracle/torch_random.py" "$program" "$folder" "$E2E_TMP/work" "$seed" "${PROJECTS:-300}" >"$E2E_TMP/log" 2>&1; then
		echo "ok random extensions with torch $version: $(tail -n 1 "$E2E_TMP/log")"
	else
		echo "not ok random extensions with torch $version"
		tail -n 30 "$E2E_TMP/log"
	fi
done
