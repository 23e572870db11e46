/* A matrix file from bytes: an error, or cells whose names are plain and unique. */
#include <stdlib.h>

#include "base/map.h"
#include "flow/matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct matrix_option options[] = {{"gpu", MATRIX_LIST},
		{"python", MATRIX_TEXT}, {"with", MATRIX_LIST}, {"torch-as-rocm", MATRIX_FLAG},
		{.name = NULL}};
	ARENA(a);
	MAP(names, &a);
	struct matrix m;
	const struct matrix_source s = {.path = S("m.yaml"), .options = options};
	struct str text = size ? (struct str){.p = (const char *)data, .n = size} : S("");
	CLEANUP(err_freep) struct err *e = matrix_parse(&a, &s, text, &m);
	if (e && e->code == E_INTERNAL)
		abort();
	for (size_t i = 0; !e && i < m.cells.n; i++) {
		struct str name = m.cells.v[i].name;
		if (!name.n || name.p[0] == '.' || name.p[0] == '-' || !map_put(&names, name, &m))
			abort();
		for (size_t k = 0; k < name.n; k++)
			if (!ascii_alnum(name.p[k]) && str_chr(S("._+-"), name.p[k]) == 4)
				abort();
	}
	return 0;
}
