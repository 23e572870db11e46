# Random small extensions (include graphs, circles, include folders, links, odd names) through the
# original Python and through our engine, without a difference; and whether a second hipify would
# change something is told right. Then several calls in one folder by the command itself, and all of
# it taken back. One torch of each generation. PROJECTS is the number for each.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
program=$(dirname "$ROCSMITH")/tests/torch-run
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
	check() { # WHAT PROGRAM COUNT [calls]
		if python3 -B "$top/tests/oracle/torch_random.py" "$2" "$folder" "$E2E_TMP/work" "${SEED:-$version}" "$3" ${4:+"$4"} >"$E2E_TMP/log" 2>&1; then
			echo "ok $1 with torch $version: $(tail -n 1 "$E2E_TMP/log")"
		else
			echo "not ok $1 with torch $version"
			tail -n 30 "$E2E_TMP/log"
		fi
	}
	check "random extensions and trees" "$program" "${PROJECTS:-100}"
	check "several calls in one folder" "$ROCSMITH" "$((${PROJECTS:-100} / 3))" calls
done
