/* A recipe's file from bytes: a recipe, or one located error. */
#include <stdlib.h>

#include "base/fs.h"
#include "recipe/recipe_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct recipe r;
	struct str text = {.p = (const char *)data, .n = size};
	CLEANUP(err_freep) struct err *e = recipe_parse(&a, text, S("r.yaml"), &r);
	if (e && ((e->code != E_SYNTAX && e->code != E_LIMIT) || !e->path || !e->line))
		abort();
	if (!e)
		VEC_EACH (const struct str, f, &r.files)
			if (!path_is_inside(*f))
				abort();
	return 0;
}
