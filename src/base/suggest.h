/* Did you mean: the candidate nearest to a misspelt word. */
#pragma once

#include "base/str.h"

/* The nearest by edit distance (a swap of neighbours counts one) if at most max(1, len/3) edits
 * away, else the empty view. Words of more than 64 bytes are near to none. */
struct str suggest(struct str word, const struct strs *candidates);
