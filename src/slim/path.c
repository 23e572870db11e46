/* Slims one file, a whole folder, whose files are copied, made smaller or left out, or an installed tree in place. See
 * slim.h. The new folder is built beside its place and renamed, so that it appears whole or not at all. */
#include <unistd.h>

#include "base/fs_stage.h"
#include "base/proc.h"
#include "slim/slim_int.h"

static struct err *write_cut_list(struct arena *a, const struct slim_report *r, struct str file)
{
	struct str path = str_fmt(a, "%.*s" CUT_LIST_END, STR(file));
	return r->files.n ? fs_write(path, cut_list_text(a, r), 0644) : NULL;
}

/* E_IO unless the open file is still the one that was looked at, with the bytes that were judged. */
static struct err *check_same(int fd, const struct stat *st, struct str path)
{
	if (fs_is_unchanged(fd, st))
		return NULL;
	return err_hint(
		err_new(E_IO, "'%.*s' was changed by somebody else in the meantime", STR(path)),
		"look at who else is at work there, then run this again");
}

/* The result gets its name only if its source did not change while it was read. */
static struct err *save_plan(struct slim_plan *p, const struct bytes_file *in, struct fs_out *out)
{
	TRY(slim_write(p, out));
	return check_same(in->fd, &in->st, str_from(out->path));
}

static struct err *slim_in_place(struct arena *a, struct slim_plan *p, const struct stat *st,
	struct str path, struct slim_report *r)
{
	CLEANUP(fd_closep) int fd = -1;
	uint64_t freed;
	TRY_CTX(slim_punch(p, -1, &freed), "cannot slim '%.*s'", STR(r->path));
	p->after = p->src->size - freed;
	slim_note(a, r, S(""), p->src->size, p);
	if (fs_writes_forbidden() || !p->changed)
		return NULL;
	TRY(fs_open_shared(path, 0, &fd));
	TRY(check_same(fd, st, path));
	TRY(write_cut_list(a, r, path));
	TRY_CTX(slim_punch(p, fd, &freed), "cannot slim '%.*s'", STR(r->path));
	return NULL;
}

struct err *slim_file(struct arena *a, const struct slim_keep *k, bool in_place, bool force,
	struct slim_report *r)
{
	CLEANUP(bytes_close) struct bytes_file in = {.fd = -1};
	CLEANUP(fs_out_abandon) struct fs_out out = {.fd = -1, .dir = -1};
	struct slim_plan p;
	struct slim_report check = *r;
	bool holes = in_place && !k->strip && !k->compress, write = !fs_writes_forbidden();
	struct str real = r->path;
	struct stat named;
	TRY(bytes_open(r->path, &in));
	if (in_place && write && fs_real(a, r->path, &real)) {
		TRY(slim_claim(in.fd, real));
		TRY(slim_check_free(path_dir(real)));
		/* a run that ended just now may have changed or replaced the file */
		TRY(fs_lstat(real, &named));
		TRY(check_same(in.fd, &named, real));
		TRY(check_same(in.fd, &in.st, real));
	}
	TRY_CTX(slim_read(a, &in.src, k, &p), "cannot slim '%.*s'", STR(r->path));
	if (!p.elf.src && !p.bundles.n)
		return err_new(
			E_FORMAT, "'%.*s' is neither an ELF file nor a bundle", STR(r->path));
	slim_note(a, &check, S(""), in.src.size, &p);
	TRY(slim_judge(a, k, fs_is_file(str_fmt(a, "%.*s" CUT_LIST_END, STR(real))), &check));
	r->absent = check.absent;
	if (!in_place)
		TRY(slim_may_make(a, r, false, force));
	else if (in.st.st_uid != geteuid())
		return err_new(E_PERM, "'%.*s' belongs to somebody else", STR(r->path));
	if (holes && in.st.st_nlink > 1 && !force)
		return err_hint(err_new(E_PERM, "'%.*s' has other names", STR(r->path)),
			"--force takes the code out of all of them");
	if (holes)
		return slim_in_place(a, &p, &in.st, real, r);
	if (in_place)
		r->output = real;
	if (write) { /* in place, other hard links keep the old content */
		TRY(fs_out_open(&out, r->output, in.st.st_mode));
		TRY_CTX(save_plan(&p, &in, &out), "cannot slim '%.*s'", STR(r->path));
	}
	slim_note(a, r, S(""), in.src.size, &p);
	if (!write)
		return NULL;
	/* the cut list comes before its file: a killed run must not leave a file without one */
	TRY(write_cut_list(a, r, r->output));
	return fs_out_commit(&out);
}

/* ---- folders ---- */
struct folder_slimming {
	struct arena *a;
	const struct slim_keep *keep;
	struct slim_report *r;
	bool in_place;
	struct str to; /* the new folder; in place: the path of the cut list */
	struct map
		looked; /* in place: the stat of each file that changes, when it was judged, by path */
	size_t done;    /* in place: files that were replaced or removed */
};

/* Reads the file that `e` was taken from, no other one, and makes what becomes of it; to "": only the report. A file
 * that cannot be slimmed safely stays whole, and is listed as refused; so does a damaged one, but it is not listed:
 * `inspect` reports it. A copy is a file of its own: a second name would have the old one's owner and set-user-id bit,
 * and change with it. */
static struct err *take_file(struct folder_slimming *j, struct slim_report *r,
	const struct fs_entry *entry, struct str to)
{
	ARENA(tmp);
	CLEANUP(fd_closep) int below = -1;
	CLEANUP(bytes_close) struct bytes_file in = {.fd = -1};
	CLEANUP(fs_out_abandon) struct fs_out out = {.fd = -1, .dir = -1};
	struct slim_plan p;
	bool write = to.n && !fs_writes_forbidden();
	struct str from = path_join(&tmp, r->path, entry->path);
	bool same = str_eq(from, to);
	if (!S_ISREG(entry->st.st_mode))
		return err_new(E_FORMAT, "'%.*s' is neither a file nor a folder", STR(from));
	TRY(fs_open_below(r->path, entry->path, INT64_MAX, &below));
	TRY(bytes_open(str_fmt(&tmp, "/proc/self/fd/%d", below), &in));
	if (write && same)
		TRY(slim_claim(in.fd, from));
	TRY(check_same(in.fd, &entry->st, from));
	struct err *e = slim_read(&tmp, &in.src, j->keep, &p);
	if (!e && p.changed && write) {
		e = fs_out_open(&out, to, in.st.st_mode);
		e = e ? e : save_plan(&p, &in, &out);
		e = e ? e : fs_out_commit(&out);
	}
	if (e && e->code != E_SLIM && e->code != E_ELF && e->code != E_BUNDLE)
		return err_wrap(e, "cannot slim '%.*s'", STR(from));
	if (e && e->code == E_SLIM)
		*VEC_PUSH(j->a, &r->refused) = (struct slim_refused){
			str_dup(j->a, entry->path), str_dup(j->a, str_from(err_root(e)->msg))};
	if (e)
		p = (struct slim_plan){.after = in.src.size};
	err_free(e);
	slim_note(j->a, r, entry->path, in.src.size, &p);
	return p.changed || !write || same ? NULL : fs_copy(from, to, &in.st);
}

/* Makes what becomes of an entry, or, in place, notes it: files that change are changed later. */
static struct err *visit_entry(void *user, struct fs_entry *e)
{
	ARENA(tmp);
	struct folder_slimming *j = user;
	bool file = S_ISREG(e->st.st_mode), dir = S_ISDIR(e->st.st_mode);
	bool link = S_ISLNK(e->st.st_mode), write = !j->in_place && !fs_writes_forbidden();
	struct str from = path_join(&tmp, j->r->path, e->path), target;
	struct str to = j->in_place ? S("") : path_join(&tmp, j->to, e->path);
	size_t n = j->r->files.n;
	TRY(cancel_check());
	if (slim_is_lock(e)) /* the one of a run in place is its own */
		return j->in_place && str_eq(e->path, S(SLIM_LOCK))
			       ? NULL
			       : slim_check_run(path_dir(from));
	if (file)
		slim_note_side(j->a, j->keep, j->r, e->path);
	if (file ? !slim_keeps_file(j->keep, e->path) : !dir && slim_leaves_out(j->keep, e->path)) {
		slim_note(j->a, j->r, e->path, (uint64_t)e->st.st_size, NULL);
	} else if (dir && write && !slim_leaves_out(j->keep, e->path)) {
		TRY(fs_mkdirs(to));
	} else if (link && write) {
		TRY(fs_readlink(&tmp, from, &target));
		TRY(fs_symlink_new(target, to));
	} else if (file || !(dir || link || j->in_place)) {
		TRY(take_file(j, j->r, e, to));
	}
	if (!j->in_place || j->r->files.n == n)
		return NULL;
	if (e->st.st_uid != geteuid())
		return err_new(E_PERM, "'%.*s' belongs to somebody else", STR(e->path));
	struct stat *st = NEW(j->a, struct stat);
	*st = e->st;
	map_put(&j->looked, j->r->files.v[n].path, st);
	return NULL;
}

static struct err *remove_empty(struct str top, const struct slim_report *r)
{
	struct str done = {0};
	VEC_EACH (const struct slim_done, f, &r->files) {
		ARENA(tmp);
		struct str dir = path_dir(f->path);
		if (f->after || str_eq(dir, done))
			continue;
		for (done = dir; path_is_inside(dir) && !str_eq(dir, S(".")); dir = path_dir(dir))
			TRY(fs_remove_empty(path_join(&tmp, top, dir)));
	}
	return NULL;
}

struct err *slim_may_make(struct arena *a, const struct slim_report *r, bool folder, bool force)
{
	struct str to = r->output, from, dir;
	if (folder && fs_real(a, r->path, &from) && fs_real(a, path_dir(to), &dir)) {
		dir = str_fmt(a, "%.*s/%.*s/", STR(dir), STR(path_base(to)));
		from = str_fmt(a, "%.*s/", STR(from));
		if (str_starts(dir, from) || str_starts(from, dir))
			return err_new(E_USAGE, "'%.*s' and '%.*s' lie in each other", STR(r->path),
				STR(to));
	}
	if (!fs_present(to))
		return NULL;
	if (!force)
		return err_hint(
			err_new(E_USAGE, "'%.*s' exists", STR(to)), "--force overwrites it");
	if (folder ? !fs_is_file(path_join(a, to, S(CUT_LIST))) : fs_is_dir(to))
		return err_new(E_USAGE, "'%.*s' exists, and was not made by 'slim'", STR(to));
	return NULL;
}

struct err *slim_folder(
	struct arena *a, const struct slim_keep *k, bool force, struct slim_report *r)
{
	struct folder_slimming j = {.a = a, .keep = k, .r = r};
	struct fs_stage stage = {.place = r->output, .receipt = S(CUT_LIST)};
	bool dry = fs_writes_forbidden();
	TRY(slim_may_make(a, r, true, force));
	TRY(slim_check_free(r->path));
	if (!dry)
		TRY(fs_stage_begin(a, &stage));
	j.to = stage.tree;
	struct err *e = dry ? NULL : fs_mkdirs(j.to);
	e = e ? e : fs_walk(r->path, visit_entry, &j);
	e = e ? e : slim_check_without(r);
	e = e ? e : slim_judge(a, k, fs_is_file(path_join(a, r->path, S(CUT_LIST))), r);
	if (dry)
		return e;
	e = e ? e : remove_empty(j.to, r);
	e = e ? e : fs_stage_commit(&stage, cut_list_text(a, r));
	return err_join(e, fs_stage_end(&stage));
}

/* ---- installed trees (a venv, an SDK), in place ----
 *
 * First everything is read. Then the cut list is written, marked as unfinished, with the planned result. Then files are
 * replaced whole or removed, with the folders that become empty, and the cut list is written with the actual result.
 * The next run completes one that was killed: finished files do not change any more, and the cut list names them. */

/* Adds the command that finishes an unfinished run to an error. */
static struct err *hint_finish(
	struct arena *a, struct err *e, const struct slim_report *old, struct str path)
{
	struct slim_runtime hip = {0};
	BUF(b, a);
	if (old->gpus.n)
		buf_fmt(&b, "--gpu %.*s ", STR(str_shell(a, str_join(a, &old->gpus, S(",")))));
	buf_fmt(&b, "%s%s%s", old->exact ? "--exact " : "",
		old->strip_device ? "--strip-device " : "", old->compress.n ? "--compress " : "");
	VEC_EACH (const struct str, glob, &old->without)
		buf_fmt(&b, "--without %.*s ", STR(str_shell(a, *glob)));
	e = err_hint(e, "finish it: rocsmith slim --in-place %.*s%.*s", STR(buf_str(&b)),
		STR(str_shell(a, path)));
	if (!old->compress.n)
		return e;
	err_free(slim_runtime_in(a, path, true, &hip));
	bool here = str_eq(old->compress, str_fmt(a, "ccob%u", (unsigned)hip.most));
	return here ? e
		    : err_hint(e, "add the --sdk of that run: it has the '%.*s' that reads %.*s",
			      STR(old->runtime), STR(old->compress));
}

/* Only the same options finish an unfinished run. */
static struct err *may_go_on(
	struct arena *a, const struct slim_report *old, const struct slim_report *r)
{
	bool same = strs_eq(&old->gpus, &r->gpus) && strs_eq(&old->without, &r->without) &&
		    old->exact == r->exact && old->strip_device == r->strip_device &&
		    str_eq(old->compress, r->compress);
	if (same || !old->unfinished)
		return NULL;
	return hint_finish(a, err_new(E_USAGE, "another run on '%.*s' is unfinished", STR(r->path)),
		old, r->path);
}

static void add_files(struct arena *a, struct slim_report *to, const struct slim_report *r)
{
	MAP(known, a); /* a map, because a stranger's cut list may be of any length */
	MAP(empty, a);
	VEC_EACH (struct slim_done, f, &to->files)
		map_put(&known, f->path, f);
	VEC_EACH (const struct slim_done, f, &r->files)
		if (map_put(&known, f->path, to))
			*VEC_PUSH(a, &to->files) = *f;
	VEC_EACH (struct slim_refused, x, &to->emptied)
		map_put(&empty, x->path, x);
	VEC_EACH (const struct slim_refused, x, &r->emptied)
		if (map_put(&empty, x->path, to))
			*VEC_PUSH(a, &to->emptied) = *x;
}

/* Adds a run's report to that of earlier runs. */
static void add_report(struct arena *a, struct slim_report *to, const struct slim_report *r)
{
	struct slim_report now = *r;
	bool first = !to->before;
	now.before = first ? r->before : to->before;
	now.stripped += to->stripped;
	now.files.v = NULL;
	now.files.n = now.files.cap = 0;
	now.emptied.v = NULL;
	now.emptied.n = now.emptied.cap = 0;
	now.targets = (struct slim_sums){0};
	VEC_EACH (const struct slim_sum, s, &to->targets)
		if (!s->kept)
			slim_sum_add(a, &now.targets, s);
	VEC_EACH (const struct slim_sum, s, &r->targets)
		slim_sum_add(a, &now.targets, s);
	add_files(a, &now, to);
	add_files(a, &now, r);
	*to = now;
}

static struct err *save(struct folder_slimming *p, struct slim_report *all, bool unfinished)
{
	all->path = all->output = p->r->path;
	all->unfinished = unfinished;
	all->after = all->before;
	VEC_EACH (struct slim_done, f, &all->files) {
		struct stat st;
		bool here = path_is_inside(f->path) &&
			    fs_try_lstat(path_join(p->a, p->r->path, f->path), &st);
		if (!unfinished)
			f->after = here ? (uint64_t)st.st_size : 0;
		/* files that came later were not counted in `before` */
		uint64_t freed = f->before > f->after ? f->before - f->after : 0;
		all->after -= freed < all->after ? freed : all->after;
	}
	return fs_write(p->to, cut_list_text(p->a, all), 0644);
}

/* Replaces or removes each file of the report; `all` has those of earlier runs, too. */
static struct err *change_files(
	struct folder_slimming *p, struct slim_report *all, bool resumed, slim_then_fn *then)
{
	struct slim_report *r = p->r;
	VEC_EACH (struct slim_done, f, &r->files) {
		ARENA(tmp);
		struct slim_report one = {.path = r->path, .refused = r->refused};
		struct fs_entry entry = {.path = f->path};
		struct str path = path_join(&tmp, r->path, f->path);
		struct stat now;
		TRY(cancel_check());
		if (!f->after) {
			TRY(fs_remove(path));
			p->done++;
			continue;
		}
		entry.st = *(const struct stat *)map_get(&p->looked, f->path);
		struct err *e = take_file(p, &one, &entry, path);
		p->done += !fs_try_lstat(path, &now) || now.st_ino != entry.st.st_ino;
		TRY(e);
		r->refused = one.refused;
		r->after += one.after - f->after;
		f->after = one.after;
	}
	all->refused = r->refused;
	TRY(remove_empty(r->path, resumed ? all : r));
	if (then)
		TRY(then(p->a, all));
	r->restore = all->restore;
	r->unlisted = all->unlisted;
	return fs_sync_all(r->path);
}

struct err *slim_tree(
	struct arena *a, const struct slim_keep *k, slim_then_fn *then, struct slim_report *r)
{
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	CLEANUP(slim_unlockp) struct slim_lock lock = {.fd = -1};
	struct folder_slimming p = {
		.a = a, .keep = k, .r = r, .in_place = true, .looked = {.a = a}};
	struct slim_report all = {0};
	struct str text;
	p.to = path_join(a, r->path, S(CUT_LIST));
	TRY(fs_guard(r->path, &guard));
	if (!fs_writes_forbidden())
		TRY(slim_lock_tree(a, r->path, &lock));
	TRY(fs_read_opt(a, p.to, 64 << 20, &text));
	if (text.p)
		TRY(cut_list_read(a, text, p.to, &all));
	TRY(may_go_on(a, &all, r));
	TRY(fs_walk(r->path, visit_entry, &p));
	if (!strs_eq(&all.without, &r->without))
		TRY(slim_check_without(r));
	TRY(slim_judge(a, k, text.p != NULL, r));
	bool resumed = all.unfinished;
	if (fs_writes_forbidden() || (!r->files.n && !resumed))
		return NULL;
	if (resumed)
		add_files(a, &all, r);
	else
		add_report(a, &all, r);
	TRY(save(&p, &all, true));
	struct err *e = change_files(&p, &all, resumed, then);
	if (!e)
		return save(&p, &all, false);
	if (p.done || resumed)
		return hint_finish(a, e, r, r->path);
	/* nothing happened, and nothing tells of it */
	return err_join(e, text.p ? fs_write(p.to, text, 0644) : fs_remove(p.to));
}
