/* Searches blocks of text for many patterns at once, by Hyperscan (or Vectorscan, which has the same interface). The
 * library is opened only when the first scan is made, since its relocations take longer than the whole start of any
 * other command. Patterns are PCRE as supported by Hyperscan; '^' and '$' match at lines. Compiling the patterns of
 * `explain` takes a second and more, so tools/gen_scan.c does it at build time; scan_new() compiles them again if
 * the library on this machine has another version. Not thread-safe.
 */
#pragma once

#include "base/err.h"

struct log_scan;

/* A NULL among the texts is skipped, but counts in the numbering. ready: the same patterns compiled by
 * tools/gen_scan.c, or "". Fails with E_TOOL_MISSING if the library is not installed, with E_INTERNAL for a pattern
 * that it refuses. */
MUST_USE struct err *scan_new(
	const char *const *texts, size_t n, struct str ready, struct log_scan **ret);
void scan_freep(struct log_scan **s);
/* Called for each match with the number of the pattern and the end offset of the match, in the order of the offsets; what
 * Hyperscan says in the others means nothing here. Anything but 0 ends the scan. */
typedef int scan_hit(unsigned pattern, unsigned long long from, unsigned long long end,
	unsigned flags, void *user);
MUST_USE struct err *scan_block(struct log_scan *s, struct str block, scan_hit *hit, void *user);
