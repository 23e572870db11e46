/* Makes scratch files and folders; see fs.h. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs_int.h"

static struct str scratch_dir(void)
{
	const char *env = getenv("TMPDIR");
	return str_from(env && *env ? env : "/tmp");
}

/* The failure to make something in a folder, which is often that of TMPDIR. */
static struct err *scratch_error(struct str dir)
{
	struct err *e = err_errno("cannot create a folder in '%.*s'", STR(dir));
	const char *env = getenv("TMPDIR");
	return env && str_eq(dir, str_from(env)) ? err_hint(e, "TMPDIR names it: name another one")
						 : e;
}

struct err *fs_tempdir(struct arena *a, struct str dir, struct str *ret)
{
	if (dir.n)
		TRY(fs_may_write(dir));
	else
		dir = scratch_dir();
	struct str path = str_fmt(a, "%.*s/rocsmith-XXXXXX", STR(path_abs(a, dir)));
	char *z = str_z(a, path);
	if (!mkdtemp(z))
		return scratch_error(dir);
	struct str made = {.p = z, .n = path.n};
	struct err *e = fs_check_way(made);
	if (e) {
		(void)rmdir(z);
		return err_hint(err_wrap(e, "cannot use '%.*s' for temporary files", STR(dir)),
			"export TMPDIR=\"$HOME\"");
	}
	fs_scratch_add(made);
	*ret = made;
	return NULL;
}

struct err *fs_tempfile(int *ret_fd)
{
	ARENA(tmp);
	*ret_fd = open(str_z(&tmp, scratch_dir()), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*ret_fd >= 0)
		return NULL;
	char name[] = "/tmp/rocsmith-XXXXXX"; /* this file system lacks O_TMPFILE */
	*ret_fd = mkostemp(name, O_CLOEXEC);
	if (*ret_fd < 0)
		return err_errno("cannot create a temporary file");
	unlink(name);
	return NULL;
}

void fs_tempdirp(struct str *dir)
{
	if (dir->n)
		err_free(fs_remove_tree(*dir));
}
