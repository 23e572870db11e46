/* Slims an installed tree (a venv, an SDK) in place. See slim.h.
 *
 * First everything is read. Then the cut list is written, marked as unfinished, with the planned result. Then files are
 * replaced whole or removed, with the folders that become empty, and the cut list is written with the actual result.
 * The next run completes one that was killed: finished files do not change any more, and the cut list names them. */
#include <unistd.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/proc.h"
#include "slim/slim_int.h"

struct tree_slimming {
	struct arena *a;
	const struct slim_keep *keep;
	struct slim_report *r;
	struct str list; /* the path of the cut list */
};

static struct err *look_at(void *user, const struct fs_entry *e, bool *prune)
{
	(void)prune;
	struct tree_slimming *p = user;
	size_t n = p->r->files.n;
	TRY(cancel_check());
	if (slim_drops(p->keep, e))
		slim_note(p->a, p->r, e->path, (uint64_t)e->st.st_size, NULL);
	else if (S_ISREG(e->st.st_mode))
		TRY(slim_take_file(p->a, p->keep, p->r, e->path, S("")));
	if (p->r->files.n > n && e->st.st_uid != geteuid())
		return err_new(E_PERM, "'%.*s' belongs to somebody else", STR(e->path));
	return NULL;
}

static bool same_words(const struct strs *x, const struct strs *y)
{
	bool same = x->n == y->n;
	for (size_t i = 0; same && i < x->n; i++)
		same = str_eq(x->v[i], y->v[i]);
	return same;
}

/* Only the same options finish an unfinished run: the hint is its command. */
static struct err *may_go_on(
	struct arena *a, const struct slim_report *old, const struct slim_report *r)
{
	struct slim_runtime hip = {0};
	BUF(b, a);
	bool same = same_words(&old->gpus, &r->gpus) && same_words(&old->without, &r->without) &&
		    old->exact == r->exact && old->strip_device == r->strip_device &&
		    str_eq(old->compress, r->compress);
	if (same || !old->unfinished)
		return NULL;
	if (old->gpus.n)
		buf_fmt(&b, "--gpu %.*s ", STR(str_join(a, &old->gpus, S(","))));
	buf_fmt(&b, "%s%s%s", old->exact ? "--exact " : "",
		old->strip_device ? "--strip-device " : "", old->compress.n ? "--compress " : "");
	VEC_EACH (const struct str, glob, &old->without)
		buf_fmt(&b, "--without %.*s ", STR(str_shell(a, *glob)));
	struct err *e =
		err_hint(err_new(E_USAGE, "another run on '%.*s' is unfinished", STR(r->path)),
			"finish it: rocsmith slim --in-place %.*s%.*s", STR(buf_str(&b)),
			STR(str_shell(a, r->path)));
	if (!old->compress.n)
		return e;
	err_free(slim_runtime_in(a, r->path, true, &hip));
	return hip.path.n ? e
			  : err_hint(e, "--sdk, too, as then: it had '%.*s', which reads %.*s",
				    STR(old->runtime), STR(old->compress));
}

static void add_files(struct arena *a, struct slim_report *to, const struct slim_report *r)
{
	MAP(known, a); /* a map, because a stranger's cut list may be of any length */
	VEC_EACH (struct slim_done, f, &to->files)
		map_put(&known, f->path, f);
	VEC_EACH (const struct slim_done, f, &r->files)
		if (map_put(&known, f->path, to))
			*VEC_PUSH(a, &to->files) = *f;
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

static struct err *save(struct tree_slimming *p, struct slim_report *all, bool unfinished)
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
		all->after -= f->before - f->after;
	}
	return fs_write(p->list, cut_list_text(p->a, all), 0644);
}

static struct err *change(struct tree_slimming *p)
{
	VEC_EACH (struct slim_done, f, &p->r->files) {
		ARENA(tmp);
		struct slim_report one = {.path = p->r->path};
		struct str path = path_join(&tmp, p->r->path, f->path);
		TRY(cancel_check());
		if (!f->after) {
			TRY(fs_remove(path));
			continue;
		}
		one.refused = p->r->refused;
		TRY(slim_take_file(p->a, p->keep, &one, f->path, path));
		p->r->refused = one.refused;
		p->r->after += one.after - f->after;
		f->after = one.after;
	}
	return NULL;
}

struct err *slim_tree(
	struct arena *a, const struct slim_keep *k, slim_then_fn *then, struct slim_report *r)
{
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct tree_slimming p = {.a = a, .keep = k, .r = r};
	struct slim_report all = {0};
	struct str text;
	p.list = path_join(a, r->path, S(CUT_LIST));
	TRY(fs_guard(r->path, &guard));
	TRY(fs_read_opt(a, p.list, 64 << 20, &text));
	if (text.p)
		TRY(cut_list_read(a, text, p.list, &all));
	TRY(may_go_on(a, &all, r));
	TRY(fs_walk(r->path, look_at, &p));
	if (!all.unfinished)
		TRY(slim_check_served(a, r, k));
	if (!same_words(&all.without, &r->without))
		TRY(slim_check_without(r));
	bool resumed = all.unfinished;
	if (fs_writes_forbidden() || (!r->files.n && !resumed))
		return NULL;
	if (resumed)
		add_files(a, &all, r);
	else
		add_report(a, &all, r);
	TRY(save(&p, &all, true));
	TRY(change(&p));
	all.refused = r->refused;
	TRY(slim_remove_empty(r->path, resumed ? &all : r));
	if (then)
		TRY(then(&all));
	TRY(fs_sync_all(r->path));
	return save(&p, &all, false);
}
