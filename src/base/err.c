/* Error chains; see err.h. Each link is a malloc of its own, so that errors can be created in any thread and outlive
 * every arena. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const struct errinfo {
	const char *id;
	int status;
} infos[E_COUNT] = {
	[E_NONE] = {.id = "E0000"},
#define X(name, id_, status_, title_) [name] = {.id = id_, .status = status_},
#include "base/errs.def"
#undef X
};

static struct err *make(enum errcode code, struct str text)
{
	struct err *e = xmalloc(sizeof(*e) + text.n + 1);
	*e = (struct err){.code = code};
	memcpy(e->msg, text.p, text.n + 1);
	return e;
}

struct err *err_new(enum errcode code, const char *fmt, ...)
{
	ARENA(tmp);
	FORMAT(text, &tmp, fmt);
	return make(code, text);
}

static enum errcode code_of_errno(int no)
{
	switch (no) {
	case ENOSPC:
	case EDQUOT:
		return E_NOSPACE;
	case EACCES:
	case EPERM:
	case EROFS:
		return E_PERM;
	case ENOENT:
	case ENOTDIR:
		return E_NOENT;
	default:
		return E_IO;
	}
}

struct err *err_errno(const char *fmt, ...)
{
	ARENA(tmp);
	int no = errno;
	FORMAT(text, &tmp, fmt);
	struct err *e = make(code_of_errno(no), text);
	e->cause = make(e->code, str_from(strerror(no)));
	return e;
}

struct err *err_wrap(struct err *cause, const char *fmt, ...)
{
	ARENA(tmp);
	FORMAT(text, &tmp, fmt);
	struct err *e = make(cause ? cause->code : E_INTERNAL, text);
	e->cause = cause;
	return e;
}

const struct err *err_root(const struct err *e)
{
	while (e->cause)
		e = e->cause;
	return e;
}

struct err *err_hint(struct err *e, const char *fmt, ...)
{
	ARENA(tmp);
	FORMAT(text, &tmp, fmt);
	struct err_hint *h = xmalloc(sizeof(*h) + text.n + 1), **end = &e->hints;
	memcpy(h->text, text.p, text.n + 1);
	h->next = NULL;
	while (*end)
		end = &(*end)->next;
	*end = h;
	return e;
}

static char *copy(struct str s)
{
	char *p = xmalloc(s.n + 1);
	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = 0;
	return p;
}

struct err *err_at(struct err *e, struct loc at)
{
	free((void *)e->path);
	e->path = copy(at.path);
	e->line = at.line;
	e->col = at.col;
	return e;
}

struct err *err_detail(struct err *e, struct str text)
{
	free(e->detail);
	e->detail = copy(text);
	for (size_t i = 0; i < text.n; i++) /* a NUL would end it */
		e->detail[i] = e->detail[i] ? e->detail[i] : ' ';
	return e;
}

struct err *err_join(struct err *first, struct err *second)
{
	if (!first)
		return second;
	struct err *last = first;
	while (last->also)
		last = last->also;
	last->also = second;
	return first;
}

void err_drop_hints(struct err *e)
{
	while (e->hints) {
		struct err_hint *next = e->hints->next;
		free(e->hints);
		e->hints = next;
	}
}

void err_free(struct err *e)
{
	while (e) {
		struct err *cause = e->cause;
		err_free(e->also);
		err_drop_hints(e);
		free((void *)e->path);
		free(e->detail);
		free(e);
		e = cause;
	}
}

void err_freep(struct err **e)
{
	err_free(*e);
	*e = NULL;
}

const char *err_id(enum errcode code)
{
	return infos[code].id;
}

int err_status(enum errcode code)
{
	return infos[code].status;
}
