/* A set of changes to the files of a tree: applied in place or as an overlay folder, with a
 * journal, undoable, and explained.
 *
 *     session_open(a, &request, &s);            locks, and reads what earlier runs did
 *     session_current(&s, &set, &report, &yes)  nothing changed since: done
 *     ... view_read(&s.view, ...)               compute the set from the sources as they were
 *     session_apply(&s, &set, report);          writes what differs
 *     session_close(&s);
 *
 * Trees come from strangers. While a session is open nothing in them is changed through a link, and a
 * journal counts only when it is a real folder of this user's and its manifest this user's own work.
 *
 * The journal, BASE/.rocsmith/ (BASE = the tree, or the overlay), holds the manifest, a lock and, in
 * place,
 * originals/ with every file that was replaced: the old file itself, under a second name, taken
 * before the new one is renamed over it. kept/ holds what somebody else had written over one of our
 * outputs when it was made anew.
 *
 * Order of a run: lock; examine what is there; write the manifest with what is going to be (the
 * intent); write all new contents, each beside its place under a passing name that follows from its
 * own, and meanwhile sync the intent; rename them to their places; remove outputs without a source;
 * write the manifest with what is. A full disk shows before anything is changed. A kill leaves
 * outputs old or new, never torn, all of them known to the intent, and contents tell which of them
 * are made; so the next run, or a restore, needs no record of how far it came, and knows which
 * passing names to remove. Contents wait in the folders where they will be, not in one of ours: one
 * folder lets only one thread at a time in, and a file system takes renames from folder to folder
 * one by one.
 *
 * Outputs are not synced one by one, which would cost more than the whole run: they can be made
 * again, and so can what the manifest tells at the end. The intent is, before anything is replaced.
 * A file system that loses power keeps the order of renames; what it may lose is the content of a
 * young file. Then its size is 0, or its signature is not the manifest's, and the next run makes it
 * anew; an original is an old file that only got a new name.
 */
#pragma once

#include "base/vec.h"
#include "changes/view.h"

enum change_status {
	CHANGE_OK,        /* its text is to be written, or was */
	CHANGE_UNCHANGED, /* there is nothing to change */
	CHANGE_SKIPPED,   /* its output is up to date, or another one's result takes its place */
	CHANGE_FAILED,
};

/* What becomes of one source. */
struct change {
	struct str source, output; /* relative to the tree / the output folder */
	enum change_status status;
	struct err *error; /* of CHANGE_FAILED; freed by change_set_free() */
	struct str text;   /* to be written to output; .p NULL = nothing is */
	size_t edits;      /* how many made the text, where they are counted */
	unsigned mark;     /* the caller's own word about it, given back by session_current() */
	bool absent;       /* the caller saw that nothing is at output among the sources */
};

struct change_set {
	struct change *v;
	size_t n, cap;
	struct strs removed; /* outputs that are gone because their sources are */
	struct strs edited;  /* outputs that somebody changed since: in place the change is a new
				source; elsewhere the output was made anew, and what was there is in
				.rocsmith/kept */
};

void change_fail(struct change *c, struct err *e); /* e is added to earlier errors */
void change_set_free(struct change_set *t);
/* The error of the first file that failed, as "cannot VERB 'FILE'", taken out of the set; or NULL. */
MUST_USE struct err *change_set_failure(struct change_set *t, const char *verb);

/* What becomes of outputs of earlier runs that the set does not name. */
enum change_earlier {
	EARLIER_GO,
	EARLIER_STAY,
	EARLIER_STAY_WITH_SOURCE, /* those whose source is still there */
};

struct change_request {
	struct str dir, out; /* the tree; the overlay, "" = nothing is written */
	bool in_place;       /* out is not used */
	bool look_only;      /* only the statuses are set */
	bool copies;         /* the overlay gets all other files of the tree, too */
	bool history;        /* and its .git */
	bool worked_in; /* others change files of the overlay: as they leave them, they are current */
	enum change_earlier earlier;
	struct str
		journal; /* its name; "" = .rocsmith. Each layer of changes has its own; outputs may
				go to .rocsmith-x/overlay/, which no view shows */
	struct str identity;  /* all on which the set depends besides files; another one: no run is
				current */
	enum errcode failure; /* of an output that cannot be written */
	unsigned jobs;
};

struct manifest;

struct session {
	struct arena *a;
	const struct change_request *request;
	struct str root, base; /* absolute: the sources; where the journal is, "" = only looking */
	struct str journal;    /* of base */
	struct manifest *old;  /* of base; NULL = none */
	struct view view;
	int lock, source_lock;      /* of base; of root, shared, when that is another folder */
	struct fs_tree *out, *tree; /* both guarded */
};

/* Locks BASE, waiting for another run on it, and opens the view. E_USAGE when the folders do not
 * fit each other. The session must be closed also when this fails. */
MUST_USE struct err *session_open(
	struct arena *a, const struct change_request *request, struct session *ret);
/* True when nothing that the last run looked at or wrote has changed; the set (without texts) and
 * the report are then those of that run. Costs one stat for each folder, source and output. */
MUST_USE struct err *session_current(
	struct session *s, struct change_set *ret, struct str *ret_report, bool *yes);
/* Writes the texts; CHANGE_SKIPPED for outputs that are up to date. In a dry run only the statuses
 * are set. An output that cannot be written becomes CHANGE_FAILED; a plain copy that cannot is
 * added to the set. The report is bytes of the caller's, kept for session_current(). */
MUST_USE struct err *session_apply(struct session *s, struct change_set *t, struct str report);
void session_close(struct session *s);

/* ---- afterwards ---- */

/* The journal of this name ("" = .rocsmith) in dir, a tree changed in place or an overlay folder. A
 * name begins with .rocsmith: such names are hidden from every view of a tree. */
struct str changes_journal(struct arena *a, struct str dir, struct str name);
bool changes_made(struct str journal); /* is there one? */
/* What became of the files that earlier runs made. */
enum change_state { STATE_CURRENT, STATE_STALE, STATE_EDITED, STATE_MISSING, STATE_ORPHAN };
struct change_entry {
	struct str output, source;
	enum change_state state; /* STALE: the source changed since; EDITED: the output was changed
				    by someone else; ORPHAN: the source is gone */
	bool replaced;           /* an original is kept */
};
struct change_entries {
	struct change_entry *v;
	size_t n, cap;
};
MUST_USE struct err *changes_state(struct arena *a, struct str journal, struct change_entries *ret);
/* Takes back everything that earlier runs did: outputs go, originals return, the journal too.
 * Outputs that were edited since are kept, listed in *ret_kept, and stay known, unless force.
 * E_NOENT when nothing was done. */
MUST_USE struct err *changes_restore(
	struct arena *a, struct str journal, bool force, struct strs *ret_kept);

/* A unified diff, as diff -u prints it with three lines of context; "" when the texts are equal. */
struct changes_diff {
	struct str old_name, new_name, old, new;
};
struct str changes_diff(struct arena *a, const struct changes_diff *what);
