/* Makes a wheel for fewer GPUs, and updates the RECORDs of an installation whose files were made smaller. See wheel.h
 * and slim/slim.h. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/map.h"
#include "wheel/rewrite.h"

struct slimming {
	const struct slim_keep *keep;
	struct slim_report *r;
	struct wheel w;
};

static struct err *slim_member(void *user, struct rewrite *x, struct zip_input *in)
{
	struct slimming *s = user;
	if (str_starts(in->name, s->w.info) && slim_leaves_out(s->keep, in->name))
		return err_new(
			E_USAGE, "'%.*s' has to stay: without it this is no wheel", STR(in->name));
	if (!slim_keeps_file(s->keep, in->name)) {
		slim_note(x->a, s->r, in->name, in->member->size, NULL);
		in->name = S("");
		return NULL;
	}
	TRY_CTX(rewrite_slim(x, s->keep, s->r, in), "cannot slim '%.*s'", STR(in->name));
	return NULL;
}

static struct err *slim(struct slimming *s, struct rewrite *x)
{
	struct wheel_inputs all = rewrite_inputs(x->a, &s->w);
	x->time = wheel_time(&s->w);
	x->out.info = s->w.info;
	if (!fs_writes_forbidden())
		TRY(wheel_check(&s->w, x->jobs, "Checking", NULL, NULL));
	TRY(rewrite_each(x, &all, slim_member, s));
	TRY(slim_check_served(x->a, s->r, s->keep));
	TRY(slim_check_without(s->r));
	rewrite_cut_list(x, s->r);
	return rewrite_write(x);
}

struct err *wheel_slim(struct arena *a, const struct slim_keep *k, bool force, unsigned jobs,
	struct slim_report *r)
{
	struct slimming s = {.keep = k, .r = r};
	struct rewrite x = {.a = a, .to = r->output, .jobs = jobs};
	TRY(slim_may_make(a, r, false, force));
	TRY(wheel_open(a, r->path, &s.w));
	struct err *e = fs_tempdir(a, S(""), &x.scratch);
	if (!e)
		e = slim(&s, &x);
	wheel_close(&s.w);
	return x.scratch.n ? err_join(e, fs_remove_tree(x.scratch)) : e;
}

struct err *wheel_runtime(struct arena *a, struct str path, struct slim_runtime *ret)
{
	CLEANUP(wheel_close) struct wheel w;
	TRY(wheel_open(a, path, &w));
	VEC_EACH (const struct wheel_member, m, &w.members) {
		CLEANUP(fd_closep) int fd = -1;
		struct bytes src;
		if (!slim_is_runtime(m->zip->name))
			continue;
		TRY(zip_src(&w.zip, m->zip, &src, &fd));
		TRY_CTX(slim_runtime(a, &src, m->zip->name, ret), "cannot read '%.*s'",
			STR(m->zip->name));
	}
	return NULL;
}

/* ---- installed wheels ---- */

struct installed {
	struct arena *a;
	const struct slim_report *r;
	struct map done; /* changed files by path below the folder */
};

/* Makes the row of a changed file anew, and leaves it out if the file is gone. */
static struct err *update_row(
	struct installed *x, const struct dist_row *row, struct str path, struct buf *to)
{
	struct digest d;
	struct stat st;
	struct str file = path_join(x->a, x->r->path, path);
	if (!fs_try_lstat(file, &st))
		return NULL;
	TRY(hash_file(HASH_SHA256, file, &d));
	dist_record_add(to, row->path, digest_base64url(x->a, &d), (uint64_t)st.st_size);
	return NULL;
}

static struct err *update_record(struct installed *x, struct str name)
{
	struct str text, path = path_join(x->a, x->r->path, name);
	struct str site = path_dir(path_dir(name));
	struct dist_record rows;
	BUF(now, x->a);
	TRY(fs_read(x->a, path, 64 << 20, &text));
	struct strs lines = str_split(x->a, text, '\n');
	lines.n -= lines.n && !lines.v[lines.n - 1].n;
	struct err *e = dist_record_parse(x->a, text, lines.n, &rows);
	bool plain = !e && rows.n == lines.n;
	err_free(e);
	for (size_t i = 0; plain && i < rows.n; i++) {
		struct str row = path_clean(x->a, path_join(x->a, site, rows.v[i].path));
		if (map_has(&x->done, row)) {
			TRY(update_row(x, &rows.v[i], row, &now));
			continue;
		}
		buf_add(&now, lines.v[i]);
		buf_char(&now, '\n');
	}
	return !plain || str_eq(buf_str(&now), text) ? NULL : fs_write(path, buf_str(&now), 0644);
}

static struct err *visit_installed(void *user, const struct fs_entry *e, bool *prune)
{
	(void)prune;
	bool record = str_ends(e->path, S(DIST_INFO "/RECORD")) && S_ISREG(e->st.st_mode);
	return record ? update_record(user, e->path) : NULL;
}

struct err *wheel_slim_installed(const struct slim_report *all)
{
	ARENA(a);
	struct installed x = {.a = &a, .r = all, .done = {.a = &a}};
	VEC_EACH (struct slim_done, f, &all->files)
		if (path_is_inside(f->path))
			map_put(&x.done, f->path, f);
	return fs_walk(all->path, visit_installed, &x);
}
