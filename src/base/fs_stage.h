/* Staged folders: folders that appear complete or not at all.
 *
 * Every result of many files (an SDK, a source tree, an unpacked wheel, the result of a build) is filled in a hidden
 * folder beside its final path and gets its name by one rename. Its receipt, a file that is written last, records
 * what it was made from; a folder without its receipt is ignored and made again. So neither Ctrl-C nor kill -9
 * nor a full disk leaves half a folder that a later run would trust.
 *
 *     struct fs_stage s = {.place = dir, .receipt = S("sdk.json")};
 *     TRY(fs_stage_begin(a, &s));
 *     struct err *e = fill(s.tree);
 *     e = e ? e : fs_stage_commit(&s, json);
 *     return err_join(e, fs_stage_end(&s));
 *
 * On disk, while that runs:
 *     DIR/.rocsmith.tmp-HASH/    the hidden folder, `beside`: owned by this user, and guarded (fs_guard)
 *         tree/                  becomes DIR/NAME; the caller creates it
 *         lock                   held from begin to end
 *         ...                    scratch files of the caller
 * A killed run leaves that folder with its lock released. The next begin for the same path takes the folder over and
 * empties it, or continues with its tree (`resumes`); there is nothing else to clean up.
 *
 * Locks: a second run on the same path fails with E_LOCKED at once. A caller that would rather wait, or that protects
 * more than one path (an SDK and its downloads, a cache with its index), takes a progress_lock() first.
 *
 * Dry runs: begin fails with E_DRY_RUN; check fs_writes_forbidden() first.
 */
#pragma once

#include "base/fs.h"

struct fs_stage {
	/* set by the caller */
	struct str place; /* the folder's final path */
	/* The hidden folder, on the same file system; "" = fs_temp_name(place) */
	struct str beside;
	struct str receipt; /* a path in the folder ("sdk.json") or an absolute one (DIR/NAME.json);
			     * "" = no receipt and no sync, for results that are cheap to make again */
	bool resumes;       /* keep the tree of a killed or failed run, to continue it */
	/* set by fs_stage_begin() */
	struct str tree;
	struct fs_tree *guard;
	int lock;
	bool committed;
	bool around; /* the folder around the place was made for it, and goes again if it stays empty */
};

/* Locks the hidden folder, and removes what a killed run left in it. With `resumes`, a tree that has its receipt lacked
 * only the last step: it gets its name now; if a folder has that name already, the tree is the replaced one and is
 * removed. E_LOCKED; E_PERM if the hidden folder belongs to another user. On failure no lock is held. */
MUST_USE struct err *fs_stage_begin(struct arena *a, struct fs_stage *s);
/* Moves the tree to its final path, replacing what is there. If the folder has a receipt, first syncs all files and
 * writes this text as the receipt. */
MUST_USE struct err *fs_stage_commit(struct fs_stage *s, struct str receipt);
/* Removes the hidden folder with its contents (a replaced folder, scratch files) and releases the lock. With `resumes`
 * and without a commit, the tree stays for the next run. */
MUST_USE struct err *fs_stage_end(struct fs_stage *s);

/* Checks the receipt of a folder that is updated in place, because build systems know its files by path. The receipt's
 * text names everything that the folder depends on. *ret_same: the folder is complete and has exactly this text. If
 * not, the receipt is removed, and the caller's last step is to fs_write() the new one. */
MUST_USE struct err *fs_receipt_check(struct str path, struct str text, bool *ret_same);
