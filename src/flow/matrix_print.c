/* Prints a matrix for other systems, by the rows of data/matrix.yaml. What stands in braces there is made here; names of cells
 * are plain, and every other value is quoted for a shell. */
#include "flow/matrix.h"

static struct strs formats_of_table(struct arena *a)
{
	struct strs list = {0};
	for (const struct matrix_line *l = matrix_line_table(); l->format; l++)
		strs_put(a, &list, str_from(l->format));
	return list;
}

/* "'a', 'b'": names in YAML, where 3.10 would be a number. */
static struct str cells_of(struct arena *a, const struct matrix *m, size_t from, size_t most)
{
	struct strs names = {0};
	for (size_t i = from; i < m->cells.n && i - from < most; i++)
		strs_add(a, &names, str_fmt(a, "'%.*s'", STR(m->cells.v[i].name)));
	return str_join(a, &names, S(", "));
}

/* The command in a shell, where ids of jobs are variables. */
static struct str sbatch_text(struct arena *a, const struct matrix_array *x)
{
	struct strs words = matrix_sbatch(a, x);
	for (size_t i = 0; i < words.n; i++)
		words.v[i] = str_starts(words.v[i], S("--dependency="))
				     ? str_fmt(a, "\"%.*s\"", STR(words.v[i]))
				     : str_shell(a, words.v[i]);
	return str_join(a, &words, S(" "));
}

static void add_value(struct arena *a, struct strs *values, const char *name, struct str value)
{
	strs_add(a, values, str_fmt(a, "%s=%.*s", name, STR(value)));
}

/* Writes a row once for each of what it is for. */
static void print_line(struct arena *a, const struct matrix *m, const struct matrix_arrays *arrays,
	const struct matrix_line *l, struct buf *out)
{
	bool chunk = str_eq(str_from(l->each), S("chunk")),
	     cell = str_eq(str_from(l->each), S("cell")),
	     array = str_eq(str_from(l->each), S("array"));
	size_t most = chunk ? l->most : 1, n = array           ? arrays->n
					       : chunk || cell ? (m->cells.n + most - 1) / most
							       : 1;
	struct strs all = {0};
	add_value(a, &all, "file", str_shell(a, m->typed));
	add_value(a, &all, "path", str_shell(a, m->file));
	add_value(a, &all, "state", str_shell(a, m->state));
	add_value(a, &all, "expression", S("${{ matrix.cell }}"));
	struct strs chunks = {0};
	for (size_t i = 0; l->most && i * l->most < m->cells.n; i++)
		strs_add(a, &chunks, str_fmt(a, "cells-%zu", i + 1));
	add_value(a, &all, "chunks", str_join(a, &chunks, S(", ")));
	for (size_t i = 0; i < n; i++) {
		struct strs values = {0};
		strs_add_all(a, &values, &all);
		add_value(a, &values, "number", str_fmt(a, "%zu", i + 1));
		if (chunk)
			add_value(a, &values, "cells", cells_of(a, m, i * most, most));
		if (cell)
			add_value(a, &values, "cell", m->cells.v[i].name);
		if (array)
			add_value(a, &values, "command", sbatch_text(a, &arrays->v[i]));
		buf_add(out, str_fill(a, l->text, &values));
	}
}

struct err *matrix_print(struct arena *a, const struct matrix *m,
	const struct matrix_arrays *arrays, struct str format, struct str *ret)
{
	struct strs formats = formats_of_table(a);
	bool shell = str_eq(format, S("shell")) || str_eq(format, S("slurm"));
	BUF(out, a);
	if (!strs_has(&formats, format))
		return err_near(err_new(E_USAGE, "there is no format '%.*s': %.*s", STR(format),
					STR(str_join(a, &formats, S(", ")))),
			format, &formats);
	/* YAML, the CI's own expressions and a shell would each want another quotation */
	if (!shell && (m->typed.p[0] == '-' || !str_eq(str_shell(a, m->typed), m->typed)))
		return err_new(E_USAGE, "the name '%.*s' is not plain enough for a CI's file",
			STR(m->typed));
	for (const struct matrix_line *l = matrix_line_table(); l->format; l++)
		if (str_eq(format, str_from(l->format)))
			print_line(a, m, arrays, l, &out);
	*ret = buf_str(&out);
	return NULL;
}
