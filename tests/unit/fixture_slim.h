/* Files with code for some GPUs, made smaller. */
#pragma once

#include "slim/slim.h"
#include "unit/fixture_fat.h"

static inline struct targets wanted(struct arena *a, const char *words)
{
	struct targets t = {0};
	struct strs list = str_split(a, str_from(words), ' ');
	assert_ok(targets_parse(a, &list, &t));
	return t;
}

static inline struct slim_keep keep(struct arena *a, const char *words)
{
	struct targets t = wanted(a, words);
	return (struct slim_keep){.v = t.v, .n = t.n};
}

static inline struct err *slim(struct arena *a, struct str dir, struct str file,
	struct slim_keep *k, struct str *ret, struct slim_plan *ret_plan)
{
	struct str out = path_join(a, dir, S("out"));
	struct bytes *src = NEW(a, struct bytes);
	CLEANUP(fs_out_abandon) struct fs_out o = {.fd = -1, .dir = -1};
	*src = bytes_mem(file);
	TRY(slim_read(a, src, k, ret_plan));
	TRY(fs_out_open(&o, out, 0644));
	TRY(slim_write(ret_plan, &o));
	TRY(fs_out_commit(&o));
	return fs_read(a, out, 1 << 26, ret);
}

static inline struct err *gather(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	(void)stop;
	(void)at;
	buf_add(user, (struct str){p, n});
	return NULL;
}

/* A bundle has the entries for these targets, with the letters that they had. */
static inline void bundle_has(
	struct arena *a, struct str image, uint64_t at, unsigned number, const char *targets)
{
	static const char *const all[] = {"gfx90a:xnack-", "gfx1100", "gfx11-generic", "gfx1201"};
	struct bytes src = bytes_mem(image);
	struct strs want = str_split(a, str_from(targets), ' ');
	struct bundle b;
	BUF(bytes, a);
	assert_ok(bundle_open(a, &src, at, image.n, &b));
	assert_ok(bundle_decode(&src, &b, gather, &bytes));
	if (b.encoding != BUNDLE_RAW) {
		struct digest md5 = hash_bytes(HASH_MD5, bytes.p, bytes.n);
		assert_int_equal(le64(md5.b), b.hash);
	}
	assert_int_equal(b.entries.n, want.n + 1);
	assert_str(b.entries.v[0].id, FX_HOST);
	for (size_t i = 0; i < want.n; i++) {
		const struct bundle_entry *e = &b.entries.v[i + 1];
		unsigned t = 0;
		while (!str_eq(want.v[i], str_from(all[t])))
			t++;
		assert_str(e->target, all[t]);
		assert_int_equal(e->offset % 4096, 0);
		assert_true(str_eq(fx_letters(a, number, t),
			str_sub(buf_str(&bytes), e->offset, e->offset + e->size)));
	}
}

/* Loaded, every wrapper is where it was and leads to its bundle, and so is what was behind the bundles. */
static inline void works(
	struct arena *a, const struct fx_built *old, struct str now, const char *targets)
{
	struct str image = fx_load(a, now);
	for (unsigned i = 0; i < FX_BUNDLES; i++) {
		uint64_t w = old->wrappers + i * 24;
		assert_int_equal(fx_get(image, w, 4), 0x48495046);
		bundle_has(a, image, fx_get(image, w + 8, 8), i, targets);
	}
	if (old->tail)
		assert_str(str_sub(image, old->tail, old->tail + 26), "what is behind the bundles");
}
