/* The window of a log that is in memory; see window.h. */
#include "know/window.h"

enum {
	BACK = 32 << 10,
	AHEAD = 16 << 10,
	BLOCK = 1 << 20,
	LINE = 4096, /* the most bytes of a line that are read to each side of a byte */
	MOST = 1024, /* MiB; the longest line of what may go on for ever */
	NEAR = 40,   /* lines */
	INTRO = 4,   /* lines between a sentence and the example that it introduces */
	AROUND = 16, /* lines to each side that decide between log and text */
	LONE = 4,    /* this many lines of LINE_ANY, without output among them, make a text */
};

void window_new(struct window *w, struct arena *tmp)
{
	*w = (struct window){.buf = arena_raw(tmp, BACK + BLOCK + AHEAD), .line = 1, .tmp = tmp};
}

struct err *window_fill(struct window *w, struct stream *in)
{
	size_t room = BACK + BLOCK + AHEAD - w->n, got;
	TRY(stream_read(in, w->buf + w->n, room, &got));
	const char *last = memrchr(w->buf + w->n, '\n', got);
	w->n += got;
	w->open = last ? (size_t)(w->buf + w->n - last) - 1 : w->open + got;
	w->ended = got < room;
	if (w->open >> 20 >= MOST && stream_is_open_ended(in))
		return err_new(E_LIMIT, "line %llu has no end within %d MiB, as a log's lines have",
			(unsigned long long)window_number(w, w->n), MOST);
	return NULL;
}

size_t window_searchable(const struct window *w)
{
	if (w->ended)
		return w->n;
	size_t to = w->n > AHEAD ? w->n - AHEAD : 0;
	const char *nl = to > w->done ? memrchr(w->buf + w->done, '\n', to - w->done) : NULL;
	return nl ? (size_t)(nl - w->buf) + 1 : to > w->done ? to : w->done;
}

void window_slide(struct window *w)
{
	size_t drop = w->done > BACK ? w->done - BACK : 0;
	memmove(w->buf, w->buf + drop, w->n - drop);
	w->n -= drop;
	w->before += drop;
	w->done -= drop;
	w->counted -= drop < w->counted ? drop : w->counted;
}

/* ---- lines of the buffer ---- */

struct span window_line(const struct window *w, size_t byte)
{
	size_t from = byte, to = byte;
	while (from && byte - from < LINE && w->buf[from - 1] != '\n')
		from--;
	while (to < w->n && to - byte < LINE && w->buf[to] != '\n')
		to++;
	return (struct span){from, to};
}

size_t window_covers(const struct window *w, size_t byte)
{
	struct span line = window_line(w, byte);
	return line.to < byte + LINE ? line.to + 1 : byte + LINE / 2;
}

bool window_down(const struct window *w, struct span *line)
{
	if (line->to + 1 >= w->n || w->buf[line->to] != '\n')
		return false;
	*line = window_line(w, line->to + 1);
	return true;
}

bool window_up(const struct window *w, struct span *line)
{
	if (!line->from || w->buf[line->from - 1] != '\n')
		return false;
	*line = window_line(w, line->from - 1);
	return true;
}

struct str window_clean(struct window *w, struct span line)
{
	BUF(b, w->tmp);
	line_clean(&b, (struct str){w->buf + line.from, line.to - line.from});
	automaton_spend(line.to - line.from);
	return b.n ? buf_str(&b) : S("");
}

uint64_t window_number(struct window *w, size_t byte)
{
	struct str read = {w->buf, w->n};
	if (byte < w->counted)
		return w->line - str_count(str_sub(read, byte, w->counted), '\n');
	w->line += str_count(str_sub(read, w->counted, byte), '\n');
	w->counted = byte;
	return w->line;
}

struct log_line window_told(struct window *w, struct arena *a, struct span line)
{
	BUF(b, a);
	line_plain(&b, (struct str){w->buf + line.from, line.to - line.from});
	for (size_t i = 0; i < b.n; i++)
		b.p[i] = b.p[i] == '\t' || !b.p[i] ? ' ' : b.p[i];
	struct str text = b.n ? str_trim(str_sub(buf_str(&b), 0, LINE)) : S("");
	return (struct log_line){window_number(w, line.from), text};
}

/* ---- the lines around a message ---- */

bool window_is_introduced(struct window *w, struct span line)
{
	bool inside = false;
	/* a sentence does not go on in a line with a time stamp */
	const bool stamped = line_has(window_clean(w, line), "stamped");
	for (int i = 0, blank = 0; i < NEAR && window_up(w, &line); i++) {
		struct str rest = {w->buf + line.from, line.to - line.from};
		struct str clean = i < INTRO ? window_clean(w, line) : S("");
		blank += i == blank && !i && !clean.n;
		if (i < INTRO && (line_has(clean, "intro") ||
					 (i == blank && !stamped && line_goes_on(clean))))
			return true;
		if (str_contains(rest, S(" failed with the following")) &&
			line_has(window_clean(w, line), "probe"))
			return true;
		for (size_t n; (n = str_find(rest, S("\"\"\""))) < rest.n; inside = !inside)
			rest = str_sub(rest, n + 3, rest.n);
	}
	return inside;
}

bool window_is_text(struct window *w, struct span message)
{
	size_t kinds[] = {[LINE_ANY] = 0, [LINE_OUTPUT] = 0, [LINE_PROSE] = 0};
	struct span line = window_line(w, message.from);
	for (int up = 0; up < AROUND && window_up(w, &line); up++)
		;
	bool inside = false;
	for (int below = 0; below < AROUND; below += line.from >= message.to) {
		struct str clean = window_clean(w, line);
		bool indented = line.from < line.to && strchr(" \t", w->buf[line.from]);
		enum line_kind kind = line_kind(clean, indented);
		if (clean.n && !indented)
			inside = false;
		inside |= kind == LINE_OUTPUT;
		if (clean.n && (line.to < message.from || line.from >= message.to))
			kinds[inside && kind == LINE_PROSE ? LINE_ANY : kind]++;
		if (!window_down(w, &line))
			break;
	}
	return kinds[LINE_PROSE] > kinds[LINE_OUTPUT] ||
	       (!kinds[LINE_OUTPUT] && kinds[LINE_ANY] >= LONE);
}
