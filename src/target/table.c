/* Look-ups in the table of processors, which is made from data/targets.yaml at build time. */
#include <stdlib.h>

#include "target/target.h"

static int cmp_name(const void *key, const void *gpu)
{
	return str_cmp(*(const struct str *)key, str_from(((const struct gpu *)gpu)->name));
}

const struct gpu *gpu_by_name(struct str name)
{
	return bsearch(&name, gpu_table, gpu_count, sizeof(*gpu_table), cmp_name);
}

const struct gpu *gpu_by_mach(unsigned mach)
{
	for (size_t i = 0; i < gpu_count; i++)
		if (gpu_table[i].mach == mach)
			return &gpu_table[i];
	return NULL;
}
