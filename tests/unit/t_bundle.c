/* Offload bundles: the tables of raw ones, hostile tables, ids, walking sections. */
#include "unit/fixture_bundle.h"

static void reads_a_raw_bundle(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = sample(&a);
	struct bytes src = bytes_mem(raw);
	struct bundle b;
	assert_ok(bundle_open(&a, &src, 0, raw.n, &b));
	check_sample(&b);
	assert_int_equal(b.encoding, BUNDLE_RAW);
	assert_int_equal(b.size, raw.n);
	assert_int_equal(b.stored, raw.n);
}

struct walked {
	struct arena *a;
	struct buf text;
};

static struct err *note_bundle(void *user, const struct bundle *b)
{
	struct walked *w = user;
	buf_fmt(&w->text, "%d@%llu+%llu ", (int)b->encoding, (unsigned long long)b->offset,
		(unsigned long long)b->stored);
	return NULL;
}

/* Version 1 does not tell its length, and the payload holds the magic bytes: both are put in front
 * of another bundle. */
static void finds_the_end_of_version_1(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = big_sample(&a), last = sample(&a);
	for (int zstd = 0; zstd <= 1; zstd++) {
		struct str first = fx_ccob(&a, raw, 1, zstd);
		assert_true(str_find(str_sub(first, 4, first.n), S("CCOB")) < first.n - 4 || !zstd);
		BUF(file, &a);
		buf_add(&file, first);
		fx_pad(&file, (file.n + 4095) / 4096 * 4096);
		size_t second = file.n;
		buf_add(&file, last);
		struct bytes src = bytes_mem(buf_str(&file));
		struct walked w = {.a = &a, .text = {.a = &a}};
		uint64_t stop = 0;
		assert_ok(bundle_walk(&src, &stop, src.size, note_bundle, &w));
		assert_int_equal(stop, src.size);
		struct str want = str_fmt(&a, "1@0+%zu 0@%zu+%zu ", first.n, second, last.n);
		assert_str(buf_str(&w.text), want.p);
	}
}

/* No prefix of a bundle reads beyond its end (ASan) or is taken for the whole. */
static void refuses_bundles_cut_off_anywhere(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = sample(&a);
	for (unsigned kind = 0; kind < 7; kind++) {
		struct str file = kind ? fx_ccob(&a, raw, (kind + 1) / 2, kind % 2) : raw;
		for (size_t n = 0; n < file.n; n++) {
			ARENA(tmp);
			char *exact = xmalloc(n);
			if (n)
				memcpy(exact, file.p, n);
			struct bytes src = bytes_mem((struct str){.p = exact, .n = n});
			struct bundle b;
			struct err *e = bundle_open(&tmp, &src, 0, n, &b);
			if (!e && kind)
				e = bundle_decode(
					&src, &b, take, &(struct collect){.bytes = {.a = &tmp}});
			assert_non_null(e);
			assert_true(e->code == E_BUNDLE || e->code == E_ELF);
			err_free(e);
			free(exact);
		}
	}
}

static void refuses_hostile_tables(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = sample(&a);
	size_t second = 32 + 24 + strlen(HOST), third = second + 24 + strlen(ID("gfx1100"));
	assert_ok(open_changed(&a, raw, second, 4096, 8));
	assert_err_says(open_changed(&a, raw, 24, 5000, 8), E_LIMIT, "5000 entries");
	assert_err_says(open_changed(&a, raw, 24, UINT64_MAX, 8), E_LIMIT, "entries");
	assert_err_says(open_changed(&a, raw, 24, 4096, 8), E_LIMIT, "an id of");
	assert_err_says(open_changed(&a, raw, second + 16, 257, 8), E_LIMIT, "an id of 257 bytes");
	assert_err_says(open_changed(&a, raw, third, 4100, 8), E_BUNDLE, "over the one before");
	assert_err_says(open_changed(&a, raw, second, 8, 8), E_BUNDLE, "over the one before");
	assert_err_says(open_changed(&a, raw, second, UINT64_MAX, 8), E_BUNDLE, "not inside");
	assert_err_says(open_changed(&a, raw, second + 8, UINT64_MAX, 8), E_BUNDLE, "not inside");
	/* An empty entry may point anywhere: nothing is read from there. */
	assert_ok(open_changed(&a, raw, 32, UINT64_MAX, 8));
}

static void a_table_may_be_longer_than_the_first_read(void **state)
{
	(void)state;
	ARENA(a);
	enum { N = 300 };
	struct fx_entry v[N];
	for (unsigned i = 0; i < N; i++) {
		struct str id = str_fmt(&a, ID("gfx%u"), 10000 + i);
		v[i] = (struct fx_entry){.id = id.p, .bytes = S("x")};
	}
	struct str raw = fx_bundle(&a, v, N, 16);
	const struct str files[] = {raw, fx_ccob(&a, raw, 3, true), fx_ccob(&a, raw, 3, false)};
	for (size_t i = 0; i < 3; i++) {
		struct bytes src = bytes_mem(files[i]);
		struct bundle b;
		assert_ok(bundle_open(&a, &src, 0, src.size, &b));
		assert_int_equal(b.entries.n, N);
		assert_str(b.entries.v[N - 1].target, "gfx10299");
	}
}

static void knows_the_spellings_of_ids(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *id, *target;
	} ids[] = {
		{.id = "host-x86_64-unknown-linux--", .target = ""},
		{.id = "host-x86_64-unknown-linux", .target = ""},
		{.id = "hip-amdgcn-amd-amdhsa--gfx803", .target = "gfx803"},
		{.id = "hip-amdgcn-amd-amdhsa-gfx906", .target = "gfx906"},
		{.id = "hipv4-amdgcn-amd-amdhsa--gfx11-generic", .target = "gfx11-generic"},
		{.id = "hip-amdgcn-amd-amdhsa-unknown-gfx9-4-generic", .target = "gfx9-4-generic"},
		{.id = "hip-spirv64-amd-amdhsa-unknown-amdgcnspirv", .target = "amdgcnspirv"},
		{.id = "hipv4-amdgcn-amd-amdhsa-unknown-gfx90a:xnack-", .target = "gfx90a:xnack-"},
		{.id = "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc-:xnack+",
			.target = "gfx942:sramecc-:xnack+"},
		{.id = "hipv4-spirv64-amd-amdhsa--amdgcnspirv", .target = "amdgcnspirv"},
		{.id = "openmp-amdgcn-amd-amdhsa--gfx90a", .target = "gfx90a"},
		{.id = "gfx90a", .target = "gfx90a"},
		{.id = "", .target = ""},
	};
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		const struct fx_entry v = {.id = ids[i].id, .bytes = S("x")};
		struct str raw = fx_bundle(&a, &v, 1, 8);
		struct bytes src = bytes_mem(raw);
		struct bundle b;
		assert_ok(bundle_open(&a, &src, 0, raw.n, &b));
		assert_str(b.entries.v[0].target, ids[i].target);
	}
}

static void walks_over_padding_only(void **state)
{
	(void)state;
	ARENA(a);
	BUF(file, &a);
	struct str raw = sample(&a);
	buf_add(&file, raw);
	buf_add(&file, fx_ccob(&a, raw, 2, true)); /* no padding at all */
	fx_pad(&file, file.n + 5000);              /* not where a page begins */
	size_t third = file.n, ccob = third - 5000 - raw.n;
	buf_add(&file, raw);
	fx_pad(&file, file.n + 100);
	size_t tail = file.n;
	buf_add(&file, S("something else"));
	struct bytes src = bytes_mem(buf_str(&file));
	struct walked w = {.a = &a, .text = {.a = &a}};
	uint64_t stop = 0;
	assert_ok(bundle_walk(&src, &stop, src.size, note_bundle, &w));
	struct str want =
		str_fmt(&a, "0@0+%zu 2@%zu+%zu 0@%zu+%zu ", raw.n, raw.n, ccob, third, raw.n);
	assert_str(buf_str(&w.text), want.p);
	assert_int_equal(stop, tail);
	assert_ok(bundle_walk(&src, &stop, src.size, note_bundle, &w));
	assert_int_equal(stop, tail);
}

/* Zeros but for a table that tells of one entry. */
static struct err *read_large(const struct bytes *s, void *p, size_t n, uint64_t at)
{
	const struct str *table = s->user;
	memset(p, 0, n);
	if (at < table->n)
		memcpy(p, table->p + at, n < table->n - at ? n : (size_t)(table->n - at));
	return NULL;
}

static void a_bundle_is_of_16_gib_at_most(void **state)
{
	(void)state;
	ARENA(a);
	const uint64_t most = UINT64_C(16) << 30;
	static const struct fx_entry v = {.id = ID("gfx1100"), .bytes = S_INIT("x")};
	struct str table = fx_bundle(&a, &v, 1, 64);
	struct bytes src = {.read = read_large, .size = 4 * most, .user = &table};
	struct bundle b;
	put_le((char *)(uintptr_t)table.p + 32, most - 1, 8);
	assert_ok(bundle_open(&a, &src, 0, UINT64_MAX, &b));
	assert_true(b.size == most);
	put_le((char *)(uintptr_t)table.p + 32, most, 8);
	assert_err_says(bundle_open(&a, &src, 0, UINT64_MAX, &b), E_BUNDLE, "not inside");
}

static struct err *refuse(void *user, const struct bundle *b)
{
	(void)b;
	++*(int *)user;
	return err_new(E_CANCELLED, "enough");
}

static void a_walk_ends_where_the_source_does_or_its_user_says(void **state)
{
	(void)state;
	ARENA(a);
	BUF(file, &a);
	int calls = 0;
	buf_add(&file, sample(&a));
	size_t first = file.n;
	buf_add(&file, S("x"));
	struct bytes src = bytes_mem(buf_str(&file));
	struct walked w = {.a = &a, .text = {.a = &a}};
	uint64_t stop = 0;
	assert_ok(bundle_walk(&src, &stop, UINT64_MAX, note_bundle, &w));
	assert_int_equal(stop, first);
	stop = 0;
	assert_err(bundle_walk(&src, &stop, src.size, refuse, &calls), E_CANCELLED);
	assert_true(stop == 0 && calls == 1);
	/* What is cut off by the end is no bundle any more, and an error */
	assert_err_says(bundle_walk(&src, &stop, first - 1, note_bundle, &w), E_BUNDLE,
		"cannot read the bundle at offset 0");
	/* Of less than a magic's bytes nothing can be told. */
	stop = 0;
	assert_ok(bundle_walk(&src, &stop, BUNDLE_MAGIC - 1, note_bundle, &w));
	assert_int_equal(stop, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_raw_bundle),
		cmocka_unit_test(finds_the_end_of_version_1),
		cmocka_unit_test(refuses_bundles_cut_off_anywhere),
		cmocka_unit_test(refuses_hostile_tables),
		cmocka_unit_test(a_table_may_be_longer_than_the_first_read),
		cmocka_unit_test(knows_the_spellings_of_ids),
		cmocka_unit_test(walks_over_padding_only),
		cmocka_unit_test(a_bundle_is_of_16_gib_at_most),
		cmocka_unit_test(a_walk_ends_where_the_source_does_or_its_user_says),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("bundle");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
