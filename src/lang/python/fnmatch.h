/* Patterns of Python's fnmatch, compiled: '*' (which crosses '/'), '?', '[seq]', '[!seq]', no escapes, anchored at
 * both ends. Characters are code points; a byte that is not UTF-8 is one character, as in Python's file names.
 * Source: the behaviour of CPython 3.11's fnmatch.translate().
 *
 * A match takes at most as many steps as the pattern's length times the path's. */
#pragma once

#include "base/str.h"

struct py_glob {
	struct str prefix;      /* literal text before the first special character */
	bool rest;              /* a final '*' follows at once: anything may follow the prefix */
	struct py_glob_node *v; /* the pattern behind the prefix */
	size_t n, cap;
};

struct py_glob py_glob_new(struct arena *a, struct str pattern);
bool py_glob_match(const struct py_glob *g, struct str path);
/* Can some path that starts with this text match? Do all of them? */
bool py_glob_possible(const struct py_glob *g, struct str start);
bool py_glob_certain(const struct py_glob *g, struct str start);
