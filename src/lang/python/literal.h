/* Literals of Python modules, read without running them.
 *
 * Values are evaluated on demand: strings, numbers, names bound earlier, tuples, lists, dicts, OrderedDict([...]),
 * os.environ.get(), comparisons, and `A if B else C`. Anything else in a module is ignored until its value is needed;
 * then it is E_TORCH with the place. */
#pragma once

#include "lang/python/token.h"

enum py_kind { PY_NONE, PY_BOOL, PY_NUMBER, PY_STRING, PY_NAME, PY_TUPLE, PY_LIST, PY_DICT };

struct py_value {
	enum py_kind kind;
	unsigned line, col;
	struct str text; /* decoded string; number or unknown name as written; "1" for true */
	/* Items; those of a dict are tuples of key and value, in order, duplicates included. */
	struct py_value *v;
	size_t n;
};

/* Evaluates the value that starts at a token. Names that earlier statements bind have their values, others become
 * PY_NAME. */
MUST_USE struct err *py_value_at(
	struct arena *a, struct py_module *m, size_t token, struct py_value *ret);
/* The value that a name has at the end of the module; *ret = NULL if nothing binds it. E_TORCH if it is not a
 * literal, or not certain (bound in an if or a loop). */
MUST_USE struct err *py_get(
	struct arena *a, struct py_module *m, struct str name, const struct py_value **ret);
const char *py_kind_name(enum py_kind k); /* "a list" */
