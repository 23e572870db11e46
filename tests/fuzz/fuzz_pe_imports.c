/* Import tables of Windows images: names that end, or an error. */
#include <stdlib.h>

#include "formats/pe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct bytes src = bytes_mem((struct str){.p = (const char *)data, .n = size});
	struct budget budget;
	struct strs names;
	budget_set(&budget, size);
	src.budget = &budget;
	struct err *e = pe_imports(&a, &src, &names);
	VEC_EACH (const struct str, name, &names)
		if (!name->n || name->n > 255 || name->p[name->n])
			abort();
	err_free(e);
	return 0;
}
