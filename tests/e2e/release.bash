# Sourced by the tests of releases, in their own folder: how they tell what they saw, servers that they start, kills that pip judges.
# shellcheck shell=bash
faults=$top/tests/e2e/faults.py
kills=${ROCSMITH_KILLS:-2}
bad=0
ok() { echo "ok $*"; }
no() {
	echo "not ok $*"
	sed 's/^/# /' log out 2>/dev/null | tail -20
	bad=1
}
check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >out 2>log; then ok "$what"; else no "$what"; fi
}
refuses() { # WHAT WORD COMMAND...: status 1, 2, 3 or 4, and the word is said
	local what=$1 word=$2 status=0
	shift 2
	"$@" >out 2>log || status=$?
	if [ $status -ge 1 ] && [ $status -le 4 ] && cat out log | grep -qF -- "$word"; then ok "$what is refused"; else no "$what is refused ($status)"; fi
}
rs() { "$ROCSMITH" "$@"; }
make() { python3 "$top/tests/e2e/release_set.py" "$@"; }
sees() { python3 "$top/tests/e2e/release_seen.py" "$python" "$@" 2>>log; }
url() { echo "file://$PWD/$1/simple/"; }
users() { # WHAT: sets $bin, the folder of the newest pip and uv, and $peers, that of twine and pypi-server; or the test is skipped
	bash "$top/tests/oracle/venv.sh" "$ROCSMITH_HOME/oracles" 2>log &&
		bash "$top/tests/oracle/venv.sh" "$ROCSMITH_HOME/oracles-release" twine 'pypiserver[passlib]' 2>>log || {
		echo "skip $1: no venv with pip, uv, twine and pypiserver"
		exit 0
	}
	bin=$ROCSMITH_HOME/oracles/bin peers=$ROCSMITH_HOME/oracles-release/bin
	python=$bin/python
	unset PIP_FIND_LINKS PIP_EXTRA_INDEX_URL PIP_NO_INDEX
}
pids=
trap 'kill $pids 2>/dev/null' EXIT
listen() { # COMMAND...: starts a server; PORT in it stands for a free port, which it sets, and waits for it
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	"${@/PORT/$port}" >>server.log 2>&1 &
	pids="$pids $!"
	python3 - "$port" <<-'PY'
	import socket, sys, time
	for _ in range(150):
	    try:
	        sys.exit(socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1).close())
	    except OSError:
	        time.sleep(0.2)
	sys.exit(1)
	PY
}
kill_it() { # WHAT SETUP CHECK-URL TREE COMMAND...
	local what=$1 setup=$2 url=$3 tree=$4 see="python3 $top/tests/e2e/release_seen.py $python"
	shift 4
	check "$what, killed $kills times: pip sees the old set or the new one" python3 "$faults" kill --times "$kills" --setup "$setup" \
		--check "$see $url 7.13.0rc2 7.13.0" ${tree:+--tree $tree --ignore '*.json' --ignore index.html} -- "$ROCSMITH" "$@"
}
