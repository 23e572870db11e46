/* The unified diff of a translation, made from its edits: no search is needed, because edits say
 * which lines differ. Edits stay inside a line, except that text put in front of a line may add
 * lines.
 */
#include "base/buf.h"
#include "hipify/hipify.h"

#include <string.h>

enum { CONTEXT = 3 };

struct line {
	struct str old, new; /* with their newlines */
	size_t added;        /* new lines in front of this one, when the line itself is the same */
	bool changed;        /* the line itself differs */
};

struct lines {
	struct line *v;
	size_t n, cap;
};

struct diff {
	struct arena *a;
	const struct hipify_text *t;
	size_t next; /* first edit that was not applied yet */
	struct buf out;
	struct lines lines;
	size_t grown; /* lines that earlier hunks added */
};

static size_t count_newlines(struct str s)
{
	size_t n = 0;
	for (size_t i = str_chr(s, '\n'); i < s.n; i += 1 + str_chr(str_sub(s, i + 1, s.n), '\n'))
		n++;
	return n;
}

/* Applies the edits of one line. */
static struct str edited(struct diff *d, struct str source, size_t from, size_t to)
{
	BUF(b, d->a);
	for (; d->next < d->t->edits.n && d->t->edits.v[d->next].from < to; d->next++) {
		const struct hipify_edit *e = &d->t->edits.v[d->next];
		buf_add(&b, str_sub(source, from, e->from));
		buf_add(&b, e->with);
		from = e->to;
	}
	buf_add(&b, str_sub(source, from, to));
	return buf_str(&b);
}

static void split(struct diff *d, struct str source)
{
	const struct hipify_text *t = d->t;
	for (size_t from = 0; from < source.n || (!from && t->edits.n);) {
		size_t to = from + str_chr(str_sub(source, from, source.n), '\n') + 1;
		to = to > source.n ? source.n + (source.n == 0) : to;
		struct line *l = VEC_PUSH(d->a, &d->lines);
		l->old = str_sub(source, from, to);
		l->new = l->old;
		if (d->next < t->edits.n && t->edits.v[d->next].from < to)
			l->new = edited(d, source, from, to);
		size_t extra = l->new.n - (l->new.n < l->old.n ? l->new.n : l->old.n);
		if (extra && str_ends(l->new, l->old) && l->new.p[extra - 1] == '\n')
			l->added = count_newlines(str_sub(l->new, 0, extra));
		else
			l->changed = !str_eq(l->old, l->new);
		from = to;
	}
}

static bool differs(const struct line *l)
{
	return l->added || l->changed;
}

static void put(struct diff *d, char sign, struct str text)
{
	struct str piece;
	bool newline = text.n && text.p[text.n - 1] == '\n';
	struct str rest = newline ? str_sub(text, 0, text.n - 1) : text;
	if (!text.n)
		return;
	do {
		bool more = str_cut(rest, '\n', &piece, &rest);
		buf_fmt(&d->out, "%c", sign);
		buf_add(&d->out, piece);
		buf_char(&d->out, '\n');
		if (!more)
			break;
	} while (true);
	if (!newline)
		buf_add(&d->out, S("\\ No newline at end of file\n"));
}

static size_t put_changed(struct diff *d, size_t i, size_t end)
{
	size_t stop = i;
	while (stop < end && d->lines.v[stop].changed)
		stop++;
	for (size_t k = i; k < stop; k++)
		put(d, '-', d->lines.v[k].old);
	for (size_t k = i; k < stop; k++)
		put(d, '+', d->lines.v[k].new);
	return stop;
}

static void put_range(struct diff *d, char sign, size_t first, size_t count)
{
	if (count == 1)
		buf_fmt(&d->out, "%c%zu", sign, first + 1);
	else
		buf_fmt(&d->out, "%c%zu,%zu", sign, first + (count ? 1 : 0), count);
}

static size_t new_lines(const struct line *l)
{
	return l->changed ? count_newlines(l->new) + (l->new.n && !str_ends(l->new, S("\n")))
			  : l->added + (l->old.n ? 1 : 0);
}

static void hunk(struct diff *d, size_t from, size_t to)
{
	size_t old = 0, new = 0;
	for (size_t i = from; i < to; i++) {
		old += d->lines.v[i].old.n ? 1 : 0;
		new += new_lines(&d->lines.v[i]);
	}
	buf_add(&d->out, S("@@ "));
	put_range(d, '-', from, old);
	buf_char(&d->out, ' ');
	put_range(d, '+', from + d->grown, new);
	buf_add(&d->out, S(" @@\n"));
	d->grown += new - old;
	for (size_t i = from; i < to;) {
		const struct line *l = &d->lines.v[i];
		if (l->changed) {
			i = put_changed(d, i, to);
			continue;
		}
		put(d, '+', str_sub(l->new, 0, l->new.n - l->old.n));
		put(d, ' ', l->old);
		i++;
	}
}

/* The first line behind a difference: text in front of a line leaves the line itself unchanged. */
static size_t behind(const struct diff *d, size_t i)
{
	return d->lines.v[i].changed ? i + 1 : i;
}

static void hunks(struct diff *d)
{
	size_t n = d->lines.n;
	for (size_t i = 0; i < n; i++) {
		if (!differs(&d->lines.v[i]))
			continue;
		size_t from = i < CONTEXT ? 0 : i - CONTEXT, last = i;
		for (size_t k = i; k < n && k <= behind(d, last) + 2 * CONTEXT; k++)
			last = differs(&d->lines.v[k]) ? k : last;
		size_t to = behind(d, last) + CONTEXT;
		hunk(d, from, to < n ? to : n);
		i = last;
	}
}

struct str hipify_diff(
	struct arena *a, struct str source, struct str path, const struct hipify_text *t)
{
	struct diff d = {.a = a, .t = t, .out = {.a = a}};
	if (!t->edits.n)
		return S("");
	struct str output = hipify_output_name(a, path);
	buf_fmt(&d.out, "--- %.*s\n+++ %.*s\n", STR(path), STR(output));
	split(&d, source);
	hunks(&d);
	return buf_str(&d.out);
}
