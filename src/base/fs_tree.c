/* Guards for trees of strangers, in which nothing is changed through a link; see fs.h. All such paths are resolved
 * here; archive/unpack uses this file, too. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fs_int.h"

struct fs_tree {
	struct fs_tree *next;
	int fd;
	size_t n;
	char path[];
};

static struct fs_tree *trees;
static pthread_mutex_t trees_lock = PTHREAD_MUTEX_INITIALIZER;

int fs_open_steps(int root, const char *path)
{
	ARENA(tmp);
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int at = fcntl(root, F_DUPFD_CLOEXEC, 0), no = errno;
	struct str piece, rest = str_from(path);
	char none;
	while (at >= 0 && str_next(&rest, '/', &piece)) {
		if (!piece.n || str_eq(piece, S(".")))
			continue;
		const char *name = str_z(&tmp, piece);
		bool up = str_eq(piece, S(".."));
		int next = up ? -1 : openat(at, name, flags);
		no = up ? EXDEV : errno;
		if (next < 0 && no == ENOTDIR && readlinkat(at, name, &none, 1) >= 0)
			no = ELOOP;
		close(at);
		at = next;
	}
	arena_free(&tmp);
	errno = no;
	return at;
}

int fs_open_inside(int root, const char *path, uint64_t resolve)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = resolve};
	long fd = syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return fs_open_steps(root, path);
	return (int)fd;
}

/* The fd of the innermost guarded folder above path (-1 = none), and the path relative to it. */
static int guard_of(struct arena *a, struct str path, struct str *ret_rel)
{
	int fd = -1;
	size_t most = 0;
	pthread_mutex_lock(&trees_lock);
	if (trees && (!path.n || path.p[0] != '/'))
		path = path_abs(a, path);
	for (const struct fs_tree *t = trees; t; t = t->next) {
		if (t->n < most || path.n <= t->n + 1 || path.p[t->n] != '/' ||
			memcmp(path.p, t->path, t->n) != 0)
			continue;
		most = t->n;
		fd = t->fd;
	}
	pthread_mutex_unlock(&trees_lock);
	*ret_rel = str_sub(path, most + 1, path.n);
	return fd;
}

static struct err *behind_link(struct str path)
{
	return err_new(
		E_PERM, "'%.*s' lies behind a link, and links are not followed there", STR(path));
}

static struct err *reach(struct str path, bool ours, struct fs_at *ret)
{
	struct str rel;
	int root = guard_of(&ret->a, path, &rel);
	ret->dir = AT_FDCWD;
	ret->name = str_z(&ret->a, path);
	if (root < 0 || !(ours || (str_starts(rel, S(".rocsmith")) && str_chr(rel, '/') < rel.n)))
		return NULL;
	while (str_ends(rel, S("/")))
		rel.n--;
	ret->name = str_z(&ret->a, path_base(rel));
	ret->dir = fs_open_inside(root, str_z(&ret->a, path_dir(rel)),
		RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (ret->dir >= 0)
		return NULL;
	return errno == ELOOP || errno == EXDEV ? behind_link(path)
						: err_errno("cannot reach '%.*s'", STR(path));
}

struct err *fs_reach(struct str path, struct fs_at *ret)
{
	TRY(fs_may_write(path));
	return reach(path, true, ret);
}

struct err *fs_reach_to_read(struct str path, struct fs_at *ret)
{
	return reach(path, false, ret);
}

void fs_at_done(struct fs_at *at)
{
	int no = errno; /* keep errno of the owner's last call */
	if (at->dir >= 0)
		close(at->dir);
	arena_free(&at->a);
	errno = no;
}

struct err *fs_guard(struct str dir, struct fs_tree **ret)
{
	FS_AT(at);
	char none;
	struct str path = path_abs(&at.a, dir);
	*ret = NULL;
	TRY(reach(path, true, &at));
	const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC | (at.dir < 0 ? 0 : O_NOFOLLOW);
	int fd = openat(at.dir, at.name, flags);
	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0)
		return at.dir >= 0 && readlinkat(at.dir, at.name, &none, 1) >= 0
			       ? behind_link(path)
			       : err_errno("cannot use the folder '%.*s'", STR(dir));
	size_t n = path.n == 1 ? 0 : path.n;
	struct fs_tree *t = xmalloc(sizeof(*t) + n);
	*t = (struct fs_tree){.fd = fd, .n = n};
	memcpy(t->path, path.p, n);
	pthread_mutex_lock(&trees_lock);
	t->next = trees;
	trees = *ret = t;
	pthread_mutex_unlock(&trees_lock);
	return NULL;
}

void fs_unguardp(struct fs_tree **t)
{
	struct fs_tree **at = &trees;
	pthread_mutex_lock(&trees_lock);
	while (*t && *at != *t)
		at = &(*at)->next;
	if (*t)
		*at = (*t)->next;
	pthread_mutex_unlock(&trees_lock);
	if (*t)
		close((*t)->fd);
	free(*t);
	*t = NULL;
}
