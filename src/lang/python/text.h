/* Texts as Python has them: reading a file in text mode, and the methods of str that search.
 *
 * Texts are UTF-8; positions are bytes. Python counts characters, which is the same wherever texts
 * are only compared; where it steps over characters (an empty pattern) so do we.
 */
#pragma once

#include "base/err.h"

/* open(encoding="utf-8"): strict UTF-8, "\r\n" and "\r" become "\n". Gives back the input itself
 * when there is nothing to do. E_HIPIFY with the offset and line of a bad byte. */
MUST_USE struct err *py_decode(struct arena *a, struct str bytes, struct str *ret);

/* str.find(): SIZE_MAX when there is none. */
size_t py_str_find(struct str s, struct str what, size_t from);
size_t py_str_count(struct str s, struct str what);
/* str.replace(): s itself when nothing is found; an empty old text is found around each character.
 */
struct str py_str_replace(struct arena *a, struct str s, struct str old, struct str with);
