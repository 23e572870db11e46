/* Writing offload bundles: as clang's bundler does, and compressed. */
#include "unit/fixture_bundle.h"

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
	assert_str(digest_hex(&a, sha), "8ff9f6a317423c05f473ea551568d4e9"
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
		cmocka_unit_test(writes_what_clang_writes),
		cmocka_unit_test(writes_the_host_id_as_clang_does),
		cmocka_unit_test(what_is_written_has_the_mode_of_any_new_file),
		cmocka_unit_test(what_was_compressed_is_read_back),
		cmocka_unit_test(repetitions_far_apart_are_found),
		cmocka_unit_test(large_objects_are_written_whole),
		cmocka_unit_test(all_is_said_as_recorded),
	};
	said_begin("bundle_write");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
