/* Undoing: one output goes or its original comes back, and folders that we made go when empty. */
#include "base/fs.h"
#include "base/vec.h"
#include "changes/apply_int.h"

/* The old file itself returns. When both names are of one file, rename() would keep both. */
static struct err *put_back(struct str base, const struct made *e, enum holds holds)
{
	ARENA(tmp);
	struct str original = base_original(&tmp, base, e->output);
	if (holds == HOLDS_ORIGINAL)
		return fs_remove(original);
	return fs_move(original, base_path(&tmp, base, e->output), true);
}

struct err *take_back(const struct manifest *m, struct str base, const struct made *e, bool force,
	enum taken *ret)
{
	ARENA(tmp);
	enum holds holds;
	bool original = e->replaced && fs_present(base_original(&tmp, base, e->output));
	*ret = TAKEN_NOT_THERE;
	if (e->kind == MADE_FOUND || e->kind == MADE_DIR)
		return NULL;
	TRY(made_look(m, base, e, &holds));
	if (holds == HOLDS_OTHER && e->replaced && !original)
		return NULL; /* a killed run came before us, or after */
	if ((holds == HOLDS_OTHER && !force) || (holds == HOLDS_OURS && e->replaced && !original)) {
		*ret = TAKEN_EDITED;
		return NULL;
	}
	if (!original && holds == HOLDS_NOTHING)
		return NULL;
	TRY(original ? put_back(base, e, holds) : fs_remove(base_path(&tmp, base, e->output)));
	*ret = TAKEN_BACK;
	return NULL;
}

struct err *take_dirs(
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
