/* The provider "prefix": a tree that somebody else made (AMD's packages in /opt/rocm, Debian's in
 * /usr, the dist folder of a source build, the root folder of another system). Nothing is copied;
 * our folder for it holds what we find out (answers of probes). A tree whose programs do not run as
 * they are, because they belong to another libc, is run as a root folder in the sandbox. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "sdk/provider.h"

static struct err *open_at(struct arena *a, struct str root, struct str prefix, struct sdk *ret)
{
	*ret = (struct sdk){.provider = S("prefix"), .root = root};
	TRY(layout_find(a, prefix, ret));
	ret->sandbox = root.n > 0;
	ret->runner = root.n ? sandbox_choose(a, ret) : SDK_DIRECT;
	return NULL;
}

/* A prefix below another system's root: ROOT/usr, ROOT/opt/rocm -> ROOT. */
static bool split_root(struct arena *a, struct str path, struct str *ret_root, struct str *ret_in)
{
	for (struct str at = path; at.n > 1; at = path_dir(at)) {
		struct str up = path_dir(at);
		if (up.n <= 1 || !fs_exists(path_join(a, up, S("usr/lib64/ld-linux-x86-64.so.2"))))
			continue;
		*ret_root = up;
		*ret_in = str_sub(path, up.n, path.n);
		return true;
	}
	return false;
}

static struct err *find(struct arena *a, struct str path, struct sdk *ret)
{
	struct str root, in;
	if (fs_exists(path_join(a, path, S("usr/lib64/ld-linux-x86-64.so.2"))) && path.n > 1) {
		struct str amd = path_join(a, path, S("opt/rocm"));
		return open_at(a, path, fs_exists(amd) ? S("/opt/rocm") : S("/usr"), ret);
	}
	TRY(open_at(a, S(""), path, ret));
	struct str version;
	CLEANUP(err_freep) struct err *broken = layout_clang_version(a, ret, &version);
	return broken && split_root(a, path, &root, &in) ? open_at(a, root, in, ret) : NULL;
}

/* Of what a prefix is made of we know versions and the compiler's file only. */
static struct err *fingerprint(struct arena *a, struct sdk *sdk)
{
	BUF(out, a);
	struct str clang = str_fmt(a, "%.*s%.*s", STR(sdk->root), STR(sdk->clang));
	struct stat st;
	TRY(fs_stat(clang, &st));
	buf_fmt(&out, "%.*s %lld %lld\n", STR(sdk->name), (long long)st.st_size,
		(long long)st.st_mtim.tv_sec);
	VEC_EACH (struct sdk_component, c, &sdk->components)
		buf_fmt(&out, "%.*s %.*s\n", STR(c->name), STR(c->version));
	struct str text = buf_str(&out);
	struct digest d = hash_bytes(HASH_SHA256, text.p, text.n);
	sdk->fingerprint = digest_hex(a, &d);
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
	if (!fs_is_dir(path))
		return err_new(E_NOENT, "there is no folder '%.*s'", STR(path));
	TRY_CTX(find(a, path, ret), "'%.*s' is no ROCm SDK", STR(path));
	ret->name = path;
	struct digest d = hash_bytes(HASH_SHA256, path.p, path.n);
	struct str id = str_fmt(a, "prefix-%.*s", STR(str_sub(digest_hex(a, &d), 0, 16)));
	ret->dir = path_join(a, fs_place(a, FS_STATE, S("sdk")), id);
	if (ret->runner == SDK_NORUN)
		return fingerprint(a, ret);
	TRY_CTX(layout_clang_version(a, ret, &version), "'%.*s' is no ROCm SDK", STR(path));
	*VEC_PUSH(a, &ret->components) =
		(struct sdk_component){.name = S("clang"), .version = version};
	return fingerprint(a, ret);
}

const struct sdk_provider sdk_prefix = {
	.name = "prefix",
	.summary = "a tree that is there, e.g. /opt/rocm",
	.parse = parse,
	.open = open_prefix,
};
