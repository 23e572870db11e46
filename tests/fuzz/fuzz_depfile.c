/* Dependency files, which a killed compiler may leave torn: formats/depfile.h. */
#include "base/vec.h"
#include "formats/depfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct strs list;
	depfile_parse(&a, (struct str){.p = (const char *)data, .n = size}, &list);
	VEC_EACH (struct str, s, &list)
		if (!s->n || s->n > size)
			__builtin_trap();
	return 0;
}
