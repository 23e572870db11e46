/* Compressed offload bundles: their headers, their frames, decoding them and what it costs. */
#include "unit/fixture_bundle.h"

static void reads_compressed_bundles_of_all_versions(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = sample(&a);
	struct digest md5 = hash_bytes(HASH_MD5, raw.p, raw.n);
	for (unsigned version = 1; version <= 3; version++) {
		for (int zstd = 0; zstd <= 1; zstd++) {
			struct str ccob = fx_ccob(&a, raw, version, zstd);
			struct bytes src = bytes_mem(ccob);
			struct bundle b;
			assert_ok(bundle_open(&a, &src, 0, ccob.n, &b));
			check_sample(&b);
			assert_int_equal(b.encoding, BUNDLE_RAW + version);
			assert_int_equal(b.zstd, zstd);
			assert_int_equal(b.stored, ccob.n);
			assert_int_equal(b.size, raw.n);
			assert_int_equal(b.hash, le64((const char *)md5.b));
			check_decodes_to(&src, &b, raw);
		}
	}
}

static void checks_the_checksum_of_a_frame_away(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = sample(&a);
	ZSTD_CCtx *z = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	char frame[8192];
	size_t n = ZSTD_compress2(z, frame, sizeof(frame), raw.p, raw.n);
	ZSTD_freeCCtx(z);
	BUF(file, &a);
	buf_add(&file, S("CCOB"));
	fx_le(&file, 1, 2);
	fx_le(&file, 1, 2);
	fx_le(&file, raw.n, 4);
	fx_le(&file, 0, 8);
	buf_add(&file, (struct str){.p = frame, .n = n});
	buf_add(&file, S("behind"));
	struct bytes src = bytes_mem(buf_str(&file));
	struct bundle b;
	assert_ok(bundle_open(&a, &src, 0, src.size, &b));
	assert_int_equal(b.stored, 20 + n);
	check_decodes_to(&src, &b, raw);
}

static void stops_decoding_when_told(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = big_sample(&a);
	const struct str files[] = {raw, fx_ccob(&a, raw, 3, true), fx_ccob(&a, raw, 2, false)};
	for (size_t i = 0; i < 3; i++) {
		struct bytes src = bytes_mem(files[i]);
		struct bundle b;
		struct collect c = {.bytes = {.a = &a}, .stop_at = 1000};
		assert_ok(bundle_open(&a, &src, 0, src.size, &b));
		assert_ok(bundle_decode(&src, &b, take, &c));
		assert_in_range(c.bytes.n, 1000, raw.n - 1);
		assert_memory_equal(c.bytes.p, raw.p, c.bytes.n);
	}
}

static void refuses_hostile_compressed_headers(void **state)
{
	(void)state;
	test_sees_err = NULL; /* sizes hang on the compressor */
	ARENA(a);
	struct str v3 = fx_ccob(&a, sample(&a), 3, true), v1 = fx_ccob(&a, sample(&a), 1, true);
	struct str z2 = fx_ccob(&a, sample(&a), 2, false);
	assert_err_says(open_changed(&a, v3, 4, 4, 2), E_BUNDLE, "unknown version 4");
	assert_err_says(open_changed(&a, v3, 4, 0, 2), E_BUNDLE, "unknown version 0");
	assert_err_says(open_changed(&a, v3, 6, 2, 2), E_BUNDLE, "unknown method 2");
	assert_err_says(open_changed(&a, v3, 8, v3.n + 1, 8), E_BUNDLE, "are left");
	assert_err_says(open_changed(&a, v3, 8, 31, 8), E_BUNDLE, "are left");
	assert_err_says(open_changed(&a, v3, 16, UINT64_MAX, 8), E_LIMIT, "at most 17179869184");
	assert_err_says(open_changed(&a, v3, 16, UINT64_C(16) << 30, 8), E_BUNDLE, "cannot give");
	assert_err_says(open_changed(&a, z2, 12, 0x7fffffff, 4), E_BUNDLE, "cannot give");
	assert_err_says(open_changed(&a, v3, 16, 8200, 8), E_BUNDLE, "larger than the 8200");
	assert_err_says(open_changed(&a, v3, 32, 0, 4), E_BUNDLE, "no zstd frame");
	assert_err_says(open_changed(&a, z2, 24, 0, 2), E_BUNDLE, "zlib");
	assert_err_says(open_changed(&a, v1, 20 + 4, 0xff, 1), E_BUNDLE, "");
	test_sees_err = said_err;
}

static struct err *count_bytes(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	(void)p, (void)at, (void)stop;
	*(uint64_t *)user += n;
	return NULL;
}

/* A wrong size within the header's own limits is found by decoding. */
static void decoding_checks_the_size(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = sample(&a);
	for (int zstd = 0; zstd <= 1; zstd++) {
		for (int delta = -1; delta <= 1; delta += 2) {
			struct str file = fx_ccob(&a, raw, 3, zstd);
			struct bytes src = bytes_mem(file);
			struct bundle b;
			uint64_t n = 0;
			assert_ok(bundle_open(&a, &src, 0, file.n, &b));
			b.size += (uint64_t)delta;
			assert_err(bundle_decode(&src, &b, count_bytes, &n), E_BUNDLE);
		}
	}
}

/* ---- what it costs ---- */

/* A zstd window is the whole content; the table is read without it, and zlib has none of such a size. */
static void only_decoding_zstd_takes_memory(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = big_sample(&a);
	for (int zstd = 0; zstd <= 1; zstd++) {
		struct str file = fx_ccob(&a, raw, 3, zstd);
		struct bytes src = bytes_mem(file);
		struct budget budget = {.work = 1 << 30};
		struct bundle b;
		uint64_t n = 0;
		src.budget = &budget;
		assert_ok(bundle_open(&a, &src, 0, file.n, &b));
		budget.memory = zstd ? raw.n : 0;
		assert_ok(bundle_decode(&src, &b, count_bytes, &n));
		assert_int_equal(n, raw.n);
		assert_int_equal(budget.memory, zstd ? raw.n : 0); /* it came back */
		if (!zstd)
			continue;
		budget.memory = raw.n - 1;
		assert_err(bundle_decode(&src, &b, count_bytes, &n), E_LIMIT);
		assert_int_equal(budget.memory, raw.n - 1);
	}
}

/* Starting a decoder costs as much as 64 KiB, the header of a frame one small read, and its window an eighth; then what goes in
 * and what comes out counts. */
static void decoding_is_paid_for(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = sample(&a);
	for (int zstd = 0; zstd <= 1; zstd++) {
		struct str file = fx_ccob(&a, raw, 3, zstd);
		struct bytes src = bytes_mem(file);
		struct budget budget = {.work = 1 << 20, .memory = 1 << 20};
		struct bundle b;
		uint64_t n = 0, read = 256;
		assert_ok(bundle_open(&a, &src, 0, file.n, &b));
		src.budget = &budget;
		assert_ok(bundle_decode(&src, &b, count_bytes, &n));
		uint64_t cost = (64 << 10) + raw.n + file.n - b.header + read;
		cost += zstd ? raw.n / 8 + 6 + read : 0;
		assert_int_equal(budget.work, (1 << 20) - cost);
		budget.work = cost - 1;
		assert_err(bundle_decode(&src, &b, count_bytes, &n), E_LIMIT);
		budget.work = cost;
		assert_ok(bundle_decode(&src, &b, count_bytes, &n));
	}
}

/* A frame may claim any window, and each of an archive's thousands of objects may be that frame: no room is made for more than
 * there is to fill. zstd itself refuses the window of this one, 2 GiB. */
static void a_window_is_not_larger_than_the_content(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = sample(&a);
	BUF(file, &a);
	buf_add(&file, S("CCOB"));
	fx_le(&file, 2, 2);
	fx_le(&file, 1, 2);
	fx_le(&file, 24 + 6 + 3 + raw.n, 4);
	fx_le(&file, raw.n, 4);
	fx_le(&file, 0, 8);
	fx_le(&file, 0xfd2fb528, 4);
	fx_le(&file, (31 - 10) << 11, 2);
	fx_le(&file, 1 | raw.n << 3, 3);
	buf_add(&file, raw);
	struct bytes src = bytes_mem(buf_str(&file));
	struct bundle b;
	uint64_t n = 0;
	assert_ok(bundle_open(&a, &src, 0, src.size, &b));
	assert_ok(bundle_decode(&src, &b, count_bytes, &n));
	assert_int_equal(n, raw.n);
}

/* ---- compressed tables that do not come at once ---- */

/* The frame is flushed after so many bytes: its first block has no more. */
static struct str ccob_of_blocks(struct arena *a, struct str raw, size_t first)
{
	BUF(b, a);
	size_t cap = ZSTD_compressBound(raw.n) + 100;
	char *p = arena_alloc(a, cap);
	ZSTD_CCtx *z = ZSTD_createCCtx();
	ZSTD_outBuffer out = {.dst = p, .size = cap};
	ZSTD_inBuffer in = {.src = raw.p, .size = first};
	assert_int_equal(ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush), 0);
	in.size = raw.n;
	assert_int_equal(ZSTD_compressStream2(z, &out, &in, ZSTD_e_end), 0);
	ZSTD_freeCCtx(z);
	buf_add(&b, S("CCOB"));
	fx_le(&b, 3, 2);
	fx_le(&b, 1, 2);
	fx_le(&b, 32 + out.pos, 8);
	fx_le(&b, raw.n, 8);
	fx_le(&b, 0, 8);
	buf_add(&b, (struct str){p, out.pos});
	return buf_str(&b);
}

static void tables_in_several_blocks_are_read(void **state)
{
	(void)state;
	ARENA(a);
	struct str raw = big_sample(&a);
	static const size_t firsts[] = {1, 31, 32, 33, 100, 4096, 65536, 100000, 131071};
	for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++) {
		struct str file = ccob_of_blocks(&a, raw, firsts[i]);
		struct bytes src = bytes_mem(file);
		struct bundle b;
		assert_ok(bundle_open(&a, &src, 0, file.n, &b));
		assert_int_equal(b.entries.n, 3);
		assert_str(b.entries.v[2].target, "gfx1201");
		check_decodes_to(&src, &b, raw);
	}
}

/* A table of more than the 128 KiB that are looked at first; and one of which the end is missing. */
static void long_compressed_tables_are_read_to_their_end(void **state)
{
	(void)state;
	ARENA(a);
	enum { N = 700 };
	struct fx_entry v[N];
	for (unsigned i = 0; i < N; i++) {
		struct str id = str_fmt(&a, "%0220u--gfx%u", i, 10000 + i);
		v[i] = (struct fx_entry){.id = id.p, .bytes = S("x")};
	}
	struct str raw = fx_bundle(&a, v, N, 16);
	size_t table = 32 + N * (24 + strlen(v[0].id));
	assert_true(table > 128 << 10);
	for (int zstd = 0; zstd <= 1; zstd++) {
		struct str file = fx_ccob(&a, raw, 3, zstd);
		struct bytes src = bytes_mem(file);
		struct bundle b;
		assert_ok(bundle_open(&a, &src, 0, file.n, &b));
		assert_int_equal(b.entries.n, N);
		assert_str(b.entries.v[N - 1].target, "gfx10699");
		assert_int_equal(b.entries.v[N - 1].at, table - 24 - strlen(v[0].id));
		struct str empty = fx_ccob(&a, fx_bundle(&a, v, 0, 16), 3, zstd);
		src = bytes_mem(empty);
		assert_ok(bundle_open(&a, &src, 0, empty.n, &b));
		assert_int_equal(b.entries.n, 0);
		static const size_t cuts[] = {31, 1000, 140000};
		for (size_t i = 0; i < 3; i++) {
			struct str cut = fx_ccob(&a, str_sub(raw, 0, cuts[i]), 3, zstd);
			src = bytes_mem(cut);
			assert_err_says(bundle_open(&a, &src, 0, cut.n, &b), E_BUNDLE,
				"the table is cut off");
		}
		struct str other = fx_ccob(&a, str_sub(raw, 1, 5000), 3, zstd);
		src = bytes_mem(other);
		assert_err_says(bundle_open(&a, &src, 0, other.n, &b), E_BUNDLE,
			"no bundle inside the compressed data");
	}
}

/* RFC 8878: a dictionary's number and a checksum are in the frame when a flag says so. */
static void frames_that_are_not_as_clang_has_them(void **state)
{
	(void)state;
	ARENA(a);
	struct str file = fx_ccob(&a, big_sample(&a), 1, true);
	enum { FRAME = 20, FLAGS = FRAME + 4, DICTIONARY = 1, CHECKSUM = 4 };
	struct bytes src;
	struct bundle b;
	BUF(with, &a);
	buf_add(&with, str_sub(file, 0, FLAGS));
	buf_char(&with, (char)(file.p[FLAGS] | DICTIONARY));
	buf_char(&with, 7);
	buf_add(&with, str_sub(file, FLAGS + 1, file.n));
	src = bytes_mem(buf_str(&with));
	assert_err_says(bundle_open(&a, &src, 0, src.size, &b), E_BUNDLE, "needs a dictionary");
	/* The four bytes of the checksum are not all there, or there and wrong. */
	char *p = str_z(&a, file);
	p[FLAGS] |= CHECKSUM;
	src = bytes_mem((struct str){p, file.n});
	assert_err_says(bundle_open(&a, &src, 0, src.size, &b), E_BUNDLE, "frame is cut off");
	BUF(wrong, &a);
	buf_add(&wrong, (struct str){p, file.n});
	buf_add(&wrong, S("abcdefg"));
	for (size_t n = file.n; n <= file.n + 4; n++) {
		src = bytes_mem(str_sub(buf_str(&wrong), 0, n));
		struct err *e = bundle_open(&a, &src, 0, src.size, &b);
		assert_int_equal(!e, n == file.n + 4);
		err_free(e);
	}
	assert_int_equal(b.stored, file.n + 4);
	uint64_t n = 0;
	assert_err_says(bundle_decode(&src, &b, count_bytes, &n), E_BUNDLE, "zstd: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_compressed_bundles_of_all_versions),
		cmocka_unit_test(checks_the_checksum_of_a_frame_away),
		cmocka_unit_test(stops_decoding_when_told),
		cmocka_unit_test(refuses_hostile_compressed_headers),
		cmocka_unit_test(decoding_checks_the_size),
		cmocka_unit_test(only_decoding_zstd_takes_memory),
		cmocka_unit_test(decoding_is_paid_for),
		cmocka_unit_test(a_window_is_not_larger_than_the_content),
		cmocka_unit_test(tables_in_several_blocks_are_read),
		cmocka_unit_test(long_compressed_tables_are_read_to_their_end),
		cmocka_unit_test(frames_that_are_not_as_clang_has_them),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("bundle_packed");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
