/* Applies a change set, in the order described in changes.h. */
#include "base/fs.h"
#include "base/proc.h"
#include "changes/apply_int.h"

static void add_made(struct manifest *m, const struct made *e)
{
	*VEC_PUSH(m->a, &m->made) = *e;
}

static struct manifest empty_manifest(struct apply *p, struct arena *a)
{
	return (struct manifest){
		.a = a,
		.kind = p->s->request->in_place ? BASE_IN_PLACE : BASE_OVERLAY,
		.journal = p->s->journal,
		.root = p->s->root,
		.identity = p->s->request->identity,
	};
}

/* Adds the outputs of this run. A failed output keeps its earlier record; one that could not be renamed into place
 * keeps the record of the intent. */
static void add_new(struct apply *p, struct manifest *m)
{
	VEC_EACH (const struct put, put, &p->puts) {
		if (!put->failed)
			add_made(m, &put->made);
		else if (put->old)
			add_made(m, put->old);
	}
}

/* ---- writing ---- */

/* Records the signature of path's folder before we change its entries; it shows whether anyone else changed the
 * folder after it was listed. */
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

static struct err *sync_intent(struct arena *tmp, void *path)
{
	(void)tmp;
	return manifest_sync(*(struct str *)path);
}

/* The intent is written before anything that it names, and is on the disk before anything is replaced. */
static struct err *write_all(struct apply *p)
{
	ARENA(tmp);
	struct str path = path_join(p->a, p->s->journal, S(".gitignore"));
	struct manifest intent = empty_manifest(p, &tmp);
	/* keeps the journal out of the tree's version control */
	if (p->s->request->in_place)
		TRY(fs_write(path, S("*\n"), 0644 | FS_IF_CHANGED));
	if (p->s->old)
		VEC_EACH (const struct made, e, &p->s->old->made)
			if (!map_get(&p->by_output, e->output))
				add_made(&intent, e);
	add_new(p, &intent);
	intent.report = p->report;
	for (size_t i = 0; i < p->dirs.n; i++)
		add_made(&intent, &(struct made){.output = p->dirs.v[i], .kind = MADE_DIR});
	TRY(manifest_put(p->a, &intent, &path));

	VEC_EACH (struct put, put, &p->puts)
		if (put->what != PUT_NOTHING)
			touch(p, put->path);
	for (size_t i = 0; i < p->dirs.n; i++) {
		struct str dir = base_path(p->a, p->s->base, p->dirs.v[i]);
		touch(p, dir);
		/* if this fails, each file in the folder reports its own error */
		err_free(fs_mkdirs(dir));
	}
	struct pool *disk = pool_new(1); /* one thread, which waits for the disk */
	pool_add(disk, sync_intent, &path);
	struct err *e = put_by_folder(p, put_stage);
	e = err_join(e, pool_end(disk));
	e = e ? e : put_by_folder(p, put_commit);
	if (!e)
		return NULL;
	/* leave no staged content behind, above all on a full disk */
	e = err_join(e, put_each(p, put_abandon));
	for (size_t i = p->dirs.n; i-- > 0;)
		err_free(fs_remove_empty(base_path(p->a, p->s->base, p->dirs.v[i])));
	return e;
}

/* Undoes the outputs of earlier runs that this run no longer produces. */
static struct err *remove_stale(struct apply *p)
{
	VEC_EACH (const struct made, e, &p->s->old->made) {
		enum undo undo;
		if (map_get(&p->by_output, e->output) || e->kind == MADE_DIR)
			continue;
		TRY(cancel_check());
		if (collect_keeps(p, e)) {
			add_made(&p->next, e);
			map_put(&p->kept_sources, e->source, p);
			continue;
		}
		touch(p, base_path(p->a, p->s->base, e->output));
		TRY(undo_one(p->s->old, p->s->base, e, false, &undo));
		if (undo == UNDO_DONE) {
			strs_add(p->a, &p->t->removed, e->output);
		} else if (undo == UNDO_EDITED) {
			strs_add(p->a, &p->t->edited, e->output);
			add_made(&p->next, e);
		}
	}
	return undo_dirs(p->s->old, p->s->base, &p->wanted, &p->next);
}

/* ---- the end ---- */

/* Moves the errors of outputs into their changes; a failed copy becomes a change of its own. Those are added last,
 * since growing the array moves the changes in memory. Returns true if any change failed. */
static bool report_failures(struct apply *p)
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

static struct err *apply(struct apply *p)
{
	struct manifest *m = &p->next;
	TRY(collect_puts(p));
	TRY(put_each(p, put_examine));
	bool writes = p->dirs.n > 0;
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
		writes = writes || put->what != PUT_NOTHING;
	}
	if (p->s->request->look_only || fs_writes_forbidden())
		return NULL;
	if (writes)
		TRY(write_all(p));
	if (p->s->old)
		TRY(remove_stale(p));
	TRY(sign_all(p, writes || p->t->removed.n));

	m->complete = !report_failures(p);
	add_new(p, m);
	for (size_t i = 0; i < p->dirs.n; i++)
		if (fs_is_dir(base_path(p->a, p->s->base, p->dirs.v[i])))
			add_made(m, &(struct made){.output = p->dirs.v[i], .kind = MADE_DIR});
	m->changes.v = p->t->v;
	m->changes.n = p->t->n;
	m->report = p->report;
	/* removes what a killed run left, too */
	TRY(fs_remove_tree(path_join(p->a, p->s->journal, S("new"))));
	return writes ? manifest_add(m) : manifest_write(m);
}

struct err *session_apply(struct session *s, struct change_set *t, struct str report)
{
	struct apply p = {.s = s, .t = t, .report = report, .a = s->a, .by_output.a = s->a};
	if (!s->base.n)
		return NULL;
	p.failed_outputs.a = p.failed_sources.a = p.parents.a = p.wanted.a = p.touched.a = s->a;
	p.kept_sources.a = s->a;
	p.next = empty_manifest(&p, s->a);
	/* start no more threads than there is work for */
	size_t jobs = s->request->jobs ? s->request->jobs : cpu_count();
	size_t most = s->request->copies ? jobs : t->n + !t->n;
	p.pool = pool_new((unsigned)(jobs < most ? jobs : most));
	struct err *e = apply(&p);
	e = err_join(e, pool_end(p.pool));
	(void)report_failures(&p);
	struct strs edited = view_edited(&s->view, p.a);
	strs_put_all(p.a, &t->edited, &edited);
	strs_sort(&t->edited);
	strs_sort(&t->removed);
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
