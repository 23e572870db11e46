/* The files of an overlay that are not translated: copies of all others, links as they are, folders
 * even when empty. */
#include "base/fs.h"
#include "base/proc.h"
#include "base/vec.h"
#include "changes/apply_int.h"

struct walk {
	struct apply *p;
	struct map sources; /* path -> struct seen *: what the last run copied, as it was */
	struct strs todo;   /* folders to look into, relative */
};

/* The history stays where it is; a submodule's is part of the tree. */
static bool left_out(struct str name, bool top)
{
	return (top && str_eq(name, S(".git"))) || str_eq(name, S(".rocsmith"));
}

/* A file that cannot be copied is a failed file of the result. */
static void add_failed(struct walk *w, struct str rel, struct err *e)
{
	struct put put = {.s = w->p->s, .error = e};
	put.made = (struct made){.output = rel, .source = rel, .kind = MADE_COPY};
	apply_add(w->p, &put);
}

static struct err *copy_of(struct walk *w, struct str rel, struct put *put)
{
	struct arena *a = w->p->a;
	struct session *s = w->p->s;
	TRY(view_source(&s->view, a, path_join(a, s->root, rel), &put->from));
	put->looked = sig_now();
	TRY(fs_lstat(put->from, &put->like));
	put->made.kind = S_ISLNK(put->like.st_mode) ? MADE_LINK : MADE_COPY;
	if (put->made.kind == MADE_LINK)
		TRY(fs_readlink(a, put->from, &put->text));
	return NULL;
}

static void add_file(struct walk *w, struct str rel)
{
	struct put put = {.s = w->p->s, .made = {.source = rel}};
	const struct made *old = manifest_made(w->p->s->old, rel);
	if (old && old->kind == MADE_TEXT && apply_keeps(w->p, old))
		return; /* translated by another run */
	struct err *e = copy_of(w, rel, &put);
	if (!e && put.made.kind == MADE_COPY && !S_ISREG(put.like.st_mode))
		return; /* a socket, a pipe */
	if (!e)
		e = place_as_is(w->p, rel, &put);
	if (e) {
		add_failed(w, rel, e);
		return;
	}
	const struct seen *seen = map_get(&w->sources, rel);
	struct sig now = sig_of(&put.like);
	put.same_source = seen && !seen->racy && sig_eq(&now, &seen->sig);
	put.made.sig.size = now.size;
	put.old = manifest_made(w->p->s->old, put.made.output);
	apply_add(w->p, &put);
}

static struct err *read_dir(struct walk *w, struct str rel)
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
		if (left_out(n->name, top) || view_hides(&s->view, path_join(a, s->root, path)))
			continue;
		if (n->dir && !n->link)
			strs_add(a, &w->todo, path);
		else if (!map_get(&w->p->by_output, path) && !map_get(&w->p->failed_outputs, path))
			add_file(w, path);
	}
	return NULL;
}

static void remember_sources(struct walk *w)
{
	if (w->p->s->old)
		VEC_EACH (struct seen, s, &w->p->s->old->seen)
			if (s->kind == SEEN_FILE)
				map_put(&w->sources, s->path, s);
}

struct err *overlay_add(struct apply *p)
{
	struct walk w = {.p = p, .sources.a = p->a};
	remember_sources(&w);
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
