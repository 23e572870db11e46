/* Tables of typed text: columns fit their content, numbers to the right. On a terminal that is too narrow
 * the widest columns of text are cut, with an ellipsis; no column is lost. */
#pragma once

#include "base/vec.h"
#include "term/out.h"

struct table_row {
	struct str *v; /* as many as columns */
	enum style style;
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
