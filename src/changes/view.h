/* The view of a tree: its sources as they were before any translation.
 *
 * A tree that was translated in place holds our outputs, and some of its sources were replaced. The view hides the
 * outputs and reads the originals of replaced sources, so that a second run gives what the first would give on
 * today's sources: translating twice is translating once. A file that we replaced and that somebody changed
 * since is a new source; view_edited() names it.
 * The view also notes what a run looked at (each file read, with its hash; each folder listed; each check of
 * existence), so that the next run can see that nothing changed without doing the work.
 */
#pragma once

#include <sys/stat.h>

#include "base/err.h"
#include "base/map.h"

struct manifest;
struct view_notes;

struct view {
	struct str root;             /* absolute, clean */
	const struct manifest *made; /* of runs in place; NULL = none */
	struct strs hidden;          /* absolute folders to leave out: an output folder in root */
	const struct map *over;      /* absolute path -> struct str *: texts of files that changes
				 * before ours will write; reading them is not noted */
	uint64_t exact; /* the file system whose times tell all changes (manifest.h); 0 = none */
	struct view_notes *notes; /* NULL = nothing is noted */
	struct fs_tree *guard;    /* released with the view; a session has its own */
};

/* A view without notes needs no opening: {.root = ...}. */
void view_open(struct view *v, struct str root, const struct manifest *made);
void view_close(struct view *v); /* frees the notes; a zeroed view is fine */

/* The original bytes of an absolute path. Safe in several threads, as are all of these. */
MUST_USE struct err *view_read(
	const struct view *v, struct arena *a, struct str path, struct str *ret);
/* The file that holds these bytes: path itself, or its original in the journal. */
MUST_USE struct err *view_source(
	const struct view *v, struct arena *a, struct str path, struct str *ret);
bool view_exists(const struct view *v, struct str path); /* os.path.exists() in the view */
/* For callers that know already that the disk has nothing there: maybe = false. */
bool view_may_exist(const struct view *v, struct str path, bool maybe);
/* Is it one of our outputs, finished or not, in .rocsmith, or in a hidden folder? */
bool view_hides(const struct view *v, struct str path);
/* st: fstat() of the folder before its entries are read. */
void view_note_dir(const struct view *v, struct str path, const struct stat *st);

/* The files that we replaced and that somebody changed since; relative to root. */
struct strs view_edited(const struct view *v, struct arena *a);
/* Fills ret->seen with everything noted (paths relative to root if they are inside); texts live as long as the
 * view. */
void view_noted(const struct view *v, struct arena *a, struct manifest *ret);
