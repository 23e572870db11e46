/* Errors as a person reads them: the chain, the place in the user's file with the source line and a
 * caret, output of a failed tool, hints once each. See out.h. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "term/out.h"

enum { HINTS = 16, LINE_LIMIT = 300 };

struct seen {
	const char *text[HINTS];
	size_t n;
};

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Is it made of UTF-8 sequences? Loosely, for showing only. */
static bool is_text(struct str s)
{
	for (size_t i = 0; i < s.n;) {
		unsigned char c = (unsigned char)s.p[i];
		size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;
		if (!n || n > s.n - i)
			return false;
		for (size_t k = 1; k < n; k++)
			if (!continues(s.p[i + k]))
				return false;
		i += n;
	}
	return true;
}

/* What a terminal would act upon (control characters, escapes) is not shown as it is; nor is what
 * is no ASCII, when the line is not text at all. */
static void show_line(struct buf *out, struct str line)
{
	bool text = is_text(line);
	for (size_t i = 0; i < line.n; i++) {
		unsigned char c = (unsigned char)line.p[i];
		bool control = (c < 0x20 && c != '\t') || c == 0x7f;
		buf_char(out, control || (c >= 0x80 && !text) ? '?' : (char)c);
	}
	buf_char(out, '\n');
}

/* The line of the user's file with a caret below; nothing when the file cannot be read. */
static void show_source(struct buf *out, const struct err *e)
{
	ARENA(tmp);
	struct str text, line = S("");
	CLEANUP(err_freep) struct err *unread = fs_read(&tmp, str_from(e->path), 16 << 20, &text);
	if (unread || !e->line)
		return;
	for (unsigned i = 0; i < e->line; i++)
		if (!str_next(&text, '\n', &line))
			return;
	if (line.n > LINE_LIMIT)
		return;
	if (str_ends(line, S("\r")))
		line.n--;
	buf_fmt(out, "%6u | ", e->line);
	show_line(out, line);
	if (!e->col || e->col > line.n + 1)
		return;
	buf_add(out, S("       | "));
	for (unsigned i = 0; i + 1 < e->col; i++)
		if (line.p[i] == '\t' || !is_text(line) || !continues(line.p[i]))
			buf_char(out, line.p[i] == '\t' ? '\t' : ' ');
	buf_fmt(out, "%.*s\n", STR(styled_err(&tmp, STYLE_RED, S("^"))));
}

static void show_place(struct buf *out, const struct err *e)
{
	if (!e->path)
		return;
	buf_fmt(out, "   at %s", e->path);
	if (e->line)
		buf_fmt(out, e->col ? ":%u:%u" : ":%u", e->line, e->col);
	buf_char(out, '\n');
	show_source(out, e);
}

static void show_hints(struct buf *out, const struct err *e, struct seen *seen)
{
	ARENA(tmp);
	for (const struct err_hint *h = e->hints; h; h = h->next) {
		size_t i = 0;
		while (i < seen->n && strcmp(seen->text[i], h->text))
			i++;
		if (i < seen->n || seen->n == HINTS)
			continue;
		seen->text[seen->n++] = h->text;
		buf_fmt(out, "%.*s %s\n", STR(styled_err(&tmp, STYLE_CYAN, S("hint:"))), h->text);
	}
}

static void show(struct buf *out, const struct err *first, enum style style, const char *label)
{
	ARENA(tmp);
	struct seen seen = {0};
	for (const struct err *e = first; e; e = e->cause) {
		if (e == first)
			buf_fmt(out, "%.*s %s\n", STR(styled_err(&tmp, style, str_from(label))),
				e->msg);
		else
			buf_fmt(out, "  caused by: %s\n", e->msg);
		show_place(out, e);
		struct str detail = str_from(e->detail), line;
		while (str_next(&detail, '\n', &line))
			buf_fmt(out, "  | %.*s\n", STR(line));
	}
	for (const struct err *e = first; e; e = e->cause)
		show_hints(out, e, &seen);
	for (const struct err *e = first; e; e = e->cause)
		if (e->also)
			show(out, e->also, STYLE_YELLOW, "also:");
}

void say_error(const struct err *e)
{
	ARENA(tmp);
	BUF(out, &tmp);
	show(&out, e, STYLE_RED, "error:");
	fflush(stdout);
	out_transient(S(""));
	struct str text = buf_str(&out);
	fwrite(text.p, 1, text.n, stderr);
}
