/* PEP 440 versions: parse, normalise, compare, match a specifier.
 * Source: packaging.python.org, "Version specifiers". */
#pragma once

#include "base/err.h"

/* PEP 503: in lower case, each run of "-", "_" and "." one sep ('-', in names of files '_'). */
struct str package_name(struct arena *a, struct str name, char sep);

struct version; /* in the arena that it was parsed into */

/* E_SYNTAX when text is none. Numbers of any length are kept as they are. */
MUST_USE struct err *version_parse(struct arena *a, struct str text, const struct version **ret);
/* <0, 0, >0. Local segments count: 1.0 < 1.0+a < 1.0+1. */
int version_cmp(const struct version *a, const struct version *b);
struct str version_text(struct arena *a, const struct version *v); /* normalised */
/* ">=1.0,!=1.3.*,<2" (empty: any): E_SYNTAX when the specifier is wrong. Whether pre-releases are
 * welcome at all is left to the caller: they are matched like others. */
MUST_USE struct err *version_match(const struct version *v, struct str specifier, bool *ret);
