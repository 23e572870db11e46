/* Offload bundles of a few entries, raw and compressed, and decoding them. */
#pragma once

#include "unit/fixture_elf.h"
#include "unit/fixture_said.h"

#include "formats/bundle.h"

#define HOST "host-x86_64-unknown-linux-gnu-"
#define ID(target) "hipv4-amdgcn-amd-amdhsa--" target

static inline struct str sample(struct arena *a)
{
	const struct fx_entry v[] = {
		{.id = HOST},
		{.id = ID("gfx1100"), .bytes = S("first object")},
		{.id = ID("gfx90a:sramecc+:xnack-"), .bytes = S("second, CCOB inside")},
	};
	return fx_bundle(a, v, 3, 4096);
}

static inline void check_sample(const struct bundle *b)
{
	assert_int_equal(b->entries.n, 3);
	assert_str(b->entries.v[0].target, "");
	assert_str(b->entries.v[0].id, HOST);
	assert_str(b->entries.v[1].target, "gfx1100");
	assert_int_equal(b->entries.v[1].size, 12);
	assert_int_equal(b->entries.v[1].offset, 4096);
	assert_str(b->entries.v[2].target, "gfx90a:sramecc+:xnack-");
	assert_int_equal(b->entries.v[2].offset, 8192);
}

struct collect {
	struct buf bytes;
	uint64_t stop_at;
};

static inline struct err *take(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	struct collect *c = user;
	assert_int_equal(at, c->bytes.n);
	buf_add(&c->bytes, (struct str){.p = p, .n = n});
	*stop = c->stop_at && c->bytes.n >= c->stop_at;
	return NULL;
}

static inline void check_decodes_to(
	const struct bytes *src, const struct bundle *b, struct str want)
{
	ARENA(a);
	struct collect c = {.bytes = {.a = &a}};
	assert_ok(bundle_decode(src, b, take, &c));
	assert_int_equal(c.bytes.n, want.n);
	assert_memory_equal(c.bytes.p, want.p, want.n);
}

/* Bytes that do not compress, so that frames have several blocks. */
static inline struct str noise(struct arena *a, size_t n)
{
	char *p = arena_alloc(a, n);
	uint32_t x = 12345;
	for (size_t i = 0; i < n; i++) {
		x = x * 1664525 + 1013904223;
		p[i] = (char)(x >> 24);
	}
	memcpy(p + n / 2, "CCOB\2\0\1\0", 8);
	return (struct str){.p = p, .n = n};
}

static inline struct str big_sample(struct arena *a)
{
	const struct fx_entry v[] = {
		{.id = HOST},
		{.id = ID("gfx1030"), .bytes = noise(a, 300000)},
		{.id = ID("gfx1201"), .bytes = noise(a, 200000)},
	};
	return fx_bundle(a, v, 3, 4096);
}

static inline struct err *open_changed(
	struct arena *a, struct str file, size_t at, uint64_t value, unsigned bytes)
{
	char *p = str_z(a, file);
	put_le(p + at, value, bytes);
	struct bytes src = bytes_mem((struct str){.p = p, .n = file.n});
	struct bundle b;
	return bundle_open(a, &src, 0, file.n, &b);
}
