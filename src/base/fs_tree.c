/* Decides where a change may go: in a dry run only into scratch folders, which are no results, and in a tree of strangers
 * nowhere through a link; see fs.h. All paths of guarded trees are resolved here; archive/unpack uses this file, too. */
#include <errno.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fs_int.h"

/* ---- dry runs and scratch folders ---- */

static bool forbidden;

/* The folders made by fs_tempdir(). */
static struct scratch_folder {
	struct scratch_folder *next;
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

/* The last line of defense of --dry-run, for commands that do not check fs_writes_forbidden(). */
struct err *fs_may_write(struct str path)
{
	ARENA(tmp);
	bool may = !forbidden;
	if (may)
		return NULL;
	struct str abs = path_abs(&tmp, path);
	pthread_mutex_lock(&scratch_lock);
	for (const struct scratch_folder *s = scratch; s && !may; s = s->next)
		may = path_is_below(abs, (struct str){.p = s->path, .n = s->n});
	pthread_mutex_unlock(&scratch_lock);
	return may ? NULL : err_new(E_DRY_RUN, "refused to change '%.*s' in a dry run", STR(path));
}

void fs_scratch_add(struct str path)
{
	struct scratch_folder *s = xmalloc(sizeof(*s) + path.n);
	s->n = path.n;
	memcpy(s->path, path.p, path.n);
	pthread_mutex_lock(&scratch_lock);
	s->next = scratch;
	scratch = s;
	pthread_mutex_unlock(&scratch_lock);
}

/* ---- guards ---- */

struct fs_tree {
	struct fs_tree *next;
	int fd;
	bool sources; /* guards reads, not changes */
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

/* The fd of the innermost guarded folder of a kind above path (-1 = none), the folder, and the path relative to it. */
static int guard_of(
	struct arena *a, struct str path, bool sources, struct str *ret_tree, struct str *ret_rel)
{
	int fd = -1;
	size_t most = 0;
	pthread_mutex_lock(&trees_lock);
	if (trees && (!path.n || path.p[0] != '/'))
		path = path_abs(a, path);
	for (const struct fs_tree *t = trees; t; t = t->next) {
		if (t->sources != sources || t->n < most || path.n <= t->n + 1 ||
			path.p[t->n] != '/' || memcmp(path.p, t->path, t->n) != 0)
			continue;
		most = t->n;
		fd = t->fd;
	}
	pthread_mutex_unlock(&trees_lock);
	*ret_tree = most ? str_sub(path, 0, most) : S("/");
	*ret_rel = str_sub(path, most + 1, path.n);
	return fd;
}

static struct err *behind_link(struct str path)
{
	return err_new(
		E_PERM, "'%.*s' lies behind a link, and links are not followed there", STR(path));
}

static bool is_ours(struct str rel)
{
	return str_starts(rel, S(".rocsmith")) && str_chr(rel, '/') < rel.n;
}

/* Opens the folder of rel below root without following links. */
static int open_folder(struct arena *a, int root, struct str *rel)
{
	while (str_ends(*rel, S("/")))
		rel->n--;
	return fs_open_inside(root, str_z(a, path_dir(*rel)),
		RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

/* A path that will be changed, or guarded. */
static struct err *reach(struct str path, struct fs_at *ret)
{
	struct str tree, rel;
	int root = guard_of(&ret->a, path, false, &tree, &rel);
	ret->dir = AT_FDCWD;
	ret->name = str_z(&ret->a, path);
	if (root < 0)
		return NULL;
	ret->dir = open_folder(&ret->a, root, &rel);
	ret->name = str_z(&ret->a, path_base(rel));
	if (ret->dir >= 0)
		return NULL;
	return errno == ELOOP || errno == EXDEV ? behind_link(path)
						: err_errno("cannot reach '%.*s'", STR(path));
}

struct err *fs_reach(struct str path, struct fs_at *ret)
{
	TRY(fs_may_write(path));
	return reach(path, ret);
}

bool fs_real(struct arena *a, struct str path, struct str *ret)
{
	char *real = realpath(str_z(a, path), NULL);
	if (real)
		*ret = str_dup(a, str_from(real));
	free(real);
	return real != NULL;
}

bool fs_leads_out(struct str path)
{
	ARENA(tmp);
	struct str tree, rel, real, top;
	return guard_of(&tmp, path, true, &tree, &rel) >= 0 && fs_real(&tmp, path, &real) &&
	       fs_real(&tmp, tree, &top) && !path_is_inside(path_rel(&tmp, real, top));
}

struct err *fs_reach_to_read(struct str path, struct fs_at *ret)
{
	struct str tree, rel, real, top;
	char none;
	int root = guard_of(&ret->a, path, false, &tree, &rel);
	bool ours = root >= 0 && is_ours(rel), link = false;
	ret->dir = AT_FDCWD;
	ret->name = str_z(&ret->a, path);
	if (!ours)
		root = guard_of(&ret->a, path, true, &tree, &rel);
	if (root < 0)
		return NULL;
	ours = is_ours(rel);
	/* the second time by the real path, which has no links unless somebody makes one now */
	for (bool again = false;; again = true) {
		ret->dir = open_folder(&ret->a, root, &rel);
		ret->name = str_z(&ret->a, path_base(rel));
		link = ret->dir < 0 && (errno == ELOOP || errno == EXDEV);
		if (ret->dir >= 0 && !ours)
			link = readlinkat(ret->dir, ret->name, &none, 1) >= 0;
		if (!link || ours || again)
			break;
		if (ret->dir >= 0)
			close(ret->dir);
		ret->dir = -1;
		if (!fs_real(&ret->a, path, &real) || !fs_real(&ret->a, tree, &top))
			return err_errno("cannot open '%.*s'", STR(path));
		rel = path_rel(&ret->a, real, top);
		if (!path_is_inside(rel))
			return err_hint(
				err_new(E_PERM,
					"'%.*s' is not read, since it leads out of '%.*s', to "
					"'%.*s'",
					STR(path), STR(tree), STR(real)),
				"put a copy of the file in its place, or name a folder that holds "
				"both");
	}
	if (link)
		return behind_link(path);
	return ret->dir < 0 ? err_errno("cannot open '%.*s'", STR(path)) : NULL;
}

void fs_at_done(struct fs_at *at)
{
	int no = errno; /* keep errno of the owner's last call */
	if (at->dir >= 0)
		close(at->dir);
	arena_free(&at->a);
	errno = no;
}

static struct err *guard(struct str dir, bool sources, struct fs_tree **ret)
{
	FS_AT(at);
	char none;
	struct str path = path_abs(&at.a, dir);
	*ret = NULL;
	TRY(reach(path, &at));
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
	*t = (struct fs_tree){.fd = fd, .sources = sources, .n = n};
	memcpy(t->path, path.p, n);
	pthread_mutex_lock(&trees_lock);
	t->next = trees;
	trees = *ret = t;
	pthread_mutex_unlock(&trees_lock);
	return NULL;
}

struct err *fs_guard(struct str dir, struct fs_tree **ret)
{
	return guard(dir, false, ret);
}

struct err *fs_guard_sources(struct str dir, struct fs_tree **ret)
{
	return guard(dir, true, ret);
}

bool fs_guards_itself(const struct fs_tree *t, struct str dir)
{
	ARENA(tmp);
	struct stat held, st;
	return t && fstat(t->fd, &held) == 0 && lstat(str_z(&tmp, dir), &st) == 0 &&
	       held.st_uid == geteuid() && held.st_ino == st.st_ino && held.st_dev == st.st_dev;
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
