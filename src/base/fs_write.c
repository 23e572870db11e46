/* Changing folders and names, and locks; see fs.h. The contents of files are in fs_out.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fs_int.h"

struct err *fs_sync_all(struct str path)
{
	CLEANUP(fd_closep) int fd = -1;
	TRY(fs_open(path, &fd));
	if (syncfs(fd) < 0)
		return err_errno("cannot sync the file system of '%.*s'", STR(path));
	return NULL;
}

struct err *fs_mkdirs(struct str path)
{
	if (fs_is_dir(path))
		return NULL;
	TRY(fs_may_write(path));
	ARENA(tmp);
	char *z = str_z(&tmp, path);
	if (mkdir(z, 0777) == 0)
		return NULL;
	bool deep = errno == ENOENT;
	for (char *p = z + 1; *p && deep; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		if (mkdir(z, 0777) < 0 && errno != EEXIST)
			return err_errno("cannot create the folder '%s'", z);
		*p = '/';
	}
	if (mkdir(z, 0777) < 0 && (errno != EEXIST || !fs_is_dir(path)))
		return err_errno("cannot create the folder '%s'", z);
	return NULL;
}

struct err *fs_rename(struct str from, struct str to)
{
	TRY(fs_may_write(to));
	ARENA(tmp);
	if (rename(str_z(&tmp, from), str_z(&tmp, to)) < 0)
		return err_errno("cannot rename '%.*s' to '%.*s'", STR(from), STR(to));
	return fs_sync_dir(path_dir(to));
}

struct err *fs_exchange(struct str one, struct str other)
{
	TRY(fs_may_write(one));
	TRY(fs_may_write(other));
	ARENA(tmp);
	if (renameat2(AT_FDCWD, str_z(&tmp, one), AT_FDCWD, str_z(&tmp, other), RENAME_EXCHANGE) <
		0)
		return err_errno("cannot exchange '%.*s' and '%.*s'", STR(one), STR(other));
	return NULL;
}

struct err *fs_append(struct str path, struct str line)
{
	ARENA(tmp);
	TRY(fs_may_write(path));
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
	CLEANUP(fd_closep) int fd = open(str_z(&tmp, path), flags, 0644);
	if (fd < 0)
		return err_errno("cannot open '%.*s'", STR(path));
	ssize_t put = write(fd, line.p, line.n);
	if (put >= 0 && (size_t)put < line.n)
		errno = ENOSPC;
	return put < 0 || (size_t)put < line.n ? err_errno("cannot add to '%.*s'", STR(path))
					       : NULL;
}

struct err *fs_open_shared(struct str path, size_t size, int *ret_fd)
{
	ARENA(tmp);
	TRY(fs_may_write(path));
	CLEANUP(fd_closep) int fd = open(str_z(&tmp, path), O_RDWR | O_CREAT, 0644);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno("cannot open '%.*s'", STR(path));
	if ((size_t)st.st_size < size && ftruncate(fd, (off_t)size) < 0)
		return err_errno("cannot make room in '%.*s'", STR(path));
	*ret_fd = fd;
	fd = -1;
	return NULL;
}

bool fs_try_touch(int fd, struct stat *ret)
{
	char first;
	return pread(fd, &first, 1, 0) == 1 && pwrite(fd, &first, 1, 0) == 1 && fstat(fd, ret) == 0;
}

struct err *fs_link(struct str from, struct str to)
{
	TRY(fs_may_write(to));
	ARENA(tmp);
	if (link(str_z(&tmp, from), str_z(&tmp, to)) < 0)
		return err_errno("cannot link '%.*s' to '%.*s'", STR(from), STR(to));
	return NULL;
}

bool fs_try_chown(struct str path, unsigned uid, unsigned gid)
{
	ARENA(tmp);
	struct err *e = fs_may_write(path);
	errno = EPERM;
	bool good = !e && chown(str_z(&tmp, path), uid, gid) == 0;
	int no = errno;
	err_free(e);
	arena_free(&tmp);
	errno = no;
	return good;
}

struct err *fs_remove(struct str path)
{
	TRY(fs_may_write(path));
	ARENA(tmp);
	if (remove(str_z(&tmp, path)) < 0 && errno != ENOENT)
		return err_errno("cannot remove '%.*s'", STR(path));
	return NULL;
}

struct err *fs_remove_empty(struct str dir)
{
	TRY(fs_may_write(dir));
	ARENA(tmp);
	if (rmdir(str_z(&tmp, dir)) < 0 && errno != ENOENT && errno != ENOTEMPTY &&
		errno != EEXIST && errno != ENOTDIR)
		return err_errno("cannot remove the folder '%.*s'", STR(dir));
	return NULL;
}

struct err *fs_remove_tree(struct str path)
{
	TRY(fs_may_write(path));
	ARENA(a);
	struct stat st;
	if (!fs_try_lstat(path, &st))
		return errno == ENOENT ? NULL : err_errno("cannot look at '%.*s'", STR(path));
	if (!S_ISDIR(st.st_mode))
		return fs_remove(path);
	if ((st.st_mode & 0700) != 0700)
		(void)chmod(str_z(&a, path), st.st_mode | 0700);
	struct strs names;
	TRY(fs_list(&a, path, &names));
	for (size_t i = 0; i < names.n; i++)
		TRY(fs_remove_tree(path_join(&a, path, names.v[i])));
	return fs_remove(path);
}

/* The name on the way is always the same for a path, so that what a kill leaves is used up. */
struct err *fs_symlink(struct str target, struct str path)
{
	TRY(fs_may_write(path));
	ARENA(a);
	struct str tmp = fs_temp_name(&a, path);
	int r = symlink(str_z(&a, target), tmp.p);
	for (int tries = 0; r < 0 && errno == EEXIST && tries < 100; tries++) {
		(void)unlink(tmp.p);
		r = symlink(str_z(&a, target), tmp.p);
	}
	if (r == 0 && rename(tmp.p, str_z(&a, path)) == 0)
		return NULL;
	struct err *e = err_errno("cannot create the link '%.*s'", STR(path));
	if (r == 0)
		(void)unlink(tmp.p);
	return e;
}

static struct err *locked_by(struct str path, int fd)
{
	char who[64] = "";
	ssize_t n = pread(fd, who, sizeof(who) - 1, 0);
	who[n > 0 ? n : 0] = 0;
	struct err *e = err_new(
		E_LOCKED, "'%.*s' is locked by process %s", STR(path), *who ? who : "(unknown)");
	return err_hint(e, "wait for it to end, or stop it");
}

/* Whether the name still stands for the open file: its holder may have removed it meanwhile. */
static bool is_named(int fd, const char *path)
{
	struct stat mine, there;
	return fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino &&
	       mine.st_dev == there.st_dev;
}

static struct err *lock(const char *path, int flags, int how, int *ret_fd)
{
	for (;;) {
		CLEANUP(fd_closep) int fd = open(path, flags | O_CLOEXEC, 0666);
		if (fd < 0)
			return err_errno("cannot open the lock '%s'", path);
		int r;
		while ((r = flock(fd, how)) < 0 && errno == EINTR)
			;
		if (r < 0 && errno == EWOULDBLOCK)
			return locked_by(str_from(path), fd);
		if (r < 0)
			return err_errno("cannot lock '%s'", path);
		if (!is_named(fd, path))
			continue;
		*ret_fd = fd;
		fd = -1;
		return NULL;
	}
}

struct err *fs_lock(struct str path, bool wait, int *ret_fd)
{
	TRY(fs_may_write(path));
	ARENA(tmp);
	TRY(lock(str_z(&tmp, path), O_RDWR | O_CREAT, LOCK_EX | (wait ? 0 : LOCK_NB), ret_fd));
	/* Who holds it is told where there is room; on a full disk the lock works all the same. */
	struct str me = str_fmt(&tmp, "%d", (int)getpid());
	ssize_t told = ftruncate(*ret_fd, 0) == 0 ? pwrite(*ret_fd, me.p, me.n, 0) : 0;
	(void)told;
	return NULL;
}

struct err *fs_lock_shared(struct str path, bool wait, int *ret_fd)
{
	ARENA(tmp);
	return lock(str_z(&tmp, path), O_RDONLY, LOCK_SH | (wait ? 0 : LOCK_NB), ret_fd);
}
