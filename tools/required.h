/* Derives what Hyperscan looks for from the expression of an entry or a sign: a part of it that every line it matches
 * must contain. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes into out a Hyperscan pattern that matches somewhere in the raw log wherever `text`, a POSIX extended regular
 * expression, matches the cleaned line. It is the rarest such part, by a guess: long, with capitals, digits and
 * punctuation. False if there is none worth looking for, if `text` is not understood, or if out is too small. */
bool required_pattern(const char *text, char *out, size_t room);
/* Writes a pattern that is given as it is, with blanks made to match any white space and colours. */
bool given_pattern(const char *text, char *out, size_t room);
