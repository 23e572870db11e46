#pragma once
/* The part of a log that is in memory while it is read as a stream: the block being searched, the 32 KiB before it, and
 * the 16 KiB after it. So the lines around a hit are available, and memory does not grow with the log. */

#include "know/diagnosis.h"
#include "know/match.h"

struct window {
	char *buf;
	size_t n, done, counted; /* bytes in buf; bytes searched; bytes whose lines are counted */
	uint64_t before;         /* bytes of the log before buf */
	uint64_t line;           /* number of the line at buf[counted] */
	uint64_t open;           /* bytes behind the last line end, read so far */
	bool ended;              /* the log has no more bytes */
	struct arena *tmp;       /* holds cleaned lines */
};

/* Makes an empty window; its buffer is in tmp, too. */
void window_new(struct window *w, struct arena *tmp);
/* E_LIMIT for a line of more than 1 GiB in a stream that may go on for ever. */
MUST_USE struct err *window_fill(struct window *w, struct stream *in);
/* The offset up to which the window can be searched now: only whole lines, and only while the lines after them are in
 * memory. */
size_t window_searchable(const struct window *w);
/* Drops bytes further back than hits look. */
void window_slide(struct window *w);

/* The line that contains the byte; of a very long line, 4 KiB to both sides. */
struct span window_line(const struct window *w, size_t byte);
/* The end of the bytes for which window_line() gives no more than it gives for this one: the end of its line, or of a very
 * long one the next 2 KiB. */
size_t window_covers(const struct window *w, size_t byte);
/* Moves to the next line, or to the one before; false if there is none. */
bool window_down(const struct window *w, struct span *line);
bool window_up(const struct window *w, struct span *line);
/* The line as patterns see it (line_clean()), allocated in w->tmp. */
struct str window_clean(struct window *w, struct span line);
/* The line for display: as it is in the log, without colours; allocated in a. */
struct log_line window_told(struct window *w, struct arena *a, struct span line);
/* The line number of the byte in the log. Lines are counted only as far as needed. */
uint64_t window_number(struct window *w, size_t byte);

/* Is the line an example, not a message of its own? True if the lines above introduce it, if their sentence continues
 * in it, if they open a text in triple quotes, or if it is the output of a check that CMake quotes. */
bool window_is_introduced(struct window *w, struct span line);
/* Do the lines around the message read like prose or a list, and not like a program's output? An indented line below a
 * line of output does not count as prose. */
bool window_is_text(struct window *w, struct span message);
