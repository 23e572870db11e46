/* The provider "prefix": a tree that rocsmith did not make (AMD's packages in /opt/rocm, Debian's in /usr, the dist
 * folder of a source build, the root folder of another system). Nothing is copied; our own folder for it, FS_STATE
 * "sdk/prefix-HASH", only stores probe results. Programs that need another libc, and so cannot run directly, run in
 * the sandbox with their tree as the root folder. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "sdk/provider.h"

static struct err *open_at(struct arena *a, struct str root, struct str prefix, struct sdk *ret)
{
	ret->root = root;
	ret->path = ret->lib_dirs = ret->clang_flags = (struct strs){0};
	ret->components.n = 0;
	TRY(layout_find(a, prefix, ret));
	ret->runner = root.n ? sandbox_choose(a, ret) : SDK_DIRECT;
	return NULL;
}

static bool has_loader(struct arena *a, struct str root)
{
	return root.n > 1 && fs_exists(path_join(a, root, S("usr/lib64/ld-linux-x86-64.so.2")));
}

struct err *prefix_open(struct arena *a, struct str path, struct sdk *ret)
{
	if (has_loader(a, path)) {
		bool amd = fs_exists(path_join(a, path, S("opt/rocm")));
		return open_at(a, path, amd ? S("/opt/rocm") : S("/usr"), ret);
	}
	TRY(open_at(a, S(""), path, ret));
	struct str version;
	CLEANUP(err_freep) struct err *broken = layout_clang_version(a, ret, &version);
	/* a prefix below another system's root: ROOT/usr, ROOT/opt/rocm */
	for (struct str root = path_dir(path); broken && root.n > 1; root = path_dir(root))
		if (has_loader(a, root))
			return open_at(a, root, str_sub(path, root.n, path.n), ret);
	return NULL;
}

static bool parse(struct str word, struct sdk_spec *ret)
{
	struct str name = S("prefix:");
	ret->prefix = str_starts(word, name) ? str_sub(word, name.n, word.n) : word;
	return ret->prefix.n && (ret->prefix.n < word.n || str_chr(word, '/') < word.n);
}

static struct err *open_prefix(struct arena *a, const struct sdk_spec *spec, struct sdk *ret)
{
	if (!spec->prefix.n)
		return err_new(E_USAGE, "the provider 'prefix' needs --prefix DIR");
	struct str path = path_abs(a, spec->prefix), version;
	struct stat st;
	if (!fs_is_dir(path))
		return err_new(E_NOENT, "there is no folder '%.*s'", STR(path));
	TRY(fs_place_check(FS_STATE));
	*ret = (struct sdk){.provider = S("prefix")};
	TRY_CTX(prefix_open(a, path, ret), "'%.*s' is not a ROCm SDK", STR(path));
	ret->name = path;
	struct str id = str_fmt(a, "prefix-%.*s", STR(str_sub(sha256_hex(a, path), 0, 16)));
	ret->dir = path_join(a, fs_place(a, FS_STATE, S("sdk")), id);
	TRY(fs_check_way(ret->dir));
	if (ret->runner != SDK_NORUN) {
		TRY_CTX(layout_clang_version(a, ret, &version), "'%.*s' is not a ROCm SDK",
			STR(path));
		*VEC_PUSH(a, &ret->components) =
			(struct sdk_component){.name = S("clang"), .version = version};
	}
	/* a hash of everything known about it: the versions and the compiler's file */
	BUF(known, a);
	TRY(fs_stat(sdk_outside(a, ret, ret->clang), &st));
	buf_fmt(&known, "%.*s %lld %lld\n", STR(path), (long long)st.st_size,
		(long long)st.st_mtim.tv_sec);
	VEC_EACH (const struct sdk_component, c, &ret->components)
		buf_fmt(&known, "%.*s %.*s\n", STR(c->name), STR(c->version));
	ret->fingerprint = sha256_hex(a, buf_str(&known));
	return NULL;
}

const struct sdk_provider sdk_prefix = {
	.name = "prefix",
	.by_hand = true,
	.parse = parse,
	.open = open_prefix,
};
