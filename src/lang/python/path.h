/* Paths as Python's posixpath and pathlib treat them, by text alone: ".." is resolved lexically, links are not
 * resolved, a root of exactly two slashes stays. Results are views of the arguments or texts in the arena. Source:
 * the documentation and behaviour of CPython 3.11. */
#pragma once

#include "base/str.h"

struct str py_join(struct arena *a, struct str dir, struct str name);
/* The normalised absolute path; cwd must be absolute. */
struct str py_abspath(struct arena *a, struct str path, struct str cwd);
/* `path` relative to the folder `start`; both are relative to cwd. */
struct str py_relpath(struct arena *a, struct str path, struct str start, struct str cwd);
struct str py_dirname(struct str path);  /* "a/b" -> "a", "b" -> "", "/b" -> "/" */
struct str py_basename(struct str path); /* "a/" -> "" */
/* The extension with its dot; leading dots belong to the name: ".cu" has none. */
struct str py_ext(struct str path);
/* str(pathlib.Path(path)): ".." stays, "." and doubled slashes are removed. */
struct str py_pathlib(struct arena *a, struct str path);
