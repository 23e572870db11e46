#!/usr/bin/env bash
# hipify_perl.sh DIR: puts Debian's hipify-perl into DIR/hipify-perl, the peer that bench/ and tests/e2e
# compare with. Uses a private apt state and the machine's own archive; exit status 77 when the package
# cannot be had here.
set -eu
dir=$1
mkdir -p "$dir"
[ ! -x "$dir/hipify-perl" ] || exit 0
if command -v hipify-perl >/dev/null; then
	cp "$(command -v hipify-perl)" "$dir/hipify-perl"
	exit 0
fi
command -v perl >/dev/null && command -v dpkg-deb >/dev/null || exit 77
state=$dir/apt
mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
: >"$state/status"
archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' |
	grep -v security | head -n 1) || exit 77
[ -n "$archive" ] || exit 77
key=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$key] $archive sid main" >"$state/sources.list"
cat >"$state/apt.conf" <<EOF
Dir::State "$state";
Dir::State::lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state/cache";
Dir::Etc::sourcelist "$state/sources.list";
Dir::Etc::sourceparts "/dev/null";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
APT::Sandbox::User "root";
EOF
export APT_CONFIG=$state/apt.conf
(cd "$state" && apt-get -qq update && apt-get -qq download hipify-perl) >"$state/log" 2>&1 || exit 77
dpkg-deb -x "$state"/hipify-perl_*.deb "$state/unpacked"
cp "$state/unpacked/usr/bin/hipify-perl" "$dir/hipify-perl"
