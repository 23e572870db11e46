/* Errors: a chain of "what failed" links, returned as a pointer; NULL means success.
 *
 * An error says what we were doing and to which object; its causes say why; hints name remedies that are known to
 * work; a location points into a file of the user. Library code never prints:
 * main() renders the chain once. A negative finding (a wheel that fails verification) is data, not
 * an error.
 *
 * Messages: no capital first word, no full stop, the subject in single quotes.
 * Every function that returns a struct err * hands its ownership to the caller, who passes it on
 * (TRY, TRY_CTX), joins it (err_join) or drops it with err_free(). Safe to create in any thread.
 */
#pragma once

#include "base/str.h"

#define X(name, id, status, title) name,
enum errcode {
	E_NONE,
#include "base/errs.def"
	E_COUNT
};
#undef X

struct err_hint {
	struct err_hint *next;
	char text[];
};

/* A place in a file of the user; line and col count from 1, 0 = unknown. */
struct loc {
	struct str path;
	unsigned line, col;
};

struct err {
	enum errcode code;
	struct err *cause; /* why: rendered as "caused by:" */
	struct err *also;  /* a second failure, while cleaning up after this one */
	struct err_hint *hints;
	const char *path; /* location, or NULL */
	unsigned line, col;
	char *detail; /* output of a failed tool, shown verbatim, or NULL */
	char msg[];
};

MUST_USE struct err *err_new(enum errcode code, const char *fmt, ...) PRINTF(2, 3);
/* Adds the text of errno as the cause; ENOSPC, EACCES and ENOENT have codes of their own. */
MUST_USE struct err *err_errno(const char *fmt, ...) PRINTF(1, 2);
/* Puts a message about what we were doing on top of a cause, and keeps the cause's code. */
MUST_USE struct err *err_wrap(struct err *cause, const char *fmt, ...) PRINTF(2, 3);
/* The next four change e and return it. */
struct err *err_hint(struct err *e, const char *fmt, ...) PRINTF(2, 3);
/* Adds "did you mean 'X'?" if one of the names is near the word, by suggest(). */
struct err *err_near(struct err *e, struct str word, const struct strs *names);
void err_drop_hints(struct err *e);
struct err *err_at(struct err *e, struct loc at);
struct err *err_detail(struct err *e, struct str text);
/* Keeps both: first, with second (a failed cleanup) attached; either may be NULL. */
MUST_USE struct err *err_join(struct err *first, struct err *second);
/* The root cause: the last of its causes, or the error itself. */
const struct err *err_root(const struct err *e);
void err_free(struct err *e);
void err_freep(struct err **e);

/* The id from the table in errs.def. */
const char *err_id(enum errcode code);
int err_status(enum errcode code); /* exit status */

#define TRY(expr)                                                                                  \
	do {                                                                                       \
		struct err *try_err_ = (expr);                                                     \
		if (try_err_)                                                                      \
			return try_err_;                                                           \
	} while (0)

#define TRY_CTX(expr, ...)                                                                         \
	do {                                                                                       \
		struct err *try_err_ = (expr);                                                     \
		if (try_err_)                                                                      \
			return err_wrap(try_err_, __VA_ARGS__);                                    \
	} while (0)
