/* Finds the folders in which rocsmith stores data, and checks who owns them; see fs.h. */
#include <pwd.h>
#include <stdlib.h>
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

struct str fs_place(struct arena *a, enum fs_place place, struct str name)
{
	enum { RECORD = 1 << 14 };
	const char *all = getenv("ROCSMITH_HOME"), *xdg = getenv(places[place].env);
	const char *home = getenv("HOME");
	struct passwd p, *found = NULL;
	struct str dir;
	if (all && *all) {
		dir = path_join(a, path_abs(a, str_from(all)), str_from(places[place].sub));
	} else if (xdg && *xdg == '/') {
		dir = path_join(a, str_from(xdg), S("rocsmith"));
	} else {
		if (!home || *home != '/') {
			(void)getpwuid_r(geteuid(), &p, arena_alloc(a, RECORD), RECORD, &found);
			home = found && found->pw_dir[0] == '/' ? found->pw_dir : HOMELESS;
		}
		dir = str_fmt(a, "%s/%s/rocsmith", home, places[place].home);
	}
	return path_join(a, dir, name);
}

bool fs_in_place(struct str path)
{
	ARENA(tmp);
	for (enum fs_place p = FS_DATA; p <= FS_CONFIG; p++)
		if (path_is_below(path, fs_place(&tmp, p, S(""))))
			return true;
	return false;
}

/* The user's own group is allowed to have write permission. */
struct err *fs_check_own(struct str dir, bool place)
{
	struct stat st;
	if (!(place ? fs_try_stat(dir, &st) : fs_try_lstat(dir, &st)))
		return NULL;
	if (!S_ISDIR(st.st_mode))
		return err_hint(err_new(E_PERM, "'%.*s' is not a folder", STR(dir)),
			"rocsmith did not make it: look at it, and remove it");
	if (st.st_uid != geteuid() && (st.st_uid || !place))
		return err_hint(err_new(E_PERM, "'%.*s' belongs to another user", STR(dir)), "%s",
			place ? "name another folder with ROCSMITH_HOME"
			      : "let that user run this; or look at it, and remove it");
	bool open = st.st_mode & S_IWOTH || (st.st_mode & S_IWGRP && st.st_gid != getegid());
	if (place && open)
		return err_hint(err_new(E_PERM,
					"'%.*s' can be written by others, so what is in there is "
					"not believed",
					STR(dir)),
			"if nobody else wrote there: chmod go-w '%.*s'", STR(dir));
	return NULL;
}

struct err *fs_place_check(enum fs_place place)
{
	ARENA(tmp);
	struct str dir = fs_place(&tmp, place, S(""));
	if (str_starts(dir, S(HOMELESS "/")))
		return err_hint(
			err_new(E_NOENT,
				"HOME is not set, and the system knows no home folder of user %u",
				(unsigned)geteuid()),
			"set HOME or ROCSMITH_HOME");
	return fs_check_own(dir, true);
}
