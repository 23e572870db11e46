/* Searches blocks of text for many patterns at once, by Hyperscan (or Vectorscan, which has the same interface). The
 * library is opened only when the first scan is made, since its relocations take longer than the whole start of any
 * other command. Patterns are PCRE as supported by Hyperscan; '^' and '$' match at lines. tools/gen_scan.c compiles them when
 * rocsmith is built. Not thread-safe.
 */
#pragma once

#include "base/err.h"

struct log_scan;

/* ready: patterns that tools/gen_scan.c compiled. E_TOOL_MISSING if the library is not installed, or is of another version
 * than those are for. */
MUST_USE struct err *scan_new(struct str ready, struct log_scan **ret);
void scan_freep(struct log_scan **s);
/* Called for each match with the number of the pattern and the end offset of the match, in the order of the offsets; what
 * Hyperscan says in the others means nothing here. Anything but 0 ends the scan. */
typedef int scan_hit(unsigned pattern, unsigned long long from, unsigned long long end,
	unsigned flags, void *user);
MUST_USE struct err *scan_block(struct log_scan *s, struct str block, scan_hit *hit, void *user);
