/* Looking for many patterns at once in blocks of text, by Hyperscan (or Vectorscan, which has the same
 * interface). The library is opened when the first scan is made: its relocations would cost every other
 * command more than all of its own start. Patterns are PCRE as Hyperscan has it; '^' and '$' are those of
 * lines. Compiling the patterns of data/diagnoses/ takes a quarter of a second, so that is done at build time
 * (tools/gen_scan.c), unless the library here is of another version than the one that did it. Not thread-safe.
 */
#pragma once

#include "base/err.h"

struct scan;

/* texts: the patterns; NULL is left out, and keeps its number. ready: they as tools/gen_scan.c compiled them, or
 * "". E_TOOL_MISSING when the library is not installed,
 * E_INTERNAL for a pattern that it refuses. */
MUST_USE struct err *scan_new(
	const char *const *texts, size_t n, struct str ready, struct scan **ret);
void scan_freep(struct scan **s);
/* Told of each match: the number of the pattern, and the offset behind the match; in that order. */
typedef void scan_hit(void *user, unsigned pattern, size_t end);
MUST_USE struct err *scan_block(struct scan *s, struct str block, scan_hit *hit, void *user);
