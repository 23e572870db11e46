/* Applies a set of changes to the files of a tree, in place or as an overlay folder, with a journal from which it can
 * be undone.
 *
 *     session_open(a, &request, &s);            locks, and reads what earlier runs did
 *     session_current(&s, &set, &report, &yes)  nothing changed since: done
 *     ... view_read(&s.view, ...)               computes the set from the sources as they were
 *     session_apply(&s, &set, report);          writes what differs
 *     session_close(&s);
 *
 * Trees come from strangers. While a session is open, nothing in them is changed through a link, and a journal is
 * trusted only if it is a real folder owned by this user and its manifest carries this user's HMAC.
 *
 * The journal, BASE/.rocsmith/ (BASE = the tree, or the overlay), holds the manifest and a lock. In place it also holds
 * originals/ with every file that was replaced: the old file itself, which got a second name (a hard link) before the
 * new file was renamed over it. kept/ holds our outputs that someone else had edited by the time we regenerated them.
 *
 * A run takes the lock, examines the present files, and writes a manifest of the planned result (the intent). It
 * stages all new contents, each beside its output under a temporary name derived from the output's name, and syncs
 * the intent meanwhile. Then it renames the staged files over their outputs, removes outputs without a source, and
 * writes a manifest of the actual result. So a full disk shows before anything is changed. A kill leaves every
 * output old or new, never torn, and named by the intent; its content shows which of the two it is. So the next
 * run, or a restore, needs no record of how far the killed run came, and can derive the temporary names to remove.
 * Contents are staged in the folders of their outputs, not in one folder of ours, since a folder admits one thread
 * at a time, and file systems serialize renames between folders.
 *
 * Only the intent is synced, before anything is replaced. Syncing each output would cost more than the rest of the
 * run, and outputs and the last manifest can be regenerated. A file system that loses power keeps the order of
 * renames, but may lose the content of a young file. Such a file has size 0 or a signature that differs from the
 * manifest's, so the next run regenerates it. Originals are safe: they are old files under another name.
 */
#pragma once

#include "base/vec.h"
#include "changes/view.h"

enum change_status {
	CHANGE_OK,        /* its text will be or was written */
	CHANGE_UNCHANGED, /* the source needs no change */
	CHANGE_SKIPPED,   /* its output is up to date, or another source produces that output */
	CHANGE_FAILED,
};

/* The result for one source. */
struct change {
	struct str source, output; /* relative to the tree / the output folder */
	enum change_status status;
	struct err *error; /* set with CHANGE_FAILED; freed by change_set_free() */
	struct str text;   /* the new content of output; .p NULL = nothing to write */
	size_t edits;      /* number of edits that made the text, if counted */
	unsigned mark;     /* the caller's own data, which session_current() returns */
};

struct change_set {
	VEC(struct change);
	struct strs removed; /* outputs removed because their sources are gone */
	struct strs edited;  /* outputs that someone edited since: in place the edited file is a new
				source; elsewhere the output was regenerated and the edited file moved to
				.rocsmith/kept */
};

void change_fail(struct change *c, struct err *e); /* joins e to earlier errors */
void change_set_free(struct change_set *t);
/* The error of the first file that failed, as "cannot VERB 'FILE'", taken out of the set; or NULL. */
MUST_USE struct err *change_set_failure(struct change_set *t, const char *verb);

/* The fate of outputs of earlier runs that the set does not name. */
enum change_earlier {
	EARLIER_GO,
	EARLIER_STAY,
	EARLIER_STAY_WITH_SOURCE, /* an output stays while its source exists */
};

struct change_request {
	struct str dir, out; /* the tree; the overlay folder, "" = write nothing */
	bool in_place;       /* change the tree itself; out is unused */
	bool look_only;      /* set the statuses, write nothing */
	bool copies;         /* copy all other files of the tree to the overlay, too */
	bool history;        /* copy its .git as well */
	bool worked_in;      /* others may edit files of the overlay; these count as current */
	enum change_earlier earlier;
	/* The journal's name; "" = .rocsmith. Each layer of changes has its own. Outputs may go to
	 * .rocsmith-x/overlay/, which every view hides */
	struct str journal;
	/* Everything except files that the set depends on; if it changes, no earlier run is current */
	struct str identity;
	enum errcode failure; /* the code for an output that cannot be written */
	unsigned jobs;
};

struct manifest;

struct session {
	struct arena *a;
	const struct change_request *request;
	/* absolute: the sources; the folder of the journal, "" = write nothing */
	struct str root, base;
	struct str journal;   /* the journal of base */
	struct manifest *old; /* the manifest of base; NULL = none */
	struct view view;
	int lock, source_lock;      /* on base; a shared one on root if that is another folder */
	struct fs_tree *out, *tree; /* the guards of base and root */
};

/* Locks BASE, waiting for another run on it, and opens the view. E_USAGE if dir and out contradict each other or an
 * earlier run. Close the session even if this fails. */
MUST_USE struct err *session_open(
	struct arena *a, const struct change_request *request, struct session *ret);
/* Sets *yes if nothing that the last run read or wrote has changed; then returns that run's set (without texts) and
 * report. Costs one stat for each folder, source and output. */
MUST_USE struct err *session_current(
	struct session *s, struct change_set *ret, struct str *ret_report, bool *yes);
/* Writes the texts; outputs that are up to date become CHANGE_SKIPPED. A dry run only sets the statuses. An output
 * that cannot be written becomes CHANGE_FAILED; a plain copy that cannot be written is added to the set. The report
 * is opaque to us and kept for session_current(). */
MUST_USE struct err *session_apply(struct session *s, struct change_set *t, struct str report);
void session_close(struct session *s);

/* ---- state and restore ---- */

/* The path of the journal with this name ("" = .rocsmith) in dir, a tree changed in place or an overlay folder. Every
 * name begins with .rocsmith, so that views of a tree hide it. */
struct str changes_journal(struct arena *a, struct str dir, struct str name);
bool changes_made(struct str journal); /* does the journal have a manifest? */
/* The state of a file that an earlier run made. */
enum change_state { STATE_CURRENT, STATE_STALE, STATE_EDITED, STATE_MISSING, STATE_ORPHAN };
struct change_entry {
	struct str output, source;
	/* STALE: the source changed since; EDITED: someone else changed the output; ORPHAN: the source is gone */
	enum change_state state;
	bool replaced; /* an original is kept */
};
struct change_entries VEC_OF(struct change_entry);
MUST_USE struct err *changes_state(struct arena *a, struct str journal, struct change_entries *ret);
/* Undoes all earlier runs: removes outputs and the journal, restores originals. Unless `force`, outputs that were
 * edited since stay, in the manifest too, and are listed in *ret_kept. E_NOENT if there is no journal. */
MUST_USE struct err *changes_restore(
	struct arena *a, struct str journal, bool force, struct strs *ret_kept);

/* A unified diff, as diff -u prints it with three lines of context; "" when the texts are equal. */
struct changes_diff {
	struct str old_name, new_name, old, new;
};
struct str changes_diff(struct arena *a, const struct changes_diff *what);
