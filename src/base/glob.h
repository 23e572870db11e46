/* Glob patterns over a project: * ? [a-z] [!a] inside a path segment, ** for any number of folders.
 *
 * A pattern is relative to its base folder and never leaves it. Hidden names, folders of version
 * control and virtual environments are not entered by wildcards, as in a shell.
 */
#pragma once

#include "base/err.h"

/* Does the whole path match? Both use "/" and are relative. */
bool glob_match(struct str pattern, struct str path);
bool glob_is_pattern(struct str text); /* has any wildcard */
/* The regular files below dir that match, sorted; relative to dir. A pattern without a wildcard
 * gives itself when there is such a file. Nothing found is an empty list, not an error. */
MUST_USE struct err *glob_files(
	struct arena *a, struct str dir, struct str pattern, struct strs *ret);
