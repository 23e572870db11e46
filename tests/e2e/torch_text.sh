# slow
# Generated texts through all passes, compared byte for byte with the original Python of the oldest
# and newest torch, the last of the first generation and the first of the second.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
driver=$(dirname "$ROCSMITH")/tests/torch-text
for version in 2.4.1 2.6.0 2.10.0 2.11.0 2.14.1 2.15.0; do
	folder=$("$top/tools/torch-get" $version 2>"$E2E_TMP/log")
	case $? in
	0) ;;
	77)
		echo "skip texts of torch $version: $(tail -n 1 "$E2E_TMP/log")"
		continue
		;;
	*)
		echo "not ok torch-get $version"
		continue
		;;
	esac
	# The original does not end on a tenth of the texts with launches, and is given up after a while.
	for launches in '' launches; do
		count=$((${#launches} ? 4000 : 20000))
		if python3 -B "$top/tests/oracle/torch_text.py" "$driver" "$folder" $count $RANDOM $launches \
			>"$E2E_TMP/log" 2>&1; then
			echo "ok torch $version${launches:+, launches}: $(tail -n 1 "$E2E_TMP/log")"
		else
			echo "not ok torch $version $launches"
			tail -n 20 "$E2E_TMP/log"
		fi
	done
done
