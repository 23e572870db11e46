/* Python source as tokens and statements.
 *
 * py_read() cuts a module by the rules of the Python Language Reference, chapter 2 (Python 3): lines end at "\n",
 * "\r\n" or "\r"; line ends inside brackets do not count; a backslash joins lines; comments are dropped. Indentation
 * is only used to find what belongs to a function or a compound statement. Takes linear time; brackets nest at most
 * 200 deep, as in CPython. literal.h evaluates values. */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"

enum py_token_kind { PY_TOKEN_NAME, PY_TOKEN_NUMBER, PY_TOKEN_STRING, PY_TOKEN_OP };

struct py_token {
	struct str text; /* as written; operators are one character, or two ending in '=' */
	enum py_token_kind kind;
	unsigned line, col; /* from 1; col counts bytes */
};

/* The place of a statement. Only a PY_PLAIN one surely runs, once, in order. */
enum py_place { PY_PLAIN, PY_BLOCK, PY_INSIDE_DEF };

/* A simple statement, or the head of a compound one. */
struct py_statement {
	size_t from, to; /* tokens */
	enum py_place place;
	/* NAME in `NAME = value` and `NAME: type = value`; "" = another kind of statement. */
	struct str target;
	size_t value;           /* first token of the value */
	struct py_value *known; /* the value, once literal.c has evaluated it */
	bool bad;               /* the evaluation failed */
};

struct py_module {
	struct str name; /* name for messages */
	VEC(struct py_token) tokens;
	VEC(struct py_statement) statements;
	struct map targets;     /* name -> struct py_setters *, outside of functions */
	struct map all_targets; /* the same, functions included */
	/* The module in which names are looked up that this one does not bind. */
	struct py_module *outer;
	/* Number of pairs that literal.c has checked; limits modules that name the same pairs over and over. */
	size_t checked;
};

/* E_TORCH if it is not Python text: bad UTF-8, open strings, brackets that do not match. */
MUST_USE struct err *py_read(
	struct arena *a, struct str text, struct str name, struct py_module *ret);
/* The last statement before number `before` that sets a name; NULL = none. Those in functions count only `anywhere`. */
struct py_statement *py_setter(
	const struct py_module *m, bool anywhere, struct str name, size_t before);
/* The number of the statement that contains this token. */
size_t py_statement_at(const struct py_module *m, size_t token);
bool py_is(const struct py_module *m, size_t token, struct str text); /* false past the end */
/* E_TORCH that points at a place of the module. */
MUST_USE struct err *py_error(
	const struct py_module *m, unsigned line, unsigned col, const char *fmt, ...) PRINTF(4, 5);
