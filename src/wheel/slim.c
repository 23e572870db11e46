/* Makes a wheel for fewer GPUs, and updates the RECORDs of an installation whose files were made smaller. See wheel.h
 * and slim/slim.h. */
#include "base/hash.h"
#include "wheel/rewrite.h"

static struct err *slim_member(void *user, struct rewrite *x, struct zip_input *in)
{
	(void)user;
	if (str_starts(in->name, x->out.info) && slim_leaves_out(x->keep, in->name))
		return err_new(
			E_USAGE, "'%.*s' has to stay: without it this is no wheel", STR(in->name));
	TRY_CTX(rewrite_slim(x, in, true), "cannot slim '%.*s'", STR(in->name));
	return NULL;
}

struct err *wheel_slim(struct arena *a, const struct slim_keep *k, bool force, unsigned jobs,
	struct slim_report *r)
{
	struct rewrite x = {.a = a, .to = r->output, .jobs = jobs, .keep = k, .report = r};
	TRY(slim_may_make(a, r, false, force));
	CLEANUP(wheel_close) struct wheel w;
	TRY(wheel_open(a, r->path, &w));
	if (!fs_writes_forbidden())
		TRY(wheel_check(&w, jobs, "Checking", NULL, NULL));
	rewrite_from(&x, &w);
	struct err *e = rewrite_begin(&x);
	e = e ? e : rewrite_each(&x, slim_member, NULL);
	e = e ? e : slim_check_without(r);
	bool again = !e && zip_find(&w.zip, path_join(a, w.info, S(CUT_LIST)));
	e = e ? e : slim_judge(a, k, again, r);
	e = e ? e : rewrite_write(&x);
	return rewrite_end(&x, e);
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

struct record_update {
	struct arena *a;
	const struct slim_report *r;
	struct map done; /* changed files by path below the folder */
};

/* Makes the rows of changed files in a RECORD anew, and leaves out those of files that are gone. */
static struct err *visit_installed(void *user, struct fs_entry *entry)
{
	struct record_update *x = user;
	enum { TEXT = 64 << 20 };
	const uint64_t most = (uint64_t)64 << 30; /* bytes of an installed file */
	struct str text, path = path_join(x->a, x->r->path, entry->path);
	struct str site = path_dir(path_dir(entry->path));
	struct dist_record rows;
	struct digest d;
	struct stat st;
	BUF(now, x->a);
	if (!str_ends(entry->path, S(DIST_INFO "/RECORD")) || !S_ISREG(entry->st.st_mode))
		return NULL;
	TRY(fs_read_below(x->a, x->r->path, entry->path, TEXT, &text));
	struct strs lines = str_split(x->a, text, '\n');
	lines.n -= lines.n && !lines.v[lines.n - 1].n;
	struct err *e = dist_record_parse(x->a, text, lines.n, &rows);
	bool plain = !e && rows.n == lines.n;
	err_free(e);
	for (size_t i = 0; plain && i < rows.n; i++) {
		struct str row = path_clean(x->a, path_join(x->a, site, rows.v[i].path));
		struct str file = path_join(x->a, x->r->path, row);
		if (!map_has(&x->done, row)) {
			buf_fmt(&now, "%.*s\n", STR(lines.v[i]));
		} else if (fs_try_lstat(file, &st)) {
			/* the list of changes may be of an earlier run, and the tree another one by now */
			CLEANUP(fd_closep) int fd = -1;
			TRY(fs_open_below(x->r->path, row, most, &fd));
			TRY(hash_file(HASH_SHA256, str_fmt(x->a, "/proc/self/fd/%d", fd), &d));
			dist_record_add(&now, rows.v[i].path, digest_base64url(x->a, &d),
				(uint64_t)st.st_size);
		}
	}
	return !plain || str_eq(buf_str(&now), text) ? NULL : fs_write(path, buf_str(&now), 0644);
}

struct err *wheel_slim_installed(struct arena *result, struct slim_report *all)
{
	ARENA(a);
	wheel_restore(result, all, S(""));
	struct record_update x = {.a = &a, .r = all, .done = {.a = &a}};
	VEC_EACH (struct slim_done, f, &all->files)
		if (path_is_inside(f->path))
			map_put(&x.done, f->path, f);
	return fs_walk(all->path, visit_installed, &x);
}
