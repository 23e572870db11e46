#!/usr/bin/env bash
# venv.sh DIR [PACKAGE...]: an environment with other people's tools for wheels (the newest pip, auditwheel, uv, packaging, wheel, or
# these packages) in DIR, made once, by one script at a time. Exit status 77: not possible here (no venv, no package index).
set -eu
mkdir -p "$(dirname "$1")"
exec 9>"$1.lock"
flock 9
[ ! -e "$1/complete" ] || exit 0
python3 -c 'import venv, ensurepip' 2>/dev/null || exit 77
rm -rf "$1"
dir=$1
shift
[ $# != 0 ] || set -- --upgrade pip auditwheel uv packaging wheel
python3 -m venv "$dir" && "$dir/bin/pip" install -q --disable-pip-version-check "$@" >&2 || exit 77
touch "$dir/complete"
