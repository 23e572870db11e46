/* Files written by the hundreds, without a sync for each; see fs.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/fs.h>

#include "base/fs_int.h"

/* What a killed run left goes: it may have a second name, or be a pipe that nobody reads. */
static struct err *create(struct str path, int *ret_fd)
{
	ARENA(tmp);
	TRY(fs_may_write(path));
	char *z = str_z(&tmp, path);
	const int flags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
	*ret_fd = open(z, flags, 0666);
	if (*ret_fd < 0 && errno == EEXIST && !fs_is_link(path) && unlink(z) == 0)
		*ret_fd = open(z, flags, 0666);
	return *ret_fd < 0 ? err_errno("cannot create '%s'", z) : NULL;
}

struct err *fs_stage(struct str path, struct str content, unsigned mode)
{
	CLEANUP(fd_closep) int fd = -1;
	TRY(create(path, &fd));
	if (fs_write_all(fd, content.p, content.n) < 0 || (mode && fchmod(fd, mode) < 0))
		return err_errno("cannot write '%.*s'", STR(path));
	return NULL;
}

/* What a large file costs to read is saved where blocks can be shared. */
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

struct err *fs_stage_copy(struct str from, struct str path, const struct stat *st)
{
	char buf[1 << 15]; /* most files are smaller, and the heap would clear it each time */
	CLEANUP(fd_closep) int in = -1;
	CLEANUP(fd_closep) int out = -1;
	const struct timespec times[2] = {st->st_mtim, st->st_mtim};
	TRY(fs_open(from, &in));
	TRY(create(path, &out));
	if (copy_all(in, out, buf, sizeof(buf)) < 0)
		return err_errno("cannot copy '%.*s'", STR(from));
	if (fchmod(out, st->st_mode & 07777) < 0 || futimens(out, times) < 0)
		return err_errno("cannot copy mode and time of '%.*s'", STR(from));
	return NULL;
}

struct err *fs_stage_link(struct str target, struct str path)
{
	ARENA(tmp);
	TRY(fs_may_write(path));
	const char *to = str_z(&tmp, target), *z = str_z(&tmp, path);
	if (symlink(to, z) < 0 && (errno != EEXIST || unlink(z) < 0 || symlink(to, z) < 0))
		return err_errno("cannot create the link '%.*s'", STR(path));
	return NULL;
}

struct err *fs_sync(struct str path)
{
	CLEANUP(fd_closep) int fd = -1;
	TRY(fs_open(path, &fd));
	return fsync(fd) < 0 && errno != EINVAL ? err_errno("cannot sync '%.*s'", STR(path)) : NULL;
}

/* File systems that know no such flag are asked first. */
static int rename_new(const char *from, const char *to)
{
	int r = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
	if (r == 0 || (errno != EINVAL && errno != ENOSYS))
		return r;
	if (access(to, F_OK) == 0) {
		errno = EEXIST;
		return -1;
	}
	return rename(from, to);
}

/* To another file system: a copy under a passing name, then a rename there. */
static struct err *move_across(struct str from, struct str to, bool over)
{
	ARENA(tmp);
	struct str beside = fs_temp_name(&tmp, to);
	struct stat st;
	TRY(fs_stat(from, &st));
	struct err *e = fs_stage_copy(from, beside, &st);
	if (!e)
		e = fs_move(beside, to, over);
	if (e)
		return err_join(e, fs_remove(beside));
	return fs_remove(from);
}

struct err *fs_move(struct str from, struct str to, bool over)
{
	ARENA(tmp);
	TRY(fs_may_write(to));
	const char *a = str_z(&tmp, from), *b = str_z(&tmp, to);
	int r = over ? rename(a, b) : rename_new(a, b);
	if (r == 0)
		return NULL;
	if (errno == EXDEV)
		return move_across(from, to, over);
	return err_errno("cannot rename '%s' to '%s'", a, b);
}
