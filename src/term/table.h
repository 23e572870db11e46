/* Tables of typed text: columns fit their content, numbers to the right, last column cut to the
 * terminal's width (not when stdout is no terminal). */
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
