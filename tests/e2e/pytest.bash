# Sourced by scripts that need pytest; $top is set. make_env DIR: a Python environment with the pytest of the index; fails if there
# is none.
make_env() {
	local site
	python3 -c 'import venv' 2>/dev/null || return 1
	site=$(
		. "$top/tools/fetch.sh"
		fetch_begin "pytest-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
		fetch_pip install -q --root-user-action=ignore --only-binary=:all: --target "$fetch_new" pytest >&2 ||
			fetch_impossible 'the package index has no pytest'
		fetch_end
	) || return 1
	python3 -m venv --without-pip "$1"
	echo "$site" >"$(echo "$1"/lib/python3*/site-packages)/pytest.pth"
}
