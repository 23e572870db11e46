/* A source of bytes of which one read fails, and that sees a read behind its end. */
#pragma once

#include "formats/elf.h"
#include "unit/test.h"

struct source {
	struct str bytes;
	size_t reads, fails; /* so far; the one that fails */
};

static inline struct err *read_or_fail(const struct bytes *s, void *p, size_t n, uint64_t at)
{
	struct source *x = s->user;
	if (x->reads++ == x->fails)
		return err_new(E_IO, "the disk is gone");
	assert_true(s->base + at + n <= x->bytes.n);
	memcpy(p, x->bytes.p + s->base + at, n);
	return NULL;
}

static inline struct bytes source_of(struct source *x)
{
	return (struct bytes){.read = read_or_fail, .size = x->bytes.n, .fd = -1, .user = x};
}

/* Is this budget enough for an input of the kind? */
typedef bool enough_fn(const void *kind, struct str bytes, struct budget b);

/* The least work or memory that is, when there is plenty of the other. */
static inline uint64_t least(enough_fn *enough, const void *kind, struct str bytes, bool work)
{
	const uint64_t most = UINT64_C(1) << 40;
	uint64_t low = 0, high = most; /* not enough; enough */
	if (enough(kind, bytes,
		    (struct budget){.work = work ? 0 : most, .memory = work ? most : 0}))
		return 0;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		struct budget b = {.work = work ? middle : most, .memory = work ? most : middle};
		*(enough(kind, bytes, b) ? &high : &low) = middle;
	}
	return high;
}

/* To one part in a hundred. */
static inline bool is_about(uint64_t got, uint64_t want)
{
	return got >= want - want / 100 && got <= want + want / 100;
}
