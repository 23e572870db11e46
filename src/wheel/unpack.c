/* Unpacks a wheel into a folder; see archive.h. However it ends, the place has the old tree or the whole new one. */
#include "base/fs_stage.h"
#include "wheel/archive.h"

static struct err *put_piece(
	void *user, const struct wheel_member *m, const void *p, size_t n, uint64_t at)
{
	ARENA(tmp);
	CLEANUP(fd_closep) int fd = -1;
	const struct str *dir = user;
	struct str path = str_fmt(&tmp, "%.*s/%.*s", STR(*dir), STR(m->zip->name));
	if (!at)
		return fs_write(path, (struct str){.p = p, .n = n},
			(m->zip->mode & 0111 ? 0777 : 0666) | FS_LOOSE);
	TRY(fs_open_shared(path, 0, &fd));
	return fs_pwrite(fd, p, n, at);
}

/* May a new tree take this place? An old one is replaced only if it is this wheel unpacked. */
static struct err *check_place(const struct wheel *w, struct str place, bool force)
{
	ARENA(tmp);
	if (!fs_present(place))
		return NULL;
	if (!force)
		return err_hint(err_new(E_USAGE, "'%.*s' is there already", STR(place)),
			"--force replaces it");
	if (!fs_is_link(place) && fs_is_dir(path_join(&tmp, place, w->info)))
		return NULL;
	return err_new(
		E_USAGE, "'%.*s' is not this wheel unpacked, and is not replaced", STR(place));
}

struct err *wheel_unpack(struct arena *a, const struct wheel_request *q, struct wheel_done *ret)
{
	CLEANUP(wheel_close) struct wheel w;
	MAP(made, a);
	TRY(wheel_open(a, q->from, &w));
	*ret = (struct wheel_done){.source = q->from, .members = w.members.n, .size = w.size};
	ret->path =
		path_join(a, q->to, str_fmt(a, "%.*s-%.*s", STR(w.name.dist), STR(w.name.version)));
	TRY(check_place(&w, ret->path, q->force));
	if (fs_writes_forbidden())
		return wheel_check(&w, q->jobs, "Checking", NULL, NULL);
	struct fs_stage s = {.place = ret->path};
	TRY(fs_stage_begin(a, &s));
	struct err *e = NULL;
	VEC_EACH (const struct zip_member, m, &w.zip.members) {
		struct str dir = m->dir ? str_sub(m->name, 0, m->name.n - 1) : path_dir(m->name);
		if (!e && map_put(&made, dir, NULL))
			e = fs_mkdirs(path_join(a, s.tree, dir));
	}
	e = e ? e : wheel_check(&w, q->jobs, "Unpacking", put_piece, &s.tree);
	e = e ? e : check_place(&w, ret->path, q->force);
	e = e ? e : fs_stage_commit(&s, S(""));
	return err_join(e, fs_stage_end(&s));
}
