/* The pattern language of the knowledge base: regular expressions (know/automaton.h), in which {NAME} stands for a word of
 * data/logs.yaml (the same message in several languages). An expression is compiled on its first use, since most are
 * never used, and kept in the arena of that use. One that cannot be compiled matches nothing; gen_scan and the tests reject
 * such a one. */
#pragma once

#include "know/automaton.h"

struct expression { /* zeroed: not compiled yet */
	struct automaton *m;
	const char *text; /* the source of `m`, or NULL */
};

/* Does s contain a match? ret, unless NULL: the spans of the match and of its first group (empty if not matched). */
bool expression_fits(
	struct arena *a, struct expression *x, const char *text, struct str s, struct span ret[2]);
