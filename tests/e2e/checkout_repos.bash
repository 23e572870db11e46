# Repositories as PyTorch and its neighbours have them, made in $1, and a git daemon for them on loopback.
# Sourced; sets $port, and ends the daemon on exit. The torch has submodules third_party/a and, in that, b.
base=$1
export HOME=$base GIT_CONFIG_NOSYSTEM=1
mkdir -p "$base/srv"
cat >"$HOME/.gitconfig" <<'END'
[user]
	name = Somebody
	email = somebody@example.org
[init]
	defaultBranch = main
[protocol "file"]
	allow = always
END
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=git://127.0.0.1:$port

new() { # NAME: a repository with one commit
	git init -q "$base/srv/$1"
	echo "$1" >"$base/srv/$1/README"
	echo "1.2.3a0" >"$base/srv/$1/version.txt"
	commit "$1" one
}
commit() { git -C "$base/srv/$1" add -A && git -C "$base/srv/$1" commit -q -m "$2"; }
head_of() { git -C "$base/srv/$1" rev-parse HEAD; }

for name in b a vision audio triton apex pytorch; do new $name; done
git -C "$base/srv/triton" rm -q version.txt
commit triton two
git -C "$base/srv/a" submodule --quiet add ../b deps/b
commit a two
torch=$base/srv/pytorch
git -C "$torch" submodule --quiet add "$base/srv/a" third_party/a
git -C "$torch" config -f .gitmodules submodule.third_party/a.url ../a
mkdir -p "$torch/.ci/docker/ci_commit_pins" "$torch/torch/csrc" "$torch/c10/core"
touch "$torch/torch/csrc/Module.cpp" "$torch/c10/core/Device.h" "$torch/setup.py"
head_of triton >"$torch/.ci/docker/ci_commit_pins/triton.txt"
echo 3.7.0 >"$torch/.ci/docker/triton_version.txt"
{
	echo "# os|source|project|branch|commit|origin"
	for os in ubuntu centos; do
		echo "$os|pytorch|torchvision|main|$(head_of vision)|$url/vision"
		echo "$os|pytorch|torchaudio|main|$(head_of audio)|$url/audio"
		echo "$os|pytorch|apex|main|$(head_of apex)|$url/apex"
	done
} >"$torch/related_commits"
for i in $(seq 60); do seq "$i" 2000 >"$torch/torch/csrc/f$i.cpp"; done
commit pytorch two
git -C "$torch" tag -a -m 2.14.0 v2.14.0
git -C "$torch" branch release/2.14

serve() {
	git daemon --reuseaddr --base-path="$base/srv" --export-all --listen=127.0.0.1 --port="$port" \
		--pid-file="$base/daemon.pid" "$base/srv" >"$base/daemon.log" 2>&1 &
	daemon=$!
	for _ in $(seq 100); do git ls-remote -q "$url/b" >/dev/null 2>&1 && return; sleep 0.05; done
}
unserve() { [ -z "$(cat "$base/daemon.pid" 2>/dev/null)" ] || kill "$(cat "$base/daemon.pid")"; rm -f "$base/daemon.pid"; }
trap unserve EXIT
serve
