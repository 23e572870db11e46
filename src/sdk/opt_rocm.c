/* Making /opt/rocm inside a tree that has ROCm among all else: links to ROCm's own files; see
 * sdk.h. Links are relative, so that the view is the same seen from the sandbox and from outside.
 */
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/map.h"
#include "know/know.h"
#include "sdk/provider.h"

/* Entries directly below these folders are linked one by one. */
static const struct {
	const char *from, *to;
} groups[] = {
	{"usr/include/", "opt/rocm/include/"},
	{"usr/include/x86_64-linux-gnu/", "opt/rocm/include/"},
	{"usr/lib/x86_64-linux-gnu/", "opt/rocm/lib/"},
	{"usr/lib/x86_64-linux-gnu/cmake/", "opt/rocm/lib/cmake/"},
	{"usr/lib/cmake/", "opt/rocm/lib/cmake/"},
	{"usr/share/cmake/", "opt/rocm/lib/cmake/"},
	{"usr/share/hip/", "opt/rocm/share/hip/"},
	{"usr/bin/", "opt/rocm/bin/"},
};

static struct err *link_to(struct arena *a, struct str root, struct str target, struct str link)
{
	struct str want =
		path_rel(a, path_join(a, S("/"), target), path_join(a, S("/"), path_dir(link)));
	return tree_link(a, root, link, want);
}

/* What a file belongs to is linked: for "usr/include/hip/x.h" that is "usr/include/hip". */
static struct err *link_record(struct arena *a, struct str root, struct str text, struct map *done)
{
	struct sdk_record r;
	bool bad;
	while (record_next(&text, &r, &bad)) {
		struct str target = {0}, to = {0};
		/* the longest group wins: they are listed outer first */
		for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
			struct str from = str_from(groups[i].from);
			if (!str_starts(r.path, from))
				continue;
			struct str rest = str_sub(r.path, from.n, r.path.n);
			target = str_sub(r.path, 0, from.n + str_chr(rest, '/'));
			to = str_from(groups[i].to);
		}
		/* a folder that is a group itself is not linked */
		if (!to.n || !map_put(done, target, done) || str_eq(path_base(target), S("cmake")))
			continue;
		TRY(link_to(a, root, target, path_join(a, to, path_base(target))));
	}
	return NULL;
}

/* The LLVM in use, if there is one: the newest usr/lib/llvm-N that has device libraries. */
static struct err *link_llvm(struct arena *a, struct str root)
{
	struct strs names = {0};
	uint64_t best = 0, n;
	struct str lib = path_join(a, root, S("usr/lib")), llvm = {0}, amdgcn = {0};
	if (fs_is_dir(lib))
		TRY(fs_list(a, lib, &names));
	for (size_t i = 0; i < names.n; i++) {
		if (!str_starts(names.v[i], S("llvm-")) ||
			!str_u64(str_sub(names.v[i], 5, names.v[i].n), 10, &n) || n < best)
			continue;
		struct str inside = str_fmt(a, "usr/lib/%.*s/lib/clang/%llu/amdgcn",
			STR(names.v[i]), (unsigned long long)n);
		if (!fs_is_dir(path_join(a, path_join(a, root, inside), S("bitcode"))))
			continue;
		best = n;
		llvm = path_join(a, S("usr/lib"), names.v[i]);
		amdgcn = inside;
	}
	if (!llvm.n)
		return NULL;
	TRY(link_to(a, root, llvm, S("opt/rocm/llvm")));
	return link_to(a, root, amdgcn, S("opt/rocm/amdgcn"));
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
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct str root = path_join(a, dir, S("root"));
	TRY(fs_guard(root, &guard));
	struct visit v = {.view = path_join(a, root, S("opt/rocm")), .made = made};
	static const char *const always[] = {
		"opt/rocm/include", "opt/rocm/lib/cmake", "opt/rocm/bin", "opt/rocm/share"};
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		TRY(tree_folder(a, root, str_from(always[i])));
	VEC_EACH (struct sdk_package, p, &m->packages) {
		struct str text;
		if (!know_rocm_package(p->name))
			continue;
		TRY(fs_read(a, record_path(a, dir, p->name), RECORD_MAX, &text));
		TRY(link_record(a, root, text, &done));
	}
	TRY(link_llvm(a, root));
	return fs_walk(v.view, record_link, &v);
}
