/* Hashes: base/hash.h, against published test vectors and the system's own tools. */
#include "test.h"

#include "base/hash.h"
#include "base/proc.h"

/* FIPS 180-4 examples and RFC 1321, A.5. */
static const struct {
	const char *text, *sha256, *md5;
} vectors[] = {
	{.text = "",
		.sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		.md5 = "d41d8cd98f00b204e9800998ecf8427e"},
	{.text = "abc",
		.sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		.md5 = "900150983cd24fb0d6963f7d28e17f72"},
	{.text = "abcdefghijklmnopqrstuvwxyz",
		.sha256 = "71c480df93d6ae2f1efad1447c66c9525e316218cf51fc8d9ed832f2daf18b73",
		.md5 = "c3fcd3d76192e4007dfb496cca67e13b"},
};

static void known_texts_have_known_hashes(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		size_t n = strlen(vectors[i].text);
		struct digest sha = hash_bytes(HASH_SHA256, vectors[i].text, n);
		struct digest md5 = hash_bytes(HASH_MD5, vectors[i].text, n);
		assert_str(digest_hex(&a, sha), vectors[i].sha256);
		assert_str(digest_hex(&a, md5), vectors[i].md5);
		assert_int_equal(sha.n, 32);
		assert_int_equal(md5.n, 16);
	}
}

static void pieces_hash_like_the_whole(void **state)
{
	(void)state;
	char text[1000];
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 31);
	struct digest whole = hash_bytes(HASH_SHA256, text, sizeof(text));
	for (size_t step = 1; step < 200; step += 7) {
		struct hash *h = hash_new(HASH_SHA256);
		for (size_t i = 0; i < sizeof(text); i += step)
			hash_add(h, text + i, sizeof(text) - i < step ? sizeof(text) - i : step);
		struct digest d = hash_end(h);
		assert_int_equal(d.n, whole.n);
		assert_memory_equal(d.b, whole.b, d.n);
	}
	hash_free(hash_new(HASH_MD5));
	hash_free(NULL);
}

static void files_agree_with_sha256sum(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("f"));
	size_t n = 1234567;
	char *p = arena_alloc(&a, n);
	for (size_t i = 0; i < n; i++)
		p[i] = (char)(i ^ i >> 9);
	assert_ok(fs_write(path, (struct str){.p = p, .n = n}, 0644));
	struct digest d;
	assert_ok(hash_file(HASH_SHA256, path, &d));
	struct proc run = {0};
	struct proc_result r;
	proc_arg(&a, &run, "sha256sum", path.p, NULL);
	assert_ok(proc_check(&a, &run, &r));
	assert_true(str_starts(r.out, digest_hex(&a, d)));
	assert_err(hash_file(HASH_SHA256, path_join(&a, dir, S("none")), &d), E_NOENT);
	assert_err_says(hash_file(HASH_SHA256, dir, &d), E_IO, dir.p);
	test_dir_remove(dir);
}

/* Base64url without padding, as RECORD files have it: RFC 4648, 10 cut to our lengths. */
static void base64url_has_no_padding(void **state)
{
	(void)state;
	static const struct {
		const char *bytes, *text;
	} cases[] = {
		{.bytes = "", .text = ""},
		{.bytes = "f", .text = "Zg"},
		{.bytes = "fo", .text = "Zm8"},
		{.bytes = "foo", .text = "Zm9v"},
		{.bytes = "foob", .text = "Zm9vYg"},
		{.bytes = "\xfb\xff\xfe", .text = "-__-"},
	};
	ARENA(a);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct digest d = {.n = strlen(cases[i].bytes)};
		memcpy(d.b, cases[i].bytes, d.n);
		assert_str(digest_base64url(&a, &d), cases[i].text);
	}
	struct digest empty = hash_bytes(HASH_SHA256, "", 0);
	assert_str(digest_base64url(&a, &empty), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
	struct digest back;
	assert_true(sha256_from_base64url(digest_base64url(&a, &empty), &back));
	assert_memory_equal(&back, &empty, sizeof(back));
	assert_false(
		sha256_from_base64url(S("47DEQpj8HBSa+_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"), &back));
	assert_false(sha256_from_base64url(S("47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuF"), &back));
}

#define AA_16 "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa"
#define KEY_131 AA_16 AA_16 AA_16 AA_16 AA_16 AA_16 AA_16 AA_16 "\xaa\xaa\xaa"

/* RFC 4231, test cases 1, 2 and 6, whose key is longer than a block. */
static void seals_are_those_of_the_standard(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		const char *key, *text, *hex;
	} cases[] = {
		{"\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b",
			"Hi There",
			"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
		{KEY_131, "Test Using Larger Than Block-Size Key - Hash Key First",
			"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
		{"Jefe", "what do ya want for nothing?",
			"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct digest d = hash_sealed(str_from(cases[i].key), str_from(cases[i].text));
		assert_str(digest_hex(&a, d), cases[i].hex);
	}
}

static void a_copy_has_the_hash_or_is_refused(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), from = path_join(&a, dir, S("from"));
	struct str to = path_join(&a, dir, S("to")), zero = path_join(&a, dir, S("zero"));
	struct str hash = sha256_hex(&a, S("text"));
	struct digest d;
	test_put(from, "text");
	assert_ok(hash_copy(from, to, hash));
	test_has(to, "text");
	test_put(from, "test");
	assert_err_says(hash_copy(from, to, hash), E_HASH, "was changed");
	/* neither ends */
	assert_err(hash_copy(S("/dev/zero"), to, hash), E_IO);
	assert_ok(fs_symlink_new(S("/dev/zero"), zero));
	assert_err(hash_file(HASH_SHA256, zero, &d), E_IO);
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_texts_have_known_hashes),
		cmocka_unit_test(pieces_hash_like_the_whole),
		cmocka_unit_test(files_agree_with_sha256sum),
		cmocka_unit_test(a_copy_has_the_hash_or_is_refused),
		cmocka_unit_test(base64url_has_no_padding),
		cmocka_unit_test(seals_are_those_of_the_standard),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
