/* The provider "debian": components of a Debian suite, resolved and fetched by a private apt, unpacked without running
 * any of the packages' scripts. data/debian_root.yaml lists the files that those scripts would have made and that a
 * build needs. */
#include <sys/stat.h>

#include "archive/apt.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/progress.h"
#include "know/know.h"
#include "sdk/provider.h"

/* The default suite comes first. */
static const char *const suites[] = {"sid", "experimental", "trixie", NULL};
/* The version of libamdhip64 that each has: its archive indices of November 2026. */
static const char *const hips[] = {"6", "7", "5"};

struct str sdk_debian_suite(struct str hip)
{
	struct str major = str_sub(hip, 0, str_chr(hip, '.'));
	for (size_t i = 0; i < sizeof(hips) / sizeof(hips[0]); i++)
		if (str_eq(major, str_from(hips[i])))
			return str_from(suites[i]);
	return S("");
}

static struct err *make_apt(struct arena *a, struct sdk_job *j, struct apt *ret)
{
	struct str suite = j->spec->suite;
	*ret = (struct apt){.dir = path_join(a, j->cache, j->name),
		.mirror = j->spec->mirror,
		.keyring = j->spec->keyring};
	TRY(apt_complete(a, ret));
	if (str_eq(suite, S("experimental")))
		strs_add(a, &ret->suites, S("sid"));
	strs_add(a, &ret->suites, suite);
	j->mirror = ret->mirror;
	return NULL;
}

/* Names with "@" stand for packages of the clang version that apt resolves the others to, so apt runs twice. */
static struct err *resolve_suite(struct arena *a, struct sdk_job *j)
{
	struct apt apt;
	struct strs with = {0}, alone = {0}, packages; /* alone: without their dependencies */
	struct strs plain = {0}, named = {0};
	struct str clang = S(""); /* "22" for the package clang-22 */
	bool is_alone;
	uint64_t n;
	VEC_EACH (const struct str, c, &j->components) {
		TRY(know_packages(a, *c, &packages, &is_alone));
		strs_put_all(a, is_alone ? &alone : &with, &packages);
	}
	if (!proc_find(a, S("apt-get")).n)
		return err_hint(err_new(E_TOOL_MISSING,
					"Debian's packages need apt-get, which this machine lacks"),
			"AMD's wheels need none: rocsmith sdk install rocm:10.1 --gpu native");
	TRY(make_apt(a, j, &apt));
	TRY(apt_prepare(a, &apt));
	CLEANUP(progress_endp)
	struct progress *p = progress_begin(S("Resolving"), j->name, UNIT_NONE, 0);
	progress_add(p, 0, S(""));
	if (j->spec->refresh || !apt_has_lists(a, &apt))
		TRY(apt_update(a, &apt));
	VEC_EACH (const struct str, name, &with)
		if (!str_contains(*name, S("@")))
			strs_add(a, &plain, *name);
	TRY(apt_resolve(a, &apt, &plain, false, &j->items));
	if (plain.n < with.n) {
		VEC_EACH (const struct archive_item, i, &j->items)
			if (!clang.n && str_starts(i->name, S("clang-")) &&
				str_u64(str_sub(i->name, 6, i->name.n), 10, &n))
				clang = str_sub(i->name, 6, i->name.n);
		VEC_EACH (const struct str, name, &with)
			strs_add(a, &named, know_package_name(a, *name, clang));
		j->items = (struct archive_items){0};
		TRY(apt_resolve(a, &apt, &named, false, &j->items));
	}
	TRY(apt_resolve(a, &apt, &alone, true, &j->items));
	return apt_index_date(a, &apt, &j->index_date, &j->notes);
}

static struct err *try_components(
	struct arena *a, const struct sdk_job *j, struct str suite, const struct strs *components)
{
	struct sdk_spec spec = *j->spec;
	struct sdk_job k = {.spec = &spec, .cache = j->cache, .components = *components};
	spec.suite = suite;
	spec.refresh = false;
	k.name = str_fmt(a, "debian-%.*s", STR(suite));
	return resolve_suite(a, &k);
}

/* If the suite's packages cannot be installed, names the components, and a suite where all can. */
static struct err *resolve(struct arena *a, struct sdk_job *j)
{
	struct apt apt;
	struct strs bad = {0};
	struct str suite = j->spec->suite, all = str_join(a, &j->components, S(","));
	struct err *e = resolve_suite(a, j);
	if (!e || e->code != E_SDK_SOURCE)
		return e;
	CLEANUP(err_freep) struct err *none = make_apt(a, j, &apt);
	if (none || !apt_has_lists(a, &apt))
		return e; /* it is not about packages */
	VEC_EACH (struct str, c, &j->components) {
		struct err *no = try_components(a, j, suite, &(struct strs){.v = c, .n = 1});
		if (!no)
			continue;
		strs_add(a, &bad, *c);
		err_free(e);
		e = no; /* its reason is about this component alone */
	}
	e = err_wrap(e, "'%.*s' cannot be installed from Debian's '%.*s' as it is today",
		STR(bad.n ? str_join(a, &bad, S(", ")) : all), STR(suite));
	for (size_t i = 0; suites[i]; i++) {
		if (str_eq(str_from(suites[i]), suite))
			continue;
		struct err *no = try_components(a, j, str_from(suites[i]), &j->components);
		if (!no)
			return err_hint(e,
				"with --sdk debian:%s a build finds it; for itself: rocsmith sdk "
				"install "
				"debian --suite %s --components %.*s",
				suites[i], suites[i], STR(all));
		err_free(no);
	}
	return e;
}

static struct err *fetch(struct arena *a, struct sdk_job *j, const struct archive_items *need)
{
	struct apt apt;
	TRY(make_apt(a, j, &apt));
	return apt_fetch(a, &apt, need);
}

static struct err *borrow(struct arena *a, const struct sdk_job *j, struct str dir)
{
	return apt_borrow(
		a, path_join(a, j->cache, j->name), path_join(a, dir, j->name), !j->spec->refresh);
}

/* ---- finish ---- */
static struct err *finish(struct arena *a, struct sdk_job *j)
{
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	TRY(fs_guard(j->root, &guard));
	for (const char *const *folder = debian_names_table()->folders; *folder; folder++)
		TRY(tree_folder(a, j->root, str_from(*folder)));
	TABLE_EACH (debian_link, l) {
		struct str path = str_from(l->path), full = path_join(a, j->root, path);
		const char *const *target = l->targets;
		while (!l->always && *target &&
			!fs_exists(path_join(a, path_dir(full), str_from(*target))))
			target++;
		/* a package's file takes precedence; a link is ours, from an earlier run */
		if (!*target || !(l->always || !fs_present(full) || fs_is_link(full)))
			continue;
		TRY(tree_link(a, j->root, path, str_from(*target)));
		file_list_add(j->made,
			&(struct sdk_file){.type = 'l', .path = path, .value = str_from(*target)});
	}
	TABLE_EACH (debian_file, file) {
		struct str path = str_from(file->path), text = str_from(file->text);
		struct sdk_file f = {.type = 'f', .size = text.n, .path = path};
		struct stat st;
		TRY(tree_file(a, j->root, path, text));
		TRY(fs_stat(path_join(a, j->root, path), &st));
		f.mtime = st.st_mtim.tv_sec;
		f.value = sha256_hex(a, text);
		file_list_add(j->made, &f);
	}
	return NULL;
}

const struct sdk_provider sdk_debian = {
	.name = "debian",
	.suites = suites,
	.view = true,
	.again = "rocsmith sdk install debian --suite ",
	.open_tree = sdk_open_tree,
	.has = sdk_has_component,
	.borrow = borrow,
	.resolve = resolve,
	.fetch = fetch,
	.unpack = deb_unpack,
	.finish = finish,
};
