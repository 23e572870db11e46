/* The order of things when a result is applied; see changes.h. */

#include <string.h>

#include "base/fs.h"
#include "base/pool.h"
#include "base/proc.h"
#include "changes/apply_int.h"

/* ---- what is to be done ---- */

void apply_add(struct apply *p, const struct put *put)
{
	size_t at = (size_t)(uintptr_t)map_get(&p->by_output, put->made.output);
	if (at) {
		struct put *earlier = &p->puts.v[at - 1];
		err_free(earlier->error);
		if (earlier->file && earlier->file->status == CHANGE_OK)
			earlier->file->status = CHANGE_SKIPPED;
		*earlier = *put;
		return;
	}
	*VEC_PUSH(p->a, &p->puts) = *put;
	map_put(&p->by_output, put->made.output, (void *)(uintptr_t)p->puts.n);
}

static void fail(struct change *f, struct err *e)
{
	f->status = CHANGE_FAILED;
	f->error = err_join(f->error, e);
}

/* The output of a failed source is neither written nor, in an overlay, covered by a copy. */
static void add_text(struct apply *p, struct change *f)
{
	struct put put = {.s = p->s, .file = f, .text = f->text};
	put.made = (struct made){.source = f->source, .kind = MADE_TEXT, .sig.size = f->text.n};
	if (f->status == CHANGE_FAILED) {
		map_put(&p->failed_sources, f->source, f);
		map_put(&p->failed_outputs, path_clean(p->a, f->output), f);
		return;
	}
	struct err *e = place_find(p, f->output, &put);
	put.old = manifest_made(p->s->old, put.made.output);
	if (e)
		fail(f, e);
	else
		apply_add(p, &put);
}

static struct err *collect(struct apply *p)
{
	VEC_EACH (struct change, f, p->t) {
		if (f->text.p || f->status == CHANGE_FAILED)
			add_text(p, f);
		else if (f->status == CHANGE_OK) /* another source gives this output */
			f->status = CHANGE_SKIPPED;
	}
	return p->s->request->copies && !p->s->request->in_place ? overlay_add(p) : NULL;
}

/* What the look found, told to the files. */
static void tell(struct apply *p)
{
	VEC_EACH (struct put, put, &p->puts) {
		if (put->error) {
			put->what = PUT_NOTHING;
			put->failed = true;
		} else if (put->file && put->what == PUT_NOTHING &&
			   put->file->status == CHANGE_OK) {
			put->file->status = CHANGE_SKIPPED;
		}
		if (put->keep_aside)
			strs_add(p->a, &p->t->edited, put->made.output);
	}
}

/* ---- the intent ---- */

static void add_made(struct manifest *m, const struct made *e)
{
	*VEC_PUSH(m->a, &m->made) = *e;
}

static void add_old(struct apply *p, struct manifest *m)
{
	if (p->s->old)
		VEC_EACH (const struct made, e, &p->s->old->made)
			if (!map_get(&p->by_output, e->output))
				add_made(m, e);
}

static struct manifest empty(struct apply *p, struct arena *a)
{
	return (struct manifest){
		.a = a,
		.kind = p->s->request->in_place ? BASE_IN_PLACE : BASE_OVERLAY,
		.root = p->s->root,
		.identity = p->s->request->identity,
		.by_output = {.a = a},
	};
}

/* A failed output is known as before; one that could not be put in place as the intent had it. */
static void add_new(struct apply *p, struct manifest *m)
{
	VEC_EACH (const struct put, put, &p->puts) {
		if (!put->failed)
			add_made(m, &put->made);
		else if (put->old)
			add_made(m, put->old);
	}
}

static struct err *write_intent(struct arena *tmp, void *user)
{
	struct apply *p = user;
	struct manifest m = empty(p, tmp);
	add_old(p, &m);
	add_new(p, &m);
	for (size_t i = 0; i < p->dirs.n; i++)
		add_made(&m, &(struct made){.output = p->dirs.v[i], .kind = MADE_DIR});
	return manifest_write(&m, p->s->base);
}

/* ---- writing ---- */

static bool writes(const struct apply *p)
{
	VEC_EACH (const struct put, put, &p->puts)
		if (put->what != PUT_NOTHING)
			return true;
	return p->dirs.n > 0;
}

/* A share of the puts: fewer, larger jobs, so that threads do not wait for the queue. */
struct share {
	struct apply *p;
	size_t from, to;
	struct err *(*fn)(struct arena *, void *);
};

static struct err *run_share(struct arena *tmp, void *user)
{
	const struct share *s = user;
	for (size_t i = s->from; i < s->to; i++) {
		struct arena_mark mark = arena_mark(tmp);
		TRY(s->fn(tmp, &s->p->puts.v[i]));
		arena_rewind(tmp, mark);
	}
	return NULL;
}

static void add_shares(
	struct apply *p, struct pool *pool, struct err *(*fn)(struct arena *, void *))
{
	enum { SHARES = 32 };
	for (size_t i = 0; i < SHARES; i++) {
		struct share *s = NEW(p->a, struct share);
		*s = (struct share){p, p->puts.n * i / SHARES, p->puts.n * (i + 1) / SHARES, fn};
		if (s->from < s->to)
			pool_add(pool, run_share, s);
	}
}

struct err *apply_each(struct apply *p, struct err *(*fn)(struct arena *, void *))
{
	struct pool *pool = pool_new(p->s->request->jobs);
	add_shares(p, pool, fn);
	return pool_end(pool);
}

/* The intent is written while the contents are: neither needs the other. */
static struct err *stage_all(struct apply *p)
{
	struct str dir = base_file(p->a, p->s->base, "new");
	size_t n = 0;
	TRY(fs_remove_tree(dir));
	TRY(fs_mkdirs(dir));
	VEC_EACH (struct put, put, &p->puts)
		if (put->what != PUT_NOTHING)
			put->staged = str_fmt(p->a, "%.*s/%zu", STR(dir), n++);
	struct pool *pool = pool_new(p->s->request->jobs);
	pool_add(pool, write_intent, p);
	add_shares(p, pool, put_stage);
	return pool_end(pool);
}

/* The entries of a folder are about to change by us. How it was just before tells, later, whether
 * somebody else had changed it since it was listed. */
static void touch(struct apply *p, struct str path)
{
	struct str dir = path_dir(path);
	struct stat st;
	if (map_get(&p->touched, dir))
		return;
	struct sig *before = NEW(p->a, struct sig);
	dir = str_dup(p->a, dir);
	if (stat(dir.p, &st) == 0)
		*before = sig_of(&st);
	map_put(&p->touched, dir, before);
}

/* A folder that cannot be made fails the files that need it, each for itself. */
static void make_dirs(struct apply *p)
{
	for (size_t i = 0; i < p->dirs.n; i++) {
		struct str dir = base_path(p->a, p->s->base, p->dirs.v[i]);
		touch(p, dir);
		err_free(fs_mkdirs(dir));
	}
}

static struct err *commit_all(struct apply *p)
{
	make_dirs(p);
	VEC_EACH (struct put, put, &p->puts)
		if (put->what != PUT_NOTHING)
			touch(p, put->path);
	return apply_each(p, put_commit);
}

/* ---- what is no longer wanted ---- */

/* Failed sources keep their earlier outputs. */
bool apply_keeps(const struct apply *p, const struct made *e)
{
	enum change_earlier earlier = p->s->request->earlier;
	ARENA(tmp);
	if (earlier == EARLIER_STAY || map_get(&p->failed_sources, e->source) ||
		map_get(&p->failed_outputs, e->output))
		return true;
	return earlier == EARLIER_STAY_WITH_SOURCE && e->kind == MADE_TEXT &&
	       fs_present(base_path(&tmp, p->s->root, e->source));
}

static struct err *remove_one(struct apply *p, const struct made *e)
{
	enum taken taken;
	touch(p, base_path(p->a, p->s->base, e->output));
	TRY(take_back(p->s->old, p->s->base, e, false, &taken));
	if (taken == TAKEN_BACK) {
		strs_add(p->a, &p->t->removed, e->output);
	} else if (taken == TAKEN_EDITED) {
		strs_add(p->a, &p->t->edited, e->output);
		add_made(&p->next, e);
	}
	return NULL;
}

static struct err *remove_stale(struct apply *p)
{
	VEC_EACH (const struct made, e, &p->s->old->made) {
		size_t at = (size_t)(uintptr_t)map_get(&p->by_output, e->output);
		if (at || e->kind == MADE_DIR)
			continue;
		TRY(cancel_check());
		if (apply_keeps(p, e)) {
			add_made(&p->next, e);
			map_put(&p->kept_sources, e->source, p);
		} else {
			TRY(remove_one(p, e));
		}
	}
	return take_dirs(p->s->old, p->s->base, &p->wanted, &p->next);
}

/* ---- the end ---- */

static struct change *file_of_copy(struct apply *p, const struct put *put)
{
	struct change *f = VEC_PUSH(p->a, p->t);
	f->source = put->made.source;
	f->output = put->made.output;
	return f;
}

/* The errors of outputs, told to the files; a copy that failed becomes one. Files move in memory
 * when one is added, so those come last. */
static bool tell_failures(struct apply *p)
{
	bool failed = false;
	VEC_EACH (struct put, put, &p->puts)
		if (put->error && put->file) {
			fail(put->file, put->error);
			put->error = NULL;
		}
	VEC_EACH (struct put, put, &p->puts) {
		if (put->error)
			fail(file_of_copy(p, put), put->error);
		put->error = NULL;
	}
	VEC_EACH (const struct change, f, p->t)
		failed = failed || f->status == CHANGE_FAILED;
	return failed;
}

static struct err *finish(struct apply *p)
{
	bool failed = tell_failures(p);
	struct manifest *m = &p->next;
	add_new(p, m);
	for (size_t i = 0; i < p->dirs.n; i++)
		if (fs_is_dir(base_path(p->a, p->s->base, p->dirs.v[i])))
			add_made(m, &(struct made){.output = p->dirs.v[i], .kind = MADE_DIR});
	m->complete = !failed;
	m->changes.v = p->t->v;
	m->changes.n = p->t->n;
	m->report = p->report;
	TRY(fs_remove_tree(base_file(p->a, p->s->base, "new"))); /* also of a killed run */
	return manifest_write(m, p->s->base);
}

/* What rocsmith keeps in a tree is nothing for its version control. */
static struct err *ignore_us(const struct apply *p)
{
	if (!p->s->request->in_place)
		return NULL;
	return fs_write_if_changed(base_file(p->a, p->s->base, ".gitignore"), S("*\n"), 0644);
}

/* Staged contents must not stay when there is no room for them. */
static struct err *write_all(struct apply *p)
{
	TRY(ignore_us(p));
	struct err *e = stage_all(p);
	if (!e)
		e = commit_all(p);
	if (e)
		err_free(fs_remove_tree(base_file(p->a, p->s->base, "new")));
	return e;
}

static struct err *change(struct apply *p)
{
	bool wrote = writes(p);
	if (wrote)
		TRY(write_all(p));
	if (p->s->old)
		TRY(remove_stale(p));
	TRY(settle(p, wrote || p->t->removed.n));
	return finish(p);
}

static void report_edited(struct apply *p)
{
	struct strs list = view_edited(&p->s->view, p->a);
	for (size_t i = 0; i < list.n; i++)
		if (!strs_has(&p->t->edited, list.v[i]))
			strs_add(p->a, &p->t->edited, list.v[i]);
	strs_sort(&p->t->edited);
	strs_sort(&p->t->removed);
}

struct err *session_apply(struct session *s, struct change_set *t, struct str report)
{
	struct apply p = {.s = s, .t = t, .report = report, .a = s->a, .by_output.a = s->a};
	if (!s->base.n)
		return NULL;
	p.failed_outputs.a = p.failed_sources.a = p.parents.a = p.wanted.a = p.touched.a = s->a;
	p.kept_sources.a = s->a;
	p.next = empty(&p, s->a);
	struct err *e = collect(&p);
	if (!e)
		e = apply_each(&p, put_look);
	if (!e)
		tell(&p);
	if (!e && !s->request->look_only && !fs_writes_forbidden())
		e = change(&p);
	(void)tell_failures(&p);
	report_edited(&p);
	return e;
}

void change_set_free(struct change_set *t)
{
	VEC_EACH (struct change, f, t)
		err_freep(&f->error);
}
