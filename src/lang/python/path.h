/* Paths as Python's posixpath and pathlib treat them, by text alone.
 *
 * PyTorch's hipify computes with paths as strings: what a header is called in the output, and
 * whether it counts at all, depends on these rules to the byte (".." goes lexically, links are not
 * resolved, a root of exactly two slashes stays). Names in results are views of the arguments or
 * texts in the arena. Source: the documentation and behaviour of CPython 3.11.
 */
#pragma once

#include "base/str.h"

struct str py_join(struct arena *a, struct str dir, struct str name);
struct str py_normpath(struct arena *a, struct str path);
/* Against cwd, which is absolute. */
struct str py_abspath(struct arena *a, struct str path, struct str cwd);
/* path as seen from the folder start; both are taken against cwd. */
struct str py_relpath(struct arena *a, struct str path, struct str start, struct str cwd);
struct str py_dirname(struct str path);  /* "a/b" -> "a", "b" -> "", "/b" -> "/" */
struct str py_basename(struct str path); /* "a/" -> "" */
/* The extension with its dot; leading dots belong to the name: ".cu" has none. */
struct str py_ext(struct str path);
/* str(pathlib.Path(path)): ".." stays, "." and doubled slashes go. */
struct str py_pathlib(struct arena *a, struct str path);
/* str.replace(): every occurrence, from the left. */
struct str py_replace(struct arena *a, struct str s, struct str old, struct str new);

/* A pattern of fnmatch, compiled: '*' crosses '/', '?', '[seq]', '[!seq]', no escapes, anchored at
 * both ends; characters are code points (a byte that is not UTF-8 is one character). */
struct py_glob {
	struct str prefix; /* plain text in front */
	bool rest;         /* a last '*' follows at once: anything may come behind the prefix */
	struct py_glob_node *v; /* what comes behind the prefix */
	size_t n, cap;
};

struct py_glob py_glob_new(struct arena *a, struct str pattern);
bool py_glob_match(const struct py_glob *g, struct str path);
/* Whether some path that starts with this text can match / whether all of them do. */
bool py_glob_possible(const struct py_glob *g, struct str start);
bool py_glob_certain(const struct py_glob *g, struct str start);
