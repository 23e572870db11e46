/* Undoes earlier runs: removes outputs or restores their originals, and removes the folders that we made once they are
 * empty. */
#include "changes/apply_int.h"

#include "base/fs.h"
#include "base/proc.h"

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

/* ---- restore ---- */

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
	if (force) {
		TRY(fs_remove_tree(base_file(&tmp, journal, "kept")));
		TRY(fs_remove_tree(base_file(&tmp, journal, "kept.up")));
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		TRY(prune(base_file(&tmp, journal, folders[i])));
	TRY(fs_remove_tree(base_file(&tmp, journal, "new")));
	TRY(fs_list(&tmp, journal, &names));
	for (size_t i = 0; i < names.n; i++)
		if (fs_is_temp_name(names.v[i])) /* a manifest that a killed run was writing */
			TRY(fs_remove(path_join(&tmp, journal, names.v[i])));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		TRY(fs_remove(base_file(&tmp, journal, files[i])));
	return fs_remove_empty(journal);
}

static struct err *restore(
	struct arena *a, const struct manifest *m, bool force, struct strs *ret_kept)
{
	struct str base = path_dir(m->journal);
	bool dry = fs_writes_forbidden();
	struct err *first = NULL, *e = NULL;
	struct manifest left = {.a = a,
		.journal = m->journal,
		.kind = m->kind,
		.root = m->root,
		.identity = m->identity};
	if (!dry)
		TRY(session_tidy(m, base));
	VEC_EACH (const struct made, made, &m->made) {
		enum undo undo = UNDO_NOT_THERE;
		e = cancel_check();
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
	e = undo_dirs(m, base, NULL, &left);
	if (e)
		return err_join(e, first);
	if (ret_kept->n || first) /* keep the records of outputs that could not be undone */
		return err_join(first, manifest_write(&left));
	TRY(remove_journal(m->journal, force));
	return m->kind == BASE_OVERLAY ? fs_remove_empty(base) : NULL;
}

struct err *changes_restore(struct arena *a, struct str journal, bool force, struct strs *ret_kept)
{
	CLEANUP(fd_closep) int lock = -1;
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct manifest *m;
	struct str path = path_abs(a, journal);
	*ret_kept = (struct strs){0};
	if (!fs_is_dir(path))
		return err_new(
			E_NOENT, "'%.*s' was not translated by rocsmith", STR(path_dir(journal)));
	TRY(fs_guard(path_dir(path), &guard));
	TRY(base_lock(path, fs_writes_forbidden(), &lock));
	TRY(manifest_read(a, path, &m));
	if (m)
		return restore(a, m, force, ret_kept);
	/* left by a killed restore, or by a run killed at its start */
	return fs_writes_forbidden() ? NULL : remove_journal(path, force);
}
