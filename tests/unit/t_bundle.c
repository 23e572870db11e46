/* Offload bundles: reading raw and compressed ones, walking sections, hostile tables, writing. */
#include "unit/fixture_elf.h"
#include "unit/fixture_said.h"

#include "formats/bundle.h"

#define HOST "host-x86_64-unknown-linux-gnu-"
#define ID(target) "hipv4-amdgcn-amd-amdhsa--" target

static struct str sample(struct arena *a)
{
	const struct fx_entry v[] = {
		{.id = HOST},
		{.id = ID("gfx1100"), .bytes = S("first object")},
		{.id = ID("gfx90a:sramecc+:xnack-"), .bytes = S("second, CCOB inside")},
	};
	return fx_bundle(a, v, 3, 4096);
}

static void check_sample(const struct bundle *b)
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

struct collect {
	struct buf bytes;
	uint64_t stop_at;
};

static struct err *take(void *user, const void *p, size_t n, uint64_t at, bool *stop)
{
	struct collect *c = user;
	assert_int_equal(at, c->bytes.n);
	buf_add(&c->bytes, (struct str){.p = p, .n = n});
	*stop = c->stop_at && c->bytes.n >= c->stop_at;
	return NULL;
}

static void check_decodes_to(const struct bytes *src, const struct bundle *b, struct str want)
{
	ARENA(a);
	struct collect c = {.bytes = {.a = &a}};
	assert_ok(bundle_decode(src, b, take, &c));
	assert_int_equal(c.bytes.n, want.n);
	assert_memory_equal(c.bytes.p, want.p, want.n);
}

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

/* Bytes that do not compress, so that frames have several blocks. */
static struct str noise(struct arena *a, size_t n)
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

static struct str big_sample(struct arena *a)
{
	const struct fx_entry v[] = {
		{.id = HOST},
		{.id = ID("gfx1030"), .bytes = noise(a, 300000)},
		{.id = ID("gfx1201"), .bytes = noise(a, 200000)},
	};
	return fx_bundle(a, v, 3, 4096);
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

static struct err *open_changed(
	struct arena *a, struct str file, size_t at, uint64_t value, unsigned bytes)
{
	char *p = str_z(a, file);
	put_le(p + at, value, bytes);
	struct bytes src = bytes_mem((struct str){.p = p, .n = file.n});
	struct bundle b;
	return bundle_open(a, &src, 0, file.n, &b);
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

/* What clang-offload-bundler 22.1.8 writes for
 *   -type=o -bundle-align=4096 -targets=host-x86_64-unknown-linux-gnu-,hipv4-...gfx1100,...gfx90a
 * with an empty host file and the objects "one\n" and "two, longer\n": the SHA-256 of its output.
 */
static void writes_what_clang_writes(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), out = path_join(&a, dir, S("out.hipfb"));
	struct str one = path_join(&a, dir, S("one")), two = path_join(&a, dir, S("two"));
	test_put(one, "one\n");
	test_put(two, "two, longer\n");
	struct strs targets = {0}, files = {0};
	strs_add(&a, &targets, S("gfx1100"));
	strs_add(&a, &targets, S("gfx90a:xnack-"));
	strs_add(&a, &files, one);
	strs_add(&a, &files, two);
	struct digest sha;
	assert_ok(bundle_write(out, &targets, &files));
	assert_ok(hash_file(HASH_SHA256, out, &sha));
	assert_str(digest_hex(&a, &sha), "8ff9f6a317423c05f473ea551568d4e9"
					 "5fa3b4842017b9404a4ff64a4e4c3350");
	targets.v[1] = targets.v[0];
	assert_err_says(bundle_write(out, &targets, &files), E_BUNDLE, "'gfx1100' is named twice");
	targets.n = files.n = 1;
	files.v[0] = path_join(&a, dir, S("gone"));
	assert_err(bundle_write(out, &targets, &files), E_NOENT);
	assert_ok(hash_file(HASH_SHA256, out, &sha)); /* the old file is still there */
	struct str head;
	assert_ok(fs_read(&a, out, 1 << 20, &head));
	assert_int_equal(head.n, 8192 + 12);
	test_dir_remove(dir);
}

static void writes_the_host_id_as_clang_does(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), out = path_join(&a, dir, S("out")), got;
	struct str one = path_join(&a, dir, S("one"));
	test_put(one, "1");
	struct strs targets = {0}, files = {0};
	strs_add(&a, &targets, S("gfx1100"));
	strs_add(&a, &files, one);
	assert_ok(bundle_write(out, &targets, &files));
	assert_ok(fs_read(&a, out, 1 << 20, &got));
	assert_true(str_find(got, S("host-x86_64-unknown-linux-gnu-")) < got.n);
	test_dir_remove(dir);
}

static void what_is_written_has_the_mode_of_any_new_file(void **state)
{
	(void)state;
	static const mode_t masks[] = {0, 022, 077};
	ARENA(a);
	struct str dir = test_dir(&a), one = path_join(&a, dir, S("one"));
	test_put(one, "1");
	struct strs targets = {0}, files = {0};
	strs_add(&a, &targets, S("gfx1100"));
	strs_add(&a, &files, one);
	for (size_t i = 0; i < sizeof(masks) / sizeof(*masks); i++) {
		struct str out = str_fmt(&a, "%.*s/%zu", STR(dir), i);
		struct stat st;
		mode_t before = umask(masks[i]);
		assert_ok(bundle_write(out, &targets, &files));
		umask(before);
		assert_ok(fs_stat(out, &st));
		assert_int_equal(st.st_mode & 07777, 0644 & ~masks[i]);
	}
	test_dir_remove(dir);
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

/* ---- compressing ---- */

static void write_ccob(struct str path, struct str raw, struct bundle *b)
{
	CLEANUP(fs_out_abandon) struct fs_out to;
	struct bundle_out o;
	size_t half = raw.n / 2;
	assert_ok(fs_out_open(&to, path, 0644));
	fs_out_write(&to, "in front", 8);
	assert_ok(bundle_out_open(&o, &to, b));
	assert_ok(bundle_out_add(&o, raw.p, half));
	assert_ok(bundle_out_add(&o, raw.p + half, raw.n - half));
	assert_ok(bundle_out_end(&o));
	bundle_out_close(&o);
	assert_ok(fs_out_commit(&to));
}

static void what_was_compressed_is_read_back(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("x")), file;
	struct str raw = big_sample(&a);
	struct digest md5 = hash_bytes(HASH_MD5, raw.p, raw.n);
	for (unsigned i = 0; i < 6; i++) {
		unsigned version = 1 + i / 2;
		struct bundle made = {.encoding = (enum bundle_encoding)(BUNDLE_RAW + version),
			.zstd = i % 2,
			.size = raw.n};
		struct bundle b;
		write_ccob(path, raw, &made);
		assert_ok(fs_read(&a, path, 1 << 24, &file));
		struct bytes src = bytes_mem(file);
		assert_ok(bundle_open(&a, &src, 8, file.n, &b));
		assert_int_equal(b.encoding, BUNDLE_RAW + version);
		assert_int_equal(b.zstd, made.zstd);
		assert_int_equal(b.stored, file.n - 8);
		assert_int_equal(b.size, raw.n);
		assert_int_equal(b.hash, le64((const char *)md5.b));
		assert_true(made.offset == 8 && made.stored == b.stored && made.hash == b.hash &&
			    made.header == b.header);
		check_decodes_to(&src, &b, raw);
	}
	test_dir_remove(dir);
}

/* The code for two targets may be the same but for a few bytes, megabytes apart. */
static void repetitions_far_apart_are_found(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("x"));
	struct str once = noise(&a, 4 << 20);
	for (size_t i = 0; i < once.n;
		i += 64) /* with others that are near, so that all is looked at */
		memset((char *)(uintptr_t)once.p + i, 0, 16);
	BUF(twice, &a);
	buf_add(&twice, once);
	buf_add(&twice, once);
	struct bundle made = {.encoding = BUNDLE_CCOB3, .zstd = true, .size = twice.n};
	write_ccob(path, buf_str(&twice), &made);
	assert_in_range(made.stored, once.n * 3 / 4, once.n);
	test_dir_remove(dir);
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

/* Objects of more than is copied at once. */
static void large_objects_are_written_whole(void **state)
{
	(void)state;
	ARENA(a);
	static const size_t sizes[] = {(256 << 10) - 1, 256 << 10, (256 << 10) + 1, 700000};
	struct str dir = test_dir(&a), out = path_join(&a, dir, S("out")), got;
	for (size_t i = 0; i < 4; i++) {
		struct str one = path_join(&a, dir, S("one")), bytes = noise(&a, sizes[i]);
		const struct fx_entry v[] = {
			{.id = HOST}, {.id = ID("gfx1100"), .bytes = bytes}, {.id = ID("gfx90a")}};
		struct strs targets = {0}, files = {0};
		strs_add(&a, &targets, S("gfx1100"));
		strs_add(&a, &targets, S("gfx90a"));
		strs_add(&a, &files, one);
		strs_add(&a, &files, out);
		assert_ok(fs_write(one, bytes, 0644));
		assert_ok(fs_write(out, S(""), 0644)); /* an empty object takes no bytes */
		assert_ok(bundle_write(out, &targets, &files));
		assert_ok(fs_read(&a, out, 1 << 20, &got));
		struct str want = fx_bundle(&a, v, 3, 4096);
		assert_int_equal(got.n, want.n);
		assert_memory_equal(got.p + 256, want.p + 256, want.n - 256);
	}
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_raw_bundle),
		cmocka_unit_test(reads_compressed_bundles_of_all_versions),
		cmocka_unit_test(finds_the_end_of_version_1),
		cmocka_unit_test(checks_the_checksum_of_a_frame_away),
		cmocka_unit_test(stops_decoding_when_told),
		cmocka_unit_test(refuses_bundles_cut_off_anywhere),
		cmocka_unit_test(refuses_hostile_tables),
		cmocka_unit_test(refuses_hostile_compressed_headers),
		cmocka_unit_test(decoding_checks_the_size),
		cmocka_unit_test(a_table_may_be_longer_than_the_first_read),
		cmocka_unit_test(knows_the_spellings_of_ids),
		cmocka_unit_test(walks_over_padding_only),
		cmocka_unit_test(writes_what_clang_writes),
		cmocka_unit_test(writes_the_host_id_as_clang_does),
		cmocka_unit_test(what_is_written_has_the_mode_of_any_new_file),
		cmocka_unit_test(only_decoding_zstd_takes_memory),
		cmocka_unit_test(decoding_is_paid_for),
		cmocka_unit_test(a_window_is_not_larger_than_the_content),
		cmocka_unit_test(what_was_compressed_is_read_back),
		cmocka_unit_test(repetitions_far_apart_are_found),
		cmocka_unit_test(tables_in_several_blocks_are_read),
		cmocka_unit_test(long_compressed_tables_are_read_to_their_end),
		cmocka_unit_test(frames_that_are_not_as_clang_has_them),
		cmocka_unit_test(a_bundle_is_of_16_gib_at_most),
		cmocka_unit_test(a_walk_ends_where_the_source_does_or_its_user_says),
		cmocka_unit_test(large_objects_are_written_whole),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("bundle");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
