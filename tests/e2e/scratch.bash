# For scripts that work in a folder of their own: $top is the repository's root, the folder is $E2E_TMP, empty. `no` ends the
# script, with the end of the log that the command before wrote.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$E2E_TMP"
rm -rf ./*
ok() { echo "ok $*"; }
no() {
	echo "not ok $*"
	sed 's/^/# /' log 2>/dev/null | tail -20
	exit 1
}
