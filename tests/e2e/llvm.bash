# For scripts that need LLVM's own readers, bundler or linker: those of Debian sid's SDK, which run by that root's own loader and
# libraries.
#
# llvm_find   installs that SDK's compiler where it is missing, and sets $llvm to its root; without an archive, it fails
# llvm TOOL ARGUMENT...   runs one of the tools
# lld         puts ld.lld and lld-link in front of the path, in the folder $E2E_TMP/lld
llvm_find() {
	"$ROCSMITH" sdk install debian --suite sid --components compiler -q >&2 || return 1
	llvm=$("$ROCSMITH" sdk info debian-sid --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["paths"]["root"])')
	llvm_run=("$llvm/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path
		"$llvm/usr/lib/x86_64-linux-gnu:$llvm/usr/lib/llvm-21/lib")
}
llvm() {
	local tool=$1
	shift
	"${llvm_run[@]}" "$llvm/usr/lib/llvm-21/bin/$tool" "$@"
}
lld() {
	local name
	llvm_find || return 1
	mkdir -p "$E2E_TMP/lld"
	for name in ld.lld lld-link; do
		printf '#!/bin/sh\nexec %s --argv0 %s %s "$@"\n' "${llvm_run[*]}" $name "$llvm/usr/lib/llvm-21/bin/lld" >"$E2E_TMP/lld/$name"
		chmod +x "$E2E_TMP/lld/$name"
	done
	PATH=$E2E_TMP/lld:$PATH
}
