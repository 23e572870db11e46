/* Regular expressions whose time grows with the length of the text and no faster, whatever text and expression are.
 *
 * The expressions are POSIX extended ones over bytes, without back references: . [] () | * + ? {m,n} ^ $, and \b, the
 * edge of a word. '^' and '$' are the ends of the text, and '.' matches a newline, too. An expression becomes a
 * nondeterministic automaton (Thompson 1968). A text is read by a deterministic one, whose states are made when they
 * are needed and dropped when there are too many, so a byte costs one step, and at worst as many as the automaton has
 * nodes. Nothing goes back in the text. Memory: at most about 200 KiB for an expression.
 */
#pragma once

#include "base/str.h"

struct span {
	size_t from, to;
};

struct automaton; /* used by one thread at a time */

/* NULL if the text is no expression, or is too large a one (AUTOMATON_NODES). */
enum { AUTOMATON_NODES = 16000 };
struct automaton *automaton_new(struct arena *a, struct str text);
/* Does s contain a match? ret, unless NULL: the spans of the match (the leftmost, and of those the longest) and of its
 * first group (empty if it is not matched). */
bool automaton_fits(struct automaton *m, struct str s, struct span ret[2]);
/* The work of this thread so far, in steps (about a nanosecond each): a measure that is the same on every machine. */
uint64_t automaton_steps(void);
void automaton_spend(uint64_t steps); /* counts work that goes with a match */
