/* Staging and committing file changes; see txn.h, and txn_int.h for what is on disk. */
#include "base/txn.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/txn_int.h"

struct txn {
	struct arena a;
	struct str journal, dir; /* the folder given; that of this transaction in it */
	int lock;
	size_t staged; /* numbers of N.new used so far */
	struct txn_ops ops;
	struct map paths; /* path -> index into ops, plus one */
	bool trees;       /* whole folders are moved: their files may not be synced */
};

static void txn_free(struct txn *t)
{
	if (!t)
		return;
	fd_closep(&t->lock);
	arena_free(&t->a);
	free(t);
}

static void txn_freep(struct txn **t)
{
	txn_free(*t);
	*t = NULL;
}

static struct err *new_folder(struct txn *t)
{
	struct strs numbers;
	uint64_t last = 0;
	TRY(txn_numbers(&t->a, t->journal, &numbers));
	if (numbers.n)
		(void)str_u64(numbers.v[numbers.n - 1], 10, &last);
	t->dir = str_fmt(&t->a, "%.*s/%llu", STR(t->journal), (unsigned long long)last + 1);
	return fs_mkdirs(t->dir);
}

struct err *txn_begin(struct str dir, struct txn **ret)
{
	CLEANUP(txn_freep) struct txn *t = xmalloc(sizeof(*t));
	*t = (struct txn){.lock = -1};
	t->paths.a = &t->a;
	t->journal = path_abs(&t->a, dir);
	bool did;
	TRY(fs_mkdirs(t->journal));
	TRY(fs_lock(path_join(&t->a, t->journal, S("lock")), false, &t->lock));
	TRY(txn_recover_locked(t->journal, &did));
	TRY(new_folder(t));
	*ret = t;
	t = NULL;
	return NULL;
}

static void stage(struct txn *t, struct txn_op op)
{
	size_t at = (size_t)(uintptr_t)map_get(&t->paths, op.path);
	if (at) {
		t->ops.v[at - 1] = op;
		return;
	}
	*VEC_PUSH(&t->a, &t->ops) = op;
	map_put(&t->paths, op.path, (void *)(uintptr_t)t->ops.n);
}

struct err *txn_write(struct txn *t, struct str path, struct str content, unsigned mode)
{
	struct str from = txn_slot(&t->a, t->dir, t->staged++, "new");
	TRY_CTX(fs_write(from, content, mode), "cannot stage '%.*s'", STR(path));
	stage(t, (struct txn_op){.kind = TXN_MOVE, .path = path_clean(&t->a, path), .from = from});
	return NULL;
}

struct err *txn_move(struct txn *t, struct str from, struct str path)
{
	struct stat st, here;
	TRY(fs_lstat(from, &st));
	TRY(fs_stat(t->dir, &here));
	if (st.st_dev != here.st_dev)
		return err_new(E_INTERNAL, "'%.*s' and '%.*s' are on different file systems",
			STR(from), STR(t->dir));
	t->trees = t->trees || S_ISDIR(st.st_mode);
	stage(t, (struct txn_op){.kind = TXN_MOVE,
			 .path = path_clean(&t->a, path),
			 .from = path_abs(&t->a, from)});
	return NULL;
}

struct err *txn_remove(struct txn *t, struct str path)
{
	stage(t, (struct txn_op){.kind = TXN_REMOVE, .path = path_clean(&t->a, path)});
	return NULL;
}

/* ---- commit ---- */

/* Lists the missing folders above path, topmost first; made holds those listed already. */
static void add_parents(struct txn *t, struct txn_ops *all, struct map *made, struct str path)
{
	struct str dir = path_dir(path);
	if (dir.n <= 1 || map_get(made, dir) || fs_present(dir))
		return;
	add_parents(t, all, made, dir);
	map_put(made, dir, t);
	*VEC_PUSH(&t->a, all) = (struct txn_op){.kind = TXN_MKDIR, .path = dir};
}

static struct err *check_apart(const struct txn *t, struct str path)
{
	if (path.n < 2 || path.p[0] != '/')
		return err_new(E_INTERNAL, "'%.*s' is no absolute path", STR(path));
	for (struct str dir = path_dir(path); dir.n > 1; dir = path_dir(dir))
		if (map_get(&t->paths, dir))
			return err_new(E_INTERNAL, "'%.*s' lies inside '%.*s', which changes too",
				STR(path), STR(dir));
	return NULL;
}

static struct err *make_ops(struct txn *t, struct txn_ops *ret)
{
	struct txn_ops all = {.undoes = t->ops.undoes};
	MAP(made, &t->a);
	VEC_EACH (struct txn_op, op, &t->ops) {
		TRY(check_apart(t, op->path));
		if (op->kind == TXN_MOVE)
			add_parents(t, &all, &made, op->path);
		*VEC_PUSH(&t->a, &all) = *op;
	}
	*ret = all;
	return NULL;
}

static bool is_folder(struct str path)
{
	ARENA(tmp);
	struct stat st;
	return lstat(str_z(&tmp, path), &st) == 0 && S_ISDIR(st.st_mode);
}

/* A file that a file replaces keeps its name until the new one takes it. */
static struct err *put_aside(struct txn *t, size_t i, const struct txn_op *op)
{
	struct str old = txn_slot(&t->a, t->dir, i, "old");
	if (op->kind == TXN_MOVE && !is_folder(op->path) && !is_folder(op->from)) {
		struct err *e = fs_link(op->path, old);
		if (!e)
			return fs_sync_dir(t->dir);
		err_free(e); /* no links on this file system, or not for us */
	}
	return fs_rename(op->path, old);
}

static struct err *do_op(struct txn *t, size_t i, const struct txn_op *op)
{
	if (op->kind == TXN_MKDIR) {
		TRY(fs_mkdirs(op->path));
		return fs_sync_dir(path_dir(op->path));
	}
	if (fs_present(op->path))
		TRY(put_aside(t, i, op));
	return op->kind == TXN_MOVE ? fs_rename(op->from, op->path) : NULL;
}

/* The rename that decides. When only its sync fails, the decision is taken back; should that fail
 * too, then it stands. */
static struct err *decide(struct txn *t, struct str to)
{
	struct str journal = path_join(&t->a, t->dir, S("journal"));
	struct err *e = fs_rename(journal, to);
	if (!e || !fs_present(to))
		return e;
	struct err *back = fs_rename(to, journal);
	if (!fs_present(to))
		return err_join(e, back);
	err_free(e);
	err_free(back);
	return NULL;
}

static struct err *commit(struct txn *t, struct str to)
{
	struct txn_ops ops;
	TRY(make_ops(t, &ops));
	if (t->trees)
		TRY(fs_sync_all(t->dir));
	struct err *e = txn_log_write(t->dir, &ops);
	if (!e)
		e = fs_sync_dir(t->journal);
	for (size_t i = 0; !e && i < ops.n; i++)
		e = do_op(t, i, &ops.v[i]);
	if (!e)
		e = decide(t, to);
	return e ? err_join(e, txn_roll_back(t->dir, &ops)) : NULL;
}

struct err *txn_commit(struct txn *t, bool keep)
{
	struct str to = path_join(&t->a, t->dir, keep ? S("receipt") : S("done"));
	struct err *e = commit(t, to);
	bool did;
	/* What cannot be tidied up now is left to the next recovery: the commit stands. */
	if (!e)
		err_free(txn_recover_locked(t->journal, &did));
	if (e && !fs_present(path_join(&t->a, t->dir, S("journal"))))
		err_free(fs_remove_tree(t->dir));
	txn_free(t);
	return e;
}

void txn_abandon(struct txn *t)
{
	if (t)
		err_free(fs_remove_tree(t->dir));
	txn_free(t);
}

void txn_abandonp(struct txn **t)
{
	txn_abandon(*t);
	*t = NULL;
}

/* ---- undo ---- */

static struct err *last_receipt(struct txn *t, struct str *ret_number)
{
	struct strs numbers;
	TRY(txn_numbers(&t->a, t->journal, &numbers));
	for (size_t i = numbers.n; i-- > 0;) {
		struct str dir = path_join(&t->a, t->journal, numbers.v[i]);
		*ret_number = numbers.v[i];
		if (fs_present(path_join(&t->a, dir, S("receipt"))))
			return NULL;
	}
	return err_new(E_NOENT, "nothing in '%.*s' can be undone", STR(t->journal));
}

struct err *txn_undo(struct str dir)
{
	CLEANUP(txn_abandonp) struct txn *t = NULL;
	TRY(txn_begin(dir, &t));
	TRY(last_receipt(t, &t->ops.undoes));
	struct str from = path_join(&t->a, t->journal, t->ops.undoes);
	struct txn_ops ops;
	TRY(txn_log_read(&t->a, from, S("receipt"), &ops));
	for (size_t i = 0; i < ops.n; i++) {
		struct str old = txn_slot(&t->a, from, i, "old");
		if (fs_present(old))
			TRY(txn_move(t, old, ops.v[i].path));
		else if (ops.v[i].kind != TXN_MKDIR)
			TRY(txn_remove(t, ops.v[i].path));
	}
	struct txn *mine = t;
	t = NULL;
	return txn_commit(mine, false);
}
