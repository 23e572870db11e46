/* Prints errors for people (the chain, the place in the user's file with the source line and a caret, the output of a
 * failed tool, each hint once) and, for programs, as JSON. See out.h. */
#include <stdio.h>

#include "base/fs.h"
#include "term/out.h"
#include "term/printable.h"

enum { HINTS = 16, LINE_LIMIT = 300 };

/* Adds the line of the user's file with a caret below; nothing if the file cannot be read. */
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
	buf_fmt(out, "%6u | %.*s\n", e->line, STR(printable(&tmp, line, "\t")));
	if (!e->col || e->col > line.n + 1)
		return;
	buf_add(out, S("       | "));
	struct str before = printable(&tmp, str_sub(line, 0, e->col - 1), "\t");
	for (size_t i = 0; i < before.n; i++)
		if (((unsigned char)before.p[i] & 0xc0) != 0x80)
			buf_char(out, before.p[i] == '\t' ? '\t' : ' ');
	buf_fmt(out, "%.*s\n", STR(styled_err(&tmp, STYLE_RED, S("^"))));
}

/* Adds a line: `before`, which is ours, and a text from any source, made printable. */
static void show_line(struct buf *out, const char *before, struct str text)
{
	ARENA(tmp);
	buf_fmt(out, "%s%.*s\n", before, STR(printable(&tmp, text, "")));
}

/* Adds the hints of an error, its causes and further errors, each hint once. */
static void show_hints(struct buf *out, const struct err *e, struct strs *seen)
{
	struct str label = styled_err(out->a, STYLE_CYAN, S("hint:"));
	for (const struct err_hint *h = e->hints; h; h = h->next)
		if (seen->n < HINTS && strs_put(out->a, seen, str_from(h->text)))
			show_line(out, str_fmt(out->a, "%.*s ", STR(label)).p, str_from(h->text));
	if (e->cause)
		show_hints(out, e->cause, seen);
	if (e->also)
		show_hints(out, e->also, seen);
}

/* Further mistakes in the user's sources are errors like the main one; a failure while cleaning up is a side note. */
static void show(struct buf *out, const struct err *first, bool main)
{
	ARENA(tmp);
	bool error = main || first->code == E_COMPILE || first->code == E_LINK;
	struct str code = S(""), label = error ? styled_err(&tmp, STYLE_RED, S("error:"))
					       : styled_err(&tmp, STYLE_YELLOW, S("also:"));
	if (out_verbosity() > 0)
		code = str_fmt(&tmp, " [%s]", err_id(first->code));
	show_line(out, str_fmt(&tmp, "%.*s ", STR(label)).p,
		str_fmt(&tmp, "%s%.*s", first->msg, STR(code)));
	for (const struct err *e = first; e; e = e->cause) {
		if (e != first)
			show_line(out, "  caused by: ", str_from(e->msg));
		if (e->path) {
			BUF(at, &tmp);
			buf_fmt(&at, "%s", e->path);
			if (e->line)
				buf_fmt(&at, e->col ? ":%u:%u" : ":%u", e->line, e->col);
			show_line(out, "   at ", buf_str(&at));
			show_source(out, e);
		}
		struct str detail = str_from(e->detail), line;
		while (str_next(&detail, '\n', &line))
			buf_fmt(out, "  | %.*s\n", STR(printable(&tmp, line, "\t")));
	}
	for (const struct err *e = first; e; e = e->cause)
		if (e->also)
			show(out, e->also, false);
}

void say_error(const struct err *e)
{
	ARENA(tmp);
	BUF(out, &tmp);
	struct strs seen = {0};
	show(&out, e, true);
	show_hints(&out, e, &seen);
	fflush(stdout);
	say_lines(buf_str(&out));
}

/* ---- for programs ---- */

struct error_document {
	const char *code, *message;
	struct strs causes, hints, details;
	const struct err *place; /* the first place in the chain, or NULL */
};

static const struct json_field place_fields[] = {
	FIELDS(struct err, path, line),
	FIELD_LAST(FIELD("column", struct err, col)),
};
static const struct json_field error_fields[] = {
	FIELD_CONST("schema", "rocsmith.error/1"),
	FIELDS(struct error_document, code, message, causes, hints, details),
	FIELD_LAST(FIELD_POINTER("place", struct error_document, place, place_fields)),
};

struct str error_json(struct arena *a, const struct err *first)
{
	struct error_document doc = {.code = err_id(first->code), .message = first->msg};
	for (const struct err *e = first; e; e = e->cause) {
		if (e != first)
			strs_add(a, &doc.causes, str_from(e->msg));
		for (const struct err_hint *h = e->hints; h; h = h->next)
			strs_put(a, &doc.hints, str_from(h->text));
		struct str detail = str_from(e->detail), line;
		while (str_next(&detail, '\n', &line))
			strs_add(a, &doc.details, line);
		if (e->path && !doc.place)
			doc.place = e;
	}
	return json_document(a, 2, error_fields, &doc);
}
