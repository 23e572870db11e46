/* Brings a tree in line with the result of a translation: in place, or as an overlay folder.
 *
 * BASE/.rocsmith/ (BASE = the tree, or the overlay) holds hipify.manifest, hipify.lock and, in
 * place, originals/ with every file that was replaced: the old file itself, under a second name,
 * taken before the new one is renamed over it. Order of a run: lock, finish or undo what a killed
 * run left, write the manifest with what is going to be (intent), write, remove outputs without a
 * source, write the manifest with what is.
 */
#pragma once

#include "hipify/hipify.h"
#include "hipify/view.h"

/* Locks BASE and opens the view. */
struct hipify_session {
	struct arena *a;
	const struct hipify_options *o;
	struct str base;     /* absolute: where .rocsmith is */
	struct str identity; /* of engine, tables and options: another one means all anew */
	struct manifest *old;
	struct hipify_view view;
	int lock;
};

MUST_USE struct err *session_open(struct arena *a, const struct hipify_options *o,
	struct str identity, struct hipify_session *ret);
/* True when nothing that the last run looked at or wrote has changed; ret is then filled from the
 * manifest. Costs one stat for each folder, source and output. */
MUST_USE struct err *session_current(struct hipify_session *s, struct hipify_tree *ret, bool *yes);
/* Writes the files' texts; sets HIPIFY_SKIPPED for outputs that are up to date. In a dry run it
 * only sets the statuses. */
MUST_USE struct err *session_apply(struct hipify_session *s, struct hipify_tree *t);
void session_close(struct hipify_session *s);
