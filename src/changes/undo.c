/* Earlier runs: reports the state of their outputs; undoes them, which removes outputs or restores their originals, and
 * removes the folders that we made once they are empty. */
#include "changes/apply_int.h"

#include "base/fs.h"
#include "base/proc.h"

/* ---- state ---- */

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

/* Adds the state of one output. seen: path -> struct seen *, the sources that the run read. */
static struct err *add_state(struct arena *a, const struct manifest *m, const struct map *seen,
	const struct made *e, struct change_entries *ret)
{
	enum content content;
	struct str base = path_dir(m->journal), original = base_original(a, m->journal, e->output);
	/* a tree may have been moved with its sources; an overlay's sources are still at the recorded path */
	bool moves = m->kind == BASE_IN_PLACE || !m->root.n;
	struct str name = e->source, path = base_path(a, moves ? base : m->root, name);
	struct change_entry entry = {.output = e->output, .source = e->source};
	TRY(made_content(m, base, e, &content));
	entry.replaced = e->replaced && fs_present(original);
	if (e->replaced && !entry.replaced && content == CONTENT_OTHER)
		return NULL; /* a killed run never reached it */
	if (e->replaced && str_eq(e->source, e->output)) {
		path = original;
		name = path_rel(a, path, base);
	}
	const struct seen *s = map_get(seen, name);
	if (!s)
		s = map_get(seen, path);
	if (content == CONTENT_ORIGINAL || content == CONTENT_NONE)
		entry.state = STATE_MISSING;
	else if (content == CONTENT_OTHER)
		entry.state = STATE_EDITED;
	else if (!fs_present(path))
		entry.state = STATE_ORPHAN;
	else
		entry.state = s && source_changed(path, s) ? STATE_STALE : STATE_CURRENT;
	*VEC_PUSH(a, ret) = entry;
	return NULL;
}

struct err *changes_state(struct arena *a, struct str journal, struct change_entries *ret)
{
	CLEANUP(fd_closep) int lock = -1;
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct manifest *m;
	struct str path = path_abs(a, journal);
	MAP(seen, a);
	*ret = (struct change_entries){0};
	TRY(fs_guard(path_dir(path), &guard));
	TRY(base_lock(path, true, &lock));
	TRY(manifest_read(a, path, &m));
	if (!m)
		return err_new(
			E_NOENT, "'%.*s' was not translated by rocsmith", STR(path_dir(journal)));
	VEC_EACH (struct seen, s, &m->seen)
		if (s->kind == SEEN_FILE)
			map_put(&seen, s->path, s);
	VEC_EACH (const struct made, e, &m->made)
		if (e->kind != MADE_DIR && e->kind != MADE_FOUND)
			TRY(add_state(a, m, &seen, e, ret));
	return NULL;
}

/* ---- undoing ---- */

struct err *undo_one(
	const struct manifest *m, struct str base, const struct made *e, bool force, enum undo *ret)
{
	ARENA(tmp);
	enum content content;
	bool original = e->replaced && fs_present(base_original(&tmp, m->journal, e->output));
	*ret = UNDO_NOT_THERE;
	if (e->kind == MADE_FOUND || e->kind == MADE_DIR)
		return NULL;
	TRY(made_content(m, base, e, &content));
	if (content == CONTENT_OTHER && e->replaced && !original)
		return NULL; /* a killed run never reached it, or a killed undo already restored it */
	if ((content == CONTENT_OTHER && !force) ||
		(content == CONTENT_MADE && e->replaced && !original)) {
		*ret = UNDO_EDITED;
		return NULL;
	}
	if (!original && content == CONTENT_NONE)
		return NULL;
	if (original)
		TRY(original_check(m, e));
	*ret = UNDO_DONE;
	if (fs_writes_forbidden())
		return NULL;
	struct str output = base_path(&tmp, base, e->output);
	if (!original)
		return fs_remove(output);
	struct str kept = base_original(&tmp, m->journal, e->output);
	/* if both are names of the same file, rename() does nothing */
	return content == CONTENT_ORIGINAL ? fs_remove(kept) : fs_move(kept, output, true);
}

struct err *undo_dirs(
	const struct manifest *m, struct str base, const struct map *wanted, struct manifest *next)
{
	ARENA(tmp);
	struct strs dirs = {0};
	VEC_EACH (const struct made, e, &m->made)
		if (e->kind == MADE_DIR)
			strs_add(&tmp, &dirs, e->output);
	strs_sort(&dirs);
	for (size_t i = dirs.n; i-- > 0;) {
		struct str path = base_path(&tmp, base, dirs.v[i]);
		if (!wanted || !map_get(wanted, dirs.v[i]))
			TRY(fs_remove_empty(path));
		if (next && fs_is_dir(path))
			*VEC_PUSH(next->a, &next->made) =
				(struct made){.output = dirs.v[i], .kind = MADE_DIR};
	}
	return NULL;
}

/* Removes only empty folders: the user may still need the files in the others. */
static struct err *prune(struct str dir)
{
	ARENA(tmp);
	struct strs names;
	if (!fs_is_dir(dir))
		return NULL;
	TRY(fs_list(&tmp, dir, &names));
	for (size_t i = 0; i < names.n; i++) {
		struct str path = path_join(&tmp, dir, names.v[i]);
		if (!fs_is_link(path))
			TRY(prune(path));
	}
	return fs_remove_empty(dir);
}

/* Removes the journal once everything is undone; the lock is the last file to go. */
static struct err *remove_journal(struct str journal, bool force)
{
	ARENA(tmp);
	static const char *const folders[] = {"originals", "originals.up", "kept", "kept.up"};
	static const char *const files[] = {".gitignore", "hipify.manifest", "hipify.lock"};
	struct strs names;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		struct str path = path_join(&tmp, journal, str_from(folders[i]));
		bool kept = str_starts(str_from(folders[i]), S("kept"));
		TRY(force && kept ? fs_remove_tree(path) : prune(path));
	}
	TRY(fs_remove_tree(path_join(&tmp, journal, S("new"))));
	TRY(fs_list(&tmp, journal, &names));
	for (size_t i = 0; i < names.n; i++)
		if (fs_is_temp_name(names.v[i])) /* a manifest that a killed run was writing */
			TRY(fs_remove(path_join(&tmp, journal, names.v[i])));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		TRY(fs_remove(path_join(&tmp, journal, str_from(files[i]))));
	return fs_remove_empty(journal);
}

struct err *changes_restore(struct arena *a, struct str journal, bool force, struct strs *ret_kept)
{
	CLEANUP(fd_closep) int lock = -1;
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct manifest *m;
	struct err *first = NULL;
	struct str path = path_abs(a, journal), base = path_dir(path);
	bool dry = fs_writes_forbidden();
	*ret_kept = (struct strs){0};
	if (!fs_is_dir(path))
		return err_new(
			E_NOENT, "'%.*s' was not translated by rocsmith", STR(path_dir(journal)));
	TRY(fs_guard(base, &guard));
	TRY(base_lock(path, dry, &lock));
	TRY(manifest_read(a, path, &m));
	if (!m) /* left by a killed restore, or by a run killed at its start */
		return dry ? NULL : remove_journal(path, force);
	struct manifest left = {
		.a = a, .journal = path, .kind = m->kind, .root = m->root, .identity = m->identity};
	if (!dry)
		TRY(session_tidy(m, base));
	VEC_EACH (const struct made, made, &m->made) {
		enum undo undo = UNDO_NOT_THERE;
		struct err *e = cancel_check();
		if (e)
			return err_join(e, first);
		if (made->kind == MADE_DIR)
			continue;
		e = undo_one(m, base, made, force, &undo);
		if (undo == UNDO_EDITED)
			strs_add(a, ret_kept, made->output);
		if (e || undo == UNDO_EDITED)
			*VEC_PUSH(a, &left.made) = *made;
		first = err_join(first, e);
	}
	if (dry)
		return first;
	struct err *e = undo_dirs(m, base, NULL, &left);
	if (e)
		return err_join(e, first);
	if (ret_kept->n || first) /* keep the records of outputs that could not be undone */
		return err_join(first, manifest_write(&left));
	TRY(remove_journal(path, force));
	return m->kind == BASE_OVERLAY ? fs_remove_empty(base) : NULL;
}
