/* Taking back what earlier runs did, one output or all. */
#pragma once

#include "changes/manifest.h"

enum undo { UNDO_DONE, UNDO_NOT_THERE, UNDO_EDITED /* by somebody, since: it stays */ };

/* The output goes, or its original comes back. force: also when it was edited. */
MUST_USE struct err *undo_one(const struct manifest *m, struct str base, const struct made *e,
	bool force, enum undo *ret);
/* Removes those of the manifest's folders that are not wanted (a map of paths, or NULL) and empty;
 * the others are added to next. */
MUST_USE struct err *undo_dirs(
	const struct manifest *m, struct str base, const struct map *wanted, struct manifest *next);
