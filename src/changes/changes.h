/* Applies a set of changes to the files of a tree, in place or as an overlay folder, with a journal from which it can
 * be undone.
 *
 *     session_open(a, &request, &s);            locks, and reads what earlier runs did
 *     session_current(&s, &set, &report, &yes)  nothing changed since: done
 *     ... view_read(&s.view, ...)               computes the set from the sources as they were
 *     session_apply(&s, &set, report);          writes what differs
 *     session_close(&s);
 *
 * Trees come from strangers. While a session is open nothing in them is changed through a link, and a
 * journal counts only when it is a real folder of this user's and its manifest this user's own work.
 *
 * The journal, BASE/.rocsmith/ (BASE = the tree, or the overlay), holds the manifest and a lock. In place it also
 * holds originals/ with every file that was replaced: the old file itself, under a second name that it got before
 * the new one was renamed over it. kept/ holds outputs of ours that somebody else had edited when they were made
 * anew.
 *
 * A run takes the lock, examines what is there, writes a manifest of what will be (the intent), writes all new
 * contents, each beside its place under a passing name that follows from its own, and meanwhile syncs the intent.
 * Then it renames them to their places, removes outputs without a source, and writes a manifest of what is. So a
 * full disk shows before anything is changed. A kill leaves every output old or new, never torn, and known to the
 * intent; contents show which of them are made. So the next run, or a restore, needs no note of how far the killed
 * one came, and knows which passing names to remove. Contents wait in the folders of their places, and not in one
 * of ours, since a folder lets in one thread at a time, and file systems do renames between folders one by one.
 *
 * Only the intent is synced, before anything is replaced. To sync each output would cost more than the whole run,
 * and outputs and the last manifest can be made again. A file system that loses power keeps the order of renames,
 * but may lose the content of a young file. Such a file has size 0, or another signature than in the manifest, and
 * the next run makes it anew; an original is an old file that only got another name.
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
	struct str text;   /* to be written to output; .p NULL = nothing to write */
	size_t edits;      /* how many made the text, where they are counted */
	unsigned mark;     /* a note of the caller's, which session_current() gives back */
	bool absent;       /* the caller knows that the sources have nothing at output */
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

/* The fate of outputs of earlier runs that the set does not name. */
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
	bool worked_in;      /* others change files of the overlay; those count as current */
	enum change_earlier earlier;
	struct str
		journal; /* its name; "" = .rocsmith. Each layer of changes has its own; outputs may
				go to .rocsmith-x/overlay/, which no view shows */
	struct str
		identity; /* everything but files that the set depends on; when it changes, no run
				is current */
	enum errcode failure; /* the code for an output that cannot be written */
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
/* *yes: nothing that the last run looked at or wrote has changed; the set (without texts) and the report are those
 * of that run then. Costs one stat for each folder, source and output. */
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
/* The state of a file that an earlier run made. */
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
