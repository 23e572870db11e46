/* What we add to a tree of packages, where these brought links in its place: sdk/opt_rocm.c, and what uses it. */
#include "base/buf.h"
#include "sdk/provider.h"
#include "test.h"

struct fixture {
	struct arena a;
	struct str top, dir, root, outside; /* dir: of the SDK, root: its tree */
	struct fs_tree *guard;
};

static int begin(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));
	*f = (struct fixture){0};
	f->top = test_dir(&f->a);
	f->dir = path_join(&f->a, f->top, S("sdk"));
	f->root = path_join(&f->a, f->dir, S("root"));
	f->outside = path_join(&f->a, f->top, S("outside"));
	assert_ok(fs_mkdirs(f->root));
	assert_ok(fs_mkdirs(f->outside));
	assert_ok(fs_guard(f->root, &f->guard));
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	fs_unguardp(&f->guard);
	test_dir_remove(f->top);
	arena_free(&f->a);
	free(f);
	return 0;
}

static void assert_nothing_outside(struct fixture *f)
{
	struct strs names;
	assert_ok(fs_list(&f->a, f->outside, &names));
	assert_int_equal(names.n, 0);
}

static void what_is_missing_is_made_and_what_is_there_stays(void **state)
{
	struct fixture *f = *state;
	struct str text, link, bin = path_join(&f->a, f->root, S("bin"));
	struct stat before = {0}, st;
	for (unsigned twice = 0; twice < 2; twice++) {
		assert_ok(tree_folder(&f->a, f->root, S("usr/share/x")));
		assert_ok(tree_link(&f->a, f->root, S("bin"), S("usr/bin")));
		assert_ok(tree_file(&f->a, f->root, S("etc/group"), S("root:x:0:\n")));
		assert_ok(fs_lstat(bin, &st));
		assert_true(!twice || st.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
		before = st;
	}
	assert_true(fs_is_dir(path_join(&f->a, f->root, S("usr/share/x"))));
	assert_ok(fs_readlink(&f->a, bin, &link));
	assert_str(link, "usr/bin");
	assert_ok(fs_read(&f->a, path_join(&f->a, f->root, S("etc/group")), 100, &text));
	assert_str(text, "root:x:0:\n");
}

/* A link at each depth of a path, to a folder that is there and to one that is not. */
static void no_folder_of_ours_lies_behind_a_link_of_a_package(void **state)
{
	struct fixture *f = *state;
	static const char *const links[] = {"opt", "opt/rocm", "opt/rocm/lib"};
	const struct str targets[] = {f->outside, S("../../outside"), S("nowhere"), S("/")};
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		for (size_t k = 0; k < sizeof(targets) / sizeof(targets[0]); k++) {
			struct str link = path_join(&f->a, f->root, str_from(links[i]));
			assert_ok(fs_mkdirs(path_dir(link)));
			assert_ok(fs_symlink(targets[k], link));
			assert_err_says(tree_folder(&f->a, f->root, S("opt/rocm/lib/cmake")),
				E_ARCHIVE, "behind a link");
			assert_err(
				tree_link(&f->a, f->root, S("opt/rocm/lib/x"), S("y")), E_ARCHIVE);
			assert_err(
				tree_file(&f->a, f->root, S("opt/rocm/lib/x"), S("y")), E_ARCHIVE);
			assert_ok(fs_remove(link));
		}
	assert_nothing_outside(f);
}

static void a_file_in_the_place_of_a_folder_is_told(void **state)
{
	struct fixture *f = *state;
	test_put(path_join(&f->a, f->root, S("etc")), "");
	assert_err_says(tree_file(&f->a, f->root, S("etc/passwd"), S("")), E_ARCHIVE,
		"no place for 'etc/passwd'");
}

static void a_link_of_a_package_is_replaced_and_not_written_through(void **state)
{
	struct fixture *f = *state;
	struct str known = path_join(&f->a, f->outside, S("known")), text;
	struct str link = path_join(&f->a, f->root, S("passwd"));
	test_put(known, "mine");
	assert_ok(fs_symlink(known, link));
	assert_ok(tree_file(&f->a, f->root, S("passwd"), S("mine"))); /* even of the same content */
	assert_false(fs_is_link(link));
	assert_ok(fs_remove(link));
	assert_ok(fs_symlink(known, link));
	assert_ok(tree_link(&f->a, f->root, S("passwd"), S("other")));
	assert_ok(fs_read(&f->a, known, 100, &text));
	assert_str(text, "mine");
	assert_ok(fs_readlink(&f->a, link, &text));
	assert_str(text, "other");
}

static void the_view_of_rocm_is_not_made_outside_of_the_tree(void **state)
{
	struct fixture *f = *state;
	struct sdk_receipt m = {0};
	BUF(made, &f->a);
	assert_ok(fs_mkdirs(path_join(&f->a, f->root, S("opt"))));
	assert_ok(fs_symlink(f->outside, path_join(&f->a, f->root, S("opt/rocm"))));
	assert_err(opt_rocm_make(&f->a, f->dir, &m, &made), E_ARCHIVE);
	assert_nothing_outside(f);
}

static void the_debian_provider_finishes_inside_of_the_tree(void **state)
{
	struct fixture *f = *state;
	static const char *const links[] = {"etc", "usr", "usr/bin", "var/lib"};
	fs_unguardp(&f->guard);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		BUF(made, &f->a);
		struct sdk_job j = {.root = f->root, .made = &made};
		struct str link = path_join(&f->a, f->root, str_from(links[i]));
		assert_ok(fs_remove_tree(f->root));
		assert_ok(fs_mkdirs(path_dir(link)));
		assert_ok(fs_symlink(f->outside, link));
		assert_err(sdk_debian.finish(&f->a, &j), E_ARCHIVE);
	}
	assert_nothing_outside(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_missing_is_made_and_what_is_there_stays),
		TEST(no_folder_of_ours_lies_behind_a_link_of_a_package),
		TEST(a_file_in_the_place_of_a_folder_is_told),
		TEST(a_link_of_a_package_is_replaced_and_not_written_through),
		TEST(the_view_of_rocm_is_not_made_outside_of_the_tree),
		TEST(the_debian_provider_finishes_inside_of_the_tree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
