/* Copies, links and renames by the hundreds, without a sync for each; see fs.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/fs.h>

#include "base/fs_int.h"

/* Shares the blocks if the file system can, which avoids reading a large file. */
static int copy_all(int in, int out, char *buf, size_t size)
{
	if (ioctl(out, FICLONE, in) == 0)
		return 0;
	ssize_t got;
	while ((got = fs_read_some(in, buf, size)) > 0)
		if (fs_write_all(out, buf, (size_t)got) < 0)
			return -1;
	return got < 0 ? -1 : 0;
}

struct err *fs_copy(struct str from, struct str path, const struct stat *st)
{
	char buf[1
		 << 15]; /* on the stack, since heap memory would be zeroed for each file; most files are smaller */
	CLEANUP(fd_closep) int in = -1;
	CLEANUP(fd_closep) int out = -1;
	const struct timespec times[2] = {st->st_mtim, st->st_mtim};
	struct stat now;
	TRY(fs_open(from, &in));
	if (fstat(in, &now) < 0 ||
		(st->st_ino && (now.st_ino != st->st_ino || now.st_dev != st->st_dev)))
		return err_new(
			E_IO, "'%.*s' was replaced by somebody else in the meantime", STR(from));
	TRY(fs_create_loose(path, st->st_mode, &out));
	if (copy_all(in, out, buf, sizeof(buf)) < 0)
		return err_errno("cannot copy '%.*s'", STR(from));
	if (futimens(out, times) < 0)
		return err_errno("cannot copy the time of '%.*s'", STR(from));
	return NULL;
}

struct err *fs_symlink_new(struct str target, struct str path)
{
	FS_AT(at);
	TRY(fs_reach(path, &at));
	const char *to = str_z(&at.a, target);
	if (symlinkat(to, at.dir, at.name) < 0 &&
		(errno != EEXIST || unlinkat(at.dir, at.name, 0) < 0 ||
			symlinkat(to, at.dir, at.name) < 0))
		return err_errno("cannot create the link '%.*s'", STR(path));
	return NULL;
}

struct err *fs_sync(struct str path)
{
	CLEANUP(fd_closep) int fd = -1;
	TRY(fs_open(path, &fd));
	return fsync(fd) < 0 && errno != EINVAL ? err_errno("cannot sync '%.*s'", STR(path)) : NULL;
}

/* On file systems without RENAME_NOREPLACE, look first. */
static int rename_new(const struct fs_at *from, const struct fs_at *to)
{
	struct stat st;
	int r = renameat2(from->dir, from->name, to->dir, to->name, RENAME_NOREPLACE);
	if (r == 0 || (errno != EINVAL && errno != ENOSYS))
		return r;
	if (fstatat(to->dir, to->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(from->dir, from->name, to->dir, to->name);
}

/* Moves to another file system: copies to a temporary name, then renames. */
static struct err *move_across(struct str from, struct str to, bool over)
{
	ARENA(tmp);
	struct str beside = fs_temp_name(&tmp, to);
	struct stat st;
	TRY(fs_stat(from, &st));
	struct err *e = fs_copy(from, beside, &st);
	if (!e)
		e = fs_move(beside, to, over);
	if (e)
		return err_join(e, fs_remove(beside));
	return fs_remove(from);
}

struct err *fs_move(struct str from, struct str to, bool over)
{
	FS_AT(old);
	FS_AT(new);
	TRY(fs_reach(from, &old));
	TRY(fs_reach(to, &new));
	int r = over ? renameat(old.dir, old.name, new.dir, new.name) : rename_new(&old, &new);
	if (r == 0)
		return NULL;
	if (errno == EXDEV)
		return move_across(from, to, over);
	return err_errno("cannot rename '%.*s' to '%.*s'", STR(from), STR(to));
}

/* The temporary name depends only on the path, so that the next call replaces what a kill left. */
struct err *fs_symlink(struct str target, struct str path)
{
	ARENA(a);
	struct str tmp = fs_temp_name(&a, path);
	TRY(fs_symlink_new(target, tmp));
	struct err *e = fs_move(tmp, path, true);
	return e ? err_join(e, fs_remove(tmp)) : NULL;
}
