/* Transactions: a set of file changes that happens wholly or not at all.
 *
 * A transaction has a folder (the journal) on the same file system as the files that it changes.
 * New content is staged there; txn_commit() writes a journal of what will be replaced, keeps the
 * old files, moves the new ones in place, and removes the journal. Whoever opens the folder next
 * calls txn_recover() (txn_begin() does), which rolls an interrupted commit back, or forward when
 * it was already decided. Missing parent folders of a path are created, and removed by a rollback.
 * Receipts: with keep = true the old files stay in the journal, so that txn_undo() can restore
 * them.
 *
 * While a commit runs a replaced file always exists (old or new); a replaced folder is missing for
 * a moment. The paths of one transaction must not lie inside each other; staging a path again
 * replaces what was staged for it.
 */
#pragma once

#include "base/err.h"

struct txn;

/* dir is created. E_LOCKED when another process holds it. Recovers what was left there first. */
MUST_USE struct err *txn_begin(struct str dir, struct txn **ret);
/* Stages: path (absolute) will have this content and mode. Nothing is visible before the commit. */
MUST_USE struct err *txn_write(struct txn *t, struct str path, struct str content, unsigned mode);
/* Stages a finished file (moved, not copied) or a whole folder, replacing what is at path. A commit
 * that fails leaves it where it is, or brings it back there. */
MUST_USE struct err *txn_move(struct txn *t, struct str from, struct str path);
MUST_USE struct err *txn_remove(struct txn *t, struct str path); /* fine when absent */
/* Makes all of it visible; on failure everything is as before. Frees t in both cases. What cannot
 * be tidied up behind a decided commit is no failure: the next txn_recover() does it. */
MUST_USE struct err *txn_commit(struct txn *t, bool keep);
/* Forgets all staged changes and frees t; NULL is fine. */
void txn_abandon(struct txn *t);
void txn_abandonp(struct txn **t);
/* Finishes what a killed process left: ret_did tells whether there was anything. A dir that is
 * absent is fine. E_CORRUPT when the journal cannot be read. */
MUST_USE struct err *txn_recover(struct str dir, bool *ret_did);
/* Undoes the last commit made with keep that was not undone yet, as a transaction of its own; what
 * was written to its paths since is lost. E_NOENT when there is no receipt. */
MUST_USE struct err *txn_undo(struct str dir);
