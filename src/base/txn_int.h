/* What the two halves of the transactions share: txn.c stages and commits, txn_log.c stores and
 * replays. Nobody else includes this.
 *
 * Below the journal folder: `lock`, and one folder NUMBER per transaction with
 *     N.new     staged content of change N        N.old  what change N replaced
 *     journal   a commit is under way: roll back
 *     done      it was decided: only tidy up      receipt  the same, and keep N.old for an undo
 * The commit is decided at the moment when `journal` is renamed. */
#pragma once

#include "base/fs.h"
#include "base/vec.h"

enum txn_kind {
	TXN_MKDIR,  /* create the folder path */
	TXN_MOVE,   /* from -> path */
	TXN_REMOVE, /* path -> N.old */
};

struct txn_op {
	enum txn_kind kind;
	struct str path, from;
};

struct txn_ops {
	struct txn_op *v;
	size_t n, cap;
	struct str undoes; /* number of the receipt that this commit uses up, or "" */
};

/* `.new` and `.old` of change i in the folder of a transaction. */
struct str txn_slot(struct arena *a, struct str dir, size_t i, const char *suffix);
MUST_USE struct err *txn_log_write(struct str dir, const struct txn_ops *ops);
MUST_USE struct err *txn_log_read(
	struct arena *a, struct str dir, struct str file, struct txn_ops *ret);
/* Takes back whatever of the journal in dir was done, and removes dir. May be repeated. */
MUST_USE struct err *txn_roll_back(struct str dir, const struct txn_ops *ops);
/* Recovers all transactions below the journal folder, whose lock the caller holds. */
MUST_USE struct err *txn_recover_locked(struct str journal, bool *ret_did);
/* Numbers of the transactions there, ascending. */
MUST_USE struct err *txn_numbers(struct arena *a, struct str journal, struct strs *ret);
