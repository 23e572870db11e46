/* Glob patterns over a project: * ? [a-z] [!a] inside a path segment, ** for any number of folders.
 *
 * A pattern is relative to its base folder and never leaves it. As in a shell, wildcards do not match hidden names;
 * they also stay out of virtual environments, node_modules and __pycache__.
 */
#pragma once

#include "base/err.h"

/* Does the whole path match? Both use "/" and are relative. */
bool glob_match(struct str pattern, struct str path);
/* Does it match one of the patterns, which NULL ends? */
bool glob_match_any(const char *const *patterns, struct str path);
bool glob_is_pattern(struct str text); /* has any wildcard */
/* The regular files below dir that match, sorted and relative to dir; a pattern without a wildcard is a
 * file name. If nothing matches, the list is empty; that is no error. */
MUST_USE struct err *glob_files(
	struct arena *a, struct str dir, struct str pattern, struct strs *ret);
