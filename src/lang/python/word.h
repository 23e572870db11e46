/* Characters as Python's regular expressions see them.
 *
 * \w is a letter or digit of any script, or "_", but not a combining mark. The table is that of one Unicode version
 * (data/unicode/alnum.def); newer ones only add letters of rare scripts. Texts are UTF-8, checked by py_decode(); a
 * stray byte counts as a character that is not \w. */
#pragma once

#include "base/str.h"

bool py_alnum(uint32_t c); /* str.isalnum() of one character */

/* The character at *at, which moves behind it; *at must be below s.n. A stray byte is a lone surrogate, as in Python's
 * file names. */
uint32_t utf8_next(struct str s, size_t *at);
/* The character that ends at *at, which moves to its start; *at must not be 0. */
uint32_t utf8_prev(struct str s, size_t *at);

/* (?=\W) and (?<=\W): is there a character behind (before) this place that is not \w? */
bool py_word_ends(struct str s, size_t at);
bool py_word_starts(struct str s, size_t at);
/* Is there a \w behind (before) this place? False at the ends of the text. \b compares the two. */
bool py_word_at(struct str s, size_t at);
bool py_word_before(struct str s, size_t at);
