/* Results as tables of typed text. A result is described once, by the table of its JSON
 * (formats/json_fields.h); a view of it for people is a list of columns that name members by their keys:
 *
 *     static const struct column columns[] = {
 *         {COLUMN("SDK", "name")},
 *         {COLUMN("kernels of", "gpus"), .none = "all"},
 *         {COLUMN(">size", "bytes"), .form = CELL_BYTES},
 *         {.title = NULL},
 *     };
 *     table_show(a, list_fields, "installed", columns, &installed);
 *
 * Columns fit their content, numbers to the right. On a terminal that is too narrow the widest columns
 * of text are cut, with an ellipsis; no column is lost.
 */
#pragma once

#include "base/vec.h"
#include "formats/json_fields.h"
#include "term/out.h"

enum cell_form { CELL_PLAIN, CELL_BYTES, CELL_MEMORY, CELL_SECONDS };

struct column {
	const char *
		title; /* a leading '>' aligns the column to the right; NULL ends a list of columns */
	const char *key; /* the member's key in the table of the row's JSON */
	enum cell_form form;
	const char *none;    /* stands for "", for an empty list, and for a number below 0 */
	const char *between; /* the words of a list; NULL: ", " */
	/* A cell that no member has as it is: its text, from the row and the object that the row is part of. */
	struct str (*text)(struct arena *a, const void *row, const void *object);
};

#define COLUMN(head, member) .title = (head), .key = (member)

/* Prints the list `key` of the object, a row for each of its structs. An empty list prints nothing, and gives false. */
bool table_show(struct arena *a, const struct json_field *fields, const char *key,
	const struct column *columns, const void *object);

/* A table whose rows are no list of structs: cells are handed over one row at a time. */
struct table_row {
	struct str *v; /* as many as columns */
};

struct table {
	struct arena *a;
	size_t columns;
	const char *const *heads; /* column titles; a leading '>' aligns the column to the right */
	struct table_row *v;
	size_t n, cap;
};

/* heads: NULL-terminated. */
struct table table_new(struct arena *a, const char *const *heads);
/* A row; give as many struct str values as there are columns. */
void table_row(struct table *t, const struct str *cells);
void table_print(struct table *t); /* to stdout */
