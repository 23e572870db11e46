/* Our own folders: the four places, whose owner is checked, and scratch folders, which a dry run may change, too, since
 * they are no results; see fs.h. */
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- dry runs and scratch folders ---- */

static bool forbidden;

/* The folders made by fs_tempdir(). */
static struct scratch {
	struct scratch *next;
	size_t n;
	char path[];
} * scratch;
static pthread_mutex_t scratch_lock = PTHREAD_MUTEX_INITIALIZER;

void fs_forbid_writes(void)
{
	forbidden = true;
}

bool fs_writes_forbidden(void)
{
	return forbidden;
}

/* The last line of defense of --dry-run, for commands that do not check fs_writes_forbidden(). */
struct err *fs_may_write(struct str path)
{
	ARENA(tmp);
	bool may = !forbidden;
	if (may)
		return NULL;
	struct str abs = path_abs(&tmp, path);
	pthread_mutex_lock(&scratch_lock);
	for (const struct scratch *s = scratch; s && !may; s = s->next)
		may = path_is_below(abs, (struct str){.p = s->path, .n = s->n});
	pthread_mutex_unlock(&scratch_lock);
	return may ? NULL : err_new(E_DRY_RUN, "refused to change '%.*s' in a dry run", STR(path));
}

static struct str scratch_dir(void)
{
	const char *env = getenv("TMPDIR");
	return str_from(env && *env ? env : "/tmp");
}

struct err *fs_tempdir(struct arena *a, struct str dir, struct str *ret)
{
	if (dir.n)
		TRY(fs_may_write(dir));
	else
		dir = scratch_dir();
	struct str path = str_fmt(a, "%.*s/rocsmith-XXXXXX", STR(path_abs(a, dir)));
	char *z = str_z(a, path);
	if (!mkdtemp(z))
		return err_errno("cannot create a folder in '%.*s'", STR(dir));
	*ret = (struct str){.p = z, .n = path.n};
	struct scratch *s = xmalloc(sizeof(*s) + path.n);
	s->n = path.n;
	memcpy(s->path, z, path.n);
	pthread_mutex_lock(&scratch_lock);
	s->next = scratch;
	scratch = s;
	pthread_mutex_unlock(&scratch_lock);
	return NULL;
}

void fs_tempdirp(struct str *dir)
{
	if (dir->n)
		err_free(fs_remove_tree(*dir));
}

struct err *fs_tempfile(int *ret_fd)
{
	ARENA(tmp);
	*ret_fd = open(str_z(&tmp, scratch_dir()), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*ret_fd >= 0)
		return NULL;
	char name[] = "/tmp/rocsmith-XXXXXX"; /* this file system lacks O_TMPFILE */
	*ret_fd = mkostemp(name, O_CLOEXEC);
	if (*ret_fd < 0)
		return err_errno("cannot create a temporary file");
	unlink(name);
	return NULL;
}
