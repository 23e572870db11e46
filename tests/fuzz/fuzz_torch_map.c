/* A map of names that a stranger's project brings, a NUL, and a source: an error, or an engine that has the pairs, and translates the
 * source to the same text with and without a trace. */
#include <stdlib.h>

#include "hipify/torch/text/text.h"
#include "lang/python/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static struct err *include(void *user, enum torch_form form, struct str path, struct str *ret)
{
	(void)user;
	(void)form;
	(void)path;
	*ret = S("");
	return NULL;
}

static void translate(struct arena *a, const struct torch_tables *t, struct str source)
{
	const struct torch_engine *engine = torch_engine_new(a, t);
	struct torch_job job = {.path = S("/p/a.cu"), .include = include, .launches = true};
	struct hipify_text plain, traced;
	struct err *e = torch_text(a, engine, &job, source, &plain);
	job.trace = true;
	struct err *f = torch_text(a, engine, &job, source, &traced);
	check(!e == !f && (e || str_eq(plain.text, traced.text)));
	err_free(e);
	err_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct torch_tables t = {.generation = size % 2 ? TORCH_V1 : TORCH_V2};
	struct str map, bytes, source, all = {.p = (const char *)data, .n = size};
	(void)str_cut(all, 0, &map, &bytes);
	struct err *e =
		torch_tables_add(&a, str_starts(map, S("{")) ? S("m.json") : S("m.yaml"), map, &t);
	check(!e || e->code != E_INTERNAL);
	VEC_EACH (const struct torch_entry, it, &t.names)
		check(it->from.n > 0);
	if (!e)
		e = py_decode(&a, bytes, &source);
	if (!e)
		translate(&a, &t, source);
	err_free(e);
	return 0;
}
