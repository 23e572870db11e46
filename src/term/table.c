/* Prints tables; see table.h. */
#include "term/table.h"

#include <unistd.h>

#include "term/printable.h"

struct table table_new(struct arena *a, const char *heads)
{
	return (struct table){.a = a, .heads = str_split(a, str_from(heads), '|')};
}

void table_row(struct table *t, const struct str *cells)
{
	struct table_row *row = VEC_PUSH(t->a, t);
	row->v = arena_array(t->a, t->heads.n, sizeof(*row->v));
	for (size_t i = 0; i < t->heads.n; i++)
		row->v[i] = printable(t->a, cells[i], "");
}

static void print_row(
	const struct table *t, const struct str *cells, const size_t *widths, enum style style)
{
	ARENA(tmp);
	BUF(out, &tmp);
	for (size_t i = 0; i < t->heads.n; i++) {
		struct str cell = text_cut(&tmp, cells[i], widths[i]);
		int fill = (int)(widths[i] - text_width(cell));
		bool right = str_starts(t->heads.v[i], S(">")), last = i + 1 == t->heads.n;
		buf_fmt(&out, "%s%*s%.*s%*s", i ? "  " : "", right ? fill : 0, "", STR(cell),
			right || last ? 0 : fill, "");
	}
	struct str line = buf_str(&out);
	while (line.n && line.p[line.n - 1] == ' ')
		line.n--; /* blanks of empty cells */
	out_fmt("%.*s\n", STR(styled_out(&tmp, style, line)));
}

/* Narrows the widest column of text, among equals the last, until the line fits. Columns of numbers keep their width;
 * the others keep at least LEAST characters. */
static void fit(const struct table *t, size_t *widths)
{
	enum { GAP = 2, LEAST = 8 };
	size_t line = GAP * (t->heads.n - 1), room = out_width();
	for (size_t i = 0; i < t->heads.n; i++)
		line += widths[i];
	for (; line > room; line--) {
		size_t *widest = NULL;
		for (size_t i = 0; i < t->heads.n; i++)
			if (!str_starts(t->heads.v[i], S(">")) && widths[i] > LEAST &&
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
	if (!t->n)
		return;
	size_t *widths = arena_array(&tmp, t->heads.n, sizeof(*widths));
	struct str *heads = arena_array(&tmp, t->heads.n, sizeof(*heads));
	for (size_t i = 0; i < t->heads.n; i++) {
		heads[i] = t->heads.v[i];
		if (str_starts(heads[i], S(">")))
			heads[i] = str_sub(heads[i], 1, heads[i].n);
		widths[i] = text_width(heads[i]);
		VEC_EACH (struct table_row, row, t)
			if (text_width(row->v[i]) > widths[i])
				widths[i] = text_width(row->v[i]);
	}
	if (isatty(STDOUT_FILENO))
		fit(t, widths);
	print_row(t, heads, widths, STYLE_BOLD);
	VEC_EACH (struct table_row, row, t)
		print_row(t, row->v, widths, STYLE_PLAIN);
}

bool table_below(struct table *t)
{
	if (!t->n)
		return false;
	out_text(S("\n"));
	table_print(t);
	return true;
}

static void csv_row(struct buf *out, const struct str *cells, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ARENA(tmp);
		struct str cell = cells[i];
		bool formula = cell.n && strchr("=+-@\t\r", *cell.p) && *cell.p;
		bool plain = !formula;
		for (size_t k = 0; k < cell.n && plain; k++)
			plain = !strchr(",\"\r\n", cell.p[k]) && cell.p[k];
		buf_add(out, i ? S(",") : S(""));
		buf_add(out, plain ? S("") : formula ? S("\"'") : S("\""));
		buf_add(out, plain ? cell : str_replace(&tmp, cell, S("\""), S("\"\"")));
		buf_add(out, plain ? S("") : S("\""));
	}
	buf_char(out, '\n');
}

void table_csv(const struct table *t)
{
	ARENA(tmp);
	BUF(out, &tmp);
	csv_row(&out, t->heads.v, t->heads.n);
	VEC_EACH (const struct table_row, row, t)
		csv_row(&out, row->v, t->heads.n);
	out_text(buf_str(&out));
}

/* ---- views of a result ---- */

/* The member as text; "" if it has no value. */
static struct str member_text(
	struct arena *a, const struct column *c, const struct json_field *fields, const void *row)
{
	const void *at;
	const struct json_field *f = json_field_find(fields, str_from(c->key), row, &at);
	uint64_t n;
	switch (f ? (enum field_kind)f->kind : FIELD_END) {
	case FIELD_TEXT:
		return *(const struct str *)at;
	case FIELD_STRS:
		return str_join(a, at, str_from(c->between ? c->between : ", "));
	case FIELD_WORD:
		return str_from(f->words[*(const unsigned *)at]);
	case FIELD_F64:
		if (c->none && *(const double *)at <= 0)
			return S("");
		return human_seconds(a, *(const double *)at);
	case FIELD_U64:
		n = *(const uint64_t *)at;
		if (!n && c->none)
			return S("");
		return c->bytes ? human_bytes(a, n) : str_fmt(a, "%llu", (unsigned long long)n);
	default:
		return S("");
	}
}

bool table_show(struct arena *a, const struct json_field *fields, const char *key,
	const struct column *columns, const void *object)
{
	const void *at;
	const struct json_field *list = json_field_find(fields, str_from(key), object, &at);
	struct json_items items = list ? json_items_at(at) : (struct json_items){0};
	struct table t = {.a = a};
	for (const struct column *c = columns; c->title; c++)
		strs_add(a, &t.heads, str_from(c->title));
	struct str *cells = arena_array(a, t.heads.n, sizeof(*cells));
	for (const char *row = items.v; items.n--; row += list->size) {
		for (size_t i = 0; i < t.heads.n; i++) {
			cells[i] = member_text(a, &columns[i], list->fields, row);
			if (!cells[i].n && columns[i].none)
				cells[i] = str_from(columns[i].none);
		}
		table_row(&t, cells);
	}
	table_print(&t);
	return t.n > 0;
}
