/* Dry runs, which may change only scratch files and folders, since these are not results; see fs.h. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs_int.h"

static bool forbidden;

/* The folders made by fs_tempdir(). */
static struct scratch {
	struct scratch *next;
	size_t n;
	char path[];
} * scratch;
static pthread_mutex_t scratch_lock = PTHREAD_MUTEX_INITIALIZER;

void fs_forbid_writes(void)
{
	forbidden = true;
}

bool fs_writes_forbidden(void)
{
	return forbidden;
}

static bool is_scratch(struct str path)
{
	ARENA(tmp);
	struct str abs = path_abs(&tmp, path);
	bool below = false;
	pthread_mutex_lock(&scratch_lock);
	for (const struct scratch *s = scratch; s && !below; s = s->next)
		below = str_starts(abs, (struct str){.p = s->path, .n = s->n}) &&
			(abs.n == s->n || abs.p[s->n] == '/');
	pthread_mutex_unlock(&scratch_lock);
	return below;
}

/* The last line of defense of --dry-run, for commands that do not check fs_writes_forbidden(). */
struct err *fs_may_write(struct str path)
{
	if (forbidden && !is_scratch(path))
		return err_new(E_DRY_RUN, "refused to change '%.*s' in a dry run", STR(path));
	return NULL;
}

static struct str scratch_dir(void)
{
	const char *env = getenv("TMPDIR");
	return str_from(env && *env ? env : "/tmp");
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
		return err_errno("cannot create a folder in '%.*s'", STR(dir));
	*ret = (struct str){.p = z, .n = path.n};
	struct scratch *s = xmalloc(sizeof(*s) + path.n);
	s->n = path.n;
	memcpy(s->path, z, path.n);
	pthread_mutex_lock(&scratch_lock);
	s->next = scratch;
	scratch = s;
	pthread_mutex_unlock(&scratch_lock);
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
