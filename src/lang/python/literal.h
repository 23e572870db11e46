/* Literals of Python modules, read without running them.
 *
 * The tables of PyTorch's hipify and the lists of build_amd.py are Python source. This reads them
 * as data: py_read() cuts a module into tokens and statements (Python 3 rules: brackets join lines,
 * comments go), and values are evaluated on demand: strings, numbers, names bound earlier, tuples,
 * lists, dicts, OrderedDict([...]), os.environ.get(), and `A if B else C`. Whatever else a module
 * contains is kept as tokens and harms nobody until its value is asked for; then it is E_TORCH with
 * the place. Linear in the text; brackets nest at most 200 deep, as in CPython.
 */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"

enum py_token_kind { PY_TOKEN_NAME, PY_TOKEN_NUMBER, PY_TOKEN_STRING, PY_TOKEN_OP };

struct py_token {
	struct str text; /* as it stands; operators are one character, or two ending in '=' */
	enum py_token_kind kind;
	unsigned line, col; /* from 1; col counts bytes */
};

/* Where a statement stands. Only what is PY_PLAIN surely happens, once, in order. */
enum py_place { PY_PLAIN, PY_BLOCK, PY_INSIDE_DEF };

/* A simple statement, or the head of a compound one. */
struct py_statement {
	size_t from, to; /* tokens */
	enum py_place place;
	struct str target; /* NAME = value, NAME: type = value; "" = another kind of statement */
	size_t value;      /* first token of the value */
	struct py_value *known; /* evaluated already */
	bool bad;               /* evaluated in vain */
};

enum py_kind { PY_NONE, PY_BOOL, PY_NUMBER, PY_STRING, PY_NAME, PY_TUPLE, PY_LIST, PY_DICT };

struct py_value {
	enum py_kind kind;
	unsigned line, col;
	struct str text; /* decoded string; number or unknown name as written; "1" = true */
	struct py_value
		*v; /* items; of a dict: tuples of key and value, in order, duplicates too */
	size_t n;
};

struct py_setters { /* statements that set a name, ascending */
	size_t *v;
	size_t n, cap;
};

struct py_module {
	struct str name; /* for messages */
	VEC(struct py_token) tokens;
	VEC(struct py_statement) statements;
	size_t checked;          /* pairs looked at, which ends what names the same over and over */
	struct map targets;      /* name -> struct py_setters *, outside of functions */
	struct py_module *outer; /* where names are looked up that this one does not bind */
};

/* E_TORCH when it is no Python text: bad UTF-8, open strings, brackets that do not match. */
MUST_USE struct err *py_read(
	struct arena *a, struct str text, struct str name, struct py_module *ret);
/* The value that starts at a token. Names that earlier statements bind are known, others become
 * PY_NAME. */
MUST_USE struct err *py_value_at(
	struct arena *a, struct py_module *m, size_t token, struct py_value *ret);
/* The value that a name has at the end of the module; *ret = NULL when nothing binds it. E_TORCH
 * when that is no literal, or not certain (bound in an if or a loop). */
MUST_USE struct err *py_get(
	struct arena *a, struct py_module *m, struct str name, const struct py_value **ret);
/* The last statement before number `before` that sets a name; NULL = none. */
struct py_statement *py_setter(const struct py_module *m, struct str name, size_t before);
bool py_is(const struct py_module *m, size_t token, struct str text); /* false behind the end */
/* An error that points at a place of the module. */
MUST_USE struct err *py_error(
	const struct py_module *m, unsigned line, unsigned col, const char *fmt, ...) PRINTF(4, 5);
const char *py_kind_name(enum py_kind k); /* "a list" */
