/* The pattern language of the knowledge base: POSIX extended regular expressions, in which {NAME} stands for a word of
 * data/logs.yaml (the same message in several languages). They are compiled when they are first compared, as most never are.
 * One that cannot be compiled matches nothing; gen_scan and tests refuse those. */
#pragma once

#include <regex.h>

#include "base/str.h"

struct expression { /* zeroed: not compiled yet */
	regex_t re;
	const char *text; /* what `re` was compiled from, or NULL */
};

struct span {
	size_t from, to;
};

/* Does s contain it? ret, unless it is NULL: where, and its first group (empty if that took no part). */
bool expression_fits(struct expression *x, const char *text, struct str s, struct span ret[2]);
void expression_free(struct expression *x);
