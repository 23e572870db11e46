/* Characters as Python's regular expressions see them.
 *
 * \w is a letter or digit of any script, or "_"; combining marks are none. The table is that of one
 * Unicode version (data/unicode/alnum.def); newer ones only add letters of rare scripts. Texts are
 * UTF-8 and checked (py_decode); a stray byte counts as a character of its own, no \w.
 */
#pragma once

#include "base/str.h"

bool py_alnum(uint32_t c); /* str.isalnum() of one character */

/* The character at *at, which moves behind it; *at < s.n. */
uint32_t utf8_next(struct str s, size_t *at);
/* The character that ends at *at, which moves to its start; *at > 0. */
uint32_t utf8_prev(struct str s, size_t *at);

/* (?=\W) and (?<=\W): there is a character behind (in front of) this place, and it is no \w. */
bool py_word_ends(struct str s, size_t at);
bool py_word_starts(struct str s, size_t at);
/* \w at that side; false at the ends of the text. What \b compares. */
bool py_word_at(struct str s, size_t at);
bool py_word_before(struct str s, size_t at);
