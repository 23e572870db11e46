# Sourced by the fetchers in this folder: where fetched things live, how two runs at once are kept
# apart, and how the machine's own apt and pip are asked. Nothing is installed on the machine.
#
# A fetched thing is a folder FETCH_CACHE/NAME; it is made as NAME.new under a lock of its own and then
# renamed, so that what is there is whole. Exit status 77 of a fetcher: not possible here (no network, no
# index, no apt).
FETCH_CACHE=${ROCSMITH_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rocsmith/test}

# fetch_begin NAME: prints the folder and ends the program when it is there; else locks it and leaves
# an empty $fetch_new to be filled.
fetch_begin() {
	fetch_dir=$FETCH_CACHE/$1
	fetch_new=$fetch_dir.new
	fetch_found
	mkdir -p "$FETCH_CACHE"
	exec 9>"$fetch_dir.lock"
	flock 9
	fetch_found # another run may have made it meanwhile
	rm -rf "$fetch_new"
	mkdir "$fetch_new"
}

fetch_found() {
	[ ! -d "$fetch_dir" ] || {
		echo "$fetch_dir"
		exit 0
	}
}

fetch_end() {
	mv "$fetch_new" "$fetch_dir"
	echo "$fetch_dir"
}

fetch_impossible() {
	echo "${0##*/}: $*" >&2
	[ -z "${fetch_new:-}" ] || rm -rf "$fetch_new"
	exit 77
}

# Prints the address of the machine's own Debian mirror, or of $ROCSMITH_MIRROR; nothing if there is none.
fetch_mirror() {
	if [ -n "${ROCSMITH_MIRROR:-}" ]; then
		echo "$ROCSMITH_MIRROR"
	elif command -v apt-get >/dev/null; then
		apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
			grep '^Debian ' | grep -v -e -security -e -debug | sed 's/.* //' | head -n 1
	fi
}

# fetch_apt STATE WORD SUITE...: makes apt work on a private state with the machine's own mirror (or
# $ROCSMITH_MIRROR); WORD is deb or deb-src. Packages are for amd64, or for $FETCH_ARCH.
fetch_apt() {
	local state=$1 word=$2 suite mirror
	shift 2
	mirror=$(fetch_mirror)
	[ -n "$mirror" ] || return 1
	mkdir -p "$state/none" "$state/lists/partial" "$state/cache/archives/partial"
	: >"$state/status"
	for suite; do
		echo "$word $mirror $suite main"
	done >"$state/sources.list"
	cat >"$state/apt.conf" <<-CONF
		Dir::State "$state";
		Dir::State::lists "$state/lists";
		Dir::State::status "$state/status";
		Dir::Cache "$state/cache";
		Dir::Etc::sourcelist "$state/sources.list";
		Dir::Etc::sourceparts "$state/none";
		Dir::Etc::preferences "$state/none/preferences";
		Dir::Etc::preferencesparts "$state/none";
		Dir::Etc::trustedparts "/etc/apt/trusted.gpg.d";
		Acquire::Check-Valid-Until "false";
		Acquire::Languages "none";
		Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
		Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled "false";
		Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled "false";
		Acquire::IndexTargets::deb::DEP-11-icons-hidpi::DefaultEnabled "false";
		APT::Sandbox::User "$(id -un)";
		APT::Architecture "${FETCH_ARCH:-amd64}";
		APT::Architectures { "${FETCH_ARCH:-amd64}"; };
	CONF
	export APT_CONFIG=$state/apt.conf
	[ -n "$(find "$state/lists" -name '*_Packages*' -mtime -7 -o -name '*_Sources*' -mtime -7 \
		2>/dev/null | head -n 1)" ] || apt-get -qq update >&2
}

# fetch_pip WORD...: pip of the machine's python3, which needs no environment of its own here.
fetch_pip() {
	python3 -m pip --disable-pip-version-check "$@"
}

# Prints the folder to put into PYTHONPATH for `python3 -m unearth`; call it in a subshell.
fetch_unearth() {
	fetch_begin "unearth-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
	fetch_pip install -q --root-user-action=ignore --target "$fetch_new" unearth >&2 ||
		fetch_impossible 'the package index does not give unearth'
	fetch_end
}
