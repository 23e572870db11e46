/* Patterns over a project: base/glob.h. */
#include "test.h"

#include "base/glob.h"

static const struct {
	const char *pattern, *path;
	bool match;
} rows[] = {
	{"a.cu", "a.cu", true},
	{"a.cu", "b.cu", false},
	{"*.cu", "a.cu", true},
	{"*.cu", "src/a.cu", false},
	{"*.cu", ".a.cu", false},
	{".*.cu", ".a.cu", true},
	{"src/*.cu", "src/a.cu", true},
	{"src/*.cu", "src/x/a.cu", false},
	{"src/**/*.cu", "src/a.cu", true},
	{"src/**/*.cu", "src/x/y/a.cu", true},
	{"**/*.cu", "a.cu", true},
	{"**/*.cu", "x/.git/a.cu", false},
	{"**", "x/y/z", true},
	{"src/**", "src/x/y", true},
	{"src/**", "other/x", false},
	{"**/k/**/*.cu", "a/k/b/k/c.cu", true},
	{"**/k/**/*.cu", "a/b/c.cu", false},
	{"a?.cu", "a1.cu", true},
	{"a?.cu", "a.cu", false},
	{"a[0-9].cu", "a7.cu", true},
	{"a[0-9].cu", "ax.cu", false},
	{"a[!0-9].cu", "ax.cu", true},
	{"a[!0-9].cu", "a7.cu", false},
	{"a[]].cu", "a].cu", true},
	{"a[b", "a[b", true},
	{"*a*b*c*", "xxaxxbxxcxx", true},
	{"*a*b*c*", "xxaxxcxxbxx", false},
	{"", "", true},
};

static void patterns_match_as_in_a_shell(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool got = glob_match(str_from(rows[i].pattern), str_from(rows[i].path));
		if (got != rows[i].match)
			fail_msg("'%s' against '%s' gave %d", rows[i].pattern, rows[i].path, got);
	}
}

/* Stars that nest must not take exponential time. */
static void many_stars_end_soon(void **state)
{
	(void)state;
	struct str path =
		S("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	assert_false(glob_match(S("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"), path));
	struct str deep = S("a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/c");
	assert_false(glob_match(S("**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/b"), deep));
}

static void files_below_a_folder_are_found_sorted(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	static const char *const files[] = {"b.cu", "a.cu", "src/x/c.cu", "src/d.cpp", ".git/e.cu",
		"venv/pyvenv.cfg", "venv/f.cu", "__pycache__/g.cu"};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct str path = path_join(&a, dir, str_from(files[i]));
		assert_ok(fs_mkdirs(path_dir(path)));
		test_put(path, "x");
	}
	struct strs hits;
	assert_ok(glob_files(&a, dir, S("**/*.cu"), &hits));
	assert_str(str_join(&a, &hits, S(" ")), "a.cu b.cu src/x/c.cu");
	assert_ok(glob_files(&a, dir, S("./src//*.cpp"), &hits));
	assert_str(str_join(&a, &hits, S(" ")), "src/d.cpp");
	assert_ok(glob_files(&a, dir, S("src/d.cpp"), &hits));
	assert_int_equal(hits.n, 1);
	assert_ok(glob_files(&a, dir, S("src"), &hits));
	assert_int_equal(hits.n, 0);
	assert_ok(glob_files(&a, dir, S("nowhere/*.cu"), &hits));
	assert_int_equal(hits.n, 0);
	assert_ok(glob_files(&a, dir, S(".git/*.cu"), &hits));
	assert_str(str_join(&a, &hits, S(" ")), ".git/e.cu");
	test_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_match_as_in_a_shell),
		cmocka_unit_test(many_stars_end_soon),
		cmocka_unit_test(files_below_a_folder_are_found_sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
