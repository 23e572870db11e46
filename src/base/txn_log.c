/* The journal of a transaction on disk, and what a killed process left of one; see txn_int.h.
 *
 * Rolling back needs no record of how far a commit came, because the file system tells: `N.old`
 * exists once the old file was put aside, and the source of a move is gone once it was moved. Each
 * step leaves a state from which the same rules lead on, so that a rollback may itself be killed.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/txn.h"
#include "base/txn_int.h"

enum { JOURNAL_LIMIT = 64 << 20 };

static const char *const kind_names[] = {
	[TXN_MKDIR] = "mkdir",
	[TXN_MOVE] = "move",
	[TXN_REMOVE] = "remove",
};

struct str txn_slot(struct arena *a, struct str dir, size_t i, const char *suffix)
{
	return str_fmt(a, "%.*s/%zu.%s", STR(dir), i, suffix);
}

/* ---- text form: "move PATH FROM" a line, with %XX for blanks, controls and '%' ---- */

static void add_word(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c <= ' ' || c == '%' || c == 0x7f)
			buf_fmt(b, "%%%02x", c);
		else
			buf_char(b, s.p[i]);
	}
}

static bool get_word(struct arena *a, struct str word, struct str *ret)
{
	BUF(b, a);
	for (size_t i = 0; i < word.n; i++) {
		uint64_t c = (unsigned char)word.p[i];
		if (c == '%' && (i + 3 > word.n || !str_u64(str_sub(word, i + 1, i + 3), 16, &c)))
			return false;
		i += word.p[i] == '%' ? 2 : 0;
		buf_char(&b, (char)c);
	}
	*ret = buf_str(&b);
	return true;
}

struct err *txn_log_write(struct str dir, const struct txn_ops *ops)
{
	ARENA(a);
	BUF(b, &a);
	buf_add(&b, S("rocsmith-txn 1 "));
	add_word(&b, ops->undoes);
	buf_char(&b, '\n');
	for (size_t i = 0; i < ops->n; i++) {
		buf_fmt(&b, "%s ", kind_names[ops->v[i].kind]);
		add_word(&b, ops->v[i].path);
		buf_char(&b, ' ');
		add_word(&b, ops->v[i].from);
		buf_char(&b, '\n');
	}
	buf_add(&b, S("end\n"));
	return fs_write(path_join(&a, dir, S("journal")), buf_str(&b), 0644);
}

static bool parse_line(struct arena *a, struct str line, struct txn_ops *ops)
{
	struct str kind, words, path, from;
	str_cut(line, ' ', &kind, &words);
	struct txn_op op = {0};
	size_t k = 0, kinds = sizeof(kind_names) / sizeof(*kind_names);
	while (k < kinds && !str_eq(kind, str_from(kind_names[k])))
		k++;
	if (k == kinds || !str_cut(words, ' ', &path, &from))
		return false;
	op.kind = (enum txn_kind)k;
	if (!get_word(a, path, &op.path) || !get_word(a, from, &op.from) || !op.path.n)
		return false;
	*VEC_PUSH(a, ops) = op;
	return true;
}

static bool parse(struct arena *a, struct str text, struct txn_ops *ops)
{
	struct str line;
	*ops = (struct txn_ops){0};
	if (!str_next(&text, '\n', &line) || !str_starts(line, S("rocsmith-txn 1 ")) ||
		!get_word(a, str_sub(line, 15, line.n), &ops->undoes))
		return false;
	while (str_next(&text, '\n', &line)) {
		if (str_eq(line, S("end")))
			return text.n == 0;
		if (!parse_line(a, line, ops))
			return false;
	}
	return false;
}

struct err *txn_log_read(struct arena *a, struct str dir, struct str file, struct txn_ops *ret)
{
	struct str path = path_join(a, dir, file), text;
	TRY(fs_read(a, path, JOURNAL_LIMIT, &text));
	if (parse(a, text, ret))
		return NULL;
	struct err *e = err_new(E_CORRUPT, "the journal '%.*s' is damaged", STR(path));
	return err_hint(e, "look at the files in '%.*s', then remove that folder", STR(dir));
}

/* ---- rolling back ---- */

/* A file gets back a second name first, so that one name of it always exists. */
static struct err *back_to_source(const struct txn_op *op, struct str old)
{
	if (fs_present(op->from) || !fs_present(op->path))
		return NULL;
	if (fs_present(old)) {
		struct err *e = fs_link(op->path, op->from);
		if (!e)
			return NULL;
		err_free(e); /* a folder, or a file system without links */
	}
	return fs_rename(op->path, op->from);
}

static struct err *undo_op(struct str dir, size_t i, const struct txn_op *op)
{
	ARENA(a);
	struct str old = txn_slot(&a, dir, i, "old");
	if (op->kind == TXN_MKDIR)
		return fs_remove_empty(op->path); /* not empty: somebody else uses it by now */
	if (op->kind == TXN_MOVE)
		TRY(back_to_source(op, old));
	if (!fs_present(old))
		return NULL;
	/* When both are names of one file, rename() keeps both: then the slot goes with dir. */
	return fs_rename(old, op->path);
}

struct err *txn_roll_back(struct str dir, const struct txn_ops *ops)
{
	for (size_t i = ops->n; i-- > 0;)
		TRY_CTX(undo_op(dir, i, &ops->v[i]), "cannot restore '%.*s'", STR(ops->v[i].path));
	ARENA(a);
	TRY(fs_remove(path_join(&a, dir, S("journal"))));
	return fs_remove_tree(dir);
}

/* ---- recovery ---- */

static int by_number(const void *a, const void *b)
{
	const struct str *x = a, *y = b;
	return x->n != y->n ? (x->n > y->n) - (x->n < y->n) : str_cmp(*x, *y);
}

struct err *txn_numbers(struct arena *a, struct str journal, struct strs *ret)
{
	struct strs all;
	uint64_t n;
	*ret = (struct strs){0};
	TRY(fs_list(a, journal, &all));
	for (size_t i = 0; i < all.n; i++)
		if (str_u64(all.v[i], 10, &n))
			strs_add(a, ret, all.v[i]);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_number);
	return NULL;
}

/* Drops a receipt that was undone, with the folders that only its commit needed. */
static struct err *drop_receipt(struct str dir)
{
	ARENA(a);
	struct txn_ops ops;
	if (!fs_present(path_join(&a, dir, S("receipt"))))
		return fs_remove_tree(dir);
	TRY(txn_log_read(&a, dir, S("receipt"), &ops));
	for (size_t i = ops.n; i-- > 0;)
		if (ops.v[i].kind == TXN_MKDIR)
			TRY(fs_remove_empty(ops.v[i].path));
	return fs_remove_tree(dir);
}

/* The commit was decided: drop what it replaced, and the receipt that it used up. fs_remove_tree()
 * goes in byte order, so that the file that tells all this ("done") is the last to go. */
static struct err *tidy(struct str journal, struct str dir)
{
	ARENA(a);
	struct txn_ops ops;
	uint64_t n;
	TRY(txn_log_read(&a, dir, S("done"), &ops));
	if (str_u64(ops.undoes, 10, &n))
		TRY(drop_receipt(path_join(&a, journal, ops.undoes)));
	return fs_remove_tree(dir);
}

static struct err *recover_one(struct str journal, struct str number, bool *did)
{
	ARENA(a);
	struct str dir = path_join(&a, journal, number);
	struct txn_ops ops;
	if (fs_present(path_join(&a, dir, S("receipt"))))
		return NULL;
	*did = true;
	if (fs_present(path_join(&a, dir, S("done"))))
		return tidy(journal, dir);
	if (!fs_present(path_join(&a, dir, S("journal"))))
		return fs_remove_tree(dir); /* killed before the commit began */
	TRY(txn_log_read(&a, dir, S("journal"), &ops));
	return txn_roll_back(dir, &ops);
}

struct err *txn_recover_locked(struct str journal, bool *ret_did)
{
	ARENA(a);
	struct strs numbers;
	bool did = false;
	TRY(txn_numbers(&a, journal, &numbers));
	for (size_t i = numbers.n; i-- > 0;)
		TRY_CTX(recover_one(journal, numbers.v[i], &did),
			"cannot recover the interrupted changes in '%.*s'", STR(journal));
	*ret_did = did;
	return NULL;
}

struct err *txn_recover(struct str dir, bool *ret_did)
{
	ARENA(a);
	CLEANUP(fd_closep) int lock = -1;
	*ret_did = false;
	if (!fs_is_dir(dir))
		return NULL;
	TRY(fs_lock(path_join(&a, dir, S("lock")), false, &lock));
	return txn_recover_locked(dir, ret_did);
}
