#!/usr/bin/env bash
# long
# Edits of dynamic sections (formats/elf_edit.h) of what each linker at hand makes, judged by readelf, llvm-readelf, the
# loader and strip; the same done by Debian's patchelf is shown beside it, and judges nothing. A third of the kinds of files
# is tried; elf_edit_all.sh tries them all.
set -eu
export ELF_EDIT_EVERY=${ELF_EDIT_EVERY:-3}
top=$(cd "$(dirname "$0")/../.." && pwd)
tool=${ROCSMITH_BUILD:-$(dirname "$ROCSMITH")}/tests/elf-edit
cd "$E2E_TMP"
rm -rf ./*
for name in python3 readelf gcc strip; do
	command -v $name >/dev/null || {
		echo "skip elf_edit: no $name"
		exit 0
	}
done
[ -x "$tool" ] || {
	echo 'not ok elf_edit: tests/elf-edit is not built'
	exit 1
}
mkdir ours
status=0
# shellcheck disable=SC2086 # words
(cd ours && python3 "$top/tests/oracle/elf_edit.py" "$tool" ${ELF_EDIT_KINDS:-}) || status=1
[ -z "${ELF_EDIT_KINDS:-}" ] || exit $status # tools/mutate
mkdir system
(cd system && python3 "$top/tests/oracle/elf_edit.py" "$tool" --system $((15 / ELF_EDIT_EVERY))) || status=1
if patchelf=$(command -v patchelf); then
	mkdir theirs
	(cd theirs && python3 "$top/tests/oracle/elf_edit.py" "$patchelf" --lenient)
else
	echo 'skip elf_edit: no patchelf that runs here to compare with'
fi
exit $status
