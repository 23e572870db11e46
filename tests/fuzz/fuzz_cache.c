/* Entries of the cache of objects, which others may have written: what is accepted lies within the file. */
#include <stdlib.h>

#include "cache/cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str file = {(const char *)data, size};
	struct digest key = hash_bytes(HASH_SHA256, "key", 3);
	struct cache_entry e;
	if (cache_entry_read(S(""), &key, file, &e) &&
		(e.said.p < file.p || e.object.p + e.object.n != file.p + file.n))
		abort();
	if (cache_entry_read(S("a secret of more than thirty-two bytes"), &key, file, &e) &&
		!e.object.p)
		abort();
	return 0;
}
