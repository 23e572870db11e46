/* Brings a tree in line with the result of a translation: in place, or as an overlay folder.
 *
 * BASE/.rocsmith/ (BASE = the tree, or the overlay) holds hipify.manifest, hipify.lock, new/ (what
 * is being written) and, in place, originals/ with every file that was replaced: the old file
 * itself, under a second name, taken before the new one is renamed over it. kept/ holds what
 * somebody else had written over one of our outputs when it was made anew.
 *
 * Order of a run: lock; look at what is there; write all new contents to new/ and, meanwhile, the
 * manifest with what is going to be (the intent); rename them to their places; remove outputs
 * without a source; write the manifest with what is. A full disk shows before anything is changed.
 * A kill leaves outputs old or new, never torn, all of them known to the intent, and contents tell
 * which of them are made; so the next run, or a restore, needs no record of how far it came.
 *
 * Outputs are not synced one by one, which would cost more than the whole run: they can be made
 * again. Both manifests are, and a file system that loses power keeps the order of renames; what it
 * may lose is the content of a young file. Then its size is 0, or its signature is not the
 * manifest's, and the next run makes it anew; an original is an old file that only got a new name.
 */
#pragma once

#include "changes/view.h"
#include "hipify/hipify.h"

struct manifest;

struct hipify_session {
	struct arena *a;
	const struct hipify_options *o;
	struct str root, base; /* absolute: the sources; where .rocsmith is, "" = only looking */
	struct str identity;   /* of engine, tables and options: another one means all anew */
	struct manifest *old;  /* of base; NULL = none */
	struct hipify_view view;
	int lock, source_lock; /* of base; of root, shared, when that is another folder */
};

/* Locks BASE and opens the view. The session must be closed also when this fails. */
MUST_USE struct err *session_open(struct arena *a, const struct hipify_options *o,
	struct str identity, struct hipify_session *ret);
/* True when nothing that the last run looked at or wrote has changed; ret is then filled from the
 * manifest. Costs one stat for each folder, source and output. */
MUST_USE struct err *session_current(struct hipify_session *s, struct hipify_tree *ret, bool *yes);
/* Writes the files' texts; sets HIPIFY_SKIPPED for outputs that are up to date. In a dry run it
 * only sets the statuses. A file that cannot be written becomes HIPIFY_FAILED. */
MUST_USE struct err *session_apply(struct hipify_session *s, struct hipify_tree *t);
void session_close(struct hipify_session *s);

/* The lock alone; waits, and says so. look: shared, and none (-1) when there is no lock file. */
MUST_USE struct err *base_lock(struct str base, bool look, int *ret_fd);
