/* Path text: the first part of base/fs.h. */
#include "test.h"

#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

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

static void a_library_has_one_name_whatever_auditwheel_calls_it(void **state)
{
	static const struct {
		const char *path, *name, *version;
	} libraries[] = {
		{.path = "a/libamdhip64.so.7.2", .name = "libamdhip64", .version = "7.2"},
		{.path = "libamdhip64-d01f4dc2.so.7.2", .name = "libamdhip64", .version = "7.2"},
		{.path = "libamdhip64.so", .name = "libamdhip64", .version = ""},
		{.path = "libroc-feedbeef.so", .name = "libroc", .version = ""},
		{.path = "libfeedbeef.so.1", .name = "libfeedbeef", .version = "1"},
		{.path = "libx-feedbee.so.1", .name = "libx-feedbee", .version = "1"},
		{.path = "deadbeef.so", .name = "deadbeef", .version = ""},
		{.path = "libx.sofa", .name = "", .version = NULL},
		{.path = "libx.a", .name = "", .version = NULL},
		{.path = "", .name = "", .version = NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		struct str version;
		assert_str(path_library(str_from(libraries[i].path), &version), libraries[i].name);
		if (libraries[i].version)
			assert_str(version, libraries[i].version);
	}
}

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

static void a_folder_and_what_is_in_it_are_below_it(void **state)
{
	(void)state;
	static const struct {
		const char *path, *dir;
		bool below;
	} rows[] = {{"/a/b", "/a", true}, {"/a", "/a", true}, {"/ab", "/a", false},
		{"/", "/a", false}, {"a/b/c", "a/b", true}, {"b/a", "a", false}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(path_is_below(str_from(rows[i].path), str_from(rows[i].dir)),
			rows[i].below);
	/* nothing behind the view is looked at */
	char *exact = xmalloc(2);
	exact[0] = '/';
	exact[1] = 'a';
	assert_true(path_is_below((struct str){exact, 2}, S("/a")));
	free(exact);
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

/* Nobody else's folder takes the place of a home. */
static void without_home_the_users_own_counts(void **state)
{
	(void)state;
	ARENA(a);
	const struct passwd *p = getpwuid(geteuid());
	struct str want = str_fmt(&a, "%s/.cache/rocsmith/x", p ? p->pw_dir : "/nonexistent");
	unsetenv("XDG_CACHE_HOME");
	static const char *const homes[] = {NULL, "", "relative"};
	for (size_t i = 0; i < sizeof(homes) / sizeof(*homes); i++) {
		unsetenv("HOME");
		if (homes[i])
			setenv("HOME", homes[i], 1);
		assert_str(fs_place(&a, FS_CACHE, S("x")), want.p);
	}
	setenv("HOME", "/nonexistent", 1);
	assert_err_says(fs_place_check(FS_CACHE), E_NOENT, "HOME is '/nonexistent', and");
}

static void only_folders_of_ones_own_are_believed(void **state)
{
	(void)state;
	ARENA(a);
	static const struct {
		unsigned mode;
		bool good;
	} modes[] = {{0755, true}, {0700, true}, {0775, true}, {0757, false}, {01777, false}};
	struct str dir = test_dir(&a), place = path_join(&a, dir, S("data"));
	setenv("ROCSMITH_HOME", dir.p, 1);
	assert_ok(fs_place_check(FS_DATA)); /* not there yet */
	mode_t mask = umask(0);
	assert_ok(fs_mkdirs(path_join(&a, place, S("sdk"))));
	struct stat st;
	struct str beside = path_join(&a, dir, S("data-of-others")); /* is not in that place */
	assert_ok(fs_mkdirs(beside));
	umask(mask);
	assert_ok(fs_stat(beside, &st));
	assert_int_equal(st.st_mode & 07777, 0777);
	assert_ok(fs_place_check(FS_DATA));
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		assert_int_equal(chmod(place.p, modes[i].mode), 0);
		struct err *e = fs_place_check(FS_DATA);
		if (!e != modes[i].good || (e && e->code != E_PERM))
			fail_msg("%o", modes[i].mode);
		err_free(e);
	}
	assert_int_equal(chmod(place.p, 0755), 0);
	if (chown(place.p, 1234, 1234) == 0)
		assert_err_says(fs_place_check(FS_DATA), E_PERM, "belongs to another user");
	unsetenv("ROCSMITH_HOME");
	test_dir_remove(dir);
}

/* In a child, for whom no folder is the current one any more. */
static void a_removed_folder_is_not_the_root(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	pid_t pid = fork();
	if (pid == 0) {
		if (chdir(dir.p) < 0 || rmdir(dir.p) < 0)
			_exit(2);
		struct str x = path_abs(&a, S("etc"));
		_exit(fs_exists(x) || !fs_mkdirs(x));
	}
	int status = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_a_path_are_taken_by_text),
		cmocka_unit_test(a_library_has_one_name_whatever_auditwheel_calls_it),
		cmocka_unit_test(joining_lets_the_absolute_name_win),
		cmocka_unit_test(relative_paths_lead_from_the_base),
		cmocka_unit_test(absolute_paths_start_at_the_current_folder),
		cmocka_unit_test(escapes_from_a_folder_are_recognised),
		cmocka_unit_test(a_folder_and_what_is_in_it_are_below_it),
		cmocka_unit_test(places_follow_the_environment),
		cmocka_unit_test(without_home_the_users_own_counts),
		cmocka_unit_test(only_folders_of_ones_own_are_believed),
		cmocka_unit_test(a_removed_folder_is_not_the_root),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
