#!/usr/bin/env bash
# slow
# The cache of objects on real servers (nginx with dav, S3's interface by moto), for our own builds, setup.py, CMake's language
# CUDA and an extension of PyTorch; with compilers and device libraries that were replaced without a trace in size and time
# (beside ccache and sccache, which fall for it), under kills and failing calls.
set -eu

top=$(dirname "$(realpath "$0")")
cd "$E2E_TMP"
. "$top/cache.bash"

"$ROCSMITH" sdk install debian --suite sid -q >&2 || {
	echo 'skip cache: no SDK can be had'
	exit 0
}
project p
foreign_project f
(umask 077 && head -c 32 /dev/urandom | base64 >key)
export ROCSMITH_CACHE_KEY="$PWD/key"
own=$(cached)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true' EXIT
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
reachable() { # PORT
	local i
	for i in $(seq 100); do
		(: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
		sleep 0.1
	done
	no "nothing listens at port $1"
}
# Both machines build: the first compiles all, the second nothing, and their wheels are the same.
two_machines() { # NAME URL
	rm -rf "$own" m1 m2 w1 w2
	rocsmith build p --gpu gfx1201,gfx90a -o w1 --build-dir m1 --cache "$2" --json >m1.json
	[ "$(did m1.json)" = '4 0' ] || no "$1: the first machine compiled and restored $(did m1.json)"
	rm -rf "$own"
	cp -r p q
	rocsmith build q --gpu gfx1201,gfx90a -o w2 --build-dir m2 --cache "$2" --json >m2.json
	rm -rf q
	[ "$(did m2.json)" = '0 4' ] || no "$1: the second machine compiled and restored $(did m2.json)"
	cmp w1/*.whl w2/*.whl || no "$1: the wheels differ"
	ok "$1: a second, empty machine compiles nothing"
	foreign_machines "$1" f "$2" --gpu gfx1201,gfx90a
}
# The same for a project of another build system.
foreign_machines() { # NAME PROJECT URL OPTION...
	local name=$1 project=$2 url=$3 n
	shift 3
	rm -rf "$own" "$project-1" f1 f2 w1 w2 far
	rocsmith build "$project" "$@" -o w1 --build-dir f1 --cache "$url" --json >f1.json || no "$name: $project: the first machine"
	n=$(compiles f1.json)
	[ "${n%% *}" -gt 0 ] && [ "${n##* }" = 0 ] || no "$name: $project: the first machine compiled and restored $n"
	rm -rf "$own"
	mkdir far
	cp -r "$project" "far/$project-2"
	rocsmith build "far/$project-2" "$@" -o w2 --build-dir far/f2 --cache "$url" --json >f2.json || no "$name: $project: the second machine"
	[ "$(compiles f2.json)" = "0 ${n%% *}" ] || no "$name: $project: the second machine compiled and restored $(compiles f2.json)"
	diff <(contents w1 "$project") <(contents w2 "$project") >&2 || no "$name: $project: the results differ"
	ok "$name: $project: a second, empty machine compiles nothing for GPUs, and makes the same"
}
contents() ( # FOLDER PROJECT: a wheel, or a folder that has the project's name
	cd "$1/$2" 2>/dev/null || cd "$1"
	find . -type f ! -name '*.whl.json' -exec sha256sum {} + | sort
)

# ---- nginx ----
mkdir -p web/files web/tmp web/deb
if (cd web/deb && apt-get -qq download nginx >/dev/null 2>&1 && dpkg -x nginx_*.deb ..); then
	port=$(free_port)
	cat >web/nginx.conf <<-CONF
		daemon off;
		pid $PWD/web/pid;
		error_log $PWD/web/error.log;
		events {}
		http {
			access_log $PWD/web/access.log;
			client_body_temp_path $PWD/web/tmp;
			proxy_temp_path $PWD/web/tmp;
			fastcgi_temp_path $PWD/web/tmp;
			uwsgi_temp_path $PWD/web/tmp;
			scgi_temp_path $PWD/web/tmp;
			server {
				listen 127.0.0.1:$port;
				root $PWD/web/files;
				client_max_body_size 0;
				dav_methods PUT;
				create_full_put_path on;
			}
		}
	CONF
	[ "$(id -u)" != 0 ] || sed -i '1i user root;' web/nginx.conf
	web/usr/sbin/nginx -e "$PWD/web/error.log" -p "$PWD/web" -c "$PWD/web/nginx.conf" 2>>log &
	servers+=($!)
	reachable "$port"
	two_machines nginx "http://127.0.0.1:$port/objects"
	grep -q 'PUT /objects/' web/access.log || no 'nginx saw no PUT'
else
	echo 'skip nginx: the archive is away'
fi

# ---- a bucket ----
if python3 -m venv moto >/dev/null && moto/bin/pip install -q 'moto[server]' boto3 2>>log; then
	port=$(free_port)
	moto/bin/moto_server -H 127.0.0.1 -p "$port" >moto.log 2>&1 &
	servers+=($!)
	reachable "$port"
	export AWS_ACCESS_KEY_ID=testing AWS_SECRET_ACCESS_KEY=secret-of-the-test AWS_ENDPOINT_URL="http://127.0.0.1:$port"
	moto/bin/python -c '
import boto3
boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="objects")'
	two_machines bucket s3://objects/team
	moto/bin/python -c '
import boto3
n = boto3.client("s3", region_name="us-east-1").list_objects_v2(Bucket="objects", Prefix="team/")["KeyCount"]
assert n == 7, n'
	! grep -rl secret-of-the-test log m1.json m1/build.json || no 'a secret was written'
else
	echo 'skip bucket: the Python index is away'
fi

# ---- a compiler and a device library of the same size and time ----
sdk=$("$ROCSMITH" sdk info debian-sid --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["paths"]["root"])')
libs=$("$ROCSMITH" sdk info debian-sid --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["paths"]["device_libs"])')
another() { # FILE: with the same size and mtime, and a byte that is another one
	cp -p "$1" other
	python3 - other <<-'PY'
		import os, re, sys
		st = os.stat(sys.argv[1])
		data = bytearray(open(sys.argv[1], "rb").read())
		texts = list(re.finditer(rb"[a-z ]{24,}", data))  # so that a program still works
		at = texts[-1].start() + 9 if texts else len(data) // 2
		data[at] ^= 0x20
		open(sys.argv[1], "wb").write(data)
		os.utime(sys.argv[1], ns=(st.st_atime_ns, st.st_mtime_ns))
	PY
	[ "$(stat -c '%s %Y' "$1")" = "$(stat -c '%s %Y' other)" ] || no "size or time of '$1' changed"
}
replaced() { # FILE WHAT: then the objects must be compiled again
	local file=$1 what
	rm -rf "$own" r1 r2 r3 r4
	rocsmith build p --gpu gfx1201 -o r --build-dir r1 --cache local --json >r1.json
	[ "$(did r1.json)" = '3 0' ] || no "$2: the first build compiled and restored $(did r1.json)"
	rocsmith build f --gpu gfx1201 -o r --build-dir r2 --cache local --json >r2.json
	[ "$(compiles r2.json)" = '2 0' ] || no "$2: the first build by setup.py compiled and restored $(compiles r2.json)"
	another "$file"
	mv "$file" kept # never written in place: others may have links to it
	mv other "$file"
	rocsmith build p --gpu gfx1201 -o r --build-dir r3 --cache local --json >r3.json || true
	rocsmith build f --gpu gfx1201 -o r --build-dir r4 --cache local --json >r4.json || true
	mv -f kept "$file"
	what="$(did r3.json || echo failed), $(compiles r4.json || echo failed)"
	[ "$what" = '3 0, 2 0' ] || no "$2 of the same size and time: compiled and restored $what"
	ok "$2 of the same size and time is seen, by our own build and by setup.py"
}
replaced "$(readlink -f "$sdk/usr/lib/llvm-21/bin/clang")" 'a compiler'
replaced "$(readlink -f "$sdk$libs/ocml.bc")" 'a device library'

# ccache and sccache do not read device libraries at all.
cat >d.hip <<-'HIP'
	#include <hip/hip_runtime.h>
	__global__ void f(float *p) { *p = sinf(*p); }
HIP
hip() { ROCM_PATH='' "$1" "$PWD/f1/rocm/llvm/bin/clang++" -x hip --offload-arch=gfx1201 -O1 -c d.hip -o "$2" 2>>log; }
for cc in ccache sccache; do
	command -v $cc >/dev/null || { echo "# $cc is not here"; continue; }
	export CCACHE_DIR="$PWD/$cc-kept" SCCACHE_DIR="$PWD/$cc-kept"
	file=$(readlink -f "$sdk$libs/oclc_unsafe_math_off.bc")
	hip $cc d1.o || { echo "# $cc does not run this clang"; continue; }
	cp -p "$(readlink -f "$sdk$libs/oclc_unsafe_math_on.bc")" other
	mv "$file" kept
	mv other "$file"
	touch -r kept "$file"
	hip $cc d2.o
	hip env d3.o
	mv -f kept "$file"
	if cmp -s d1.o d2.o && ! cmp -s d2.o d3.o; then
		echo "# $cc gives the old object for another device library"
	else
		echo "# $cc sees another device library as well"
	fi
	[ $cc = ccache ] || sccache --stop-server >/dev/null 2>&1 || true
done

# ccache, by default, goes by size and time of the compiler.
if command -v ccache >/dev/null; then
	mkdir -p cc
	printf '#!/bin/sh\nexec gcc -DWHICH=1 "$@"\n' >cc/gcc
	chmod +x cc/gcc
	touch -d 2020-01-01 cc/gcc
	echo 'int which(void) { return WHICH; }' >w.c
	export CCACHE_DIR="$PWD/ccache"
	ccache "$PWD/cc/gcc" -c w.c -o w1.o
	sed -i s/WHICH=1/WHICH=2/ cc/gcc
	touch -d 2020-01-01 cc/gcc
	ccache "$PWD/cc/gcc" -c w.c -o w2.o
	cc/gcc -c w.c -o w3.o
	if cmp -s w1.o w2.o && ! cmp -s w2.o w3.o; then
		echo '# ccache gives the old object for a compiler of the same size and time'
	else
		echo '# ccache sees such a compiler as well'
	fi
fi

# ---- CMake's language CUDA; an extension of PyTorch ----
if command -v cmake >/dev/null && command -v ninja >/dev/null; then
	mkdir -p tiles
	cat >tiles/CMakeLists.txt <<-'CMAKE'
		cmake_minimum_required(VERSION 3.18)
		project(tiles VERSION 1.0 LANGUAGES CXX CUDA)
		add_library(tiles SHARED a.cu b.cu)
		install(TARGETS tiles)
	CMAKE
	for n in a b; do
		cat >tiles/$n.cu <<-CU
			#include <cuda_runtime.h>
			__global__ void fill_$n(float *out, float with) { out[blockIdx.x * blockDim.x + threadIdx.x] = with; }
			void launch_$n(float *out, cudaStream_t stream) { fill_$n<<<1, 32, 0, stream>>>(out, 1.5f); }
		CU
	done
	foreign_machines 'CMake' tiles "$PWD/folder" --gpu gfx1201,gfx90a
else
	echo 'skip CMake: no cmake or no ninja'
fi
if torch=$("$top/../../tools/torch-get" 2.11.0 headers 2>>log) && torch=$(python3 "$top/torch_wheel.py" "$torch" "$PWD/wheel" cc 2>>log); then
	. "$top/warpsum.bash"
	warpsum warpsum
	foreign_machines 'PyTorch' warpsum "$PWD/folder" --gpu gfx1201,gfx90a --with "$torch" --torch-as-rocm
else
	echo 'skip PyTorch: no torch'
fi

# ---- kills and failing calls: the wheel stays the same, and the cache whole ----
fault=$(dirname "$ROCSMITH")/tests/rocsmith-fault
fast=$(mktemp -d /dev/shm/rocsmith-e2e.XXXXXX 2>/dev/null || mktemp -d)
trap 'kill "${servers[@]}" 2>/dev/null || true; rm -rf "$fast"' EXIT
python3 "$top/faults.py" kill --times 50 --setup "rm -rf '$fast/o' '$fast/b'" --tree "$fast/o" --keep p -- \
	"$ROCSMITH" build p --gpu gfx1201 -o "$fast/o" --build-dir "$fast/b" --cache local
ok '50 kills of a build with a cache: the wheel is the same'
if [ -x "$fault" ]; then
	python3 "$top/faults.py" sweep --sample 60 --setup "rm -rf '$fast/o' '$fast/b' '$own'" --tree "$fast/o" --keep p -- \
		"$fault" build p --gpu gfx1201 -o "$fast/o" --build-dir "$fast/b" --cache local
	ok '60 failing calls: the next build is whole'
fi
