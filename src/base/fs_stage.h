/* Staged folders: a folder that is at its place whole, or not at all.
 *
 * Whatever rocsmith makes of many files (an SDK, a source tree, an unpacked wheel, the result of a build) is
 * filled in a hidden folder beside its place and gets its name by one rename. What it is made of stands in
 * its receipt, a file that is written last: a folder without its receipt counts as nothing and is made again.
 * So neither Ctrl-C nor kill -9 nor a full disk leaves half a folder that a later run would believe.
 *
 *     struct fs_stage s = {.place = dir, .receipt = S("sdk.json")};
 *     TRY(fs_stage_begin(a, &s));
 *     struct err *e = fill(s.tree);
 *     e = e ? e : fs_stage_commit(&s, json);
 *     return err_join(e, fs_stage_end(&s));
 *
 * On disk, while that runs:
 *     DIR/.rocsmith.tmp-HASH/    the hidden folder, `beside`: this user's own, and guarded (fs_guard)
 *         tree/                  becomes DIR/NAME; not there until the caller makes it
 *         lock                   held from begin to end
 *         ...                    scratch files of the caller
 * A killed run leaves that folder without a holder of its lock. The next begin for the same place takes it
 * over and empties it, or goes on with its tree (`resumes`); nothing else has to be cleaned up.
 *
 * Locks: a second run on the same place fails with E_LOCKED at once. Who would rather wait, or guards more
 * than one place (an SDK and its downloads, a cache with its index), takes a progress_lock() first.
 *
 * Dry runs: begin fails with E_DRY_RUN; ask fs_writes_forbidden() before.
 */
#pragma once

#include "base/fs.h"

struct fs_stage {
	/* set by the caller */
	struct str place; /* what the folder will be called */
	struct str
		beside; /* the hidden folder, on the same file system; "" = fs_temp_name(place) */
	struct str receipt; /* a path in the folder ("sdk.json") or an absolute one (DIR/NAME.json);
			     * "": it has none, and nothing is synced (results that cost nothing) */
	bool resumes;       /* keep the tree of a run that was killed or failed, to go on with it */
	/* set by fs_stage_begin() */
	struct str tree;
	struct fs_tree *guard;
	int lock;
	bool committed;
};

/* Takes the hidden folder, and removes what a killed run left in it. With `resumes`, a tree that has its
 * receipt lacked nothing but the last step: it gets its name now, or, when a folder has that name, is the
 * old one that was to go. E_LOCKED; E_PERM when the hidden folder is another user's. On failure nothing is
 * held. */
MUST_USE struct err *fs_stage_begin(struct arena *a, struct fs_stage *s);
/* Puts the tree into its place, where it replaces what is there. Where there is a receipt: after a sync of
 * all files, with this text as the receipt. */
MUST_USE struct err *fs_stage_commit(struct fs_stage *s, struct str receipt);
/* Removes the hidden folder with all that is in it (a replaced folder, scratch), and lets go of the lock;
 * with `resumes` and without a commit the tree stays for the next run. */
MUST_USE struct err *fs_stage_end(struct fs_stage *s);

/* A folder that is brought up to date where it is (its files are known to build systems by their paths)
 * has a receipt, too, whose text is all that the folder depends on. *ret_same: it is whole and of just this
 * text. If not, its receipt goes, and fs_write() of the new one is the caller's last step. */
MUST_USE struct err *fs_receipt_check(struct str path, struct str text, bool *ret_same);
