/* Undoing: one output goes or its original comes back, folders that we made go when empty; and the
 * whole of it. */
#include "changes/apply_int.h"

#include "base/fs.h"
#include "base/proc.h"

/* The old file itself returns. When both names are of one file, rename() would keep both. */
static struct err *put_back(
	const struct manifest *m, struct str base, const struct made *e, enum content content)
{
	ARENA(tmp);
	struct str original = base_original(&tmp, m->journal, e->output);
	if (content == CONTENT_ORIGINAL)
		return fs_remove(original);
	return fs_move(original, base_path(&tmp, base, e->output), true);
}

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
		return NULL; /* a killed run came before us, or after */
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
	return original ? put_back(m, base, e, content)
			: fs_remove(base_path(&tmp, base, e->output));
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
		if (fs_is_temp_name(names.v[i]))
			TRY(fs_remove(path_join(&tmp, folder, names.v[i])));
	return NULL;
}

/* Everything is taken back: our own folder goes, the lock last. */
static struct err *leave(struct str journal, bool force)
{
	ARENA(tmp);
	static const char *const folders[] = {"originals", "originals.up", "kept", "kept.up"};
	static const char *const files[] = {".gitignore", "hipify.manifest", "hipify.lock"};
	if (force) {
		TRY(fs_remove_tree(base_file(&tmp, journal, "kept")));
		TRY(fs_remove_tree(base_file(&tmp, journal, "kept.up")));
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		TRY(prune(base_file(&tmp, journal, folders[i])));
	TRY(fs_remove_tree(base_file(&tmp, journal, "new")));
	TRY(remove_torn(base_file(&tmp, journal, "")));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		TRY(fs_remove(base_file(&tmp, journal, files[i])));
	return fs_remove_empty(base_file(&tmp, journal, ""));
}

struct restore {
	struct arena *a;
	struct str base, journal;
	const struct manifest *m;
	bool force;
	struct manifest left; /* what could not be taken back */
	struct strs *kept;
	struct err *first;
};

static void restore_one(struct restore *r, const struct made *e)
{
	enum undo undo = UNDO_NOT_THERE;
	struct err *err = undo_one(r->m, r->base, e, r->force, &undo);
	if (undo == UNDO_EDITED)
		strs_add(r->a, r->kept, e->output);
	if (err || undo == UNDO_EDITED)
		*VEC_PUSH(r->a, &r->left.made) = *e;
	r->first = err_join(r->first, err);
}

static struct err *restore_all(struct restore *r)
{
	bool dry = fs_writes_forbidden();
	if (!dry)
		TRY(session_tidy(r->m, r->base));
	VEC_EACH (const struct made, e, &r->m->made) {
		TRY(cancel_check());
		if (e->kind != MADE_DIR)
			restore_one(r, e);
	}
	return dry ? NULL : undo_dirs(r->m, r->base, NULL, &r->left);
}

static struct err *end_restore(struct restore *r)
{
	if (r->kept->n || r->first)
		return manifest_write(&r->left);
	TRY(leave(r->journal, r->force));
	return r->m->kind == BASE_OVERLAY ? fs_remove_empty(r->base) : NULL;
}

static struct err *restore(struct restore *r)
{
	r->left = (struct manifest){.a = r->a,
		.journal = r->journal,
		.kind = r->m->kind,
		.root = r->m->root,
		.identity = r->m->identity};
	struct err *e = restore_all(r);
	if (e || fs_writes_forbidden())
		return err_join(e, r->first);
	return err_join(r->first, end_restore(r));
}

struct err *changes_restore(struct arena *a, struct str journal, bool force, struct strs *ret_kept)
{
	CLEANUP(fd_closep) int lock = -1;
	CLEANUP(fs_unguardp) struct fs_tree *guard = NULL;
	struct manifest *m;
	struct restore r = {.a = a, .force = force, .kept = ret_kept};
	r.journal = path_abs(a, journal);
	r.base = path_dir(r.journal);
	*ret_kept = (struct strs){0};
	if (!fs_is_dir(r.journal))
		return err_new(
			E_NOENT, "'%.*s' was not translated by rocsmith", STR(path_dir(journal)));
	TRY(fs_guard(r.base, &guard));
	TRY(base_lock(r.journal, fs_writes_forbidden(), &lock));
	TRY(manifest_read(a, r.journal, &m));
	if (!m) /* a killed restore, or a run killed at its start */
		return fs_writes_forbidden() ? NULL : leave(r.journal, force);
	r.m = m;
	return restore(&r);
}
