/* Measures whole trees and removes them: folders are opened one in the other, so that no link is followed though one be
 * exchanged meanwhile, no path gets too long, and no other file system is entered; see fs.h. */
#include <errno.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fs_int.h"
#include "base/map.h"
#include "base/proc.h"

#define GONE ".rocsmith.gone-"

enum {
	MAX_DEPTH = 250,
	PASSES = 1000
}; /* each level has an open folder, and a process may have 1024 */

struct tree_sweep {
	struct fs_use *use; /* or NULL */
	bool remove;
	int top; /* the folder of depth 0 */
	unsigned moved;
	dev_t dev;
};

/* The kernel knows mounts also where both sides are one file system; where it has no openat2(), devices must do. */
static int open_listed(const struct tree_sweep *s, int at, const char *name)
{
	struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
	struct stat st;
	long fd = s->top < 0 ? -1 : syscall(SYS_openat2, at, name, &how, sizeof(how));
	if (s->top >= 0 && (fd >= 0 || (errno != ENOSYS && errno != EPERM)))
		return (int)fd;
	fd = openat(at, name, (int)how.flags);
	if (fd >= 0 && s->top >= 0 && fstat((int)fd, &st) == 0 && st.st_dev != s->dev) {
		close((int)fd);
		errno = EXDEV;
		return -1;
	}
	return (int)fd;
}

static struct err *refuse_entry(int at, const char *name, const char *what)
{
	int no = errno;
	char link[64], dir[4096];
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
	ssize_t n = at < 0 ? 0 : readlink(link, dir, sizeof(dir) - 1);
	dir[n > 0 ? n : 0] = 0;
	errno = no;
	return err_errno("cannot %s '%s%s%s'", what, dir, *dir ? "/" : "", name);
}

/* A file with several names takes its space once; when it is removed, its last name frees it. */
static void count_entry(const struct tree_sweep *s, const struct stat *st)
{
	struct fs_use *u = s->use;
	const uint64_t id[2] = {st->st_dev, st->st_ino};
	struct str key = {.p = (const char *)id, .n = sizeof(id)};
	if (!u)
		return;
	if (!S_ISLNK(st->st_mode) && st->st_mtim.tv_sec > u->newest)
		u->newest = st->st_mtim.tv_sec;
	if (!S_ISDIR(st->st_mode) && st->st_nlink > 1 &&
		(s->remove || (u->seen && !map_put(u->seen, str_dup(u->seen->a, key), u))))
		return;
	u->bytes += (uint64_t)st->st_blocks * 512;
}

static struct err *sweep_folder(struct tree_sweep *s, int at, const char *name, unsigned depth);

static struct err *sweep_entry(struct tree_sweep *s, int at, const char *name, unsigned depth)
{
	struct stat st;
	char to[32];
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? NULL : refuse_entry(at, name, "look at");
	bool folder = S_ISDIR(st.st_mode);
	if (folder && depth > MAX_DEPTH &&
		s->remove) { /* the next pass of the top meets it there */
		int r;
		do { /* the tree may have such names, but not all of them */
			(void)snprintf(to, sizeof(to), ".rocsmith.deep-%u", s->moved++);
			r = renameat(at, name, s->top, to);
		} while (r < 0 && (errno == ENOTDIR || errno == ENOTEMPTY || errno == EEXIST) &&
			 s->moved);
		return r < 0 && errno != ENOENT ? refuse_entry(at, name, "move") : NULL;
	}
	if (folder && depth > MAX_DEPTH) {
		s->use->unread++;
		return NULL;
	}
	if (folder)
		return sweep_folder(s, at, name, depth);
	count_entry(s, &st);
	if (s->remove && unlinkat(at, name, 0) < 0 && errno != ENOENT)
		return refuse_entry(at, name, "remove");
	return NULL;
}

static struct err *sweep_names(struct tree_sweep *s, DIR *d, unsigned depth)
{
	for (rewinddir(d);;) {
		errno = 0;
		const struct dirent *ent = readdir(d);
		if (!ent)
			return errno ? refuse_entry(dirfd(d), ".", "list") : NULL;
		if (strcmp(ent->d_name, ".") != 0 && strcmp(ent->d_name, "..") != 0)
			TRY(sweep_entry(s, dirfd(d), ent->d_name, depth));
	}
}

static struct err *sweep_folder(struct tree_sweep *s, int at, const char *name, unsigned depth)
{
	CLEANUP(dir_closep) DIR *d = NULL;
	struct stat st;
	int fd = open_listed(s, at, name);
	if (fd < 0 && errno == EACCES && s->remove &&
		fchmodat(at, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
		fd = open_listed(s, at, name);
	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0 && !s->remove) { /* another file system, or a folder that is closed to us */
		s->use->unread += errno != EXDEV;
		return NULL;
	}
	if (fd >= 0)
		d = fdopendir(fd);
	if (!d || fstat(fd, &st) < 0)
		return refuse_entry(at, name, s->remove ? "remove" : "list");
	if ((st.st_mode & 0700) != 0700 && s->remove)
		(void)!fchmod(fd, 0700); /* if this fails, the removal reports why */
	if (s->top < 0)
		s->top = fd;
	s->dev = st.st_dev;
	count_entry(s, &st);
	TRY(s->use ? cancel_check() : NULL);
	TRY(sweep_names(s, d, depth + 1));
	if (!s->remove)
		return NULL;
	for (unsigned pass = 0; unlinkat(at, name, AT_REMOVEDIR) < 0 && errno != ENOENT; pass++) {
		if ((errno != ENOTEMPTY && errno != EEXIST) || pass == PASSES)
			return refuse_entry(at, name, "remove");
		TRY(sweep_names(s, d, depth + 1));
	}
	return NULL;
}

struct err *fs_measure(struct str path, struct fs_use *io)
{
	FS_AT(at);
	struct tree_sweep s = {.use = io, .top = -1};
	TRY(fs_reach_to_read(path, &at));
	return sweep_entry(&s, at.dir, at.name, 0);
}

static struct err *remove_all(struct str path, struct fs_use *io)
{
	FS_AT(at);
	struct tree_sweep s = {.use = io, .remove = true, .top = -1};
	struct err *e = fs_reach(path, &at);
	if (!e)
		return sweep_entry(&s, at.dir, at.name, 0);
	if (e->code == E_NOENT)
		err_freep(&e);
	return e;
}

struct err *fs_remove_tree(struct str path)
{
	return remove_all(path, NULL);
}

struct str fs_gone_name(struct arena *a, struct str path)
{
	return str_fmt(a, "%.*s/" GONE "%.*s", STR(path_dir(path)), STR(path_base(path)));
}

struct str fs_gone_base(struct str name)
{
	return str_starts(name, S(GONE)) ? str_sub(name, strlen(GONE), name.n) : S("");
}

struct err *fs_retire(struct str path, struct str beside, struct fs_use *io)
{
	ARENA(tmp);
	bool again = fs_gone_base(path_base(path)).n > 0;
	struct str gone = again ? path : fs_gone_name(&tmp, path);
	TRY(again ? NULL : remove_all(gone, io));
	if (!again && fs_present(path))
		TRY(fs_rename(path, gone));
	if (beside.n)
		TRY(fs_remove_tree(beside));
	return remove_all(gone, io);
}
