/* Tables of results for people. A result is described once, by the table of its JSON fields (formats/json_fields.h); a
 * view for people is a list of columns that name members by their keys:
 *
 *     static const struct column columns[] = {
 *         {COLUMN("SDK", "name")},
 *         {COLUMN("kept kernels of", "gpus"), .none = "all"},
 *         {COLUMN(">size", "bytes"), .bytes = true},
 *         {.title = NULL},
 *     };
 *     table_show(a, list_fields, "installed", columns, &installed);
 *
 * Columns are as wide as their content. If the terminal is too narrow, the widest columns of text are cut, with an
 * ellipsis; no column is dropped.
 */
#pragma once

#include "term/out.h"

struct column {
	const char *title; /* a leading '>' aligns the column to the right; NULL ends a list */
	const char
		*key; /* the member's key in the table of the row's JSON: a text, list or number */
	bool bytes;   /* the number is one of bytes */
	const char *none;    /* the text for "", for an empty list, and for 0 */
	const char *between; /* the separator in a list of words; NULL = ", " */
};

#define COLUMN(head, member) .title = (head), .key = (member)

/* Prints the list `key` of the object, a row for each of its structs. Prints nothing and returns false if the list is
 * empty. */
bool table_show(struct arena *a, const struct json_field *fields, const char *key,
	const struct column *columns, const void *object);

/* A table whose rows do not come from a list of structs: the caller passes the cells of one row at a time. */
struct table_row {
	struct str *v; /* as many as columns */
};

struct table {
	struct arena *a;
	struct strs heads; /* titles of columns; a leading '>' aligns the column to the right */
	struct table_row *v;
	size_t n, cap;
};

/* heads: titles, separated by '|'. */
struct table table_new(struct arena *a, const char *heads);
/* Adds a row; `cells` has as many elements as there are columns. */
void table_row(struct table *t, const struct str *cells);
#define TABLE_ROW(t, ...) table_row((t), (const struct str[]){__VA_ARGS__})
void table_print(struct table *t); /* to stdout; nothing if it has no rows */
/* The same below an empty line, if the table has rows; false if it has none. */
bool table_below(struct table *t);
/* The same as CSV (RFC 4180, lines end with a newline alone). A cell that a spreadsheet would take for a formula has an
 * apostrophe before it. */
void table_csv(const struct table *t);
