/* What became of our outputs, and taking all of them back. */
#include "base/fs.h"
#include "base/proc.h"
#include "base/vec.h"
#include "changes/apply_int.h"

static struct err *not_ours(struct str dir)
{
	return err_new(E_NOENT, "'%.*s' was not translated by rocsmith", STR(dir));
}

/* ---- state ---- */

struct look {
	struct arena *a;
	struct str base, root;
	const struct manifest *m;
	struct map seen; /* path -> struct seen * */
};

/* The sources may have been moved with the tree; those of an overlay are where they were. */
static struct str root_of(const struct manifest *m, struct str base)
{
	return m->kind == BASE_IN_PLACE || !m->root.n ? base : m->root;
}

static bool source_changed(const struct look *l, struct str path, const struct seen *s)
{
	ARENA(tmp);
	struct stat st;
	struct str text;
	CLEANUP(err_freep) struct err *e = fs_stat(path, &st);
	if (e)
		return true;
	struct sig now = sig_of(&st);
	if (sig_eq(&now, &s->sig) && !s->racy)
		return false;
	if (sum_none(&s->hash) && !sig_eq(&now, &s->sig))
		return true;
	if (sum_none(&s->hash))
		return false;
	CLEANUP(err_freep) struct err *e2 = fs_read(&tmp, path, 1 << 30, &text);
	struct sum sum = e2 ? (struct sum){0} : sum_of(text);
	(void)l;
	return !sum_eq(&sum, &s->hash);
}

static enum change_state state_of_source(const struct look *l, const struct made *e)
{
	struct str name = e->source, path = base_path(l->a, l->root, name);
	if (e->replaced && str_eq(e->source, e->output)) {
		path = base_original(l->a, l->base, e->output);
		name = path_rel(l->a, path, l->base);
	}
	if (!fs_present(path))
		return STATE_ORPHAN;
	const struct seen *s = map_get(&l->seen, name);
	if (!s)
		s = map_get(&l->seen, path);
	return s && source_changed(l, path, s) ? STATE_STALE : STATE_CURRENT;
}

static struct err *add_state(struct look *l, const struct made *e, struct change_entries *ret)
{
	enum holds holds;
	TRY(made_look(l->m, l->base, e, &holds));
	struct change_entry entry = {.output = e->output, .source = e->source};
	entry.replaced = e->replaced && fs_present(base_original(l->a, l->base, e->output));
	if (e->replaced && !entry.replaced && holds == HOLDS_OTHER)
		return NULL; /* a killed run did not come to it */
	if (holds == HOLDS_ORIGINAL || holds == HOLDS_NOTHING)
		entry.state = STATE_MISSING;
	else if (holds == HOLDS_OTHER)
		entry.state = STATE_EDITED;
	else
		entry.state = state_of_source(l, e);
	*VEC_PUSH(l->a, ret) = entry;
	return NULL;
}

struct err *changes_state(struct arena *a, struct str dir, struct change_entries *ret)
{
	CLEANUP(fd_closep) int lock = -1;
	struct manifest *m;
	struct look l = {.a = a, .base = path_abs(a, dir), .seen.a = a};
	*ret = (struct change_entries){0};
	TRY(base_lock(l.base, true, &lock));
	TRY(manifest_read(a, l.base, &m));
	if (!m)
		return not_ours(dir);
	l.m = m;
	l.root = root_of(m, l.base);
	VEC_EACH (struct seen, s, &m->seen)
		if (s->kind == SEEN_FILE)
			map_put(&l.seen, s->path, s);
	VEC_EACH (const struct made, e, &m->made)
		if (e->kind != MADE_DIR && e->kind != MADE_FOUND)
			TRY(add_state(&l, e, ret));
	return NULL;
}

/* ---- restore ---- */

static struct err *prune(struct str dir);

static struct err *prune_entry(void *user, const struct fs_entry *e, bool *prune_it)
{
	ARENA(tmp);
	*prune_it = true;
	return S_ISDIR(e->st.st_mode) ? prune(path_join(&tmp, *(struct str *)user, e->path)) : NULL;
}

/* Removes empty folders only: what is still in there is nobody else's to throw away. */
static struct err *prune(struct str dir)
{
	if (!fs_is_dir(dir))
		return NULL;
	TRY(fs_walk(dir, prune_entry, &dir));
	return fs_remove_empty(dir);
}

/* What a kill left of writing the manifest: base/fs.h puts the new one beside the old. */
static struct err *remove_torn(struct str folder)
{
	ARENA(tmp);
	struct strs names;
	TRY(fs_list(&tmp, folder, &names));
	for (size_t i = 0; i < names.n; i++)
		if (str_starts(names.v[i], S(".rocsmith.tmp-")))
			TRY(fs_remove(path_join(&tmp, folder, names.v[i])));
	return NULL;
}

/* Everything is taken back: our own folder goes, the lock last. */
static struct err *leave(struct str base, bool force)
{
	ARENA(tmp);
	static const char *const folders[] = {"originals", "originals.up", "kept", "kept.up"};
	static const char *const files[] = {".gitignore", "hipify.manifest", "hipify.lock"};
	if (force) {
		TRY(fs_remove_tree(base_file(&tmp, base, "kept")));
		TRY(fs_remove_tree(base_file(&tmp, base, "kept.up")));
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		TRY(prune(base_file(&tmp, base, folders[i])));
	TRY(fs_remove_tree(base_file(&tmp, base, "new")));
	TRY(remove_torn(base_file(&tmp, base, "")));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		TRY(fs_remove(base_file(&tmp, base, files[i])));
	return fs_remove_empty(base_file(&tmp, base, ""));
}

struct restore {
	struct arena *a;
	struct str base;
	const struct manifest *m;
	bool force;
	struct manifest left; /* what could not be taken back */
	struct strs *kept;
	struct err *first;
};

static void restore_one(struct restore *r, const struct made *e)
{
	enum taken taken = TAKEN_NOT_THERE;
	struct err *err = take_back(r->m, r->base, e, r->force, &taken);
	if (taken == TAKEN_EDITED)
		strs_add(r->a, r->kept, e->output);
	if (err || taken == TAKEN_EDITED)
		*VEC_PUSH(r->a, &r->left.made) = *e;
	r->first = err_join(r->first, err);
}

static struct err *restore_all(struct restore *r)
{
	VEC_EACH (const struct made, e, &r->m->made) {
		TRY(cancel_check());
		if (e->kind != MADE_DIR)
			restore_one(r, e);
	}
	TRY(take_dirs(r->m, r->base, NULL, &r->left));
	return NULL;
}

static struct err *end_restore(struct restore *r)
{
	if (r->kept->n || r->first)
		return manifest_write(&r->left, r->base);
	bool overlay = r->m && r->m->kind == BASE_OVERLAY;
	TRY(leave(r->base, r->force));
	return overlay ? fs_remove_empty(r->base) : NULL;
}

/* In a dry run: what would be kept. */
static struct err *look_only(struct restore *r)
{
	VEC_EACH (const struct made, e, &r->m->made) {
		enum holds holds;
		if (e->kind == MADE_DIR || e->kind == MADE_FOUND || r->force)
			continue;
		TRY(made_look(r->m, r->base, e, &holds));
		bool original = fs_present(base_original(r->a, r->base, e->output));
		if (holds == HOLDS_OTHER && (!e->replaced || original))
			strs_add(r->a, r->kept, e->output);
	}
	return NULL;
}

static struct err *restore(struct restore *r)
{
	r->left = (struct manifest){
		.a = r->a, .kind = r->m->kind, .root = r->m->root, .identity = r->m->identity};
	if (fs_writes_forbidden())
		return look_only(r);
	struct err *e = restore_all(r);
	if (e)
		return err_join(e, r->first);
	e = end_restore(r);
	return r->first ? err_join(r->first, e) : e;
}

struct err *changes_restore(struct arena *a, struct str dir, bool force, struct strs *ret_kept)
{
	CLEANUP(fd_closep) int lock = -1;
	struct manifest *m;
	struct restore r = {.a = a, .base = path_abs(a, dir), .force = force, .kept = ret_kept};
	*ret_kept = (struct strs){0};
	if (!fs_is_dir(base_file(a, r.base, "")))
		return not_ours(dir);
	TRY(base_lock(r.base, fs_writes_forbidden(), &lock));
	TRY(manifest_read(a, r.base, &m));
	if (!m) /* a killed restore, or a run killed at its start */
		return fs_writes_forbidden() ? NULL : leave(r.base, force);
	r.m = m;
	return restore(&r);
}
