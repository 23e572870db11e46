/* Searching blocks of text for many patterns at once, by Hyperscan (or Vectorscan, which has the same interface). The library
 * is opened when the first scan is made: its relocations would cost every other command more than all of its own start.
 * Patterns are PCRE as Hyperscan supports it; '^' and '$' are those of lines. Compiling those of `explain` takes a quarter
 * of a second, so tools/gen_scan.c does it at build time; it is done again if the library here has another version. Not
 * thread-safe.
 */
#pragma once

#include "base/err.h"

struct scan;

/* A NULL among the texts is skipped, and keeps its number. ready: the same patterns as tools/gen_scan.c compiled them, or "".
 * E_TOOL_MISSING if the library is not installed, E_INTERNAL for a pattern that it refuses. */
MUST_USE struct err *scan_new(
	const char *const *texts, size_t n, struct str ready, struct scan **ret);
void scan_freep(struct scan **s);
/* Called for each match with the number of the pattern and the offset behind the match, in the order of the offsets. */
typedef void scan_hit(void *user, unsigned pattern, size_t end);
MUST_USE struct err *scan_block(struct scan *s, struct str block, scan_hit *hit, void *user);
