/* PEP 440 versions: parse, normalise, compare, match a specifier.
 * Source: packaging.python.org, "Version specifiers". */
#pragma once

#include "base/err.h"

/* PEP 503: lower case, with each run of "-", "_" and "." replaced by one sep ('-'; '_' in file names). */
struct str package_name(struct arena *a, struct str name, char sep);

struct version; /* in the arena that it was parsed into */

/* E_SYNTAX if text is not a version. Numbers may have any length. */
MUST_USE struct err *version_parse(struct arena *a, struct str text, const struct version **ret);
/* <0, 0, >0. Local segments count: 1.0 < 1.0+a < 1.0+1. */
int version_cmp(const struct version *a, const struct version *b);
struct str version_text(struct arena *a, const struct version *v); /* normalised */
bool version_is_pre(const struct version *v);                      /* 1.0a1, 1.0.dev0 */
/* The release at the start of a text, possibly in quotes: "2.6.0" of "2.6.0a0+git1"; a view. */
struct str version_release(struct str text);
/* Matches ">=1.0,!=1.3.*,<2" (empty: any version); E_SYNTAX if the specifier is wrong. Pre-releases match like other
 * versions: the caller decides whether it wants any. */
MUST_USE struct err *version_match(const struct version *v, struct str specifier, bool *ret);
