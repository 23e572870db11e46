/* Words that say where sources are, and what comes of them. */
#include "base/fs.h"
#include "source/fetch.h"
#include "test.h"

static void words_of_every_kind(void **state)
{
	(void)state;
	static const struct {
		const char *word;
		enum source_kind kind;
		const char *suite, *package, *version;
	} rows[] = {
		{"/", SOURCE_DIR, "", "", ""},
		{"no/such folder", SOURCE_DIR, "", "", ""},
		{"debian:trixie/pytorch", SOURCE_DEBIAN, "trixie", "pytorch", ""},
		{"debian:sid/pytorch=2.6.0", SOURCE_DEBIAN, "sid", "pytorch", "2.6.0"},
		{"debian:rc-buggy/libc++=1:2.6.0~rc1+dfsg-7", SOURCE_DEBIAN, "rc-buggy", "libc++",
			"1:2.6.0~rc1+dfsg-7"},
		{"sdist:torch_scatter==2.1.2", SOURCE_SDIST, "", "torch_scatter", "2.1.2"},
		{"sdist:x==1!2.0+local.1", SOURCE_SDIST, "", "x", "1!2.0+local.1"},
		{"torch_scatter-2.1.2.tar.gz", SOURCE_SDIST, "", "torch_scatter", "2.1.2"},
		{"a/b/flash-attn-2.8.3.post2.zip", SOURCE_SDIST, "", "flash-attn", "2.8.3.post2"},
	};
	ARENA(a);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct source_spec s;
		assert_ok(source_spec_parse(&a, str_from(rows[i].word), &s));
		assert_int_equal(s.kind, rows[i].kind);
		assert_str(s.text, rows[i].word);
		assert_str(s.suite, rows[i].suite);
		assert_str(s.package, rows[i].package);
		assert_str(s.version, rows[i].version);
		bool here = s.kind == SOURCE_DIR || str_ends(s.text, S("gz")) ||
			    str_ends(s.text, S("zip"));
		assert_int_equal(str_starts(s.path, S("/")), here);
	}
}

static void words_that_name_nothing(void **state)
{
	(void)state;
	static const char *const words[] = {"", "debian:", "debian:trixie", "debian:trixie/",
		"debian:/pytorch", "debian:trixie/pytorch=", "debian:-o/x", "debian:trixie/-x",
		"debian:trixie/x=-1", "debian:../../x/y", "debian:trixie/a/b", "debian:trixie/a b",
		"sdist:", "sdist:x", "sdist:x==", "sdist:x=1", "sdist:-x==1", "sdist:x==-1",
		"sdist:a/b==1", "sdist:x==1/2", "git:torch", "ftp://example.org/x"};
	ARENA(a);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct source_spec s;
		assert_err(source_spec_parse(&a, str_from(words[i]), &s), E_USAGE);
	}
}

static void a_folder_is_taken_as_it_is(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct source_request r = {0};
	struct source_tree t;
	assert_ok(source_spec_parse(&a, dir, &r.spec));
	assert_ok(source_fetch(&a, &r, &t));
	assert_str(t.dir, str_z(&a, dir));
	assert_str(t.kind, "dir");
	assert_ok(source_spec_parse(&a, path_join(&a, dir, S("none")), &r.spec));
	assert_err(source_fetch(&a, &r, &t), E_NOENT);
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_every_kind),
		cmocka_unit_test(words_that_name_nothing),
		cmocka_unit_test(a_folder_is_taken_as_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
