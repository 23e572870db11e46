/* Prints a matrix for other systems, by the rows of data/matrix.yaml. Names of cells are plain; every other value is quoted for a
 * shell. */
#include "flow/matrix.h"

static void add_value(struct arena *a, const char *name, struct str value, struct strs *values)
{
	strs_fmt(a, values, "%s=%.*s", name, STR(value));
}

/* Writes a row once, or once for each of what it is for. */
static void print_line(struct arena *a, const struct matrix *m, const struct matrix_arrays *arrays,
	const struct matrix_line *l, struct buf *out)
{
	/* a name is looked for in no index: whoever registers it there would run in everybody's CI */
	const struct str install =
		S("command -v rocsmith || pip install --no-index --no-deps "
		  "\"${ROCSMITH_WHEEL:?names no wheel of rocsmith (URL#sha256=HASH)}\"");
	struct str each = str_from(l->each);
	bool chunk = str_eq(each, S("chunk")), array = str_eq(each, S("array"));
	size_t step = chunk ? l->most : 1, end = array ? arrays->n : each.n ? m->cells.n : 1;
	struct strs chunks = {0};
	for (size_t i = 0; l->most && i < m->cells.n; i += l->most)
		strs_fmt(a, &chunks, "cells-%zu", i / l->most + 1);
	for (size_t i = 0; i < end; i += step) {
		struct strs values = {0}, cells = {0}, words = {0};
		for (size_t k = i; chunk && k < m->cells.n && k - i < step;
			k++) /* 3.10 is no number */
			strs_fmt(a, &cells, "'%.*s'", STR(m->cells.v[k].name));
		if (array)
			words = matrix_sbatch(a, &arrays->v[i]);
		VEC_EACH (struct str, w, &words) /* ids of jobs are variables */
			*w = str_starts(*w, S("--dependency=")) ? str_fmt(a, "\"%.*s\"", STR(*w))
								: str_shell(a, *w);
		add_value(a, "file", str_shell(a, m->typed), &values);
		add_value(a, "path", str_shell(a, m->file), &values);
		add_value(a, "state", str_shell(a, m->state), &values);
		add_value(a, "expression", S("${{ matrix.cell }}"), &values);
		add_value(a, "wheel", S("${{ vars.ROCSMITH_WHEEL }}"), &values);
		add_value(a, "install", install, &values);
		add_value(a, "number", str_fmt(a, "%zu", i / step + 1), &values);
		add_value(a, "chunks", str_join(a, &chunks, S(", ")), &values);
		add_value(a, "cells", str_join(a, &cells, S(", ")), &values);
		add_value(a, "cell", array || !each.n ? S("") : m->cells.v[i].name, &values);
		add_value(a, "command", str_join(a, &words, S(" ")), &values);
		buf_add(out, str_fill(a, l->text, &values));
	}
}

struct err *matrix_print(struct arena *a, const struct matrix *m,
	const struct matrix_arrays *arrays, struct str format, struct str *ret)
{
	bool shell = str_eq(format, S("shell")) || str_eq(format, S("slurm"));
	struct strs formats = {0};
	BUF(out, a);
	TABLE_EACH (matrix_line, l) {
		strs_put(a, &formats, str_from(l->format));
		if (str_eq(format, str_from(l->format)))
			print_line(a, m, arrays, l, &out);
	}
	if (!strs_has(&formats, format))
		return err_near(err_new(E_USAGE, "there is no format '%.*s': %.*s", STR(format),
					STR(str_join(a, &formats, S(", ")))),
			format, &formats);
	/* YAML, the CI's own expressions and a shell would each want another quotation */
	if (!shell && (m->typed.p[0] == '-' || !str_eq(str_shell(a, m->typed), m->typed)))
		return err_new(E_USAGE, "the name '%.*s' is not plain enough for a CI's file",
			STR(m->typed));
	*ret = buf_str(&out);
	return NULL;
}
