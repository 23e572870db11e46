/* Changes folders and names, and takes locks; see fs.h. fs_out.c writes the contents of files. */
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

static struct err *make_dir(struct str path, mode_t mode)
{
	FS_AT(at);
	TRY(fs_reach(path, &at));
	if (mkdirat(at.dir, at.name, mode) == 0 || (errno == EEXIST && fs_is_dir(path)))
		return NULL;
	return err_errno("cannot create the folder '%.*s'", STR(path));
}

static struct err *make_dirs(struct str path, mode_t mode)
{
	struct err *e = make_dir(path, mode);
	struct str parent = path_dir(path);
	/* the parent may be a folder by now, made by another thread */
	if (!e || e->code != E_NOENT || str_eq(parent, path) ||
		(fs_present(parent) && !fs_is_dir(parent)))
		return e;
	err_free(e);
	TRY(make_dirs(parent, mode));
	return make_dir(path, mode);
}

/* Folders in our own places are writable only by this user, whatever the umask. */
struct err *fs_mkdirs(struct str path)
{
	return fs_is_dir(path) ? NULL : make_dirs(path, fs_in_place(path) ? 0755 : 0777);
}

struct err *fs_rename(struct str from, struct str to)
{
	FS_AT(old);
	FS_AT(new);
	TRY(fs_may_replace(to));
	TRY(fs_reach(from, &old));
	TRY(fs_reach(to, &new));
	if (renameat(old.dir, old.name, new.dir, new.name) < 0)
		return err_errno("cannot rename '%.*s' to '%.*s'", STR(from), STR(to));
	return fs_sync_dir(path_dir(to));
}

struct err *fs_exchange(struct str one, struct str other)
{
	FS_AT(a);
	FS_AT(b);
	TRY(fs_reach(one, &a));
	TRY(fs_reach(other, &b));
	if (renameat2(a.dir, a.name, b.dir, b.name, RENAME_EXCHANGE) < 0)
		return err_errno("cannot exchange '%.*s' and '%.*s'", STR(one), STR(other));
	return NULL;
}

/* Opens a file of ours for a change in place. It must not be a link, nor a pipe, which could block. */
static struct err *open_own(struct str path, int flags, mode_t mode, int *ret_fd)
{
	FS_AT(at);
	struct stat st;
	TRY(flags & O_CREAT ? fs_reach(path, &at) : fs_reach_to_read(path, &at));
	flags |= O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	CLEANUP(fd_closep) int fd = openat(at.dir, at.name, flags, mode);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno("cannot open '%.*s'", STR(path));
	if (!S_ISREG(st.st_mode))
		return err_new(E_IO, "'%.*s' is not a regular file", STR(path));
	*ret_fd = fd;
	fd = -1;
	return NULL;
}

struct err *fs_append(struct str path, struct str line)
{
	CLEANUP(fd_closep) int fd = -1;
	TRY(open_own(path, O_WRONLY | O_CREAT | O_APPEND, 0644, &fd));
	ssize_t put = write(fd, line.p, line.n);
	if (put >= 0 && (size_t)put < line.n)
		errno = ENOSPC;
	return put < 0 || (size_t)put < line.n ? err_errno("cannot add to '%.*s'", STR(path))
					       : NULL;
}

struct err *fs_open_shared(struct str path, size_t size, int *ret_fd)
{
	CLEANUP(fd_closep) int fd = -1;
	struct stat st;
	TRY(open_own(path, O_RDWR | O_CREAT, 0644, &fd));
	if (fcntl(fd, F_SETFD, 0) < 0 || fstat(fd, &st) < 0)
		return err_errno("cannot look at '%.*s'", STR(path));
	if ((size_t)st.st_size < size && ftruncate(fd, (off_t)size) < 0)
		return err_errno("cannot make room in '%.*s'", STR(path));
	*ret_fd = fd;
	fd = -1;
	return NULL;
}

bool fs_try_punch(int fd, uint64_t offset, uint64_t n)
{
	const int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	return n && fallocate(fd, how, (off_t)offset, (off_t)n) == 0;
}

bool fs_is_same(int fd, const struct stat *st)
{
	struct stat now;
	return fstat(fd, &now) == 0 && now.st_ino == st->st_ino && now.st_dev == st->st_dev;
}

bool fs_try_touch(int fd, struct stat *ret)
{
	char first;
	return pread(fd, &first, 1, 0) == 1 && pwrite(fd, &first, 1, 0) == 1 && fstat(fd, ret) == 0;
}

struct err *fs_link(struct str from, struct str to)
{
	FS_AT(old);
	FS_AT(new);
	TRY(fs_reach_to_read(from, &old));
	TRY(fs_reach(to, &new));
	if (linkat(old.dir, old.name, new.dir, new.name, 0) < 0)
		return err_errno("cannot link '%.*s' to '%.*s'", STR(from), STR(to));
	return NULL;
}

bool fs_try_chown(struct str path, unsigned uid, unsigned gid)
{
	FS_AT(at);
	struct err *e = fs_reach(path, &at);
	if (!e)
		return fchownat(at.dir, at.name, uid, gid, AT_SYMLINK_NOFOLLOW) == 0;
	err_free(e);
	errno = EPERM;
	return false;
}

/* A path that is already gone, even with its folder, counts as removed. */
static struct err *remove_at(struct str path, bool only_empty)
{
	FS_AT(at);
	struct err *e = fs_reach(path, &at);
	int r = e ? 0 : unlinkat(at.dir, at.name, only_empty ? AT_REMOVEDIR : 0);
	if (r < 0 && errno == EISDIR)
		r = unlinkat(at.dir, at.name, AT_REMOVEDIR);
	if (r < 0 && !(only_empty && (errno == ENOTEMPTY || errno == EEXIST)))
		e = err_errno("cannot remove '%.*s'", STR(path));
	if (e && e->code == E_NOENT)
		err_freep(&e);
	return e;
}

struct err *fs_remove(struct str path)
{
	return remove_at(path, false);
}

struct err *fs_remove_empty(struct str dir)
{
	return remove_at(dir, true);
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
	if ((st.st_mode & 0700) != 0700) {
		FS_AT(at);
		TRY(fs_reach(path, &at));
		/* if this fails, the removal reports why */
		bool done = fchmodat(at.dir, at.name, (st.st_mode & 0777) | 0700, 0) == 0;
		(void)done;
	}
	struct strs names;
	TRY(fs_list(&a, path, &names));
	for (size_t i = 0; i < names.n; i++)
		TRY(fs_remove_tree(path_join(&a, path, names.v[i])));
	return fs_remove(path);
}

void fs_tempdirp(struct str *dir)
{
	if (dir->n)
		err_free(fs_remove_tree(*dir));
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

static struct err *take_lock(struct str path, int flags, int how, int *ret_fd)
{
	for (;;) {
		CLEANUP(fd_closep) int fd = -1;
		TRY_CTX(open_own(path, flags, 0666, &fd), "cannot use the lock '%.*s'", STR(path));
		int r;
		while ((r = flock(fd, how)) < 0 && errno == EINTR)
			;
		if (r < 0 && errno == EWOULDBLOCK)
			return locked_by(path, fd);
		if (r < 0)
			return err_errno("cannot lock '%.*s'", STR(path));
		struct stat there; /* the holder may have removed the file meanwhile */
		if (!fs_try_lstat(path, &there) || !fs_is_same(fd, &there))
			continue;
		*ret_fd = fd;
		fd = -1;
		return NULL;
	}
}

struct err *fs_lock(struct str path, bool wait, int *ret_fd)
{
	ARENA(tmp);
	struct stat st;
	TRY(take_lock(path, O_RDWR | O_CREAT, LOCK_EX | (wait ? 0 : LOCK_NB), ret_fd));
	/* Write our pid to the file if there is room; the lock works on a full disk, too. A file with several hard
	 * links may belong to someone else, so it is not written. */
	struct str me = str_fmt(&tmp, "%d", (int)getpid());
	bool own = fstat(*ret_fd, &st) == 0 && st.st_nlink == 1;
	ssize_t noted = own && ftruncate(*ret_fd, 0) == 0 ? pwrite(*ret_fd, me.p, me.n, 0) : 0;
	(void)noted;
	return NULL;
}

struct err *fs_lock_shared(struct str path, bool wait, int *ret_fd)
{
	return take_lock(path, O_RDONLY, LOCK_SH | (wait ? 0 : LOCK_NB), ret_fd);
}
