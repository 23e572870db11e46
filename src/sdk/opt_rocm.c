/* Making /opt/rocm inside a tree that has ROCm among all else: links to ROCm's own files; see sdk.h. Links are relative, so that the view is the
 * same seen from the sandbox and from outside. */
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/map.h"
#include "know/know.h"
#include "sdk/provider.h"

enum { MAX_RECORD = 256 << 20 };

/* Entries directly below these folders are linked one by one. */
static const struct {
	const char *from, *to;
} groups[] = {
	{.from = "usr/include/", .to = "opt/rocm/include/"},
	{.from = "usr/include/x86_64-linux-gnu/", .to = "opt/rocm/include/"},
	{.from = "usr/lib/x86_64-linux-gnu/", .to = "opt/rocm/lib/"},
	{.from = "usr/lib/x86_64-linux-gnu/cmake/", .to = "opt/rocm/lib/cmake/"},
	{.from = "usr/lib/cmake/", .to = "opt/rocm/lib/cmake/"},
	{.from = "usr/share/cmake/", .to = "opt/rocm/lib/cmake/"},
	{.from = "usr/share/hip/", .to = "opt/rocm/share/hip/"},
	{.from = "usr/bin/", .to = "opt/rocm/bin/"},
};

static struct err *link_to(struct arena *a, struct str root, struct str target, struct str link)
{
	struct str full = path_join(a, root, link), old;
	struct str want =
		path_rel(a, path_join(a, S("/"), target), path_join(a, S("/"), path_dir(link)));
	struct stat st;
	if (fs_try_lstat(full, &st) && S_ISLNK(st.st_mode)) {
		TRY(fs_readlink(a, full, &old));
		if (str_eq(old, want))
			return NULL;
	}
	TRY(fs_mkdirs(path_dir(full)));
	return fs_symlink(want, full);
}

/* "usr/include/hip/x.h" of a group -> "usr/include/hip"; a folder that is a group itself is none.
 */
static bool top_entry(struct str path, struct str *ret_target, size_t *ret_group)
{
	bool found = false;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct str from = str_from(groups[i].from);
		if (!str_starts(path, from))
			continue;
		struct str rest = str_sub(path, from.n, path.n);
		*ret_target = str_sub(path, 0, from.n + str_chr(rest, '/'));
		*ret_group = i;
		found = true; /* the longest group wins: they are listed outer first */
	}
	return found;
}

static struct err *link_record(struct arena *a, struct str root, struct str text, struct map *done)
{
	struct sdk_record r;
	bool bad;
	while (record_next(&text, &r, &bad)) {
		struct str target;
		size_t group;
		if (!top_entry(r.path, &target, &group) || map_get(done, target))
			continue;
		map_put(done, target, done);
		struct str name = path_base(target);
		if (str_eq(name, S("cmake")))
			continue;
		TRY(link_to(a, root, target, str_fmt(a, "%s%.*s", groups[group].to, STR(name))));
	}
	return NULL;
}

/* The LLVM in use: the newest usr/lib/llvm-N that has device libraries, "" without. */
static struct err *newest_llvm(struct arena *a, struct str root, struct str *ret)
{
	struct strs names = {0};
	uint64_t best = 0, n;
	struct str lib = path_join(a, root, S("usr/lib"));
	*ret = S("");
	if (fs_is_dir(lib))
		TRY(fs_list(a, lib, &names));
	for (size_t i = 0; i < names.n; i++) {
		if (!str_starts(names.v[i], S("llvm-")) ||
			!str_u64(str_sub(names.v[i], 5, names.v[i].n), 10, &n) || n < best)
			continue;
		struct str bitcode = str_fmt(a, "%.*s/%.*s/lib/clang/%llu/amdgcn/bitcode", STR(lib),
			STR(names.v[i]), (unsigned long long)n);
		if (!fs_is_dir(bitcode))
			continue;
		best = n;
		*ret = str_fmt(a, "usr/lib/%.*s", STR(names.v[i]));
	}
	return NULL;
}

static struct err *link_llvm(struct arena *a, struct str root)
{
	struct str llvm;
	TRY(newest_llvm(a, root, &llvm));
	if (!llvm.n)
		return NULL;
	TRY(link_to(a, root, llvm, S("opt/rocm/llvm")));
	struct str major = str_sub(llvm, sizeof("usr/lib/llvm-") - 1, llvm.n);
	return link_to(a, root, str_fmt(a, "%.*s/lib/clang/%.*s/amdgcn", STR(llvm), STR(major)),
		S("opt/rocm/amdgcn"));
}

struct visit {
	struct str view;
	struct buf *made;
};

/* A link whose target went away with an older package is removed, the others are recorded. */
static struct err *record_link(void *user, const struct fs_entry *e, bool *prune)
{
	struct visit *v = user;
	(void)prune;
	ARENA(tmp);
	struct str full = path_join(&tmp, v->view, e->path), target;
	if (!S_ISLNK(e->st.st_mode))
		return NULL;
	if (!fs_exists(full))
		return fs_remove(full);
	TRY(fs_readlink(&tmp, full, &target));
	struct str path = path_join(&tmp, S("opt/rocm"), e->path);
	record_add(v->made, &(struct sdk_record){.type = 'l', .path = path, .value = target});
	return NULL;
}

struct err *opt_rocm_make(
	struct arena *a, struct str dir, const struct sdk_manifest *m, struct buf *made)
{
	MAP(done, a);
	struct str root = path_join(a, dir, S("root"));
	struct visit v = {.view = path_join(a, root, S("opt/rocm")), .made = made};
	static const char *const always[] = {"include", "lib/cmake", "bin", "share"};
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		TRY(fs_mkdirs(path_join(a, v.view, str_from(always[i]))));
	VEC_EACH (struct sdk_package, p, &m->packages) {
		struct str text;
		if (!know_rocm_package(p->name))
			continue;
		struct str path = str_fmt(a, "%.*s/records/%.*s", STR(dir), STR(p->name));
		TRY(fs_read(a, path, MAX_RECORD, &text));
		TRY(link_record(a, root, text, &done));
	}
	TRY(link_llvm(a, root));
	return fs_walk(v.view, record_link, &v);
}
