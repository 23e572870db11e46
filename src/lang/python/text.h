/* Text handling of Python: reading a file in text mode, and the methods of str that search.
 *
 * Texts are UTF-8; positions are in bytes. Python counts characters, which makes no difference where texts are only
 * compared; where Python steps over characters (an empty pattern), so does this code. */
#pragma once

#include "base/err.h"

/* open(encoding="utf-8"): strict UTF-8, "\r\n" and "\r" become "\n". Returns the input itself if nothing has to
 * change. E_HIPIFY with the offset and line of a bad byte. */
MUST_USE struct err *py_decode(struct arena *a, struct str bytes, struct str *ret);

/* str.find(); SIZE_MAX if nothing is found. */
size_t py_str_find(struct str s, struct str what, size_t from);
size_t py_str_count(struct str s, struct str what);
/* str.replace(); s itself if nothing is found. An empty old text is found around each character. */
struct str py_str_replace(struct arena *a, struct str s, struct str old, struct str with);
/* x + y + z */
struct str py_concat(struct arena *a, struct str x, struct str y, struct str z);
