#!/usr/bin/env bash
# alone: it sets up and builds in the build folder of all
# make install puts the program and its pages where they are found, and the pages are sound.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)

make -s -C "$top" install PREFIX=/opt/try DESTDIR="$E2E_TMP" >"$E2E_TMP/log" 2>&1 || {
	cat "$E2E_TMP/log"
	exit 1
}
want=$("$ROCSMITH" --version)
[ "$("$E2E_TMP/opt/try/bin/rocsmith" --version)" = "$want" ]
echo 'ok the installed program runs'

size=$(stat -c %s "$E2E_TMP/opt/try/bin/rocsmith")
strip -o "$E2E_TMP/stripped" "$E2E_TMP/opt/try/bin/rocsmith"
size=$(stat -c %s "$E2E_TMP/stripped")
[ "$size" -lt 6000000 ] || { echo "not ok the stripped program has $size bytes"; exit 1; }
echo "ok the stripped program is below 6 MB ($size bytes)"

if ! command -v groff >/dev/null; then
	echo 'skip groff is not installed'
	exit 0
fi
for page in "$top"/doc/man/*.scd; do
	name=$(basename "$page" .scd)
	file=$E2E_TMP/opt/try/share/man/man${name##*.}/$name
	warnings=$(groff -man -Tutf8 -ww -z "$file" 2>&1)
	[ -z "$warnings" ] || { echo "not ok $name: $warnings"; exit 1; }
	groff -man -Tascii -P-cbu "$file" | grep -q "^NAME$"
	echo "ok page $name"
done
