/* Collects the outputs of a run: the texts of the set and, for an overlay, copies of all other files. Links are copied
 * as links, and empty folders are kept. */
#include "base/fs.h"
#include "base/proc.h"
#include "changes/apply_int.h"

/* A later put of the same output replaces the earlier one. */
static void add_put(struct apply *p, const struct put *put)
{
	size_t at = (size_t)(uintptr_t)map_get(&p->by_output, put->made.output);
	if (at) {
		struct put *earlier = &p->puts.v[at - 1];
		err_free(earlier->error);
		if (earlier->change && earlier->change->status == CHANGE_OK)
			earlier->change->status = CHANGE_SKIPPED;
		*earlier = *put;
		return;
	}
	*VEC_PUSH(p->a, &p->puts) = *put;
	map_put(&p->by_output, put->made.output, (void *)(uintptr_t)p->puts.n);
}

/* ---- texts ---- */

void change_fail(struct change *c, struct err *e)
{
	c->status = CHANGE_FAILED;
	c->error = err_join(c->error, e);
}

/* The output of a failed source is not written; an overlay gets no copy of the source instead. */
static void add_text(struct apply *p, struct change *c)
{
	struct put put = {.s = p->s, .change = c, .text = c->text};
	put.made = (struct made){.source = c->source, .kind = MADE_TEXT, .sig.size = c->text.n};
	if (c->status == CHANGE_FAILED) {
		map_put(&p->failed_sources, c->source, c);
		map_put(&p->failed_outputs, path_clean(p->a, c->output), c);
		return;
	}
	struct err *e = place_find(p, c->output, &put);
	put.old = manifest_made(p->s->old, put.made.output);
	if (e)
		change_fail(c, e);
	else
		add_put(p, &put);
}

/* Failed sources keep their earlier outputs. */
bool collect_keeps(const struct apply *p, const struct made *e)
{
	enum change_earlier earlier = p->s->request->earlier;
	ARENA(tmp);
	if (earlier == EARLIER_STAY || map_get(&p->failed_sources, e->source) ||
		map_get(&p->failed_outputs, e->output))
		return true;
	return earlier == EARLIER_STAY_WITH_SOURCE && e->kind == MADE_TEXT &&
	       fs_present(base_path(&tmp, p->s->root, e->source));
}

/* ---- copies ---- */

struct copy_walk {
	struct apply *p;
	struct map sources; /* path -> struct seen *: the sources that the last run read */
	struct strs todo;   /* folders to list, relative */
};

/* Adds a failed output for a file that cannot be copied. */
static void add_failed(struct copy_walk *w, struct str rel, struct err *e)
{
	struct put put = {.s = w->p->s, .error = e};
	put.made = (struct made){.output = rel, .source = rel, .kind = MADE_COPY};
	add_put(w->p, &put);
}

static void add_copy(struct copy_walk *w, struct str rel)
{
	struct arena *a = w->p->a;
	struct session *s = w->p->s;
	struct put put = {.s = s, .made = {.source = rel, .kind = MADE_COPY}};
	const struct made *old = manifest_made(s->old, rel);
	if (old && old->kind == MADE_TEXT && collect_keeps(w->p, old))
		return; /* the output of another run's change */
	struct err *e = view_source(&s->view, a, path_join(a, s->root, rel), &put.from);
	put.looked = sig_now();
	e = e ? e : fs_lstat(put.from, &put.like);
	if (!e && S_ISLNK(put.like.st_mode)) {
		put.made.kind = MADE_LINK;
		e = fs_readlink(a, put.from, &put.text);
	} else if (!e && !S_ISREG(put.like.st_mode)) {
		return; /* not a file: a socket or a pipe */
	}
	e = e ? e : place_as_is(w->p, rel, &put);
	if (e) {
		add_failed(w, rel, e);
		return;
	}
	const struct seen *seen = map_get(&w->sources, rel);
	struct sig now = sig_of(&put.like);
	put.same_source = seen && !seen->racy && sig_eq(&now, &seen->sig);
	put.made.sig.size = now.size;
	put.old = manifest_made(s->old, put.made.output);
	add_put(w->p, &put);
}

static struct err *read_dir(struct copy_walk *w, struct str rel)
{
	struct arena *a = w->p->a;
	struct session *s = w->p->s;
	struct fs_names names = {0};
	struct stat st;
	bool top = str_eq(rel, S("."));
	struct str dir = top ? s->root : path_join(a, s->root, rel);
	TRY(fs_scan(a, dir, &names, &st));
	view_note_dir(&s->view, dir, &st);
	VEC_EACH (const struct fs_name, n, &names) {
		struct str path = top ? n->name : path_join(a, rel, n->name);
		/* the top .git is not copied; a submodule's .git is part of the tree */
		bool history = top && str_eq(n->name, S(".git")) && !s->request->history;
		if (history || str_starts(n->name, S(".rocsmith")) ||
			view_hides(&s->view, path_join(a, s->root, path)))
			continue;
		if (n->dir && !n->link)
			strs_add(a, &w->todo, path);
		else if (!map_get(&w->p->by_output, path) && !map_get(&w->p->failed_outputs, path))
			add_copy(w, path);
	}
	return NULL;
}

struct err *collect_puts(struct apply *p)
{
	VEC_EACH (struct change, c, p->t) {
		if (c->text.p || c->status == CHANGE_FAILED)
			add_text(p, c);
		else if (c->status == CHANGE_OK) /* another source produces this output */
			c->status = CHANGE_SKIPPED;
	}
	if (!p->s->request->copies || p->s->request->in_place)
		return NULL;
	struct copy_walk w = {.p = p, .sources.a = p->a};
	if (p->s->old)
		VEC_EACH (struct seen, s, &p->s->old->seen)
			if (s->kind == SEEN_FILE)
				map_put(&w.sources, s->path, s);
	strs_add(p->a, &w.todo, S("."));
	while (w.todo.n) {
		struct str rel = w.todo.v[--w.todo.n];
		TRY(cancel_check());
		struct err *e = str_eq(rel, S(".")) ? NULL : place_dir(p, rel);
		if (!e)
			e = read_dir(&w, rel);
		if (e)
			add_failed(&w, rel, e);
	}
	return NULL;
}
