/* Finds out who could change what a path leads to; see fs_check_way() in fs.h. */
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <nss.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fs_int.h"

enum { RECORD = 1 << 14, MAX_ACCOUNTS = 16 << 20, MAX_LINKS = 40, OVERFLOW_UID = 65534 };

/* In a sandbox with a user namespace of its own, everybody who is not in it seems to be this user, even root. */
static bool is_unmapped(struct arena *a, uid_t uid)
{
	struct str map, line, word;
	if (uid != OVERFLOW_UID)
		return false;
	CLEANUP(err_freep) struct err *e = fs_read(a, S("/proc/self/uid_map"), RECORD, &map);
	while (!e && str_next(&map, '\n', &line)) { /* first uid here, first uid outside, number */
		uint64_t v[3] = {0}, n = 0;
		while (n < 3 && str_next(&line, ' ', &word))
			n += word.n && str_u64(word, 10, &v[n]);
		if (n < 3 || (uid >= v[0] && uid - v[0] < v[2]))
			return false;
	}
	return !e;
}

/* A static program looks accounts up in /etc only: the machine's modules for other services want the C library that they
 * were built with. */
static void keep_to_files(void)
{
#ifdef ROCSMITH_STATIC
	(void)__nss_configure_lookup("passwd", "files");
	(void)__nss_configure_lookup("group", "files");
#endif
}

struct passwd *fs_account(struct arena *a)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct passwd *p = arena_alloc(a, sizeof(*p)), *found = NULL;
	pthread_once(&once, keep_to_files);
	(void)getpwuid_r(geteuid(), p, arena_alloc(a, RECORD), RECORD, &found);
	return found;
}

/* Is this user the only member of the group? Debian and others make such a group for each user, of the same name, and
 * let it write (umask 002). Not all users of a network can be listed, so the name has to be the user's; those of this
 * machine are looked through, too. */
static bool is_own_group(struct arena *a, gid_t gid)
{
	struct passwd *me = fs_account(a);
	struct group g, *group = NULL;
	struct str all, line;
	uint64_t uid, theirs;
	(void)getgrgid_r(gid, &g, arena_alloc(a, RECORD), RECORD, &group);
	if (!me || !group || !str_eq(str_from(me->pw_name), str_from(group->gr_name)))
		return false;
	for (char **member = group->gr_mem; *member; member++)
		if (!str_eq(str_from(*member), str_from(me->pw_name)))
			return false;
	CLEANUP(err_freep) struct err *e = fs_read(a, S("/etc/passwd"), MAX_ACCOUNTS, &all);
	while (!e && str_next(&all, '\n', &line)) { /* name:password:uid:gid:... */
		struct strs f = str_split(a, line, ':');
		if (f.n > 3 && str_u64(f.v[2], 10, &uid) && str_u64(f.v[3], 10, &theirs) &&
			theirs == gid && uid != geteuid())
			return false;
	}
	return !e;
}

/* The way from / to a path: one folder after the other, each looked up in the open one above it. */
struct fs_way {
	struct arena *a;
	struct str path;     /* its end */
	struct str at, rest; /* looked at last, and below it */
	int fd;              /* the folder that the way has reached */
	struct stat st;      /* the stat of fd */
	unsigned links;      /* followed so far */
	bool gone;           /* the next one does not exist, and nobody else could make it */
};

static void fs_way_done(struct fs_way *w)
{
	fd_closep(&w->fd);
}

/* May others write in the folder? With an ACL, the bits of the group are its mask, and it names somebody. */
static bool is_open(const struct fs_way *w)
{
	char none, path[64];
	if (w->st.st_mode & S_IWOTH)
		return true;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", w->fd);
	return w->st.st_mode & S_IWGRP &&
	       (getxattr(path, "system.posix_acl_access", &none, 0) >= 0 ||
		       !is_own_group(w->a, w->st.st_gid));
}

static struct err *refuse(const struct fs_way *w, struct err *e)
{
	return str_eq(w->at, w->path)
		       ? e
		       : err_wrap(e, "others could change what '%.*s' is", STR(w->path));
}

/* Is it ours or root's? Even in a folder that is open to all, then nobody else can give the name to something else. */
static struct err *check_owner(const struct fs_way *w, const struct stat *st)
{
	if (!st->st_uid || st->st_uid == geteuid() || is_unmapped(w->a, st->st_uid))
		return NULL;
	return refuse(w, err_new(E_PERM, "'%.*s' belongs to another user", STR(w->at)));
}

/* The end must not be open, not even with the sticky bit: others could make there what we will look for. */
static struct err *check_folder(const struct fs_way *w)
{
	bool end = !w->rest.n;
	TRY(check_owner(w, &w->st));
	if ((!end && w->st.st_mode & S_ISVTX) || !is_open(w))
		return NULL;
	struct err *e = err_new(E_PERM,
		"'%.*s' can be written by others, so what is in there is not believed", STR(w->at));
	if (w->st.st_uid == geteuid())
		err_hint(e, "if nobody else wrote there: chmod %s '%.*s'",
			!end && w->st.st_mode & S_IWOTH ? "+t" : "go-w", STR(w->at));
	return refuse(w, e);
}

static struct err *go_to_root(struct fs_way *w)
{
	fd_closep(&w->fd);
	w->at = S("/");
	w->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->fd < 0 || fstat(w->fd, &w->st) < 0 ? err_errno("cannot open '/'")
						     : check_folder(w);
}

/* In a folder that is open to all, somebody else could make what is not there: it is made first. */
static struct err *claim(struct fs_way *w, const char *name)
{
	w->gone = !is_open(w);
	if (w->gone)
		return NULL;
	if (fs_writes_forbidden())
		return err_hint(err_new(E_PERM, "'%.*s' does not exist, and others could make it",
					STR(w->at)),
			"mkdir '%.*s'", STR(w->at));
	return mkdirat(w->fd, name, 0755) == 0 || errno == EEXIST
		       ? NULL
		       : err_errno("cannot create the folder '%.*s'", STR(w->at));
}

/* Goes down to the next name. */
static struct err *step_down(struct fs_way *w, struct str name)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	char target[PATH_MAX];
	struct stat st;
	const char *z = str_z(w->a, name);
	w->at = str_eq(name, S("..")) ? path_dir(w->at) : path_join(w->a, w->at, name);
	CLEANUP(fd_closep) int fd = openat(w->fd, z, flags);
	if (fd < 0 && errno == ENOENT) {
		TRY(claim(w, z));
		fd = w->gone ? -1 : openat(w->fd, z, flags);
	}
	if (w->gone)
		return NULL;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno("cannot look at '%.*s'", STR(w->at));
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlinkat(fd, "", target, sizeof(target));
		TRY(check_owner(w, &st));
		if (n <= 0 || n == sizeof(target) || ++w->links > MAX_LINKS)
			return err_new(E_IO, "the link '%.*s' leads nowhere", STR(w->at));
		w->rest = str_fmt(w->a, "%.*s/%.*s", (int)n, target, STR(w->rest));
		w->at = path_dir(w->at);
		return target[0] == '/' ? go_to_root(w) : NULL;
	}
	if (!S_ISDIR(st.st_mode))
		return err_hint(err_new(E_PERM, "'%.*s' is not a folder", STR(w->at)),
			"rocsmith did not make it: look at it, and remove it");
	int above = w->fd;
	w->fd = fd;
	fd = above;
	w->st = st;
	return check_folder(w);
}

struct err *fs_check_way(struct str path)
{
	ARENA(tmp);
	CLEANUP(fs_way_done) struct fs_way w = {.a = &tmp, .path = path_abs(&tmp, path), .fd = -1};
	struct str name;
	w.rest = str_sub(w.path, 1, w.path.n);
	struct err *e = go_to_root(&w);
	while (!e && !w.gone && str_next(&w.rest, '/', &name)) {
		while (str_starts(w.rest, S("/")))
			w.rest = str_sub(w.rest, 1, w.rest.n);
		e = name.n && !str_eq(name, S(".")) ? step_down(&w, name) : check_folder(&w);
	}
	return e;
}
