/* PE images, COFF objects, static archives and AOTriton stores: the tables, and the whole scan. What is found lies
 * inside of the input. */
#include <stdlib.h>

#include "devcode/devcode.h"
#include "formats/pe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct bytes src = bytes_mem((struct str){.p = (const char *)data, .n = size});
	struct budget budget;
	struct devcode d = {0};
	struct pe pe;
	budget_set(&budget, size);
	src.budget = &budget;
	struct err *e = pe_open(&a, &src, &pe);
	VEC_EACH (struct pe_section, s, &pe.sections)
		check(e || !s->size || (s->offset <= size && s->size <= size - s->offset));
	err_free(e);
	err_free(devcode_scan_src(
		&a, &src, S("input"), DEVCODE_KERNELS | DEVCODE_HASH | DEVCODE_INNER, &d));
	VEC_EACH (struct devcode_file, f, &d.files)
		VEC_EACH (struct code_object, o, &f->objects)
			check(o->place.bundle <= size && o->place.length <= size - o->place.bundle);
	devcode_finish(&a, &d);
	return 0;
}
