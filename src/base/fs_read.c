/* Reads files and folders; see fs.h. */
#include <errno.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fs_int.h"
#include "base/vec.h"

void fd_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void dir_closep(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* Without O_NONBLOCK, opening a FIFO without a writer would block forever; with it, a read returns end of file. Uses
 * O_NOATIME where permitted, since each update of the access time would be a write. */
static struct err *open_stat(struct str path, int *ret_fd, struct stat *ret_st)
{
	FS_AT(at);
	TRY(fs_reach_to_read(path, &at));
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	flags |= at.dir == AT_FDCWD ? 0 : O_NOFOLLOW;
	int fd = openat(at.dir, at.name, flags | O_NOATIME);
	if (fd < 0 && errno == EPERM)
		fd = openat(at.dir, at.name, flags);
	if (fd < 0)
		return err_errno("cannot open '%.*s'", STR(path));
	if (fstat(fd, ret_st) < 0) {
		struct err *e = err_errno("cannot look at '%.*s'", STR(path));
		close(fd);
		return e;
	}
	*ret_fd = fd;
	flags = S_ISREG(ret_st->st_mode) ? -1 : fcntl(fd, F_GETFL);
	if (flags >= 0)
		(void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	return NULL;
}

struct err *fs_open(struct str path, int *ret_fd)
{
	struct stat st;
	return open_stat(path, ret_fd, &st);
}

enum fs_end fs_end(int fd)
{
	struct stat st = {0};
	bool known = fstat(fd, &st) == 0, null = st.st_rdev == makedev(1, 3);
	return known && S_ISREG(st.st_mode)                           ? FS_END_BY_SIZE
	       : known && S_ISCHR(st.st_mode) && !null && !isatty(fd) ? FS_END_NEVER
								      : FS_END_BY_WRITER;
}

struct err *fs_open_below(struct str dir, struct str rel, uint64_t most, int *ret_fd)
{
	ARENA(a);
	CLEANUP(fd_closep) int root = open(str_z(&a, dir), O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(fd_closep) int at = -1;
	struct str path = path_join(&a, dir, rel);
	const char *name = str_z(&a, path_base(rel));
	struct stat st;
	if (!path_is_inside(rel))
		return err_new(E_PERM, "'%.*s' leads out of '%.*s'", STR(rel), STR(dir));
	if (root >= 0)
		at = fs_open_inside(root, str_z(&a, path_dir(rel)),
			RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (at < 0 && errno != ELOOP && errno != EXDEV)
		return err_errno("cannot reach '%.*s'", STR(path));
	if (at < 0 || (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)))
		return err_new(E_PERM,
			"'%.*s' is, or lies behind, a link, and none is followed there", STR(path));
	/* opened only as a file: opening a device can do something */
	CLEANUP(fd_closep) int file = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (file < 0 || fstat(file, &st) < 0)
		return err_errno("cannot open '%.*s'", STR(path));
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > most)
		return err_new(E_IO, "'%.*s' is no regular file of at most %llu bytes", STR(path),
			(unsigned long long)most);
	*ret_fd = open(str_fmt(&a, "/proc/self/fd/%d", file).p, O_RDONLY | O_CLOEXEC);
	return *ret_fd >= 0 ? NULL : err_errno("cannot open '%.*s'", STR(path));
}

struct err *fs_read_below(
	struct arena *a, struct str dir, struct str rel, uint64_t most, struct str *ret)
{
	CLEANUP(fd_closep) int fd = -1;
	TRY(fs_open_below(dir, rel, most, &fd));
	return fs_read(a, str_fmt(a, "/proc/self/fd/%d", fd), most, ret);
}

struct err *fs_map(struct str path, struct str *ret)
{
	CLEANUP(fd_closep) int fd = -1;
	struct stat st;
	*ret = (struct str){0};
	TRY(open_stat(path, &fd, &st));
	if (!S_ISREG(st.st_mode))
		return err_new(E_IO, "'%.*s' is not a regular file", STR(path));
	if (!st.st_size)
		return NULL;
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return err_errno("cannot read '%.*s'", STR(path));
	*ret = (struct str){.p = p, .n = (size_t)st.st_size};
	return NULL;
}

void fs_unmap(struct str *text)
{
	if (text->n)
		munmap((void *)(uintptr_t)text->p, text->n);
	*text = (struct str){0};
}

struct err *fs_pread(int fd, void *p, size_t n, uint64_t offset)
{
	for (char *at = p; n;) {
		ssize_t got = pread(fd, at, n, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno("read failed at offset %llu", (unsigned long long)offset);
		if (got == 0)
			return err_new(E_IO, "unexpected end of file at offset %llu",
				(unsigned long long)offset);
		at += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return NULL;
}

ssize_t fs_read_some(int fd, void *p, size_t n)
{
	ssize_t got;
	while ((got = read(fd, p, n)) < 0 && errno == EINTR)
		;
	return got;
}

/* Files in /proc and /sys report no size or a wrong one, so we read to the end. For other regular files, the end is
 * reached after as many bytes as the size. */
static struct err *read_all(
	struct arena *a, int fd, const struct stat *st, size_t limit, struct str *ret)
{
	size_t cap = st->st_size > 0 ? (size_t)st->st_size + 1 : 4096, n = 0;
	if (cap > limit)
		cap = limit + 1;
	char *p = arena_raw(a, cap + 1);
	for (;;) {
		if (n == cap) {
			p = arena_grow(a, p, cap + 1, cap * 2 + 1);
			cap *= 2;
		}
		ssize_t got = fs_read_some(fd, p + n, cap - n);
		if (got < 0)
			return err_errno("read failed");
		if (got == 0)
			break;
		n += (size_t)got;
		if (n > limit)
			return err_new(E_LIMIT, "larger than %zu bytes", limit);
		if (S_ISREG(st->st_mode) && n == (size_t)st->st_size)
			break;
	}
	p[n] = 0;
	*ret = (struct str){.p = p, .n = n};
	return NULL;
}

struct err *fs_read(struct arena *a, struct str path, size_t limit, struct str *ret)
{
	struct stat st;
	return fs_read_stat(a, path, limit, ret, &st);
}

struct err *fs_read_stat(
	struct arena *a, struct str path, size_t limit, struct str *ret, struct stat *ret_st)
{
	CLEANUP(fd_closep) int fd = -1;
	TRY(open_stat(path, &fd, ret_st));
	TRY_CTX(read_all(a, fd, ret_st, limit, ret), "cannot read '%.*s'", STR(path));
	return NULL;
}

struct err *fs_read_opt(struct arena *a, struct str path, size_t limit, struct str *ret)
{
	struct err *e = fs_read(a, path, limit, ret);
	if (e && e->code == E_NOENT) {
		err_free(e);
		*ret = (struct str){0};
		return NULL;
	}
	return e;
}

struct err *fs_read_head(struct arena *a, struct str path, size_t n, struct str *ret)
{
	CLEANUP(fd_closep) int fd = -1;
	TRY(fs_open(path, &fd));
	char *p = arena_alloc(a, n + 1);
	size_t have = 0;
	for (ssize_t got = 1; have < n && got; have += (size_t)got)
		if ((got = fs_read_some(fd, p + have, n - have)) < 0)
			return err_errno("cannot read '%.*s'", STR(path));
	*ret = (struct str){.p = p, .n = have};
	return NULL;
}

struct str fs_state(struct arena *a, struct str path)
{
	struct stat st;
	if (!fs_try_stat(path, &st))
		return S("");
	return str_fmt(a, "%lld %lld.%09ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		st.st_mtim.tv_nsec);
}

struct str fs_exact_state(struct arena *a, struct str path)
{
	struct stat st;
	if (!fs_try_stat(path, &st) || !S_ISREG(st.st_mode))
		return S("");
	return str_fmt(a, "%llu:%llu:%lld:%lld.%09ld:%lld.%09ld", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

bool fs_try_stat_in(int dir, struct str path, bool follow, struct stat *ret)
{
	ARENA(tmp); /* free() keeps errno since glibc 2.33 */
	return fstatat(dir, str_z(&tmp, path), ret, follow ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
}

bool fs_try_stat(struct str path, struct stat *ret)
{
	return fs_try_stat_in(AT_FDCWD, path, true, ret);
}

bool fs_try_lstat(struct str path, struct stat *ret)
{
	return fs_try_stat_in(AT_FDCWD, path, false, ret);
}

struct err *fs_stat(struct str path, struct stat *ret)
{
	return fs_try_stat(path, ret) ? NULL : err_errno("cannot look at '%.*s'", STR(path));
}

struct err *fs_lstat(struct str path, struct stat *ret)
{
	return fs_try_lstat(path, ret) ? NULL : err_errno("cannot look at '%.*s'", STR(path));
}

bool fs_exists(struct str path)
{
	struct stat st;
	return fs_try_stat(path, &st);
}

bool fs_present(struct str path)
{
	struct stat st;
	return fs_try_lstat(path, &st);
}

bool fs_is_link(struct str path)
{
	struct stat st;
	return fs_try_lstat(path, &st) && S_ISLNK(st.st_mode);
}

bool fs_is_dir(struct str path)
{
	struct stat st;
	return fs_try_stat(path, &st) && S_ISDIR(st.st_mode);
}

bool fs_is_file(struct str path)
{
	struct stat st;
	return fs_try_stat(path, &st) && S_ISREG(st.st_mode);
}

bool fs_access(struct str path, int how)
{
	ARENA(tmp);
	return faccessat(AT_FDCWD, str_z(&tmp, path), how, AT_EACCESS) == 0;
}

struct str fs_existing(struct str path)
{
	while (path.n > 1 && !fs_exists(path))
		path = path_dir(path);
	return path;
}

bool fs_free_space(struct str path, uint64_t *ret, uint64_t *ret_size)
{
	ARENA(tmp);
	struct statvfs v;
	if (statvfs(str_z(&tmp, fs_existing(path)), &v) < 0)
		return false;
	*ret = (uint64_t)v.f_bavail * v.f_frsize;
	*ret_size = (uint64_t)v.f_blocks * v.f_frsize;
	return true;
}

bool fs_is_live(struct str dir)
{
	ARENA(tmp);
	struct statfs st;
	return statfs(str_z(&tmp, dir), &st) == 0 &&
	       (st.f_type == PROC_SUPER_MAGIC || st.f_type == SYSFS_MAGIC);
}

struct err *fs_scan(struct arena *a, struct str dir, struct fs_names *ret, struct stat *ret_st)
{
	ARENA(tmp);
	CLEANUP(dir_closep) DIR *d = opendir(str_z(&tmp, dir));
	*ret = (struct fs_names){0};
	if (!d || (ret_st && fstat(dirfd(d), ret_st) < 0))
		return err_errno("cannot list '%.*s'", STR(dir));
	for (;;) {
		errno = 0;
		const struct dirent *ent = readdir(d);
		if (!ent)
			return errno ? err_errno("cannot list '%.*s'", STR(dir)) : NULL;
		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, ".."))
			continue;
		struct str name = str_dup(a, str_from(ent->d_name));
		struct fs_name *n = VEC_PUSH(a, ret);
		*n = (struct fs_name){.name = name, .dir = ent->d_type == DT_DIR};
		/* most file systems report an entry's type; for the others, and for links, we need a stat */
		struct stat to;
		if (!ret_st || (ent->d_type != DT_LNK && ent->d_type != DT_UNKNOWN))
			continue;
		n->dir = fs_try_stat_in(dirfd(d), name, true, &to) && S_ISDIR(to.st_mode);
		n->link = fs_try_stat_in(dirfd(d), name, false, &to) && S_ISLNK(to.st_mode);
	}
}

struct err *fs_list(struct arena *a, struct str dir, struct strs *ret)
{
	ARENA(tmp);
	struct fs_names names;
	*ret = (struct strs){0};
	TRY(fs_scan(&tmp, dir, &names, NULL));
	VEC_EACH (const struct fs_name, n, &names)
		strs_add(a, ret, str_dup(a, n->name));
	strs_sort(ret);
	return NULL;
}

struct err *fs_readlink(struct arena *a, struct str path, struct str *ret)
{
	char *z = str_z(a, path), target[4096];
	ssize_t n = readlink(z, target, sizeof(target));
	if (n < 0)
		return err_errno("cannot read the link '%s'", z);
	*ret = str_dup(a, (struct str){.p = target, .n = (size_t)n});
	return NULL;
}

struct walk {
	struct str root;
	fs_visit *visit;
	void *user;
	struct fs_skipped *skipped; /* NULL: what cannot be looked at ends the walk */
};

static struct err *skip(const struct walk *w, struct err *e)
{
	if (!w->skipped || !e)
		return e;
	if (w->skipped->n++)
		err_free(e);
	else
		w->skipped->first = e;
	return NULL;
}

static struct err *walk_folder(const struct walk *w, struct str rel)
{
	ARENA(a);
	struct strs names;
	struct err *e = fs_list(&a, path_join(&a, w->root, rel), &names);
	TRY(rel.n ? skip(w, e) : e);
	for (size_t i = 0; i < names.n; i++) {
		struct fs_entry at = {.path = path_join(&a, rel, names.v[i])};
		if (!fs_try_lstat(path_join(&a, w->root, at.path), &at.st)) {
			TRY(skip(w, err_errno("cannot look at '%.*s'", STR(at.path))));
			continue;
		}
		TRY(w->visit(w->user, &at));
		if (S_ISDIR(at.st.st_mode) && !at.prune)
			TRY(walk_folder(w, at.path));
	}
	return NULL;
}

struct err *fs_walk(struct str dir, fs_visit *visit, void *user)
{
	return walk_folder(&(struct walk){dir, visit, user, NULL}, S(""));
}

struct err *fs_walk_rest(struct str dir, fs_visit *visit, void *user, struct fs_skipped *ret)
{
	*ret = (struct fs_skipped){0};
	return walk_folder(&(struct walk){dir, visit, user, ret}, S(""));
}
