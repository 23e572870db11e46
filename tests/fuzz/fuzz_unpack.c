/* An archive of any content into a closed tree: it succeeds or is an error, nothing appears outside of
 * the tree, and no link in it leads out. */
#include <stdlib.h>

#include "archive/unpack.h"
#include "base/fs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static struct err *look(void *user, struct fs_entry *e)
{
	ARENA(a);
	const struct str *root = user;
	struct str real;
	check(S_ISREG(e->st.st_mode) || S_ISDIR(e->st.st_mode) || S_ISLNK(e->st.st_mode));
	check(!(e->st.st_mode & 07022) || S_ISLNK(e->st.st_mode));
	if (S_ISLNK(e->st.st_mode) && fs_real(&a, path_join(&a, *root, e->path), &real))
		check(str_starts(real, *root));
	return NULL;
}

static void unpack(struct arena *a, struct str dir, struct str content)
{
	struct str real, path = path_join(a, dir, S("x"));
	struct strs beside;
	check(fs_real(a, dir, &real));
	struct unpack_job u = {.path = path,
		.root = path_join(a, real, S("in/root")),
		.id = S("x"),
		.closed = true};
	err_free(fs_mkdirs(u.root));
	err_free(fs_write(path, content, 0644));
	err_free(str_starts(content, S("PK")) ? unpack_zip(a, &u) : unpack_tar(a, &u));
	struct err *e = fs_list(a, path_join(a, dir, S("in")), &beside);
	check(!e && beside.n == 1);
	e = fs_walk(u.root, look, &u.root);
	check(!e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str dir;
	struct err *e = fs_tempdir(&a, S(""), &dir);
	check(!e);
	unpack(&a, dir, (struct str){.p = (const char *)data, .n = size});
	e = fs_remove_tree(dir);
	check(!e);
	return 0;
}
