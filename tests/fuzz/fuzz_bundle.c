/* Offload bundles, raw and compressed: walking, opening at odd places, decoding. What a table says
 * must be inside the bundle, and decoding gives exactly what the header promises, or fails. */
#include <stdlib.h>

#include "devcode/devcode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

struct progress_of {
	const struct bytes *src;
	uint64_t at, end;
};

static struct err *piece(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	enum { ENOUGH = 4 << 20 }; /* an honest bomb would only take time */
	uint64_t *next = user;
	check(p && n && at == *next);
	*next += n;
	*stop = *next > ENOUGH;
	return NULL;
}

static void check_bundle(const struct bytes *src, const struct bundle *b)
{
	uint64_t next = 0;
	check(b->offset <= src->size && b->stored <= src->size - b->offset);
	VEC_EACH (struct bundle_entry, e, &b->entries)
		check(!e->size || (e->offset <= b->size && e->size <= b->size - e->offset));
	struct err *e = bundle_decode(src, b, piece, &next);
	check(e || next == b->size || next > 1 << 20);
	err_free(e);
}

static struct err *walked(void *user, const struct bundle *b)
{
	struct progress_of *p = user;
	check(b->offset >= p->at);
	p->at = b->offset + b->stored;
	check(p->at <= p->end);
	check_bundle(p->src, b);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct bytes src = bytes_mem((struct str){.p = (const char *)data, .n = size});
	struct budget budget;
	budget_set(&budget, size);
	src.budget = &budget;
	struct progress_of p = {.src = &src, .end = size};
	uint64_t at = 0;
	struct err *e = bundle_walk(&src, &at, size, walked, &p);
	check(at <= size);
	err_free(e);
	for (uint64_t offset = 1; offset < 9; offset++) {
		struct bundle b;
		e = bundle_open(&a, &src, offset, size, &b);
		if (!e)
			check_bundle(&src, &b);
		err_free(e);
	}
	struct devcode d = {0};
	err_free(devcode_scan_src(&a, &src, S("input"), DEVCODE_KERNELS, &d));
	return 0;
}
