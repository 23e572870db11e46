/* Tables; see table.h. */
#include "term/table.h"

#include <unistd.h>

#include "base/buf.h"

struct table table_new(struct arena *a, const char *const *heads)
{
	struct table t = {.a = a, .heads = heads};
	while (heads[t.columns])
		t.columns++;
	return t;
}

void table_row(struct table *t, const struct str *cells)
{
	struct table_row *row = VEC_PUSH(t->a, t);
	row->v = arena_array(t->a, t->columns, sizeof(*row->v));
	for (size_t i = 0; i < t->columns; i++)
		row->v[i] = cells[i];
}

/* Columns on screen: UTF-8 continuation bytes take none. Wide characters are not expected here. */
static size_t width_of(struct str s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

static void pad(struct buf *out, size_t n)
{
	while (n--)
		buf_char(out, ' ');
}

static void print_row(
	const struct table *t, const struct str *cells, const size_t *widths, enum style style)
{
	ARENA(tmp);
	BUF(out, &tmp);
	for (size_t i = 0; i < t->columns; i++) {
		size_t fill = widths[i] - width_of(cells[i]);
		bool right = t->heads[i][0] == '>', last = i + 1 == t->columns;
		if (i)
			buf_add(&out, S("  "));
		pad(&out, right ? fill : 0);
		buf_add(&out, cells[i]);
		pad(&out, right || last ? 0 : fill);
	}
	struct str line = buf_str(&out);
	while (line.n && line.p[line.n - 1] == ' ')
		line.n--; /* of empty cells */
	if (isatty(STDOUT_FILENO) && line.n > out_width())
		line.n = out_width();
	out_fmt("%.*s\n", STR(styled_out(&tmp, style, line)));
}

void table_print(struct table *t)
{
	ARENA(tmp);
	size_t *widths = arena_array(&tmp, t->columns, sizeof(*widths));
	struct str *heads = arena_array(&tmp, t->columns, sizeof(*heads));
	for (size_t i = 0; i < t->columns; i++) {
		heads[i] = str_from(t->heads[i][0] == '>' ? t->heads[i] + 1 : t->heads[i]);
		widths[i] = width_of(heads[i]);
		VEC_EACH (struct table_row, row, t)
			if (width_of(row->v[i]) > widths[i])
				widths[i] = width_of(row->v[i]);
	}
	print_row(t, heads, widths, STYLE_BOLD);
	VEC_EACH (struct table_row, row, t)
		print_row(t, row->v, widths, row->style);
}
