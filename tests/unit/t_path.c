/* Path text: the first part of base/fs.h. */
#include "test.h"

#include <unistd.h>

static const struct {
	const char *path, *dir, *base, *ext, *clean;
} paths[] = {
	{.path = "a/b.c", .dir = "a", .base = "b.c", .ext = ".c", .clean = "a/b.c"},
	{.path = "b.c", .dir = ".", .base = "b.c", .ext = ".c", .clean = "b.c"},
	{.path = "/x", .dir = "/", .base = "x", .ext = "", .clean = "/x"},
	{.path = "/", .dir = "/", .base = "", .ext = "", .clean = "/"},
	{.path = "", .dir = ".", .base = "", .ext = "", .clean = "."},
	{.path = ".bashrc", .dir = ".", .base = ".bashrc", .ext = "", .clean = ".bashrc"},
	{.path = "a.b/c", .dir = "a.b", .base = "c", .ext = "", .clean = "a.b/c"},
	{.path = "x.tar.gz", .dir = ".", .base = "x.tar.gz", .ext = ".gz", .clean = "x.tar.gz"},
	{.path = "./a//b/../c/", .dir = "./a//b/../c", .base = "", .ext = "", .clean = "a/c"},
	{.path = "../../a", .dir = "../..", .base = "a", .ext = "", .clean = "../../a"},
	{.path = "a/../..", .dir = "a/..", .base = "..", .ext = NULL, .clean = ".."},
	{.path = "/../a", .dir = "/..", .base = "a", .ext = "", .clean = "/a"},
	{.path = "a/..", .dir = "a", .base = "..", .ext = NULL, .clean = "."},
};

static void parts_of_a_path_are_taken_by_text(void **state)
{
	(void)state;
	ARENA(a);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct str p = str_from(paths[i].path);
		assert_str(path_dir(p), paths[i].dir);
		assert_str(path_base(p), paths[i].base);
		if (paths[i].ext)
			assert_str(path_ext(p), paths[i].ext);
		assert_str(path_clean(&a, p), paths[i].clean);
	}
}

static void joining_lets_the_absolute_name_win(void **state)
{
	(void)state;
	ARENA(a);
	assert_str(path_join(&a, S("a"), S("b")), "a/b");
	assert_str(path_join(&a, S("a/"), S("b")), "a/b");
	assert_str(path_join(&a, S("a"), S("/b")), "/b");
	assert_str(path_join(&a, S(""), S("b")), "b");
	assert_str(path_join(&a, S("a"), S("")), "a");
	assert_str(path_join(&a, S("/"), S("b")), "/b");
}

static void relative_paths_lead_from_the_base(void **state)
{
	(void)state;
	ARENA(a);
	assert_str(path_rel(&a, S("/a/b/c"), S("/a/b")), "c");
	assert_str(path_rel(&a, S("/a/b"), S("/a/b/c")), "..");
	assert_str(path_rel(&a, S("/a/x/y"), S("/a/b/c")), "../../x/y");
	assert_str(path_rel(&a, S("/a"), S("/a")), ".");
	assert_str(path_rel(&a, S("/ab"), S("/a")), "../ab");
	assert_str(path_rel(&a, S("/"), S("/a")), "..");
	assert_str(path_rel(&a, S("/a/ b "), S("/a")), " b ");
}

static void absolute_paths_start_at_the_current_folder(void **state)
{
	(void)state;
	ARENA(a);
	char *cwd = getcwd(NULL, 0);
	assert_str(path_abs(&a, S(".")), cwd);
	assert_true(str_ends(path_abs(&a, S("x/../y")), S("/y")));
	assert_str(path_abs(&a, S("/x/./y/")), "/x/y");
	free(cwd);
}

static const struct {
	struct str path;
	bool inside;
} insides[] = {
	{.path = S_INIT("a"), .inside = true},
	{.path = S_INIT("a/b/../c"), .inside = true},
	{.path = S_INIT("./a"), .inside = true},
	{.path = S_INIT("a/.."), .inside = true},
	{.path = S_INIT("..a/..."), .inside = true},
	{.path = S_INIT("")},
	{.path = S_INIT("/a")},
	{.path = S_INIT("..")},
	{.path = S_INIT("../a")},
	{.path = S_INIT("a/../..")},
	{.path = S_INIT("a/../../a")},
	{.path = S_INIT("./../a")},
	{.path = S_INIT("a//../../b")},
	{.path = S_INIT("a\0b")},
};

static void escapes_from_a_folder_are_recognised(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(insides) / sizeof(*insides); i++) {
		if (path_is_inside(insides[i].path) != insides[i].inside)
			print_error("'%.*s'\n", STR(insides[i].path));
		assert_int_equal(path_is_inside(insides[i].path), insides[i].inside);
	}
}

static void places_follow_the_environment(void **state)
{
	(void)state;
	ARENA(a);
	unsetenv("ROCSMITH_HOME");
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", "/h", 1);
	assert_str(fs_place(&a, FS_CACHE, S("x")), "/h/.cache/rocsmith/x");
	assert_str(fs_place(&a, FS_DATA, S("")), "/h/.local/share/rocsmith");
	setenv("XDG_CACHE_HOME", "relative-is-ignored", 1);
	assert_str(fs_place(&a, FS_CACHE, S("x")), "/h/.cache/rocsmith/x");
	setenv("XDG_CACHE_HOME", "/c", 1);
	assert_str(fs_place(&a, FS_CACHE, S("x")), "/c/rocsmith/x");
	setenv("ROCSMITH_HOME", "/r", 1);
	assert_str(fs_place(&a, FS_CACHE, S("x")), "/r/cache/x");
	assert_str(fs_place(&a, FS_STATE, S("")), "/r/state");
	unsetenv("ROCSMITH_HOME");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_a_path_are_taken_by_text),
		cmocka_unit_test(joining_lets_the_absolute_name_win),
		cmocka_unit_test(relative_paths_lead_from_the_base),
		cmocka_unit_test(absolute_paths_start_at_the_current_folder),
		cmocka_unit_test(escapes_from_a_folder_are_recognised),
		cmocka_unit_test(places_follow_the_environment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
