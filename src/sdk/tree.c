/* What we put into a tree of packages ourselves, in the place of what is there. A package may bring a link
 * in the place of any folder of ours: the root is guarded (base/fs.h), since that may lead out of the tree. */
#include "base/fs.h"
#include "sdk/provider.h"

static struct err *blame(struct err *e, struct str path)
{
	if (!e || e->code == E_NOSPACE || e->code == E_DRY_RUN)
		return e;
	e = err_wrap(e, "packages leave no place for '%.*s'", STR(path));
	e->code = E_ARCHIVE;
	return e;
}

static struct err *put_link(struct arena *a, struct str full, struct str target)
{
	struct str old = {0};
	TRY(fs_mkdirs(path_dir(full)));
	if (fs_is_link(full))
		TRY(fs_readlink(a, full, &old));
	else if (fs_present(full))
		TRY(fs_remove(full));
	return str_eq(old, target) ? NULL : fs_symlink(target, full);
}

static struct err *put_file(struct str full, struct str text)
{
	TRY(fs_mkdirs(path_dir(full)));
	if (fs_is_link(full))
		TRY(fs_remove(full));
	return fs_write(full, text, 0644 | FS_IF_CHANGED);
}

struct err *tree_folder(struct arena *a, struct str root, struct str path)
{
	CLEANUP(fs_unguardp) struct fs_tree *real = NULL; /* what lies behind a link is none */
	struct str full = path_join(a, root, path);
	struct err *e = fs_mkdirs(full);
	return blame(e ? e : fs_guard(full, &real), path);
}

struct err *tree_link(struct arena *a, struct str root, struct str path, struct str target)
{
	return blame(put_link(a, path_join(a, root, path), target), path);
}

struct err *tree_file(struct arena *a, struct str root, struct str path, struct str text)
{
	return blame(put_file(path_join(a, root, path), text), path);
}
