#!/bin/sh
# tests/tools/source_check.sh CACHE TREE: every folder of sources that has its record is this tree.
for record in "$1"/tiny-*.json; do
	[ ! -e "$record" ] || diff -r --no-dereference "$2" "${record%.json}" || exit 1
done
