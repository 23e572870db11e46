#!/usr/bin/env bash
# venv.sh DIR: an environment with other people's tools for wheels (auditwheel, uv, packaging, wheel) in
# DIR, made once, by one script at a time. Exit status 77: not possible here (no venv, no package index).
set -eu
mkdir -p "$(dirname "$1")"
exec 9>"$1.lock"
flock 9
[ ! -e "$1/complete" ] || exit 0
python3 -c 'import venv, ensurepip' 2>/dev/null || exit 77
rm -rf "$1"
python3 -m venv "$1" && "$1/bin/pip" install -q --disable-pip-version-check auditwheel uv packaging wheel >&2 ||
	exit 77
touch "$1/complete"
