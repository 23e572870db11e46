/* Dependency files as `clang -MD` writes them: a make rule "out: in in \ in".
 * Escapes: backslash-space, backslash-hash, backslash-backslash before those, "$$". */
#pragma once

#include "base/err.h"

/* All prerequisites of all rules, in order, unescaped, each once. Never fails: bytes that are no
 * rule give an empty list. */
void depfile_parse(struct arena *a, struct str text, struct strs *ret);
