/* The order of things when a set is applied; see changes.h. */
#include "base/fs.h"
#include "base/pool.h"
#include "base/proc.h"
#include "changes/apply_int.h"

/* What was found at the places, told to the changes. */
static void tell(struct apply *p)
{
	VEC_EACH (struct put, put, &p->puts) {
		if (put->error) {
			put->what = PUT_NOTHING;
			put->failed = true;
		} else if (put->change && put->what == PUT_NOTHING &&
			   put->change->status == CHANGE_OK) {
			put->change->status = CHANGE_SKIPPED;
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
		.journal = p->s->journal,
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

static struct err *write_intent(struct apply *p, struct str *ret_path)
{
	ARENA(tmp);
	struct manifest m = empty(p, &tmp);
	add_old(p, &m);
	add_new(p, &m);
	m.report = p->report;
	for (size_t i = 0; i < p->dirs.n; i++)
		add_made(&m, &(struct made){.output = p->dirs.v[i], .kind = MADE_DIR});
	return manifest_put(p->a, &m, ret_path);
}

/* ---- writing ---- */

static bool writes(const struct apply *p)
{
	VEC_EACH (const struct put, put, &p->puts)
		if (put->what != PUT_NOTHING)
			return true;
	return p->dirs.n > 0;
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
	if (fs_try_stat(dir, &st))
		*before = sig_of(&st);
	map_put(&p->touched, dir, before);
}

/* A folder that cannot be made fails the files that need it, each for itself. */
static void make_dirs(struct apply *p)
{
	VEC_EACH (struct put, put, &p->puts)
		if (put->what != PUT_NOTHING)
			touch(p, put->path);
	for (size_t i = 0; i < p->dirs.n; i++) {
		struct str dir = base_path(p->a, p->s->base, p->dirs.v[i]);
		touch(p, dir);
		err_free(fs_mkdirs(dir));
	}
}

/* Staged contents and new folders must not stay when there is no room for all of them. */
static struct err *abandon(struct apply *p, struct err *e)
{
	e = err_join(e, put_each(p, put_abandon));
	for (size_t i = p->dirs.n; i-- > 0;)
		err_free(fs_remove_empty(base_path(p->a, p->s->base, p->dirs.v[i])));
	return e;
}

static struct err *sync_intent(struct arena *tmp, void *path)
{
	(void)tmp;
	return manifest_sync(*(struct str *)path);
}

/* The intent is there before anything that it names, and lasts before anything is replaced. */
static struct err *stage_all(struct apply *p)
{
	struct str intent;
	TRY(write_intent(p, &intent));
	make_dirs(p);
	struct pool *disk = pool_new(1); /* its thread waits for the disk */
	pool_add(disk, sync_intent, &intent);
	struct err *e = put_by_folder(p, put_stage);
	return err_join(e, pool_end(disk));
}

static struct err *write_all(struct apply *p)
{
	/* What rocsmith keeps in a tree is nothing for its version control. */
	if (p->s->request->in_place)
		TRY(base_put(base_file(p->a, p->s->journal, ".gitignore"), S("*\n"), false));
	struct err *e = stage_all(p);
	if (!e)
		e = put_by_folder(p, put_commit);
	return e ? abandon(p, e) : NULL;
}

/* ---- what is no longer wanted ---- */

static struct err *remove_one(struct apply *p, const struct made *e)
{
	enum undo undo;
	touch(p, base_path(p->a, p->s->base, e->output));
	TRY(undo_one(p->s->old, p->s->base, e, false, &undo));
	if (undo == UNDO_DONE) {
		strs_add(p->a, &p->t->removed, e->output);
	} else if (undo == UNDO_EDITED) {
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
		if (collect_keeps(p, e)) {
			add_made(&p->next, e);
			map_put(&p->kept_sources, e->source, p);
		} else {
			TRY(remove_one(p, e));
		}
	}
	return undo_dirs(p->s->old, p->s->base, &p->wanted, &p->next);
}

/* ---- the end ---- */

/* The errors of outputs, told to the changes; a copy that failed becomes one. Changes move in
 * memory when one is added, so those come last. */
static bool tell_failures(struct apply *p)
{
	bool failed = false;
	VEC_EACH (struct put, put, &p->puts)
		if (put->error && put->change) {
			change_fail(put->change, put->error);
			put->error = NULL;
		}
	VEC_EACH (struct put, put, &p->puts) {
		if (!put->error)
			continue;
		struct change *c = VEC_PUSH(p->a, p->t);
		*c = (struct change){.source = put->made.source, .output = put->made.output};
		change_fail(c, put->error);
		put->error = NULL;
	}
	VEC_EACH (const struct change, f, p->t)
		failed = failed || f->status == CHANGE_FAILED;
	return failed;
}

static struct err *finish(struct apply *p, bool wrote)
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
	TRY(fs_remove_tree(base_file(p->a, p->s->journal, "new"))); /* also of a killed run */
	return wrote ? manifest_add(m) : manifest_write(m);
}

static struct err *change(struct apply *p)
{
	bool wrote = writes(p);
	if (wrote)
		TRY(write_all(p));
	if (p->s->old)
		TRY(remove_stale(p));
	TRY(sign_all(p, wrote || p->t->removed.n));
	return finish(p, wrote);
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

static struct err *apply(struct apply *p)
{
	TRY(collect_puts(p));
	TRY(put_each(p, put_examine));
	tell(p);
	return p->s->request->look_only || fs_writes_forbidden() ? NULL : change(p);
}

/* No more threads than there can be something to do for. */
static struct pool *pool_for(const struct change_request *o, const struct change_set *t)
{
	size_t jobs = o->jobs ? o->jobs : cpu_count(), most = o->copies ? jobs : t->n + !t->n;
	return pool_new((unsigned)(jobs < most ? jobs : most));
}

struct err *session_apply(struct session *s, struct change_set *t, struct str report)
{
	struct apply p = {.s = s, .t = t, .report = report, .a = s->a, .by_output.a = s->a};
	if (!s->base.n)
		return NULL;
	p.failed_outputs.a = p.failed_sources.a = p.parents.a = p.wanted.a = p.touched.a = s->a;
	p.kept_sources.a = s->a;
	p.next = empty(&p, s->a);
	p.pool = pool_for(s->request, t);
	struct err *e = apply(&p);
	e = err_join(e, pool_end(p.pool));
	(void)tell_failures(&p);
	report_edited(&p);
	return e;
}

struct err *change_set_failure(struct change_set *t, const char *verb)
{
	VEC_EACH (struct change, c, t) {
		if (c->status != CHANGE_FAILED)
			continue;
		struct err *e = c->error;
		c->error = NULL;
		return err_wrap(e, "cannot %s '%.*s'", verb, STR(c->source));
	}
	return NULL;
}

void change_set_free(struct change_set *t)
{
	VEC_EACH (struct change, f, t)
		err_freep(&f->error);
}
