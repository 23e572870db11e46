/* Staged folders, which are filled beside their final path and put there by one rename; see fs_stage.h. */
#include "base/fs_stage.h"

#include "base/fs_int.h"

enum { MAX_RECEIPT = 1 << 16 };

static struct err *clear_beside(const struct fs_stage *s, bool keep_tree)
{
	ARENA(tmp);
	struct strs names;
	TRY(fs_list(&tmp, s->beside, &names));
	for (size_t i = 0; i < names.n; i++)
		if (!str_eq(names.v[i], S("lock")) &&
			!(keep_tree && str_eq(names.v[i], path_base(s->tree))))
			TRY(fs_remove_tree(path_join(&tmp, s->beside, names.v[i])));
	return NULL;
}

static struct err *let_go(struct fs_stage *s)
{
	fd_closep(&s->lock);
	fs_unguardp(&s->guard);
	return s->around ? fs_remove_empty(path_dir(s->place)) : NULL;
}

/* The hidden folder may belong to someone else, or be a link by the time that it is guarded, so both are checked before
 * anything in it is touched. */
struct err *fs_stage_begin(struct arena *a, struct fs_stage *s)
{
	if (!s->beside.n)
		s->beside = fs_temp_name(a, s->place);
	s->tree = path_join(a, s->beside, S("tree"));
	s->lock = -1;
	s->committed = false;
	s->around = !fs_present(path_dir(s->place));
	struct err *e = fs_make_output(path_dir(s->place));
	e = e ? e : fs_mkdirs(s->beside);
	e = e ? e : fs_check_own(s->beside);
	e = e ? e : fs_guard(s->beside, &s->guard);
	if (!e && !fs_guards_itself(s->guard, s->beside))
		e = err_new(E_PERM, "'%.*s' was replaced by somebody else", STR(s->beside));
	e = e ? e : fs_lock(path_join(a, s->beside, S("lock")), FS_LOCK_NOW, &s->lock);
	e = e ? e : clear_beside(s, s->resumes);
	/* a killed run's tree with a receipt lacked only the rename, or the removal of the old tree after it */
	if (!e && s->resumes && fs_exists(path_join(a, s->tree, s->receipt)))
		e = fs_present(s->place) ? fs_remove_tree(s->tree) : fs_rename(s->tree, s->place);
	return e ? err_join(err_wrap(e, "cannot make '%.*s'", STR(s->place)), let_go(s)) : NULL;
}

struct err *fs_stage_commit(struct fs_stage *s, struct str receipt)
{
	ARENA(tmp);
	bool apart = str_starts(s->receipt, S("/"));
	if (s->receipt.n)
		TRY(fs_sync_all(s->tree));
	if (apart) /* the receipt of the folder being replaced */
		TRY(fs_remove(s->receipt));
	else if (s->receipt.n)
		TRY(fs_write(path_join(&tmp, s->tree, s->receipt), receipt, 0644));
	TRY(fs_present(s->place) ? fs_exchange(s->tree, s->place)
				 : fs_move(s->tree, s->place, false));
	s->committed = true;
	if (s->receipt.n)
		TRY(fs_sync(path_dir(s->place)));
	return apart ? fs_write(s->receipt, receipt, 0644) : NULL;
}

struct err *fs_stage_end(struct fs_stage *s)
{
	ARENA(tmp);
	struct err *e = clear_beside(s, s->resumes && !s->committed);
	e = e ? e : fs_remove(path_join(&tmp, s->beside, S("lock")));
	e = e ? e : fs_remove_empty(s->beside);
	return err_join(e, let_go(s));
}

struct err *fs_receipt_check(struct str path, struct str text, bool *ret_same)
{
	ARENA(tmp);
	struct str old;
	TRY(fs_read_opt(&tmp, path, MAX_RECEIPT, &old));
	*ret_same = str_eq(str_trim(old), str_trim(text));
	return *ret_same ? NULL : fs_remove(path);
}
