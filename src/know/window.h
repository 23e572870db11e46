#pragma once
/* The part of a log that is in memory while it is read as a stream: what was searched last (32 KiB), what is being searched,
 * and what follows (16 KiB). So the lines around a hit can be looked at, and memory does not grow with the log. */

#include "know/diagnosis.h"
#include "know/match.h"

struct window {
	char *buf;
	size_t n, done, counted; /* bytes in buf; searched; with their lines counted */
	uint64_t line;           /* number of the line at buf[counted] */
	bool ended;              /* the log has no more bytes */
	struct arena *tmp;       /* for cleaned lines */
};

/* Makes it empty; the caller frees buf. */
void window_new(struct window *w, struct arena *tmp);
MUST_USE struct err *window_fill(struct window *w, struct stream *in);
/* The offset up to which it can be searched now: whole lines, with those that follow them in memory. */
size_t window_searchable(const struct window *w);
/* Drops what lies further back than hits look. */
void window_slide(struct window *w);

/* The line that has the byte; 4 KiB to both sides of a huge one. */
struct span window_line(const struct window *w, size_t byte);
/* Moves to the next line, or to the one before; false if there is none. */
bool window_down(const struct window *w, struct span *line);
bool window_up(const struct window *w, struct span *line);
/* The line as patterns see it, see line_clean(); in w->tmp. */
struct str window_clean(struct window *w, struct span line);
/* The line as it is in the log, without colours; in a. */
struct log_line window_told(struct window *w, struct arena *a, struct span line);
/* The number of its line in the log. Lines are counted as far as somebody asks. */
uint64_t window_number(struct window *w, size_t byte);

/* Is the line an example in a text? The lines above say so, their sentence goes on in it, they open a text in triple quotes,
 * or it is what a check of CMake's printed. */
bool window_is_introduced(struct window *w, struct span line);
/* Do the lines around the message's lines read like a text, or like a list, and not like a program's output? A line that is
 * indented below one of a program belongs to that. */
bool window_is_text(struct window *w, struct span message);
