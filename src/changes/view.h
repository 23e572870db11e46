/* The view of a tree: its sources as they were before any translation.
 *
 * A tree that was translated in place holds our outputs, and some of its sources were replaced. The view hides the
 * outputs and reads the originals of replaced sources, so that translating twice gives the same result as
 * translating once. A file that we replaced and someone edited since is a new source; view_edited() lists these.
 * The view also notes everything that a run reads (each file with its hash, each folder listed, each check for
 * existence), so that the next run can tell that nothing changed without repeating the work.
 */
#pragma once

#include <sys/stat.h>

#include "base/err.h"
#include "base/map.h"

struct manifest;
struct view_notes;

struct view {
	struct str root;             /* absolute, clean */
	const struct manifest *made; /* the manifest of runs in place; NULL = none */
	struct strs hidden; /* absolute folders to hide, such as an output folder in root */
	const struct map
		*over; /* absolute path -> struct str *: texts that earlier layers of changes
				 * will write; reading them is not noted */
	/* The device whose file times show every change (sig_exact() in manifest.h); 0 = none */
	uint64_t exact;
	struct view_notes *notes; /* NULL = nothing is noted */
	struct fs_tree *guard;    /* on the sources in root; released with the view */
};

/* A view without notes needs no opening: {.root = ...}. */
void view_open(struct view *v, struct str root, const struct manifest *made);
void view_close(struct view *v); /* frees the notes; a zeroed view is fine */

/* Reads the original bytes of an absolute path. Like all functions here it is thread-safe. */
MUST_USE struct err *view_read(
	const struct view *v, struct arena *a, struct str path, struct str *ret);
/* The file that holds these bytes: path itself, or its original in the journal. */
MUST_USE struct err *view_source(
	const struct view *v, struct arena *a, struct str path, struct str *ret);
bool view_exists(const struct view *v, struct str path); /* os.path.exists() in the view */
/* Is it one of our outputs, finished or not, in .rocsmith, or in a hidden folder? */
bool view_hides(const struct view *v, struct str path);
/* Does a link lead from the path out of root? Then it is not read. Notes that it was left out. */
bool view_leads_out(const struct view *v, struct str path);
/* The paths that were left out, relative to root, sorted. */
struct strs view_left_out(const struct view *v, struct arena *a);
/* Notes a listed folder; st is its fstat() from before its entries were read. */
void view_note_dir(const struct view *v, struct str path, const struct stat *st);

/* The path as it is noted: relative to root if inside it, "." for root itself. */
struct str view_name(const struct view *v, struct str path);
/* The files that we replaced and someone edited since, relative to root. */
struct strs view_edited(const struct view *v, struct arena *a);
/* Fills ret->seen with all notes (paths are relative to root if inside it); the texts live as long as the view. */
void view_noted(const struct view *v, struct arena *a, struct manifest *ret);
