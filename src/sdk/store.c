/* Manages installed SDKs: their names, folders and locks, and how to open one. */
#include "base/fs.h"
#include "base/progress.h"
#include "know/know.h"
#include "sdk/provider.h"

struct str sdk_name(struct arena *a, const struct sdk_spec *spec)
{
	return str_fmt(a, "%.*s-%.*s", STR(spec->provider), STR(spec->suite));
}

struct str sdk_dir(struct arena *a, struct str name)
{
	return path_join(a, fs_place(a, FS_DATA, S("sdk")), name);
}

struct str sdk_stage(struct arena *a, struct str name)
{
	return str_fmt(a, "%.*s/.%.*s.new", STR(fs_place(a, FS_DATA, S("sdk"))), STR(name));
}

/* Every installed SDK has "compiler"; the rest is useless without it. */
struct strs sdk_wanted(struct arena *a, const struct sdk_spec *spec)
{
	struct strs out = {0};
	strs_add(a, &out, S("compiler"));
	strs_put_all(a, &out, &spec->components);
	return out;
}

struct err *sdk_lock(struct arena *a, struct str name, int *ret_fd)
{
	struct str dir = fs_place(a, FS_DATA, S("sdk"));
	TRY(fs_place_check(FS_DATA));
	TRY(fs_check_way(dir));
	TRY(fs_mkdirs(dir));
	struct str path = str_fmt(a, "%.*s/%.*s.lock", STR(dir), STR(name));
	return progress_lock(path, ret_fd, "installs '%.*s'", STR(name));
}

struct err *sdk_names(struct arena *a, struct strs *ret)
{
	struct strs names = {0};
	struct str dir = fs_place(a, FS_DATA, S("sdk"));
	*ret = (struct strs){0};
	TRY(fs_place_check(FS_DATA));
	TRY(fs_check_way(dir));
	if (fs_is_dir(dir))
		TRY(fs_list(a, dir, &names));
	for (size_t i = 0; i < names.n; i++) {
		struct str sdk = path_join(a, dir, names.v[i]);
		if (names.v[i].p[0] != '.' && fs_exists(path_join(a, sdk, S(SDK_RECEIPT))))
			strs_add(a, ret, names.v[i]);
	}
	return NULL;
}

struct err *sdk_open_tree(struct arena *a, struct str root, struct sdk *ret)
{
	ret->root = root;
	TRY(layout_find(a, S("/opt/rocm"), ret));
	/* not by the link: clang prints and writes the path of the folder that it was started from */
	struct str link = str_fmt(a, "%.*s/opt/rocm/llvm", STR(root)), llvm;
	TRY(fs_readlink(a, link, &llvm));
	struct str bin = path_clean(a, path_join(a, S("/opt/rocm"), path_join(a, llvm, S("bin"))));
	ret->clang = path_join(a, bin, S("clang++"));
	ret->path.v[0] = bin;
	ret->runner = sandbox_choose(a, ret);
	return NULL;
}

struct err *sdk_has_component(
	struct arena *a, const struct sdk_receipt *m, struct str component, bool *ret)
{
	struct strs packages;
	bool alone;
	TRY(know_packages(a, component, &packages, &alone));
	*ret = strs_has(&m->components, component);
	struct str clang = str_sub(m->clang_version, 0, str_chr(m->clang_version, '.'));
	VEC_EACH (const struct str, p, &packages)
		*ret = *ret && sdk_receipt_package(m, know_package_name(a, *p, clang));
	return NULL;
}

static struct err *hint_install(struct err *e, const struct sdk_provider *provider,
	const struct sdk_spec *spec, const char *option, struct str value)
{
	return err_hint(
		e, "%s%.*s --%s %.*s", provider->again, STR(spec->suite), option, STR(value));
}

struct err *sdk_open_installed(struct arena *a, const struct sdk_provider *provider,
	const struct sdk_spec *spec, struct sdk *ret)
{
	struct str name = sdk_name(a, spec), dir = sdk_dir(a, name);
	struct strs want = sdk_wanted(a, spec), gpus, have;
	struct sdk_receipt m;
	TRY(fs_place_check(FS_DATA));
	TRY(fs_check_way(dir));
	if (fs_is_dir(dir))
		TRY(fs_hold(dir, FS_HOLD_USED));
	TRY(sdk_receipt_read(a, dir, &m));
	if (!m.provider.n && provider->by_hand)
		return err_hint(err_new(E_SDK, "the SDK '%.*s' is not installed", STR(name)),
			"'rocsmith sdk list' shows what is; 'rocsmith help sdk install' how to "
			"install it");
	if (!m.provider.n)
		return hint_install(err_new(E_SDK, "the SDK '%.*s' is not installed", STR(name)),
			provider, spec, "components", str_join(a, &want, S(",")));
	VEC_EACH (const struct str, c, &spec->components) {
		bool all = true;
		if (provider->has)
			TRY(provider->has(a, &m, *c, &all));
		if (!all)
			return hint_install(
				err_new(E_SDK, "the SDK '%.*s' lacks the component '%.*s'",
					STR(name), STR(*c)),
				provider, spec, "components", *c);
	}
	have = sdk_receipt_gpus(a, &m);
	TRY(gpus_parse(a, &spec->gpus, &gpus));
	/* "all" is what the source had, unless files were thinned */
	if (spec->gpus.n && (gpus.n || provider->view) && !gpus_cover(&have, &gpus))
		return hint_install(
			err_new(E_SDK,
				"libraries of the SDK '%.*s' lack kernels of other GPUs than %.*s",
				STR(name), STR(str_join(a, &have, S(", ")))),
			provider, spec, "gpu", str_join(a, gpus.n ? &gpus : &spec->gpus, S(",")));
	*ret = (struct sdk){.name = name,
		.provider = m.provider,
		.suite = m.suite,
		.dir = dir,
		.index_date = m.index_date,
		.notes = m.notes,
		.requested = m.components,
		.gpus = have,
		.fingerprint = sdk_receipt_fingerprint(a, &m),
		.packages = m.packages.n};
	TRY_CTX(provider->open_tree(a, path_join(a, dir, S("root")), ret),
		"cannot use the SDK '%.*s'", STR(name));
	VEC_EACH (const struct sdk_package, p, &m.packages)
		ret->bytes += p->bytes;
	*VEC_PUSH(a, &ret->components) =
		(struct sdk_component){.name = S("clang"), .version = m.clang_version};
	return NULL;
}

static struct err *add_size(void *user, struct fs_entry *e)
{
	uint64_t *sum = user;
	*sum += S_ISREG(e->st.st_mode) ? (uint64_t)e->st.st_size : 0;
	return NULL;
}

struct err *sdk_count_downloads(struct arena *a, struct sdk *io)
{
	struct str dir = fs_place(a, FS_CACHE, str_fmt(a, "sdk/%.*s/archives", STR(io->name)));
	io->downloads = 0;
	return fs_is_dir(dir) ? fs_walk(dir, add_size, &io->downloads) : NULL;
}
