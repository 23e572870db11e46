/* Reports the state of the outputs of earlier runs: current, stale, edited, missing or orphaned. */
#include "base/fs.h"
#include "changes/manifest.h"

struct state_look {
	struct arena *a;
	struct str base, root;
	const struct manifest *m;
	struct map seen; /* path -> struct seen * */
};

static bool source_changed(struct str path, const struct seen *s)
{
	struct stat st;
	if (!fs_try_stat(path, &st))
		return true;
	struct sig now = sig_of(&st);
	if (sig_eq(&now, &s->sig) && !s->racy)
		return false;
	if (sum_none(&s->hash))
		return !sig_eq(&now, &s->sig);
	return !sum_is_of_file(&s->hash, path);
}

static enum change_state state_of_source(const struct state_look *l, const struct made *e)
{
	struct str name = e->source, path = base_path(l->a, l->root, name);
	if (e->replaced && str_eq(e->source, e->output)) {
		path = base_original(l->a, l->m->journal, e->output);
		name = path_rel(l->a, path, l->base);
	}
	if (!fs_present(path))
		return STATE_ORPHAN;
	const struct seen *s = map_get(&l->seen, name);
	if (!s)
		s = map_get(&l->seen, path);
	return s && source_changed(path, s) ? STATE_STALE : STATE_CURRENT;
}

static struct err *add_state(struct state_look *l, const struct made *e, struct change_entries *ret)
{
	enum content content;
	TRY(made_content(l->m, l->base, e, &content));
	struct change_entry entry = {.output = e->output, .source = e->source};
	entry.replaced = e->replaced && fs_present(base_original(l->a, l->m->journal, e->output));
	if (e->replaced && !entry.replaced && content == CONTENT_OTHER)
		return NULL; /* a killed run never reached it */
	if (content == CONTENT_ORIGINAL || content == CONTENT_NONE)
		entry.state = STATE_MISSING;
	else if (content == CONTENT_OTHER)
		entry.state = STATE_EDITED;
	else
		entry.state = state_of_source(l, e);
	*VEC_PUSH(l->a, ret) = entry;
	return NULL;
}

bool changes_made(struct str journal)
{
	ARENA(tmp);
	return fs_exists(base_file(&tmp, journal, "hipify.manifest"));
}

struct err *changes_state(struct arena *a, struct str journal, struct change_entries *ret)
{
	CLEANUP(fd_closep) int lock = -1;
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct manifest *m;
	struct str shown = journal;
	struct state_look l = {.a = a, .seen.a = a};
	journal = path_abs(a, journal);
	l.base = path_dir(journal);
	*ret = (struct change_entries){0};
	TRY(fs_guard(l.base, &guard));
	TRY(base_lock(journal, true, &lock));
	TRY(manifest_read(a, journal, &m));
	if (!m)
		return err_new(
			E_NOENT, "'%.*s' was not translated by rocsmith", STR(path_dir(shown)));
	l.m = m;
	/* a tree may have been moved with its sources; an overlay's sources are still at the recorded path */
	l.root = m->kind == BASE_IN_PLACE || !m->root.n ? l.base : m->root;
	VEC_EACH (struct seen, s, &m->seen)
		if (s->kind == SEEN_FILE)
			map_put(&l.seen, s->path, s);
	VEC_EACH (const struct made, e, &m->made)
		if (e->kind != MADE_DIR && e->kind != MADE_FOUND)
			TRY(add_state(&l, e, ret));
	return NULL;
}
