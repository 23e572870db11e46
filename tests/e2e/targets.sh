#!/usr/bin/env bash
# The table of targets against a compiler: for every processor that the clang here knows, with each
# feature on and off, inspect must read that very target out of the code object, and the table must
# have just those features that clang accepts.
set -eu

table=$(dirname "$0")/../../data/targets.yaml

target_of() { # FILE
	"$ROCSMITH" inspect --json "$1" | sed -n '/"served"/q; s/.*"target": *"\([^"]*\)".*/\1/p'
}

compile() { # TARGET
	echo 'void k(void) {}' | clang --target=amdgcn-amd-amdhsa -mcpu="$1" -nogpulib -c -x c - \
		-o "$E2E_TMP/k.o" 2>"$E2E_TMP/messages"
}

check_one() { # TARGET
	local got
	got=$(target_of "$E2E_TMP/k.o")
	[ "$got" = "$1" ] && return
	echo "not ok $1 is read as '$got'"
	exit 1
}

check_features() { # NAME FEATURES
	local feature sign
	for feature in sramecc xnack; do
		for sign in + -; do
			if compile "$1:$feature$sign"; then
				check_one "$1:$feature$sign"
				continue
			fi
			case " $2 " in *" $feature "*)
				echo "not ok $1 has no feature $feature"
				exit 1
				;;
			esac
		done
	done
}

if ! command -v clang >/dev/null || ! compile gfx900; then
	echo 'skip no clang that compiles for AMD GPUs'
	exit 0
fi
known=0
for name in $(sed -n 's/.*{name: \([a-z0-9-]*\),.*/\1/p' "$table"); do
	compile "$name" || continue # a processor that is newer than the compiler
	known=$((known + 1))
	check_one "$name"
	features=$(sed -n "s/.*{name: $name,.*features: \[\([a-z, ]*\)\].*/\1/p" "$table" | tr -d ,)
	check_features "$name" "$features"
done
[ $known -ge 30 ] || { echo "not ok only $known targets could be compiled for"; exit 1; }
echo "ok $(clang --version | head -1): $known targets and their features are read as compiled"
