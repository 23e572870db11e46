/* Dependency files of compilers: make rules, with GNU make's quoting as clang and gcc produce it. */
#pragma once

#include "base/str.h"

/* The prerequisites in a dependency file as `clang -MD` writes it, a make rule "out: in in \ in": in order, unescaped
 * (backslash-space, backslash-hash, backslash-backslash before those, "$$"), each once. Never fails: bytes that are
 * not a rule give an empty list. */
void depfile_parse(struct arena *a, struct str text, struct strs *ret);
