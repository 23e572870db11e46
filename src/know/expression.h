/* Extended regular expressions of data/diagnoses/, in which {NAME} stands for a word of several languages. They are
 * compiled when they are first compared: most never are. One that cannot be compiled, which tests refuse, fits nothing. */
#pragma once

#include <regex.h>

#include "base/str.h"

struct expression {
	regex_t re;
	bool ready;
};

struct span {
	size_t from, to;
};

/* Does s have it, and where? *ret is set only then. */
bool expression_fits(struct arena *tmp, struct expression *x, const char *pattern, struct str s,
	struct span *ret);
bool expression_fits_in(struct arena *tmp, struct expression *x, const char *pattern, struct str s);
void expression_free(struct expression *x);
