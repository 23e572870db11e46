/* Did you mean: the candidate nearest to a misspelt word. */
#pragma once

#include "base/str.h"

/* The nearest by edit distance (a swap of neighbours counts one) if at most max(1, len/3) edits
 * away, else the empty view. */
struct str suggest(struct str word, const struct strs *candidates);
/* UINT_MAX when one of them is longer than 64 bytes. */
unsigned edit_distance(struct str a, struct str b);
