/* A source of bytes of which one read fails, and that sees a read behind its end. */
#pragma once

#include "formats/elf.h"
#include "unit/test.h"

struct source {
	struct str bytes;
	size_t reads, fails; /* so far; the one that fails */
};

static inline struct err *read_or_fail(const struct elf_src *s, void *p, size_t n, uint64_t at)
{
	struct source *x = s->user;
	if (x->reads++ == x->fails)
		return err_new(E_IO, "the disk is gone");
	assert_true(s->base + at + n <= x->bytes.n);
	memcpy(p, x->bytes.p + s->base + at, n);
	return NULL;
}

static inline struct elf_src source_of(struct source *x)
{
	return (struct elf_src){.read = read_or_fail, .size = x->bytes.n, .fd = -1, .user = x};
}
