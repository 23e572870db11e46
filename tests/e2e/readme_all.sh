#!/usr/bin/env bash
# slow: it makes the static program and bare Debian systems, and fetches SDKs and sources there
# README's paths: its commands are taken out of README.md, block by block, and each block is run by one shell in a bare Debian
# that has the program of the tarball and what the table below names. Each has a status and a word to give. A command that
# README does not have any more, or one that the table does not know, is a failure. Where Debian's archive is away, the rest of a block
# is left out from the first command on that fails. ROCSMITH_README_ONLY: names of blocks, of the table below.
#
# The column CHANGE is what had to be changed, as an expression of sed: placeholders, and what cannot be had here.
set -eu
. "$(dirname "$0")/scratch.bash"
[ "$(id -u)" = 0 ] && [ "$(uname -m)" = x86_64 ] && command -v bwrap >/dev/null || { echo 'skip readme: needs root, bwrap, x86-64'; exit 0; }

# BEGINNING OF THE COMMAND|STATUS|WORD|CHANGE|why the status is not 0, or the command is not the one of README
cat >table <<'TABLE'
= own bookworm python3
rocsmith doctor|1|igpu-dgpu-conflict||this machine is a recorded one, which has this finding
rocsmith doctor --fix|0|ROCR_VISIBLE_DEVICES|s/ID/igpu-dgpu-conflict/|
rocsmith get|4|repo.amd.com||AMD's index cannot be reached
eval "$(rocsmith env|0|||
rocsmith gpu|0|gfx1100||
rocsmith explain|1|build-oom||the log has a cause
rocsmith inspect --venv|0|gfx90a||
= extension sid
rocsmith hipify|0|hipGetDeviceCount||
rocsmith plan|0|hiprand||
rocsmith build|0|OUT/montecarlo-1.0-cp38-abi3-linux_x86_64.whl||
rocsmith build|0|OUT11/montecarlo-1.0-cp38-abi3-linux_x86_64.whl||
rocsmith verify|0|pass (0 errors, 0 warnings)||
rocsmith report|0|verdict: pass||
= cuda bookworm make g++
rocsmith plan|0|saxpy||
rocsmith build|0|OUT/dir-0.0.0-py3-none-linux_x86_64.whl||
eval "$(rocsmith sdk shims|0|||
make|0|TOOLS/cuda/bin/nvcc||
= torch bookworm make git ca-certificates
rocsmith checkout|4|github.com||no repositories here
rocsmith plan|0|precompiled-headers||
rocsmith why|0|flash-attention: off||
rocsmith build torch|0|configure|s/build/build -n/|it takes an hour; torch_build.sh does it
rocsmith build torch|0|wheel|s/build/build -n/|it takes hours; torch_whole.sh does it
rocsmith build torchvision|2|no wheel 'OUT/torch-*.whl'|s/build/build -n/|there is no wheel of torch
= release bookworm python3 python3-pip
rocsmith inspect WHEEL|0|gfx1201|s,WHEEL,new/*.whl,|
rocsmith inspect --compare|0|gfx90a|s,OLD NEW,old/*.whl new/*.whl,|
rocsmith slim|0|slim/montecarlo-1.0|s,WHEEL,new/*.whl,|
rocsmith split|0|device|s,WHEEL,new/*.whl,|
rocsmith bundle|0|lowest true tag|s,WHEEL,new/*.whl,;s,SDK,debian-sid,|
rocsmith verify|0|"runs"||
rocsmith test torch|2|no folder|s,WHEEL,new/*.whl,|there is no source of torch; testrun_torch_all.sh does it
rocsmith test smoke|3|||there is no torch, and no GPU
rocsmith test diff|1|1 new failure||there is a new failure
rocsmith index|0|1 wheel of 1 project|s,DIR,new,|
rocsmith stage|0|staged set|s,DIR,new,|
rocsmith promote|0|promoted set||
rocsmith promote|0|STORE/stable: promoted set|s,--require evidence.json,--waivers waivers.yaml,|no GPU is here to test on
rocsmith publish|0|pip gets 1 wheel|s,s3://BUCKET/PREFIX,site,|there is no bucket; release_bucket.sh does it
= matrix bookworm
rocsmith matrix plan|0|DIR-gfx90a||
rocsmith matrix run|0|2 of 2 cells done|s/ --slurm//|there is no cluster; matrix.sh does it
rocsmith matrix print|0|jobs:||
= all bookworm
rocsmith|0|rocsmith build||
rocsmith container|0|bwrap|s,run,run --print --engine bwrap,;s,IMAGE,./DIR,|there is no engine; container.sh does it
rocsmith du|0|debian-sid||
rocsmith clean|0|||
= install bookworm
mkdir|0|||
uv|-|||dist_all.sh does it
sudo apt|0|Setting up rocsmith|s/sudo //|
(cd dist|-|||dist_all.sh does it
make install|-|||install.sh does it
TABLE

# ---- the commands of README ----
awk '/^##/ { on = /Where to start/ || /^## Install/; new = 1 } /^\*\*/ { new = 1 }
	on && sub(/^    /, "") { if (new) print "="; new = 0; print }' "$top/README.md" >commands
[ "$(wc -l <commands)" = "$(wc -l <table)" ] || no "README has $(wc -l <commands) blocks and commands, the table $(wc -l <table)"

# ---- what they are tried with ----
"$top/tools/deps" build dist && "$top/tools/dist" "$PWD/dist" x86_64 >log 2>&1 || { echo 'skip readme: no static program'; exit 0; }
"$ROCSMITH" doctor --sysroot "$top/tests/machines/rdna3-igpu.machine" --record machine >log 2>&1 || [ $? = 1 ]
mkdir saxpy
cat >saxpy/saxpy.cu <<'CU'
__global__ void saxpy(int n, float a, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = a * x[i] + y[i];
}
int main()
{
	float *x, *y;
	if (cudaMalloc(&x, 4096) != cudaSuccess || cudaMalloc(&y, 4096) != cudaSuccess)
		return 1;
	saxpy<<<4, 256>>>(1024, 2, x, y);
	return cudaDeviceSynchronize() != cudaSuccess;
}
CU
printf 'saxpy: saxpy.cu\n\t$(CUDA_HOME)/bin/nvcc -arch=sm_80 -O2 $< -o $@\n' >saxpy/Makefile

cat >waivers.yaml <<'YAML'
waivers:
- {gpu: "*", python: "*", name: A. Person, reason: no GPU is here, expires: 2999-12-31}
YAML
for outcome in passed failed; do
	echo '{"schema": "rocsmith.test/1", "verdict": "pass", "gpu": "gfx1201", "tests": [{"id": "t.py::x", "outcome": "'$outcome'", "seconds": 1}]}' >$outcome.json
done
printf 'axes:\n  project: [DIR]\n  gpu: [gfx1201, gfx90a]\n' >m.yaml

# The wheel of examples/montecarlo, by the SDK of all tests; old/ has it for one GPU.
"$ROCSMITH" build "$top/examples/montecarlo" --sdk debian-sid --gpu gfx1201,gfx90a --build-dir b -o new >log 2>&1 || { echo 'skip readme: no SDK'; exit 0; }
"$ROCSMITH" slim --gpu gfx1201 -o old/ new/*.whl >log 2>&1 || no 'the wheel for one GPU'
mkdir -p venv/lib/python3.11/site-packages && python3 -m zipfile -e new/*.whl venv/lib/python3.11/site-packages
printf 'home = /usr/bin\nversion = 3.11.2\n' >venv/pyvenv.cfg

archive() { # can Debian's archive be reached?
	local mirror
	mirror=$(. "$top/tools/fetch.sh" && fetch_mirror)
	[ -n "$mirror" ] && /usr/lib/apt/apt-helper download-file "${mirror%/}/dists/sid/InRelease" "$PWD/InRelease" >archive.log 2>&1
}
inside() { # NAME COMMAND...: nothing of this machine but its network
	local root=$1
	shift
	[ "$root" != own ] || set -- --ro-bind machine/sys /sys "$@"
	env -i PATH=/root/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root TMPDIR=/tmp LC_ALL=C.UTF-8 \
		bwrap --cap-add ALL --bind "$root" / --dev /dev --proc /proc --perms 1777 --tmpfs /tmp \
		--ro-bind-try /etc/resolv.conf /etc/resolv.conf --chdir /root "$@"
}
begin() { # NAME SUITE PACKAGE...: a bare system in ./NAME, with the program and the SDK that an earlier one got
	local name=$1 from home=$1/root
	shift
	[[ -z ${ROCSMITH_README_ONLY:-} || " $ROCSMITH_README_ONLY " == *" $name "* ]] || return 1
	from=$("$top/tools/debian-root" "$@" 2>log 3<&- 5<&-) || { echo "skip $name: $(tail -n 1 log)"; return 1; }
	cp -a "$from" "$name"
	cp -R dist "$home/"
	cp -R "$top/examples/montecarlo" "$home/DIR"
	case $name in
	cuda) rm -r "$home/DIR" && cp -R saxpy "$home/DIR" ;;
	own) cp -R venv "$home/" && cp "$top/tests/logs/build-oom/yes-1.txt" "$home/build.log" ;;
	release) cp -R old new waivers.yaml "$home/" && cp passed.json "$home/OLD.json" && cp failed.json "$home/NEW.json" ;;
	matrix) cp m.yaml "$home/" ;;
	install) return ;;
	esac
	inside "$name" sh -c "$(grep ' tar ' commands)" >log 2>&1 || no "$name: the tarball"
	for part in .local/share .cache .local/state; do
		[ ! -e "kept/$part/rocsmith" ] || { mkdir -p "$home/$part" && mv "kept/$part/rocsmith" "$home/$part/"; }
	done
}
end() { # NAME: one shell runs the commands of the block; what each gave is compared
	local name=$1 number status word why said command rc part
	echo : >"$name/root/block.sh"
	while IFS='|' read -r number _ _ _ _ command <&4; do
		printf '{ %s\n} >%s.log 2>&1\necho $? >%s.status\n' "$command" "$number" "$number"
	done 4<block >>"$name/root/block.sh"
	inside "$name" sh block.sh </dev/null >log 2>&1 || true
	while IFS='|' read -r number status word why said command <&4; do
		rc=$(cat "$name/root/$number.status" 2>/dev/null || echo none)
		cp "$name/root/$number.log" log || true
		if [ "$rc" != "$status" ] && ! archive; then
			echo "skip $name: from '$said' on: Debian's archive cannot be reached"
			break
		fi
		[ "$rc" = "$status" ] || no "$name: $command: status $rc"
		[ -z "$word" ] || grep -qF -e "$word" log || no "$name: $command: no '$word'"
		echo "ok $name: ${said}${why:+ (status $status: $why)}"
	done 4<block
	for part in .local/share .cache .local/state; do
		[ ! -e "$name/root/$part/rocsmith" ] || { mkdir -p "kept/$part" && mv "$name/root/$part/rocsmith" "kept/$part/"; }
	done
	rm -rf "$name"
}

number=0 name=
while read -r command <&3 && IFS='|' read -r begins status word change why <&5; do
	number=$((number + 1))
	if [ "$command" = = ]; then
		[ -z "$name" ] || end "$name"
		# shellcheck disable=SC2086
		set -- ${begins#= }
		[ "${begins%% *}" = = ] || no "README has another number of commands before: $begins"
		name=$1
		: >block
		begin "$@" || name=
		continue
	fi
	case $command in
	"$begins"*) ;;
	*) no "README has '$command' where the table has '$begins'" ;;
	esac
	said=$(echo "$command" | sed 's/  *# .*//')
	if [ "$status" = - ]; then
		echo "# $said: $why"
	elif [ -n "$name" ]; then
		echo "$number|$status|$word|$why|$said|$(echo "$command" | sed "$change")" >>block
	fi
done 3<commands 5<table
[ -z "$name" ] || end "$name"
