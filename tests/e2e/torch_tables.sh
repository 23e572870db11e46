# slow
# The tables of every torch minor from 2.4 to 2.15, of 2.2 and of other patch releases, against the
# original Python: keys, values, order, the line of each pair, and that the algorithm's text is known.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
dump=$(dirname "$ROCSMITH")/tests/torch-dump
for version in 2.2.2 2.4.0 2.4.1 2.5.1 2.6.0 2.7.1 2.8.0 2.9.1 2.10.0 2.11.0 2.12.1 2.13.0 2.14.1 2.15.0; do
	folder=$("$top/tools/torch-get" $version 2>"$E2E_TMP/log")
	case $? in
	0) ;;
	77)
		echo "skip the tables of torch $version: $(tail -n 1 "$E2E_TMP/log")"
		continue
		;;
	*)
		echo "not ok torch-get $version"
		cat "$E2E_TMP/log"
		continue
		;;
	esac
	for fbcode in 0 1; do
		IS_FBCODE=$fbcode python3 -B "$top/tests/oracle/torch_tables.py" "$dump" "$folder" >"$E2E_TMP/log" 2>&1
		case $? in
		0 | 1) cat "$E2E_TMP/log" ;;
		esac
		grep -q '^ok .* math' "$E2E_TMP/log" || echo "not ok the oracle of torch $version gave no answer"
	done
done

# A wheel is read as the folder it is unpacked to.
folder=$("$top/tools/torch-get" 2.6.0 2>"$E2E_TMP/log") || {
	echo "skip a torch wheel: $(tail -n 1 "$E2E_TMP/log")"
	exit 0
}
wheel=$E2E_TMP/torch-2.6.0-cp312-none-any.whl
python3 -m zipfile -c "$wheel" "$folder/torch"
"$dump" "$folder" >"$E2E_TMP/folder"
"$dump" "$wheel" >"$E2E_TMP/wheel"
if [ -s "$E2E_TMP/wheel" ] && cmp -s "$E2E_TMP/folder" "$E2E_TMP/wheel"; then
	echo 'ok a wheel has the tables of its folder'
else
	echo 'not ok a wheel has the tables of its folder'
fi
