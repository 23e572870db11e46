/* Finds out which compiler an SDK has by the content of its files; see sdk.h.
 *
 * A fingerprint is made of names and versions, which stay the same if somebody replaces a file in the tree. The content is
 * read once: while a file's place on the disk, size, mtime and ctime are the same, so is the content. Programs can set
 * the mtime, but not the ctime. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/glob.h"
#include "base/hash.h"
#include "base/map.h"
#include "sdk/provider.h"

#define IDENTITY "identity"
enum { MAX_KNOWN = 1 << 20, MOST_FILES = 1000 };

static const char *const programs[] = {"clang++", "clang", "ld.lld", "lld", NULL};
/* libraries of the compiler, beside it or among those of the system */
static const char *const library_dirs[] = {
	"../lib", "../../lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", NULL};
static const char *const libraries[] = {
	"libLLVM*.so*", "libclang-cpp*.so*", "liblld*.so*", "libLTO*.so*", NULL};

struct strs sdk_compiler_dirs(struct arena *a, const struct sdk *sdk)
{
	struct strs ret = {0};
	for (size_t i = 0; library_dirs[i]; i++) {
		struct str dir = path_join(a, path_dir(sdk->clang), str_from(library_dirs[i]));
		strs_add(a, &ret, sdk_outside(a, sdk, path_clean(a, dir)));
	}
	return ret;
}

/* The files that decide what the compiler makes, as paths on this machine. */
static void list_files(struct arena *a, const struct sdk *sdk, struct strs *ret)
{
	struct str bin = path_dir(sdk->clang);
	struct strs names;
	for (size_t i = 0; programs[i]; i++)
		strs_add(a, ret, sdk_outside(a, sdk, path_join(a, bin, str_from(programs[i]))));
	struct strs dirs = sdk_compiler_dirs(a, sdk);
	VEC_EACH (const struct str, dir, &dirs) {
		err_free(fs_list(a, *dir, &names));
		VEC_EACH (const struct str, n, &names)
			if (glob_match_any(libraries, *n))
				strs_add(a, ret, path_join(a, *dir, *n));
	}
	struct str libs = sdk_outside(a, sdk, sdk->device_libs);
	err_free(fs_list(a, libs, &names));
	VEC_EACH (const struct str, n, &names)
		if (str_ends(*n, S(".bc")))
			strs_add(a, ret, path_join(a, libs, *n));
}

struct strs sdk_programs(struct arena *a, const struct sdk *sdk)
{
	struct strs files = {0}, ret = {0};
	list_files(a, sdk, &files);
	VEC_EACH (const struct str, path, &files) {
		struct str state = fs_exact_state(a, *path);
		if (state.n)
			strs_fmt(a, &ret, "%.*s %.*s", STR(state), STR(*path));
	}
	return ret;
}

struct err *sdk_identity(struct arena *a, const struct sdk *sdk, struct str *ret)
{
	ARENA(tmp);
	MAP(known, &tmp);
	BUF(is, &tmp);
	BUF(remember, &tmp);
	struct strs files = {0};
	struct str path = path_join(&tmp, sdk->dir, S(IDENTITY)), text = S(""), line, state, hash;
	struct str bin = sdk_outside(&tmp, sdk, path_dir(sdk->clang));
	err_free(fs_read_opt(&tmp, path, MAX_KNOWN, &text));
	while (str_next(&text, '\n', &line))
		if (str_cut(line, ' ', &state, &hash) && hash.n == 64)
			map_put(&known, state, str_z(&tmp, hash));
	list_files(&tmp, sdk, &files);
	bool compiler = false;
	if (files.n > MOST_FILES)
		return err_new(E_LIMIT, "the compiler in '%.*s' has more than %d files", STR(bin),
			MOST_FILES);
	for (size_t i = 0; i < files.n; i++) {
		state = fs_exact_state(&tmp, files.v[i]);
		if (!state.n)
			continue;
		const char *old = map_get(&known, state);
		if (old)
			hash = str_from(old);
		else
			TRY(sha256_file(&tmp, files.v[i], &hash));
		compiler = compiler || str_starts(path_base(files.v[i]), S("clang"));
		buf_fmt(&is, "%.*s %.*s\n", STR(path_base(files.v[i])), STR(hash));
		buf_fmt(&remember, "%.*s %.*s\n", STR(state), STR(hash));
	}
	if (!compiler)
		return err_new(E_SDK, "'%.*s' has no clang", STR(bin));
	*ret = sha256_hex(a, buf_str(&is));
	/* an SDK of somebody else is read once more the next time */
	err_free(fs_write(path, buf_str(&remember), 0644 | FS_IF_CHANGED));
	return NULL;
}
