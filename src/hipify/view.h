/* The sources as they were before any translation.
 *
 * A tree that was translated in place holds our outputs, and some sources are no longer what they
 * were. The view hides the former and reads the originals of the latter, so that a second run gives
 * what the first would give on today's sources: translating twice is translating once. It also
 * notes what a run looked at, so that the next one can tell that nothing changed without doing the
 * work.
 */
#pragma once

#include <sys/stat.h>

#include "base/err.h"
#include "base/map.h"

struct manifest;

struct hipify_view {
	struct arena *a;
	struct str root;       /* absolute, clean */
	struct manifest *ours; /* of earlier runs; NULL = none */
	struct strs hidden;    /* absolute folders to leave out: an output folder inside root */
	bool in_place;
	/* what was looked at */
	struct map dirs;   /* absolute path -> struct stat *: folders whose entries were read */
	struct map probes; /* absolute path -> struct stat * (NULL value = absent): files asked for
			      outside the walked folders */
};

/* The original bytes of an absolute path. Safe in several threads. */
MUST_USE struct err *view_read(
	const struct hipify_view *v, struct arena *a, struct str path, struct str *ret);
bool view_exists(struct hipify_view *v, struct str path);      /* os.path.exists() in the view */
bool view_hides(const struct hipify_view *v, struct str path); /* one of our outputs */
void view_note_dir(struct hipify_view *v, struct str path, const struct stat *st);
