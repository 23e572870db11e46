/* CMake's language as a list of calls, as far as it is text: nothing is evaluated, and all branches count.
 * Source: cmake-language(7). Bracket arguments and comments are read as if they were plain ones. */
#pragma once

#include "base/str.h"

struct cmake_text {
	struct str rest;
	unsigned line; /* lines before `rest` */
};

struct cmake_call {
	struct str name;   /* in lower case */
	struct strs words; /* without quotes; "${X}" stays as written */
	unsigned line;     /* from 1 */
};

/* The next call; one that the text's end cuts off has the words that are there. */
bool cmake_next(struct arena *a, struct cmake_text *t, struct cmake_call *ret);
