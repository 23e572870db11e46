/* Writes a file so that a reader sees the old or the new content; see fs.h.
 *
 * The new file is an O_TMPFILE, which has no name and dies with the process, until the commit links
 * it into its folder. On a file system without O_TMPFILE it has a random name from the start. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/fs_int.h"
#include "base/map.h"

#define TEMP ".rocsmith.tmp-"

struct str fs_temp_name(struct arena *a, struct str path)
{
	return str_fmt(a, "%.*s/" TEMP "%016llx", STR(path_dir(path)),
		(unsigned long long)str_hash(path_base(path)));
}

bool fs_is_temp_name(struct str name)
{
	return str_starts(name, S(TEMP));
}

/* A unique name; the pid alone is not enough, since processes in other containers may have the same one. */
static char *own_name(void)
{
	static atomic_uint serial;
	ARENA(a);
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	struct str name = str_fmt(&a, TEMP "%d-%u-%lx", (int)getpid(), atomic_fetch_add(&serial, 1),
		(unsigned long)t.tv_nsec);
	char *p = xmalloc(name.n + 1);
	return memcpy(p, name.p, name.n + 1);
}

/* A device or a pipe is never replaced. */
struct err *fs_may_replace(struct str path)
{
	struct stat st;
	if (fs_try_lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode) &&
		!S_ISDIR(st.st_mode))
		return err_new(E_IO, "'%.*s' exists and is not a file", STR(path));
	return NULL;
}

struct err *fs_out_open(struct fs_out *o, struct str path, unsigned mode)
{
	FS_AT(at);
	*o = (struct fs_out){.fd = -1, .dir = -1, .loose = mode & FS_LOOSE};
	TRY(fs_reach(path, &at));
	TRY(fs_may_replace(path));
	o->path = xmalloc(path.n + 1);
	memcpy(o->path, path.p, path.n);
	o->path[path.n] = 0;
	o->name = o->path + (path.n - path_base(path).n);
	const char *dir = at.dir == AT_FDCWD ? str_z(&at.a, path_dir(path)) : ".";
	o->dir = openat(at.dir, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool proc = o->dir >= 0 && fs_is_dir(S("/proc/self/fd")); /* the commit needs it */
	if (proc)
		o->fd = openat(o->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode & 0777);
	/* a kernel or file system without O_TMPFILE answers with one of these */
	bool lacks = !proc || errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
	if (o->dir >= 0 && o->fd < 0 && lacks) {
		const int flags = O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC;
		char *tmp = own_name();
		o->fd = openat(o->dir, tmp, flags, mode & 0777);
		if (o->fd >= 0)
			o->tmp = tmp;
		else
			free(tmp);
	}
	if (o->fd >= 0 &&
		(mode & FS_EXACT ? fchmod(o->fd, mode & 0777) : fs_lend(o->fd, path, mode)) == 0)
		return NULL;
	struct err *e = err_errno("cannot create '%.*s'", STR(path));
	fs_out_abandon(o);
	return e;
}

int fs_write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t put = write(fd, p, n);
		if (put < 0 && errno != EINTR)
			return -1;
		p += put > 0 ? put : 0;
		n -= put > 0 ? (size_t)put : 0;
	}
	return 0;
}

/* Starts writeback early, so that the commit waits less. */
void fs_out_write(struct fs_out *o, const void *p, size_t n)
{
	enum { STEP = 8 << 20 };
	uint64_t begun = o->offset / STEP * STEP;
	if (!o->first && fs_write_all(o->fd, p, n) < 0)
		o->first = err_errno("cannot write '%s'", o->path);
	o->offset += n;
	if (o->offset - begun >= STEP)
		(void)sync_file_range(
			o->fd, (off_t)begun, (off_t)(o->offset - begun), SYNC_FILE_RANGE_WRITE);
}

struct err *fs_pwrite(int fd, const void *p, size_t n, uint64_t offset)
{
	for (const char *at = p; n;) {
		ssize_t put = pwrite(fd, at, n, (off_t)offset);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return err_errno("write failed at offset %llu", (unsigned long long)offset);
		at += put;
		n -= (size_t)put;
		offset += (uint64_t)put;
	}
	return NULL;
}

void fs_out_zeros(struct fs_out *o, uint64_t to)
{
	static const char none[4096];
	while (o->offset < to && !o->first)
		fs_out_write(o, none,
			to - o->offset < sizeof(none) ? (size_t)(to - o->offset) : sizeof(none));
}

void fs_out_cut(struct fs_out *o, uint64_t offset)
{
	if (!o->first &&
		(ftruncate(o->fd, (off_t)offset) < 0 || lseek(o->fd, (off_t)offset, SEEK_SET) < 0))
		o->first = err_errno("cannot write '%s'", o->path);
	o->offset = offset;
}

static int link_at(const struct fs_out *o, const char *name)
{
	ARENA(a);
	struct str self = str_fmt(&a, "/proc/self/fd/%d", o->fd);
	return linkat(AT_FDCWD, self.p, o->dir, name, AT_SYMLINK_FOLLOW);
}

/* Replaces the old file by way of a name beside it. */
static int replace_by(const struct fs_out *o, const char *beside)
{
	int r = link_at(o, beside), no;
	if (r < 0)
		return r;
	r = renameat(o->dir, beside, o->dir, o->name);
	no = errno;
	if (r < 0)
		(void)unlinkat(o->dir, beside, 0);
	errno = no;
	return r;
}

/* Removes a file that a killed process left at the temporary name. A living process holds a lock on its file. */
static void drop_stale(int dir, const char *beside)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	CLEANUP(fd_closep) int fd = openat(dir, beside, flags);
	struct stat mine, there;
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	if (fstat(fd, &mine) == 0 && fstatat(dir, beside, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
		mine.st_ino == there.st_ino)
		(void)unlinkat(dir, beside, 0);
}

/* Links the file to its name if that is free, else replaces the old file. If another process is replacing the same path
 * at this moment, we use a unique temporary name; the last rename wins. */
static int name_it(const struct fs_out *o)
{
	ARENA(a);
	struct str beside = path_base(fs_temp_name(&a, str_from(o->path)));
	int r = link_at(o, o->name);
	if (r == 0 || errno != EEXIST)
		return r;
	(void)flock(o->fd, LOCK_EX | LOCK_NB);
	drop_stale(o->dir, beside.p);
	r = replace_by(o, beside.p);
	if (r == 0 || errno != EEXIST)
		return r;
	char *own = own_name();
	r = replace_by(o, own);
	free(own);
	return r;
}

struct err *fs_out_error(struct fs_out *o)
{
	struct err *e = o->first;
	o->first = NULL;
	return e;
}

struct err *fs_out_commit(struct fs_out *o)
{
	struct err *e = fs_out_error(o);
	if (!e && !o->loose && fsync(o->fd) < 0)
		e = err_errno("cannot sync '%s'", o->path);
	if (!e && (o->tmp ? renameat(o->dir, o->tmp, o->dir, o->name) : name_it(o)) < 0)
		e = err_errno("cannot put the new '%s' in its place", o->path);
	if (!e) {
		free(o->tmp);
		o->tmp = NULL;
		if (!o->loose && fsync(o->dir) < 0 && errno != EINVAL)
			e = err_errno("cannot sync the folder of '%s'", o->path);
	}
	fs_out_abandon(o);
	return e;
}

void fs_out_abandon(struct fs_out *o)
{
	fd_closep(&o->fd);
	if (o->tmp)
		unlinkat(o->dir, o->tmp, 0);
	fd_closep(&o->dir);
	err_freep(&o->first);
	free(o->tmp);
	free(o->path);
	*o = (struct fs_out){.fd = -1, .dir = -1};
}

/* Removes a file of that name first: a killed run may have left it, it may have a second name, or it may be a pipe
 * without a reader. */
struct err *fs_create_loose(struct str path, unsigned mode, int *ret_fd)
{
	FS_AT(at);
	TRY(fs_reach(path, &at));
	const int flags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
	*ret_fd = openat(at.dir, at.name, flags, mode & 0777);
	if (*ret_fd < 0 && errno == EEXIST && !fs_is_link(path) &&
		unlinkat(at.dir, at.name, 0) == 0)
		*ret_fd = openat(at.dir, at.name, flags, mode & 0777);
	return *ret_fd < 0 || fs_lend(*ret_fd, path, mode) < 0
		       ? err_errno("cannot create '%.*s'", STR(path))
		       : NULL;
}

struct err *fs_write(struct str path, struct str content, unsigned mode)
{
	ARENA(tmp);
	CLEANUP(fd_closep) int fd = -1;
	struct str old;
	struct stat st;
	if (mode & FS_LOOSE) {
		TRY(fs_create_loose(path, mode & ~(unsigned)FS_LOOSE ? mode : 0666, &fd));
		if (fs_write_all(fd, content.p, content.n) < 0 ||
			(mode & FS_EXACT && fchmod(fd, mode & 0777) < 0))
			return err_errno("cannot write '%.*s'", STR(path));
		return NULL;
	}
	if (mode & FS_THROUGH && fs_try_lstat(path, &st) && !S_ISREG(st.st_mode) &&
		!S_ISDIR(st.st_mode)) {
		const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC;
		TRY(fs_may_write(path));
		fd = open(str_z(&tmp, path), flags, mode & 0777);
		if (fd < 0 || fs_write_all(fd, content.p, content.n) < 0)
			return err_errno("cannot write '%.*s'", STR(path));
		return NULL;
	}
	if (mode & FS_IF_CHANGED && fs_try_stat(path, &st) && (size_t)st.st_size == content.n) {
		TRY(fs_read(&tmp, path, content.n, &old));
		if (str_eq(old, content))
			return NULL;
	}
	CLEANUP(fs_out_abandon) struct fs_out o;
	TRY(fs_out_open(&o, path, mode));
	fs_out_write(&o, content.p, content.n);
	return fs_out_commit(&o);
}
