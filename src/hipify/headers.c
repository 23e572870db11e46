/* The headers that rocsmith gives, which tools/gen_face.c packed. */
#include <zstd.h>

#include "hipify/hipify.h"

struct err *hipify_face_texts(struct arena *a, struct str *ret)
{
	char *texts = arena_raw(a, hipify_face_size);
	*ret = (struct str){.p = texts, .n = hipify_face_size};
	if (ZSTD_decompress(texts, ret->n, hipify_face_packed.p, hipify_face_packed.n) != ret->n)
		return err_new(E_INTERNAL, "the headers of rocsmith cannot be unpacked");
	return NULL;
}
