# For scripts that link with LLVM's linker: `lld` puts ld.lld and lld-link of Debian sid, with its own loader and libraries, in
# front of the path, into the folder $E2E_TMP/lld; without an archive, it fails.
lld() {
	local dir libs name
	dir=$("$top/tools/llvm-get") || return 1
	libs=$dir/usr/lib/x86_64-linux-gnu
	mkdir -p "$E2E_TMP/lld"
	for name in ld.lld lld-link; do
		printf '#!/bin/sh\nexec %s/ld-linux-x86-64.so.2 --library-path %s:%s/usr/lib/llvm-22/lib --argv0 %s %s/usr/lib/llvm-22/bin/lld "$@"\n' \
			"$libs" "$libs" "$dir" $name "$dir" >"$E2E_TMP/lld/$name"
		chmod +x "$E2E_TMP/lld/$name"
	done
	PATH=$E2E_TMP/lld:$PATH
}
