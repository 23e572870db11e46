/* Changes folders and names, copies files, and takes locks; see fs.h. fs_out.c writes the contents of files. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <linux/fs.h>

#include "base/fs_int.h"

struct err *fs_sync(struct str path)
{
	CLEANUP(fd_closep) int fd = -1;
	TRY(fs_open(path, &fd));
	return fsync(fd) < 0 && errno != EINVAL ? err_errno("cannot sync '%.*s'", STR(path)) : NULL;
}

struct err *fs_sync_all(struct str path)
{
	CLEANUP(fd_closep) int fd = -1;
	TRY(fs_open(path, &fd));
	return syncfs(fd) < 0 ? err_errno("cannot sync the file system of '%.*s'", STR(path))
			      : NULL;
}

/* ---- folders and names ---- */

static struct err *make_dir(struct str path, mode_t mode)
{
	FS_AT(at);
	TRY(fs_reach(path, &at));
	if (mkdirat(at.dir, at.name, mode) < 0)
		return errno == EEXIST && fs_is_dir(path)
			       ? NULL
			       : err_errno("cannot create the folder '%.*s'", STR(path));
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	CLEANUP(fd_closep) int fd = openat(at.dir, at.name, flags);
	/* a folder that its maker may not read keeps its mode */
	return fd >= 0 && fs_lend(fd, path, mode) < 0
		       ? err_errno("cannot set the mode of '%.*s'", STR(path))
		       : NULL;
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

static struct made_outputs {
	pthread_mutex_t lock;
	struct arena a;
	struct strs dirs;
} made = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct err *fs_make_output(struct str dir)
{
	pthread_mutex_lock(&made.lock);
	struct str at = path_clean(&made.a, dir), up = path_dir(at);
	/* "." is its own parent, and not to be seen in a folder that may not be searched */
	for (; !fs_present(at) && !str_eq(up, at); at = up, up = path_dir(at))
		strs_add(&made.a, &made.dirs, at);
	pthread_mutex_unlock(&made.lock);
	return fs_mkdirs(dir);
}

void fs_outputs_end(void)
{
	strs_sort(&made.dirs); /* a folder stands before those in it */
	while (made.dirs.n)
		err_free(fs_remove_empty(made.dirs.v[--made.dirs.n]));
	arena_free(&made.a);
	made.dirs = (struct strs){0};
}

struct err *fs_move(struct str from, struct str to, bool over)
{
	FS_AT(old);
	FS_AT(new);
	TRY(fs_reach(from, &old));
	TRY(fs_reach(to, &new));
	struct stat st;
	int r = renameat2(old.dir, old.name, new.dir, new.name, over ? 0 : RENAME_NOREPLACE);
	/* on file systems without RENAME_NOREPLACE, look first */
	if (r < 0 && !over && (errno == EINVAL || errno == ENOSYS)) {
		bool there = fstatat(new.dir, new.name, &st, AT_SYMLINK_NOFOLLOW) == 0;
		r = there ? -1 : renameat(old.dir, old.name, new.dir, new.name);
		errno = there ? EEXIST : errno;
	}
	if (r == 0)
		return NULL;
	if (errno != EXDEV)
		return err_errno("cannot rename '%.*s' to '%.*s'", STR(from), STR(to));
	/* another file system: copy to a temporary name, then rename */
	struct str beside = fs_temp_name(&new.a, to);
	TRY(fs_stat(from, &st));
	struct err *e = fs_copy(from, beside, &st);
	e = e ? e : fs_move(beside, to, over);
	return e ? err_join(e, fs_remove(beside)) : fs_remove(from);
}

struct err *fs_rename(struct str from, struct str to)
{
	TRY(fs_may_replace(to));
	TRY(fs_move(from, to, true));
	return fs_sync(path_dir(to));
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

/* The temporary name depends only on the path, so that the next call replaces what a kill left. */
struct err *fs_symlink(struct str target, struct str path)
{
	ARENA(a);
	struct str tmp = fs_temp_name(&a, path);
	TRY(fs_symlink_new(target, tmp));
	struct err *e = fs_move(tmp, path, true);
	return e ? err_join(e, fs_remove(tmp)) : NULL;
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
	if (r < 0 && errno == EROFS) /* said of what is not there, too: then it becomes ENOENT */
		(void)fstatat(at.dir, at.name, &(struct stat){0}, AT_SYMLINK_NOFOLLOW);
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

/* ---- open files ---- */

static bool is_same(int fd, const struct stat *st)
{
	struct stat now;
	return fstat(fd, &now) == 0 && now.st_ino == st->st_ino && now.st_dev == st->st_dev;
}

struct err *fs_copy(struct str from, struct str path, const struct stat *st)
{
	char buf[1
		 << 15]; /* not on the heap, where it would be zeroed for each file; most files are smaller */
	CLEANUP(fd_closep) int in = -1;
	CLEANUP(fd_closep) int out = -1;
	const struct timespec times[2] = {st->st_mtim, st->st_mtim};
	struct stat now;
	ssize_t got = 0;
	/* a file that grows meanwhile could do so for ever */
	uint64_t left = st->st_ino && st->st_size ? (uint64_t)st->st_size : UINT64_MAX;
	TRY(fs_open(from, &in));
	if (st->st_ino && !is_same(in, st))
		return err_new(
			E_IO, "'%.*s' was replaced by somebody else in the meantime", STR(from));
	TRY(fs_create_loose(path, st->st_mode, &out));
	/* sharing the blocks, if the file system can, avoids reading a large file */
	if (ioctl(out, FICLONE, in) < 0)
		for (; left && (got = fs_read_some(in, buf,
					left < sizeof(buf) ? (size_t)left : sizeof(buf))) > 0;
			left -= (uint64_t)got)
			if (fs_write_all(out, buf, (size_t)got) < 0)
				return err_errno("cannot copy '%.*s'", STR(from));
	/* a clone also has what was added meanwhile */
	if (st->st_ino && st->st_size && fstat(out, &now) == 0 && now.st_size > st->st_size &&
		ftruncate(out, st->st_size) < 0)
		got = -1;
	if (got < 0)
		return err_errno("cannot copy '%.*s'", STR(from));
	return futimens(out, times) < 0 ? err_errno("cannot copy the time of '%.*s'", STR(from))
					: NULL;
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

bool fs_is_unchanged(int fd, const struct stat *st)
{
	struct stat now;
	return is_same(fd, st) && fstat(fd, &now) == 0 && now.st_size == st->st_size &&
	       now.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

bool fs_try_lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool fs_try_touch(int fd, struct stat *ret)
{
	char first;
	return pread(fd, &first, 1, 0) == 1 && pwrite(fd, &first, 1, 0) == 1 && fstat(fd, ret) == 0;
}

/* ---- locks ---- */

/* The lock works on a full disk, too; then the file lacks the holder's pid. A file with several hard links may belong
 * to someone else, so it is not written. */
struct err *fs_lock(struct str path, enum fs_lock how, int *ret_fd)
{
	bool shared = how == FS_LOCK_SHARED;
	int flags = shared ? O_RDONLY : O_RDWR | O_CREAT;
	int op = (shared ? LOCK_SH : LOCK_EX) | (how == FS_LOCK_WAIT ? 0 : LOCK_NB);
	for (;;) {
		CLEANUP(fd_closep) int fd = -1;
		struct stat there, st;
		char pid[64] = "";
		int r;
		TRY_CTX(open_own(path, flags, 0666, &fd), "cannot use the lock '%.*s'", STR(path));
		while ((r = flock(fd, op)) < 0 && errno == EINTR)
			;
		if (r < 0 && errno == EWOULDBLOCK) {
			ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);
			pid[n > 0 ? n : 0] = 0;
			return err_hint(err_new(E_LOCKED, "'%.*s' is locked by process %s",
						STR(path), *pid ? pid : "(unknown)"),
				"wait for it to end, or stop it");
		}
		if (r < 0)
			return err_errno("cannot lock '%.*s'", STR(path));
		/* the holder may have removed the file meanwhile */
		if (!fs_try_lstat(path, &there) || !is_same(fd, &there))
			continue;
		if (!shared && fstat(fd, &st) == 0 && st.st_nlink == 1 && ftruncate(fd, 0) == 0)
			(void)dprintf(fd, "%d", (int)getpid());
		*ret_fd = fd;
		fd = -1;
		return NULL;
	}
}

/* ---- folders in use ---- */

static struct held_folder {
	struct held_folder *next;
	int fd;
} * held;
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;

/* A lock belongs to an open folder, so what this process holds already has to be changed by the same fd. */
static int open_held(const char *name, int at)
{
	struct stat st;
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd;
	for (const struct held_folder *h = held; h; h = h->next) {
		if (!is_same(h->fd, &st))
			continue;
		close(fd);
		return h->fd;
	}
	struct held_folder *h = xmalloc(sizeof(*h));
	*h = (struct held_folder){.next = held, .fd = fd};
	held = h;
	return fd;
}

void fs_stamp(struct str file)
{
	static const struct timespec times[] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
	FS_AT(at);
	if (fs_writes_forbidden())
		return;
	struct err *e = fs_reach_to_read(file, &at);
	if (!e)
		(void)!utimensat(at.dir, at.name, times, AT_SYMLINK_NOFOLLOW);
	err_free(e);
}

struct err *fs_hold(struct str dir, enum fs_hold how)
{
	static const struct timespec pause = {.tv_nsec = 50000000};
	const int op = LOCK_NB | (how == FS_HOLD_ALONE ? LOCK_EX : LOCK_SH);
	FS_AT(at);
	struct stat there;
	TRY(fs_reach_to_read(dir, &at));
	pthread_mutex_lock(&held_lock);
	int fd = open_held(at.name, at.dir), no = errno;
	bool taken = fd >= 0 && flock(fd, op) < 0 && errno == EWOULDBLOCK;
	/* fs_is_held() has it for a moment only */
	for (unsigned i = 0; taken && how != FS_HOLD_ALONE && i < 20; i++) {
		nanosleep(&pause, NULL);
		taken = flock(fd, op) < 0 && errno == EWOULDBLOCK;
	}
	if (taken) /* the attempt may have cost us our own lock */
		(void)!flock(fd, LOCK_NB | LOCK_SH);
	pthread_mutex_unlock(&held_lock);
	errno = no;
	if (fd < 0)
		return err_errno("cannot use the folder '%.*s'", STR(dir));
	if (taken)
		return err_hint(err_new(E_LOCKED,
					how == FS_HOLD_ALONE
						? "'%.*s' is in use by another rocsmith"
						: "'%.*s' is being removed by another rocsmith",
					STR(dir)),
			"wait for it to end, or stop it");
	if (how == FS_HOLD_USED && !fs_writes_forbidden())
		(void)!futimens(fd, NULL);
	return fs_try_stat(dir, &there) && is_same(fd, &there)
		       ? NULL
		       : err_new(E_NOENT, "'%.*s' was removed by another rocsmith", STR(dir));
}

bool fs_is_held(struct str dir)
{
	FS_AT(at);
	CLEANUP(err_freep) struct err *e = fs_reach_to_read(dir, &at);
	CLEANUP(fd_closep)
	int fd = e ? -1 : openat(at.dir, at.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && !fs_try_lock(fd);
}
