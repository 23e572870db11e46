/* Makes our own additions to a tree of packages, above all the view /opt/rocm: links to ROCm's files, which the tree
 * keeps beside all others; see sdk.h. The links are relative, so that they have the same targets inside and outside
 * the sandbox. A package may have put a link, perhaps out of the tree, where we expect a folder, so the root is
 * guarded (base/fs.h) while we write. */
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/map.h"
#include "know/know.h"
#include "sdk/provider.h"

static struct err *blame_packages(struct err *e, struct str path)
{
	if (!e || e->code == E_NOSPACE || e->code == E_DRY_RUN)
		return e;
	e = err_wrap(e, "packages leave no place for '%.*s'", STR(path));
	e->code = E_ARCHIVE;
	return e;
}

/* A folder reached through a link does not count, hence the guard. */
struct err *tree_folder(struct arena *a, struct str root, struct str path)
{
	CLEANUP(fs_unguardp) struct fs_tree *real = NULL;
	struct str full = path_join(a, root, path);
	struct err *e = fs_mkdirs(full);
	return blame_packages(e ? e : fs_guard(full, &real), path);
}

struct err *tree_link(struct arena *a, struct str root, struct str path, struct str target)
{
	struct str full = path_join(a, root, path), old = {0};
	struct err *e = fs_mkdirs(path_dir(full));
	if (!e && fs_is_link(full))
		e = fs_readlink(a, full, &old);
	else if (!e && fs_present(full))
		e = fs_remove(full);
	if (!e && !str_eq(old, target))
		e = fs_symlink(target, full);
	return blame_packages(e, path);
}

struct err *tree_file(struct arena *a, struct str root, struct str path, struct str text)
{
	struct str full = path_join(a, root, path);
	struct err *e = fs_mkdirs(path_dir(full));
	if (!e && fs_is_link(full))
		e = fs_remove(full);
	return blame_packages(e ? e : fs_write(full, text, 0644 | FS_IF_CHANGED), path);
}

/* ---- /opt/rocm ---- */
static struct err *link_to(struct arena *a, struct str root, struct str target, struct str link)
{
	struct str want =
		path_rel(a, path_join(a, S("/"), target), path_join(a, S("/"), path_dir(link)));
	return tree_link(a, root, link, want);
}

/* Links the entry of a group that each file belongs to: "usr/include/hip" for "usr/include/hip/x.h". */
static struct err *link_files(struct arena *a, struct str root, struct str text, struct map *done)
{
	struct sdk_file r;
	bool bad;
	while (file_list_next(&text, &r, &bad)) {
		struct str target = {0}, to = {0};
		/* the longest group wins; it is the last match, since outer groups come first */
		TABLE_EACH (view_group, g) {
			struct str from = str_from(g->from);
			if (!str_starts(r.path, from))
				continue;
			struct str rest = str_sub(r.path, from.n, r.path.n);
			target = str_sub(r.path, 0, from.n + str_chr(rest, '/'));
			to = str_from(g->to);
		}
		/* "cmake" is a group itself */
		if (!to.n || !map_put(done, target, done) || str_eq(path_base(target), S("cmake")))
			continue;
		TRY(link_to(a, root, target, path_join(a, to, path_base(target))));
	}
	return NULL;
}

/* Links the LLVM that hipcc uses: the newest usr/lib/llvm-N that has device libraries. */
static struct err *link_llvm(struct arena *a, struct str root)
{
	for (unsigned n = NEWEST_LLVM; n > 0; n--) {
		struct str llvm = str_fmt(a, "usr/lib/llvm-%u", n);
		struct str amdgcn = str_fmt(a, "%.*s/lib/clang/%u/amdgcn", STR(llvm), n);
		if (!fs_is_dir(str_fmt(a, "%.*s/%.*s/bitcode", STR(root), STR(amdgcn))))
			continue;
		TRY(link_to(a, root, llvm, S("opt/rocm/llvm")));
		return link_to(a, root, amdgcn, S("opt/rocm/amdgcn"));
	}
	return NULL;
}

struct view_links {
	struct str view;
	struct buf *made;
};

/* Lists a link, or removes it when its target went away with an older package. */
static struct err *list_link(void *user, struct fs_entry *e)
{
	struct view_links *v = user;
	ARENA(tmp);
	struct str full = path_join(&tmp, v->view, e->path), target;
	if (!S_ISLNK(e->st.st_mode))
		return NULL;
	if (!fs_exists(full))
		return fs_remove(full);
	TRY(fs_readlink(&tmp, full, &target));
	struct str path = path_join(&tmp, S("opt/rocm"), e->path);
	file_list_add(v->made, &(struct sdk_file){.type = 'l', .path = path, .value = target});
	return NULL;
}

struct err *opt_rocm_make(
	struct arena *a, struct str dir, const struct sdk_receipt *m, struct buf *made)
{
	MAP(done, a);
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct str root = path_join(a, dir, S("root"));
	TRY(fs_guard(root, &guard));
	struct view_links v = {.view = path_join(a, root, S("opt/rocm")), .made = made};
	static const char *const always[] = {
		"opt/rocm/include", "opt/rocm/lib/cmake", "opt/rocm/bin", "opt/rocm/share"};
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		TRY(tree_folder(a, root, str_from(always[i])));
	VEC_EACH (struct sdk_package, p, &m->packages) {
		struct str text;
		if (!know_rocm_package(p->name))
			continue;
		TRY(fs_read(a, file_list_path(a, dir, p->name), FILE_LIST_MAX, &text));
		TRY(link_files(a, root, text, &done));
	}
	TRY(link_llvm(a, root));
	return fs_walk(v.view, list_link, &v);
}
