/* Finds the folders in which rocsmith stores data, and decides who may write what is new in them and elsewhere; see
 * fs.h. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fs_int.h"

static const struct {
	const char *env, *home; /* XDG variable; folder below $HOME without it */
	const char *sub;        /* folder below $ROCSMITH_HOME */
} places[] = {
	[FS_DATA] = {.env = "XDG_DATA_HOME", .home = ".local/share", .sub = "data"},
	[FS_CACHE] = {.env = "XDG_CACHE_HOME", .home = ".cache", .sub = "cache"},
	[FS_STATE] = {.env = "XDG_STATE_HOME", .home = ".local/state", .sub = "state"},
	[FS_CONFIG] = {.env = "XDG_CONFIG_HOME", .home = ".config", .sub = "config"},
};

#define HOMELESS "/nonexistent" /* Debian's placeholder for users without a home */

static const char *account_home(struct arena *a)
{
	const struct passwd *p = fs_account(a);
	return p && p->pw_dir[0] == '/' ? p->pw_dir : HOMELESS;
}

struct str fs_home(struct arena *a)
{
	const char *home = getenv("HOME");
	return str_from(home && *home == '/' ? home : account_home(a));
}

struct str fs_user_dir(struct arena *a, enum fs_place place)
{
	const char *xdg = getenv(places[place].env);
	return xdg && *xdg == '/' ? str_from(xdg)
				  : str_fmt(a, "%.*s/%s", STR(fs_home(a)), places[place].home);
}

struct str fs_place(struct arena *a, enum fs_place place, struct str name)
{
	const char *all = getenv("ROCSMITH_HOME");
	struct str dir;
	if (all && *all)
		dir = path_join(a, path_abs(a, str_from(all)), str_from(places[place].sub));
	else
		dir = path_join(a, fs_user_dir(a, place), S("rocsmith"));
	return path_join(a, dir, name);
}

/* A home may be a link, so the real paths count, too. */
bool fs_in_place(struct str path)
{
	ARENA(tmp);
	struct str real;
	for (enum fs_place p = FS_DATA; p <= FS_CONFIG; p++) {
		struct str place = fs_place(&tmp, p, S(""));
		if (path_is_below(path, place) ||
			(fs_real(&tmp, place, &real) && path_is_below(path, real)))
			return true;
	}
	return false;
}

struct err *fs_place_check(enum fs_place place)
{
	ARENA(tmp);
	struct str dir = fs_place(&tmp, place, S("")), own;
	const char *home = getenv("HOME");
	struct str said =
		home && *home ? str_fmt(&tmp, "HOME is '%s'", home) : S("HOME is not set");
	if (str_starts(dir, S(HOMELESS "/")))
		return err_hint(
			err_new(E_NOENT, "%.*s, and the system knows no home folder of user %u",
				STR(said), (unsigned)geteuid()),
			"set HOME or ROCSMITH_HOME");
	const char *all = getenv("ROCSMITH_HOME");
	if (all && fs_is_file(str_from(all)))
		return err_new(E_PERM, "ROCSMITH_HOME is '%s', which is not a folder", all);
	struct err *e = fs_check_way(dir);
	if (!e || e->code != E_PERM || err_root(e)->hints)
		return e;
	/* as root with another user's HOME, for example by sudo -E */
	own = str_from(account_home(&tmp));
	CLEANUP(err_freep) struct err *bad = fs_check_way(own);
	if (!bad && fs_is_dir(own))
		return err_hint(e, "export ROCSMITH_HOME='%.*s/.rocsmith'", STR(own));
	return err_hint(e, "export ROCSMITH_HOME=\"$(mktemp -d)\"");
}

struct err *fs_check_own(struct str dir)
{
	struct stat st;
	if (!fs_try_lstat(dir, &st))
		return NULL;
	if (!S_ISDIR(st.st_mode))
		return err_hint(err_new(E_PERM, "'%.*s' is not a folder", STR(dir)),
			"rocsmith did not make it: look at it, and remove it");
	if (st.st_uid != geteuid())
		return err_hint(err_new(E_PERM, "'%.*s' belongs to another user", STR(dir)),
			"let that user run this; or look at it, and remove it");
	return NULL;
}

/* ---- modes ---- */

void fs_std_begin(void)
{
	int fd;
	do
		fd = open("/", O_PATH); /* the lowest number that is free */
	while (fd >= 0 && fd <= STDERR_FILENO);
	fd_closep(&fd);
}

static mode_t lent; /* the bits that our umask takes, and the user's own does not */

void fs_umask_begin(void)
{
	mode_t mask = umask(S_IWGRP | S_IWOTH);
	lent = ~mask & (S_IWGRP | S_IWOTH);
	(void)umask(mask | lent);
}

void fs_umask_end(void)
{
	(void)umask(umask(0) & ~lent);
	lent = 0;
}

/* A file with an ACL got its mode from that of the folder, for which no umask counts. */
int fs_lend(int fd, struct str path, unsigned mode)
{
	struct stat st;
	char none;
	mode &= lent;
	if (!mode || fs_in_place(path) || fgetxattr(fd, "system.posix_acl_access", &none, 0) >= 0)
		return 0;
	if (fstat(fd, &st) < 0)
		return -1;
	if ((st.st_mode & mode) == mode || fchmod(fd, (st.st_mode & 07777) | mode) == 0)
		return 0;
	/* some file systems have fixed modes, or another owner for all files */
	return errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -1;
}
