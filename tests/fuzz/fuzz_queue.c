/* A queue of patches for a tree: .gitmodules, series, a file of the tree and a patch, with NULs between them. An error, or
 * changes of files that lie in the tree. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "recipe/queue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void put(struct arena *a, struct str dir, const char *name, struct str text)
{
	struct str path = path_join(a, dir, str_from(name));
	struct err *e = fs_mkdirs(path_dir(path));
	e = e ? e : fs_write(path, text, 0644);
	check(!e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	MAP(texts, &a);
	const char *tmp = getenv("TMPDIR");
	struct str dir = str_fmt(&a, "%s/fuzz-queue-%d", tmp ? tmp : "/tmp", (int)getpid());
	struct str rest = {.p = (const char *)data, .n = size}, modules, series, old;
	struct queue q = {.tree = path_join(&a, dir, S("tree")),
		.dir = path_join(&a, dir, S("queue")),
		.texts = &texts};
	struct view view = {.root = q.tree, .over = &texts};
	struct change_set set = {0};
	(void)str_cut(rest, 0, &modules, &rest);
	(void)str_cut(rest, 0, &series, &rest);
	(void)str_cut(rest, 0, &old, &rest);
	put(&a, dir, "tree/version.txt", S("1.0"));
	put(&a, dir, "tree/.gitmodules", modules);
	put(&a, dir, "tree/a", old);
	put(&a, dir, "queue/1.0/tree/base/0001-x.patch", rest);
	if (series.n)
		put(&a, dir, "queue/1.0/tree/base/series", series);
	struct err *e = queue_open(&a, &q);
	e = e ? e : queue_changes(&a, &q, false, &view, &set);
	check(!e || e->code != E_INTERNAL);
	VEC_EACH (const struct change, c, &set)
		check(path_is_inside(c->output) && c->text.p);
	err_free(e);
	err_free(fs_remove_tree(dir));
	return 0;
}
