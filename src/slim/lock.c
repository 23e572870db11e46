/* Keeps runs apart that change the same files in place: by two names of one folder, in folders that lie in each other,
 * by two names of one file. See slim_int.h. */
#include <unistd.h>

#include "slim/slim_int.h"

bool slim_is_lock(const struct fs_entry *e)
{
	return S_ISREG(e->st.st_mode) && str_eq(path_base(e->path), S(SLIM_LOCK));
}

/* Somebody else's lock in a folder of ours, or in one that all may write to (/tmp), stops nobody: his run may not change
 * our files anyway. A lock that goes while we look is free. */
struct err *slim_check_run(struct str dir)
{
	ARENA(tmp);
	CLEANUP(fd_closep) int fd = -1;
	struct str lock = path_join(&tmp, dir, S(SLIM_LOCK));
	struct stat st, owner;
	if (!fs_try_lstat(lock, &st) || !S_ISREG(st.st_mode) || !fs_try_stat(dir, &owner) ||
		(st.st_uid != geteuid() && st.st_uid != owner.st_uid))
		return NULL;
	struct err *e = fs_lock(lock, FS_LOCK_SHARED, &fd);
	if (e && e->code == E_LOCKED)
		return err_wrap(e, "another 'slim --in-place' changes '%.*s'", STR(dir));
	err_free(e);
	return NULL;
}

struct err *slim_check_free(struct str dir)
{
	ARENA(tmp);
	struct str real = dir, above;
	(void)fs_real(&tmp, dir, &real);
	for (;; real = above) {
		TRY(slim_check_run(real));
		above = path_dir(real);
		if (str_eq(above, real) || str_eq(real, S(".")))
			return NULL;
	}
}

struct err *slim_lock_tree(struct arena *a, struct str dir, struct slim_lock *ret)
{
	struct str real = dir;
	ret->path = path_join(a, dir, S(SLIM_LOCK));
	TRY_CTX(fs_lock(ret->path, FS_LOCK_NOW, &ret->fd), "cannot slim '%.*s' in place", STR(dir));
	return fs_real(a, dir, &real) ? slim_check_free(path_dir(real)) : NULL;
}

void slim_unlockp(struct slim_lock *l)
{
	if (l->fd >= 0)
		err_free(fs_remove(l->path));
	fd_closep(&l->fd);
}

struct err *slim_claim(int fd, struct str path)
{
	if (fs_try_lock(fd))
		return NULL;
	return err_hint(err_new(E_LOCKED, "another 'slim --in-place' changes '%.*s'", STR(path)),
		"wait for it to end, or stop it");
}
