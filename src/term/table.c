/* Tables; see table.h. */
#include "term/table.h"

#include <unistd.h>

#include "base/buf.h"
#include "term/printable.h"

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
		row->v[i] = printable(t->a, cells[i], "");
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
		struct str cell = text_cut(&tmp, cells[i], widths[i]);
		size_t fill = widths[i] - text_width(cell);
		bool right = t->heads[i][0] == '>', last = i + 1 == t->columns;
		if (i)
			buf_add(&out, S("  "));
		pad(&out, right ? fill : 0);
		buf_add(&out, cell);
		pad(&out, right || last ? 0 : fill);
	}
	struct str line = buf_str(&out);
	while (line.n && line.p[line.n - 1] == ' ')
		line.n--; /* of empty cells */
	out_fmt("%.*s\n", STR(styled_out(&tmp, style, line)));
}

/* Takes columns off the widest of those with text, the last one first, until the line fits; figures
 * stay, and so do eight columns of the others. */
static void fit(const struct table *t, size_t *widths)
{
	enum { GAP = 2, LEAST = 8 };
	size_t line = GAP * (t->columns - 1), room = out_width();
	for (size_t i = 0; i < t->columns; i++)
		line += widths[i];
	for (; line > room; line--) {
		size_t *widest = NULL;
		for (size_t i = 0; i < t->columns; i++)
			if (t->heads[i][0] != '>' && widths[i] > LEAST &&
				(!widest || widths[i] >= *widest))
				widest = &widths[i];
		if (!widest)
			return;
		*widest -= 1;
	}
}

void table_print(struct table *t)
{
	ARENA(tmp);
	size_t *widths = arena_array(&tmp, t->columns, sizeof(*widths));
	struct str *heads = arena_array(&tmp, t->columns, sizeof(*heads));
	for (size_t i = 0; i < t->columns; i++) {
		heads[i] = str_from(t->heads[i][0] == '>' ? t->heads[i] + 1 : t->heads[i]);
		widths[i] = text_width(heads[i]);
		VEC_EACH (struct table_row, row, t)
			if (text_width(row->v[i]) > widths[i])
				widths[i] = text_width(row->v[i]);
	}
	if (isatty(STDOUT_FILENO))
		fit(t, widths);
	print_row(t, heads, widths, STYLE_BOLD);
	VEC_EACH (struct table_row, row, t)
		print_row(t, row->v, widths, row->style);
}
