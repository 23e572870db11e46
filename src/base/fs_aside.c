/* Trees that show at their place only when they are whole; see fs.h. */
#include "base/fs_int.h"

static void release(struct fs_aside *x)
{
	fd_closep(&x->held);
	fs_unguardp(&x->guard);
}

/* What is wrong with the folder must not be made worse: it may be somebody else's. */
struct err *fs_aside_begin(struct arena *a, struct str place, struct fs_aside *ret)
{
	struct str beside = fs_temp_name(a, place);
	*ret = (struct fs_aside){.place = place,
		.beside = beside,
		.tree = path_join(a, beside, S("tree")),
		.lock = path_join(a, beside, S("lock")),
		.held = -1};
	TRY(fs_mkdirs(beside));
	TRY(fs_check_own(beside, false));
	TRY(fs_guard(beside, &ret->guard));
	struct err *e = fs_lock(ret->lock, false, &ret->held);
	e = e ? e : fs_remove_tree(ret->tree);
	if (e)
		release(ret);
	return e;
}

struct err *fs_aside_commit(const struct fs_aside *x)
{
	return fs_present(x->place) ? fs_exchange(x->tree, x->place)
				    : fs_move(x->tree, x->place, false);
}

struct err *fs_aside_end(struct fs_aside *x)
{
	struct err *e = fs_remove_tree(x->tree);
	e = e ? e : fs_remove(x->lock);
	e = e ? e : fs_remove_empty(x->beside);
	release(x);
	return e;
}
