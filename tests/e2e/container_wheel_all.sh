#!/usr/bin/env bash
# slow: makes a Debian root of 500 MB
# The same wheel from containers of bwrap, systemd-nspawn and podman, byte for byte: a root that mmdebstrap made, and the
# SDK of the user outside, bound by --cache.
set -eu

example=$(cd "$(dirname "$0")/../../examples/montecarlo" && pwd)
. "$(dirname "$0")/container.bash"
for program in mmdebstrap bwrap systemd-nspawn podman; do
	command -v $program >/dev/null || { skip "no $program"; exit 0; }
done
[ -d "$ROCSMITH_HOME/data/sdk/debian-sid" ] || { skip 'no SDK debian-sid'; exit 0; }

mmdebstrap --quiet --variant=minbase --include=python3,python3-dev,g++,bubblewrap bookworm root >log 2>&1 || no 'a Debian root'
cp "$ROCSMITH" root/usr/bin/rocsmith
ldd "$ROCSMITH" | grep -o '/[^ ]*' | while read -r lib; do
	[ -e "root$lib" ] || { mkdir -p "root${lib%/*}" && cp -L "$lib" "root$lib"; }
done
chroot root ldconfig
make_user
mkdir image
tar -C root --exclude=./dev -cf image/root.tar .
printf 'FROM scratch\nADD root.tar /\n' >image/Containerfile
cp "$ROCSMITH" rocsmith
# podman's root is this user: it must own the SDK
mkdir -p home/rs/data/sdk home/rs/cache home/rs/state work
cp -a "$ROCSMITH_HOME/data/sdk/debian-sid" home/rs/data/sdk/
cp -r "$example" work/p
chown -R -h 20001:20002 home/rs work
inside() {
	as_user
	build() { # ENGINE IMAGE
		"$top/rocsmith" container run --gpu none --engine "$1" --offline --cache --work "$top/work" "$2" -- \
			rocsmith build p --gpu gfx1201 --build-dir "b-$1" -o "o-$1" >"$top/work/log" 2>&1 || no "a wheel from $1"
	}
	export -f build no
	user+=("ROCSMITH_HOME=$top/home/rs")
	"${user[@]}" podman build --quiet --network none --tag localhost/rs-e2e:1 image >log 2>&1 || no 'an image'
	"${user[@]}" bash -eu -c 'build bwrap "$top/root"; build podman localhost/rs-e2e:1'
	chown -R -h 0:0 home/rs # as which systemd-nspawn runs it
	ROCSMITH_HOME=$top/home/rs build nspawn "$top/root"
	[ "$(sha256sum work/o-*/*.whl | cut -d' ' -f1 | sort -u | wc -l)" = 1 ] && [ "$(ls work/o-*/*.whl | wc -l)" = 3 ] ||
		no "the wheels are the same: $(sha256sum work/o-*/*.whl)"
	echo 'ok the same wheel from bwrap, podman without root, and systemd-nspawn'
}
export -f no as_user inside
export top
unshare -m --propagation private bash -eu -c inside
