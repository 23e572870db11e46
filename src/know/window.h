#pragma once
/* The part of a log that is at hand while it is read as a stream: what was searched last (32 KiB), what is searched now, and
 * what comes behind (16 KiB), so that the lines around a hit can be looked at, and memory does not grow with the log. */

#include "know/diagnosis.h"
#include "know/expression.h"

struct window {
	char *buf;
	size_t n, done, counted; /* bytes in buf; searched; up to where lines are counted */
	uint64_t line;           /* of buf[counted] */
	bool ended;              /* nothing comes behind it */
	struct arena *tmp;       /* for cleaned lines */
};

/* Empty; the caller frees buf. */
void window_new(struct window *w, struct arena *tmp);
MUST_USE struct err *window_fill(struct window *w, struct stream *in);
/* Up to where can be searched now: whole lines, with what follows them at hand. */
size_t window_searchable(const struct window *w);
/* Drops what lies further back than hits look. */
void window_slide(struct window *w);

/* The line that has the byte; of a huge one 4 KiB to both sides. */
struct span window_line(const struct window *w, size_t byte);
/* To the line behind it, or in front of it; false where there is none. */
bool window_down(const struct window *w, struct span *line);
bool window_up(const struct window *w, struct span *line);
/* As patterns see it, see line_clean(); in w->tmp. */
struct str window_clean(struct window *w, struct span line);
/* As it stands there, without colours; in a. */
struct log_line window_told(struct window *w, struct arena *a, struct span line);
/* Its number in the log. Lines are counted as far as somebody asks. */
uint64_t window_number(struct window *w, size_t byte);

/* What the lines around a message say about it.
 * Do those above say that it is an example, does their sentence or expression go on in it, do they open a text in triple
 * quotes, or is it what a check of CMake's prints? */
bool window_is_introduced(struct window *w, struct span line);
/* Is it the term of a man page, a glossary, a list of definitions; does an answer follow? */
bool window_is_explained(struct window *w, struct span line);
/* Do they read like a text, or like a list, and not like what programs print? What is indented below a line of a program
 * belongs to it. message: all of its lines. */
bool window_is_text(struct window *w, struct span message);
