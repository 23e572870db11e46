/* Python modules from bytes: as literals, as a map's module of either generation, and as
 * build_amd.py. Whatever comes must be values with places, or one located error. */
#include <stdlib.h>

#include "hipify/torch/model/amd.h"
#include "lang/python/literal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct py_value *v, unsigned depth)
{
	volatile char last = v->text.n ? v->text.p[v->text.n - 1] : 0;
	(void)last;
	if (!v->line || !v->col || depth > 1000 || !py_kind_name(v->kind))
		abort();
	if (v->kind == PY_DICT)
		for (size_t i = 0; i < v->n; i++)
			if (v->v[i].n != 2)
				abort();
	/* A name may stand for what is in the list already: only the first item is followed, so
	 * that names of names do not make this exponential. */
	if (v->n)
		look_at(&v->v[0], depth + 1);
}

static void check_error(struct err *e)
{
	if (e && (e->code != E_TORCH || (e->path && (!e->line || !e->col))))
		abort();
	err_free(e);
}

static void look_at_module(struct arena *a, struct str text)
{
	struct py_module m;
	struct err *e = py_read(a, text, S("fuzz.py"), &m);
	VEC_EACH (struct py_statement, s, &m.statements) {
		const struct py_value *v = NULL;
		struct err *bad = e || !s->target.n ? NULL : py_get(a, &m, s->target, &v);
		if (v)
			look_at(v, 0);
		check_error(bad);
	}
	check_error(e);
}

static void look_at_tables(struct arena *a, struct str text, enum torch_generation g)
{
	struct torch_tables t;
	struct torch_source s = {
		.generation = g,
		.mappings = {.path = S("fuzz.py"), .text = text},
		.constants = {.path = S("constants.py"),
			.text = S("API_PYTORCH = 1\nAPI_CAFFE2 = 2\nAPI_SPECIAL = 3\n")},
	};
	struct err *e = torch_tables_read(a, &s, &t);
	if (!e)
		VEC_EACH (struct torch_entry, it, &t.names)
			if (!it->from.n || !it->line)
				abort();
	check_error(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct amd_build b;
	struct str text = {.p = (const char *)data, .n = size};
	struct torch_file f = {.path = S("fuzz.py"), .text = text};
	look_at_module(&a, text);
	look_at_tables(&a, text, TORCH_V1);
	look_at_tables(&a, text, TORCH_V2);
	check_error(amd_build_read(&a, &f, &b));
	return 0;
}
