#!/usr/bin/env bash
# What users and maintainers report about PyTorch's hipify, thread by thread, each as a test.
#
# Not here, because there is nothing of hipify's in them: ROCm/HIPIFY#15, #383, ROCm/hip#1487, #1460 (bugs
# of hipify-perl and hipify-clang), ROCm/apex#115, pytorch/pytorch#135360 (Windows), the mappings asked for
# one by one (#187752, #167335, ...: the tables are those of the torch at hand; untranslated names are
# reported and --map adds them, which is tested), the hand fixes after the change to v2 (MSLK#113, FBGEMM#4028,
# ...), ROCm/HIPIFY#1776 (speed of hipify-perl), rccl#1465 and MSLK#370 (use less of it).
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/oracle/complaints.sh"
cd "$E2E_TMP" || exit 1
get_torches

# ---- idempotency, stale files, races ----
idempotent() {
	project p && extension "$v1" p --in-place && copy p once && extension "$v1" p --in-place && same once p &&
		project q && original "$v1" q && same q p
}
check 'hipify twice is hipify once, and what the original gives (pytorch#160579)' idempotent

copied_meanwhile() { # the source was half written when it was first read; its time says nothing
	project p && cp p/csrc/a.cu whole.cu && printf '#include <cu' >p/csrc/a.cu && touch -d @1000000000 p/csrc/a.cu &&
		extension "$v2" p --in-place && cp whole.cu p/csrc/a.cu && touch -d @1000000000 p/csrc/a.cu &&
		extension "$v2" p --in-place && project q && original "$v2" q && cmp p/csrc/a.hip q/csrc/a.hip
}
check 'a source that was read half-written is read again, whatever its time says (pytorch#175701)' copied_meanwhile

same_size() { # size and time as before, other content
	project p && extension "$v2" p -o o && sed 's/= 1;/= 2;/' p/csrc/a.cu >other.cu &&
		touch -r p/csrc/a.cu other.cu && mv other.cu p/csrc/a.cu && extension "$v2" p -o o &&
		grep -q '= 2;' o/csrc/a.hip
}
rm -rf o
check 'a source of the same size and time but other content is translated again (hipify_torch#81)' same_size

parallel() {
	local i pid pids=''
	project p && copy p want && extension "$v1" want --in-place || return 1
	for i in 1 2 3 4; do
		extension "$v1" p --in-place &
		pids="$pids $!"
		extension "$v1" q -o both &
		pids="$pids $!"
	done
	for pid in $pids; do wait "$pid" || return 1; done
	same want p && same want both
}
project q
rm -rf both want
check 'eight runs at once on one tree and on one output folder (vllm#43329)' parallel

refreshed() {
	rm -rf o && project p && extension "$v1" p -o o && sed -i 's/\*p = 1/*p = 7/' p/csrc/a.cu &&
		sed -i 's/stream = cudaStream_t/stream2 = cudaStream_t/' p/csrc/cuda_utils.cuh && extension "$v1" p -o o &&
		copy p q2 && original "$v1" q2 && same q2 o
}
check 'a changed source and a changed header are translated again (hipify_torch#81)' refreshed

removed() {
	rm -rf o && project p && "$ROCSMITH" hipify -q --mode extension --torch "$v1" -o o p &&
		[ -e o/csrc/a.hip ] && rm p/csrc/a.cu && "$ROCSMITH" hipify -q --mode extension --torch "$v1" -o o p &&
		[ ! -e o/csrc/a.hip ] && [ ! -e o/csrc/a.cu ]
}
check 'the output of a source that is gone goes too (hipify_torch#81)' removed

several_calls() { # one setup.py, two CUDAExtension calls: neither takes the outputs of the other away
	project p && cp p/csrc/a.cu p/csrc/b.cu && copy p q && original "$v1" q csrc/a.cu && original "$v1" q csrc/b.cu &&
		for source in a.cu b.cu a.cu; do
			"$ROCSMITH" hipify -q --mode extension --torch "$v1" -I csrc --in-place p csrc/$source || return 1
		done && same q p
}
check 'several extensions in one folder keep their outputs (vllm#43329)' several_calls

headers_once() {
	project p && printf '#include "cuda_utils.cuh"\n' | tee p/csrc/b.cu p/csrc/c.cu >/dev/null &&
		"$ROCSMITH" hipify --json --mode extension --torch "$v1" -I csrc --in-place p csrc/a.cu csrc/b.cu csrc/c.cu >json &&
		[ "$(json 'len([f for f in d["files"] if f["source"].endswith("cuda_utils.cuh")])')" = 1 ] &&
		project q && cp p/csrc/[bc].cu q/csrc/ && original "$v1" q csrc/a.cu csrc/b.cu csrc/c.cu && same q p
}
check 'a header that three sources include is listed and written once (hipify_torch#86)' headers_once

pass_through() {
	project p && printf '#include <hip/hip_runtime.h>\n__global__ void h() {}\n' >p/csrc/ready.hip &&
		printf 'int nothing;\n' >p/csrc/nothing.cu &&
		"$ROCSMITH" hipify --json --mode extension --torch "$v1" --in-place p csrc/ready.hip csrc/nothing.cu csrc/a.cu >json &&
		[ "$(json '[f["status"] for f in d["files"] if "ready.hip" in f["source"]]')" = "['unchanged']" ] &&
		[ "$(json 'all(__import__("os").path.exists(f["output"]) for f in d["files"])')" = True ] &&
		project q && cp p/csrc/ready.hip p/csrc/nothing.cu q/csrc/ &&
		original "$v1" q csrc/ready.hip csrc/nothing.cu csrc/a.cu && same q p
}
check 'a .hip source and a .cu with nothing to translate have an output that exists (ROCm/vllm#362)' pass_through

# ---- dirty trees ----
git_project() {
	project "$1" && git -C "$1" init -q && git -C "$1" add -A &&
		git -C "$1" -c user.name=t -c user.email=t@t commit -qm one
}
git_clean() {
	git_project p && export XDG_CACHE_HOME=$PWD/cache && extension "$v1" p && rm -rf o && extension "$v1" p -o o &&
		[ -z "$(git -C p status --porcelain --ignored)" ]
}
if command -v git >/dev/null; then
	check 'git status stays clean (pytorch#159805, #45132, sglang#8349, TransformerEngine#157)' git_clean
	patches() { # a patch against the sources applies after hipify restore, also one of a file with CRLF
		git_project p && printf 'cudaFree(p);\r\n// x\r\n' >p/csrc/crlf.cu && git -C p add -A &&
			git -C p -c user.name=t -c user.email=t@t commit -qm two && sed -i 's/cudaFree/cudaMalloc/' p/csrc/crlf.cu &&
			git -C p diff >crlf.patch && git -C p checkout -q . && before=$(sum p) &&
			"$ROCSMITH" hipify -q --mode extension --torch "$v1" --in-place p csrc/a.cu csrc/crlf.cu &&
			"$ROCSMITH" hipify restore -q p && [ "$(sum p)" = "$before" ] &&
			git -C p apply --check "$PWD/crlf.patch" && [ -z "$(git -C p status --porcelain)" ]
	}
	check 'after hipify restore patches of the sources apply, line ends are as they were (TheRock#2280, #101, #795, #1050)' patches
else
	echo 'skip git is not installed'
fi
out_of_tree() {
	project p && before=$(sum p) && rm -rf o && extension "$v1" p -o o && [ "$(sum p)" = "$before" ] &&
		project q && original "$v1" q && same q o
}
check 'out of tree: the sources are untouched, the copy is what in place would be (ROCm/pytorch#63)' out_of_tree

# ---- wrong or unwanted translation ----
skip_one() {
	project p && cp p/csrc/a.cu p/csrc/mine.cu &&
		"$ROCSMITH" hipify -q --mode extension --torch "$v1" -I csrc --exclude csrc/mine.cu --in-place p csrc/a.cu csrc/mine.cu &&
		[ -e p/csrc/a.hip ] && [ ! -e p/csrc/mine.hip ]
}
check 'one file is left alone, the others are translated (pytorch#127015)' skip_one

std_max() { # 2.15 has dropped the pair; older tables do it, and say which line of which table it was
	project p && printf '\nfloat m(float a, float b) { return std::max(a, b); }\n' >>p/csrc/a.cu && copy p p2 &&
		extension "$v1" p --in-place && grep -q ' ::max(a' p/csrc/a.hip &&
		extension "$v2" p2 --in-place && grep -q ' std::max(a' p2/csrc/a.hip &&
		"$ROCSMITH" hipify explain csrc/a.cu:8 --mode extension --torch "$v1" p >out && grep -q MATH_TRANSPILATIONS out
}
check 'std::max becomes ::max only where that torch has it so, and hipify explain names the table (pytorch#127015, TransformerEngine#361)' std_max

double_hip() {
	project p && printf '#include <hip/device_functions.h>\n' >>p/csrc/a.cu && copy p q2 && copy p q3 && copy p p2 &&
		original "$v1" q2 && extension "$v1" p --in-place && same q2 p && original "$v2" q3 && extension "$v2" p2 --in-place &&
		same q3 p2 && BUILD=$(dirname "$ROCSMITH") "$top/tools/torch-map-lint" "$v1" >lint &&
		grep -q '^map-repeats .*device_functions.h' lint
}
check 'hip/hip/device_functions.h: as the original has it, and the lint of the table names it (legacy-rocm-build#3937)' double_hip

renamed() {
	project p && extension "$v1" p --in-place && grep -q '"hip_utils.cuh"' p/csrc/a.hip && [ -e p/csrc/hip_utils.cuh ] &&
		grep -q '"plain.h"' p/csrc/a.hip
}
check 'a renamed header is found under its new name (pytorch#61402, aiter#1399)' renamed
extra_extension() {
	project p && printf '#pragma once\ncudaStream_t extra();\n' >p/csrc/cuda_more.inl && sed -i '1i #include "cuda_more.inl"' p/csrc/a.cu &&
		extension "$v1" p --extra-extension .inl --in-place && grep -q '"hip_more.inl"' p/csrc/a.hip &&
		grep -q hipStream_t p/csrc/hip_more.inl
}
check 'headers with another extension are translated when asked for (mmcv#1898)' extra_extension

half_way() {
	project p && printf 'int \xff;\n' >p/csrc/bad.cu && printf 'void f() { k<<<1, 2(); }\n' >p/csrc/open.cu && copy p q2 &&
		! original "$v1" q2 csrc/bad.cu csrc/a.cu &&
		status_is 5 "$ROCSMITH" hipify --json --mode extension --torch "$v1" -I csrc --in-place p csrc/bad.cu csrc/open.cu csrc/a.cu >json 2>err &&
		[ "$(json 'sorted(f["source"].rpartition("/")[2] for f in d["files"] if f["status"] == "failed")')" = "['bad.cu', 'open.cu']" ] &&
		grep -q 'bad.cu:1' err && grep -q 'open.cu:1' err && [ -e p/csrc/a.hip ]
}
check 'a bad file fails alone, with its place; the others are translated (pytorch#69509)' half_way

suffix() { # translating the result does not translate again
	project p && extension "$v1" p --in-place && "$ROCSMITH" hipify -q --mode extension --torch "$v1" --in-place p &&
		[ -z "$(find p -name '*.hip.hip' -o -name '*_hip_hip*')" ]
}
check 'outputs are not sources of the next run (HIPIFY#15)' suffix
cub() {
	project p && printf '#include <cub/cub.cuh>\nusing R = cub::BlockReduce<int, 32>;\n' >>p/csrc/a.cu &&
		extension "$v1" p --in-place && grep -q 'hipcub/hipcub.hpp' p/csrc/a.hip && grep -q '= hipcub::BlockReduce' p/csrc/a.hip
}
check 'cub becomes hipcub (pytorch#44431)' cub

# ---- mappings ----
custom_map() {
	project p && printf 'int q = cudaMyOwnCall(3);\n' >>p/csrc/a.cu &&
		"$ROCSMITH" hipify --json --mode extension --torch "$v2" -I csrc --in-place p csrc/a.cu >json 2>/dev/null &&
		[ "$(json '[(u["name"], u["line"]) for u in d["untranslated"]]')" = "[('cudaMyOwnCall', 7)]" ] &&
		printf '{"custom_map": {"cudaMyOwnCall": "hipMyOwnCall"}}\n' >map.json &&
		extension "$v2" p --map map.json --in-place && grep -q 'q = hipMyOwnCall(3)' p/csrc/a.hip &&
		printf 'custom_map:\n  cudaMyOwnCall: hipOther\n' >map.yaml &&
		extension "$v2" p --map map.yaml --in-place && grep -q 'q = hipOther(3)' p/csrc/a.hip
}
check 'a name without translation is reported, a custom mapping file adds it (hipify_torch#10, #16, pytorch#187752)' custom_map

stale_tree() { # the tree was translated before by another torch's own Python; nothing is skipped silently
	project p && original "$v2" p && copy p q2 && original "$v1" q2 && extension "$v1" p --in-place && same q2 p
}
check 'a tree that another release translated is brought up to date (apex#102)' stale_tree

generations() {
	project p && printf 'void g(c10::cuda::CUDAStream s);\n' >>p/csrc/a.cu && copy p p2 &&
		"$ROCSMITH" hipify --json --mode extension --torch "$v1" --in-place p csrc/a.cu >json && [ "$(json 'd["torch"]["generation"]')" = 1 ] &&
		"$ROCSMITH" hipify --json --mode extension --torch "$v2" --in-place p2 csrc/a.cu >json && [ "$(json 'd["torch"]["generation"]')" = 2 ] &&
		grep -q 'HIPStreamMasqueradingAsCUDA\|hip::HIPStream' p/csrc/a.hip && grep -q 'c10::cuda::CUDAStream' p2/csrc/a.hip &&
		"$ROCSMITH" hipify explain csrc/a.cu:7 --mode extension --torch "$v1" p >out && grep -q 'C10_MAPPINGS' out &&
		grep -q 'cuda_to_hip_mappings.py' out
}
check 'what changed with v2 is explained: generation, table, line of it (pytorch#174087, MSLK#113)' generations

# ---- permissions, encodings, what is on the machine ----
no_python() { # neither ROCm nor CUDA nor Python: an empty environment
	project p && rm -rf bin && mkdir bin && env -i PATH="$PWD/bin" HOME="$PWD" "$ROCSMITH" hipify -q --mode extension \
		--torch "$v1" -I csrc --in-place p csrc/a.cu csrc/host.cpp && project q && original "$v1" q && same q p
}
check 'no ROCm, CUDA_HOME or Python is needed (pytorch#83009)' no_python

ascii() {
	project p && printf '// Größe, 寸法\nint größe_cudaStream_t; cudaStream_t z;\n' >>p/csrc/a.cu && copy p q2 &&
		LC_ALL=C LANG=C extension "$v1" p --in-place && original "$v1" q2 && same q2 p
}
check 'UTF-8 sources in an ASCII locale (pytorch#37906, ROCm/pytorch#636)' ascii

png() { # 89 50 4E 47: not UTF-8. It hurts only where it is a source.
	project p && printf '\211PNG\r\n\032\n' | tee p/logo.png p/csrc/data.h >/dev/null && extension "$v1" p --in-place &&
		[ -e p/csrc/a.hip ] && project p && printf '\211PNG\r\n\032\n' | tee p/logo.png p/csrc/data.h >/dev/null &&
		status_is 5 "$ROCSMITH" hipify --json --mode extension --torch "$v1" --in-place p >json 2>err &&
		[ "$(json '[f["source"].rpartition("/")[2] for f in d["files"] if f["status"] == "failed"]')" = "['data.h']" ] &&
		[ -e p/csrc/a.hip ] && cmp p/logo.png <(printf '\211PNG\r\n\032\n')
}
check 'a PNG in the project, also one that is called .h (exllama#7)' png

read_only() { # in place fails with the place; an overlay elsewhere works, and so do headers of the system
	local status=0
	project p && chmod -R go+rX,a-w p && rm -rf free && mkdir -m 777 free && before=$(sum p) &&
		$as_user "$ROCSMITH" hipify -q --mode extension --torch "$readable" -I csrc -o free/o p csrc/a.cu csrc/host.cpp &&
		[ -e free/o/csrc/a.hip ] || return 1
	$as_user "$ROCSMITH" hipify -q --mode extension --torch "$readable" -I csrc --in-place p csrc/a.cu 2>err || status=$?
	[ $status != 0 ] && [ $status -lt 70 ] && grep -q 'p/' err && chmod -R u+w p && [ "$(find p -name '*hip*')" = '' ] &&
		chmod -R a-w p && [ "$(sum p)" = "$before" ]
}
shared=$(mktemp -d) # a nobody must be able to get there
chmod 755 "$shared"
cp -a "$v1" "$shared/torch"
chmod -R go+rX "$shared"
readable=$shared/torch
as_user= # with a home of its own: the state of another user is refused
[ "$(id -u)" != 0 ] || as_user="setpriv --reuid=65534 --regid=65534 --clear-groups env ROCSMITH_HOME=$shared/home"
if [ -n "$as_user" ] && ! $as_user test -x "$ROCSMITH"; then
	echo 'skip read-only folders: another user cannot reach this folder'
else
	foreign_group() {
		mkdir -p group home && printf 'int a = cudaSuccess;\n' >group/k.cu && chmod 640 group/k.cu &&
			chown -R 65534:65534 group home && chown 65534:1234 group/k.cu && $as_user "$ROCSMITH" hipify -q --in-place group &&
			[ "$(stat -c %a group/k.hip)" = 600 ] && chmod 640 group/k.hip && echo 'int b = cudaSuccess;' >>group/k.cu &&
			$as_user "$ROCSMITH" hipify -q --in-place group && [ "$(stat -c %a group/k.hip)" = 600 ]
	}
	[ -z "$as_user" ] || (cd "$shared" && check 'a group that may not read the source may not read what is made of it' foreign_group) || failed=1
	(cd "$shared" && chmod 1777 . && check 'read-only folders: told, nothing is left behind; an overlay elsewhere works (pytorch#52709, #149464)' read_only) || failed=1
fi
rm -rf "$shared" 2>/dev/null || { chmod -R u+w "$shared" && rm -rf "$shared"; }

# ---- time: what takes the original minutes, or for ever, ends; the limit is only there to end a hang ----
ends() { # NAME FILE
	rm -rf big && mkdir -p big/csrc && mv "$2" big/csrc/a.cu &&
		timeout 300 "$ROCSMITH" hipify -q --mode extension --torch "$v1" --in-place big csrc/a.cu
}
awk 'BEGIN { for (i = 0; i < 330000; i++) printf "cudaFree(p); /* cudaFree */ x; " }' >line.cu
check 'one line of 10 MB ends' ends line line.cu
awk 'BEGIN { for (i = 0; i < 1000000; i++) printf "k<<<%d, 32>>>(a);\n", i }' >launches.cu
check 'a million launches end' ends launches launches.cu
awk 'BEGIN { printf "k<<<"; for (i = 0; i < 100000; i++) printf "("; printf "1"; for (i = 0; i < 100000; i++) printf ")"; print ", 2>>>(a);" }' >nested.cu
check 'a hundred thousand nested parentheses end' ends nested nested.cu
awk 'BEGIN { for (i = 0; i < 1000000; i++) printf "<<<"; print "" }' >open.cu
check 'launches without an end end (pytorch hangs)' status_is 5 ends open open.cu
exit $failed
