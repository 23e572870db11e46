#!/usr/bin/env bash
# slow: gigabytes are fetched
# `slim` on every package of Debian sid and experimental that needs a HIP runtime, as apt's metadata has them: one at
# a time is fetched, unpacked, slimmed to one GPU as a folder, compared by slim_tree.py, read by readelf and llvm-readelf,
# and loaded by the loader and with the HIP runtime that it asks for, which registers each of its bundles; then once more with
# --strip-device: llvm-strip and the runtime's comgr say what is left of the objects. Prints a table.
# ROCSMITH_SLIM_MOST: bytes that a package may take, unpacked (default 2e9); ROCSMITH_SLIM_ONLY: a pattern of names.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
most=${ROCSMITH_SLIM_MOST:-2000000000} only=${ROCSMITH_SLIM_ONLY:-.}
cd "$E2E_TMP"
rm -rf ./*
cache=$(dirname "$("$top/tools/debian-get" sid libgloo-rocm libgloo-rocm-0)") || {
	echo 'skip: no package archive can be reached'
	exit 0
}
# shellcheck source=tools/fetch.sh
. "$top/tools/fetch.sh"
fetch_apt "$cache/.apt" deb sid experimental

cat >count.c <<'C'
/* Stands before the HIP runtime: looks at each bundle that is registered, and passes it on. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
struct wrapper { uint32_t magic, version; const unsigned char *bundle; void *none; };
static unsigned bundles, functions, bad;
static void *find(const char *name)
{
	char file[] = "libamdhip64.so.4";
	void *lib = NULL;
	while (!lib && file[15]++ < '9')
		lib = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
	return dlsym(lib, name);
}
void **__hipRegisterFatBinary(const struct wrapper *w)
{
	void **(*real)(const void *) = (void **(*)(const void *))find("__hipRegisterFatBinary");
	const unsigned char *p = w->bundle, *e = p + 32;
	volatile unsigned char last;
	uint64_t n, v[3];
	bundles++;
	if (w->magic != 0x48495046 || (memcmp(p, "CCOB", 4) && memcmp(p, "__CLANG_OFFLOAD_BUNDLE__", 24)))
		bad++;
	memcpy(&n, p + 24, 8);
	for (uint64_t i = 0; *p == '_' && i < n; i++, e += 24 + v[2]) {
		memcpy(v, e, 24);
		if (v[1]) {
			last = p[v[0] + v[1] - 1];
			bad += memcmp(p + v[0], "\177ELF", 4) != 0;
		}
	}
	(void)last;
	void **handle = real(w);
	bad += !handle;
	return handle;
}
void __hipRegisterFunction(void **m, const void *f, char *d, const char *name, unsigned n, void *a, void *b, void *c, void *g, int *s)
{
	void (*real)(void **, const void *, char *, const char *, unsigned, void *, void *, void *, void *, int *);
	*(void **)&real = find("__hipRegisterFunction");
	functions++;
	real(m, f, d, name, n, a, b, c, g, s);
}
__attribute__((destructor)) static void tell(void)
{
	printf("%u bundles, %u kernels registered%s\n", bundles, functions, bad ? ", BAD" : "");
}
C
cat >comgr.c <<'C'
/* What the SDK's comgr, by which HIP reads code objects, says of one: ISA, kernels of the metadata, symbols. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { uint64_t handle; } h;
int amd_comgr_create_data(int kind, h *data);
int amd_comgr_set_data(h data, size_t size, const char *bytes);
int amd_comgr_get_data_isa_name(h data, size_t *size, char *name);
int amd_comgr_get_data_metadata(h data, h *meta);
int amd_comgr_metadata_lookup(h meta, const char *key, h *value);
int amd_comgr_get_metadata_list_size(h meta, size_t *size);
int amd_comgr_iterate_symbols(h data, int (*fn)(h symbol, void *user), void *user);
int amd_comgr_symbol_get_info(h symbol, int attribute, void *value);
static int symbol(h s, void *user)
{
	size_t n;
	uint64_t value = 0, size = 0;
	char *name;
	(void)user;
	amd_comgr_symbol_get_info(s, 0, &n);
	name = calloc(n + 1, 1);
	amd_comgr_symbol_get_info(s, 1, name);
	amd_comgr_symbol_get_info(s, 3, &size);
	amd_comgr_symbol_get_info(s, 5, &value);
	printf("%s %lx %lx\n", name, (unsigned long)value, (unsigned long)size);
	free(name);
	return 0;
}
int main(int argc, char **argv)
{
	static char bytes[64 << 20], isa[200];
	FILE *f = fopen(argv[argc - 1], "rb");
	size_t n = fread(bytes, 1, sizeof(bytes), f), size = sizeof(isa), kernels = 0;
	h data, meta, list;
	if (amd_comgr_create_data(7, &data) || amd_comgr_set_data(data, n, bytes))
		return 1;
	int e1 = amd_comgr_get_data_isa_name(data, &size, isa), e2 = amd_comgr_get_data_metadata(data, &meta);
	int e3 = e2 ? e2 : amd_comgr_metadata_lookup(meta, "amdhsa.kernels", &list);
	if (!e3)
		amd_comgr_get_metadata_list_size(list, &kernels);
	printf("%d %d %d %s %zu kernels\n", e1, e2, e3, isa, kernels);
	return amd_comgr_iterate_symbols(data, symbol, NULL);
}
C
cat >load.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int n, char **v)
{
	if (n < 2 || !dlopen(v[1], RTLD_LAZY | RTLD_GLOBAL)) {
		puts(dlerror());
		return 1;
	}
	return 0;
}
C
gcc -shared -fPIC count.c -o count.so
gcc load.c -o load
mkdir objects
mkdir stubs
echo | gcc -shared -fPIC -x c - -o stubs/extra.so
sed -n 's/^int \(amd_comgr_[a-z_]*\)(.*/int \1(void) { return 1; }/p' comgr.c |
	gcc -shared -fPIC -x c - -Wl,-soname,any-comgr.so -o stubs/any-comgr.so
gcc comgr.c -o comgr stubs/any-comgr.so

root_of() { # NAME VERSION RUNTIME: sets root, with what the package needs but for the large ones, which are replaced
	local suite=sid
	[ "$3" != libamdhip64-7 ] || suite=experimental
	root=$PWD/root-$3
	mkdir -p "$root/.debs"
	touch "$root/.have"
	apt-get -qq -y --print-uris --no-install-recommends -t $suite install "$1=$2" 2>/dev/null |
		awk '$3 < 60000000 { print $2 }' | grep -v "^$1_" | grep -vxF -f "$root/.have" >wanted || true
	cat wanted >>"$root/.have"
	(cd "$root/.debs" && sed 's/_[^_]*$//;s/%3a/:/;s/_/=/' ../../wanted | xargs -r apt-get -qq download >/dev/null 2>&1) || true
	find "$root/.debs" -name '*.deb' -exec dpkg-deb -x {} "$root" \; -delete
}
extra() { # FILE WORD: functions with that in their names that the file needs, which do nothing
	nm -D --undefined-only "$1" | awk '{ print $2 }' | sed 's/@.*//' | grep "$2" >>stubs/names
	sort -u stubs/names | sed 's/.*/void &(void) {}/' | gcc -shared -fPIC -x c - -o stubs/extra.so
}
load() { # LIBRARY ROOT: what count.c says; libraries that are not there are replaced by empty ones
	local dirs i missing name
	[ -x "$2/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" ] || {
		echo 'not loaded, what it needs is not in the archive'
		return 0
	}
	dirs=$(dirname "$1"):$2/usr/lib/x86_64-linux-gnu:$2/usr/lib:$(find "$2/usr/lib" -name 'lib*LLVM*.so*' -printf '%h:' | head -c 4000)$PWD/stubs
	for i in $(seq 60); do
		"$2/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$dirs" --preload "$PWD/count.so:$PWD/stubs/extra.so" \
			./load "$1" >said 2>&1 && break
		missing=$(sed -n 's/^\(lib[^ :]*\): cannot open shared object file.*/\1/p' said | head -n 1)
		name=$(sed -n 's/.*: undefined symbol: .*\(roc[a-z]*\|magma\)_.*/\1/p' said | head -n 1)
		if [ -n "$missing" ]; then
			echo | gcc -shared -fPIC -x c - -Wl,-soname,"$missing" -o "stubs/$missing"
		elif [ -n "$name" ]; then
			extra "$(sed -n 's/: undefined symbol:.*//p' said | head -n 1)" "$name"
		else
			break
		fi
	done
	[ "$(wc -l <said)" = 1 ] || tail -n 2 said | head -n 1 | cut -c 1-150
	tail -n 1 said
}

failed=0
problem() {
	echo "not ok $*"
	failed=1
}
strip_device() { # LIBRARY GPU LOADED
	local said file
	file=new/$(dirname "$1")/stripped.so
	"$ROCSMITH" slim -q --strip-device --gpu "$2" "old/$1" -o "$file" --force >/dev/null
	llvm-readelf -lSsrW "$file" >/dev/null 2>complaints
	[ ! -s complaints ] || problem "$1, stripped: $(head -n 1 complaints)"
	python3 -B "$top/tests/oracle/stripped.py" "old/$1" "$file" objects/ "$2" >table.stripped 2>&1 ||
		problem "$1, stripped: $(tail -n 1 table.stripped)"
	said=$(load "$PWD/$file" "$root")
	[ "${said##*$'\n'}" = "${3##*$'\n'}" ] || problem "$1, stripped: $said, not $3"
	loaded="$loaded; stripped $(stat -c %s "$file")"
	rm "$file"*
	see "$1"
}
see() { # LIBRARY: says what comgr finds in the first object, in both of its versions
	local kind comgr
	comgr=$(find "$root/usr/lib/x86_64-linux-gnu" -name 'libamd_comgr.so.?' | head -n 1)
	[ -n "$comgr" ] || return 0
	for kind in old new; do
		"$root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu:$PWD/stubs" \
			--preload "$comgr" ./comgr objects/$kind 2>&1 | sort >seen.$kind
	done
	if [ "$(grep -e ' kernels$' -e '\.kd ' seen.old)" != "$(grep -e ' kernels$' -e '\.kd ' seen.new)" ] ||
		[ -n "$(comm -13 seen.old seen.new)" ]; then
		problem "$1, stripped: comgr finds other kernels"
	fi
	loaded="$loaded, comgr: $(sed -n 's/.* \([0-9]* kernels\)$/\1/p' seen.new)"
}
package() { # NAME VERSION RUNTIME: the unpacked one is in old
	local gpu loaded='' before after library root
	gpu=$("$ROCSMITH" inspect --json old 2>/dev/null | python3 -c '
import json, sys
targets = {o["target"].split(":")[0] for f in json.load(sys.stdin)["files"] for o in f["objects"]}
print(next((g for g in ("gfx1100", "gfx90a", "gfx942", *sorted(targets)) if g in targets), ""))') || gpu=
	[ -n "$gpu" ] || {
		echo "$1 $2: no device code"
		return 0
	}
	"$ROCSMITH" slim -q --gpu "$gpu" old -o new >/dev/null || {
		problem "$1 $2"
		return 0
	}
	python3 -B "$top/tests/oracle/slim_tree.py" old new "$gpu" libraries >table 2>&1 || {
		problem "$1 $2: $(tail -n 1 table)"
		return 0
	}
	[ ! -s libraries ] || root_of "$@"
	while read -r library; do
		readelf -lSsrW "new/$library" >/dev/null 2>complaints
		llvm-readelf -lSsrW "new/$library" >/dev/null 2>>complaints
		[ ! -s complaints ] || problem "$library: $(head -n 1 complaints)"
		before=$(load "$PWD/old/$library" "$root" | sed 's:/old/:/new/:')
		after=$(load "$PWD/new/$library" "$root")
		loaded="$loaded; $(basename "$library"): $after"
		[ "$before" = "$after" ] && [ "${after%BAD}" = "$after" ] || problem "$library: $before, now $after"
		strip_device "$library" "$gpu" "$after"
	done <libraries
	echo "ok $1 $2 $gpu: $(tail -n 1 table)$loaded"
}
python3 "$top/tests/oracle/hip_packages.py" >packages
[ -s packages ]
while read -r name version _ installed runtime; do
	echo "$name" | grep -q "$only" || continue
	[ "$installed" -le "$most" ] || {
		echo "left out $name $version: $installed bytes"
		continue
	}
	rm -rf old new deb
	mkdir deb
	(cd deb && apt-get -qq download "$name=$version" >/dev/null 2>&1) || {
		echo "skip $name $version: it cannot be fetched"
		continue
	}
	dpkg-deb -x deb/*.deb old
	rm -rf deb
	package "$name" "$version" "$runtime" </dev/null
done <packages
rm -rf old new root-*
[ $failed = 0 ]
