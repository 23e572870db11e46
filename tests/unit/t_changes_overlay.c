/* Applying a result as an overlay: copies, files of others, where an overlay may lie. */
#include "fixture_changes.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static void an_overlay_is_the_whole_tree(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->overlay = true;
	put(f, "README", "read");
	put(f, ".git/config", "");
	put(f, "third/.git", "gitdir: x"); /* of a submodule */
	put_at(f, in_src(f, "run.sh"), "#!", 0755);
	assert_ok(fs_mkdirs(in_src(f, "empty/folder")));
	assert_ok(fs_symlink(S("nowhere"), in_src(f, "dangling")));
	assert_ok(fs_symlink(S("sub"), in_src(f, "folder-link")));
	assert_int_equal(mkfifo(str_z(&f->a, in_src(f, "pipe")), 0600), 0);
	struct str before = snapshot(f, f->src);
	run(f);
	test_has(in_out(f, "hip/k.hip"), "CUDA K");
	test_has(in_out(f, "k.cu"), "cuda k");
	test_has(in_out(f, "sub/m.h"), "CUDA M");
	test_has(in_out(f, "same.h"), "SAME");
	test_has(in_out(f, "README"), "read");
	assert_true(there(f, "empty/folder") && there(f, "dangling"));
	assert_true(!there(f, ".git") && there(f, "third/.git") && !there(f, "pipe"));
	assert_true(S_ISLNK(status(in_out(f, "folder-link")).st_mode));
	assert_int_equal(status(in_out(f, "run.sh")).st_mode & 07777, 0755);
	assert_int_equal(status(in_out(f, "sub/m.h")).st_mode & 07777, 0755);
	struct stat a = status(in_src(f, "README")), b = status(in_out(f, "README"));
	assert_memory_equal(&a.st_mtim, &b.st_mtim, sizeof(a.st_mtim));
	assert_str(snapshot(f, f->src), before.p);
	assert_int_equal(restore(f, false).n, 0);
	assert_false(fs_present(f->out));
}

static void copies_follow_their_sources(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->overlay = true;
	put(f, "data/a", "one");
	put(f, "data/b", "two");
	assert_ok(fs_symlink(S("a"), in_src(f, "data/link")));
	run(f);
	struct stat old = status(in_out(f, "data/b"));
	put(f, "data/a", "ONE");
	assert_ok(fs_symlink(S("b"), in_src(f, "data/link")));
	put(f, "data/c", "three");
	run(f);
	test_has(in_out(f, "data/a"), "ONE");
	test_has(in_out(f, "data/c"), "three");
	test_has(in_out(f, "data/link"), "two");
	struct stat now = status(in_out(f, "data/b"));
	assert_int_equal(now.st_ino, old.st_ino);
	usleep(20000);
	f->identity = "2";
	run(f);
	run(f);
	assert_true(f->current);
	put(f, "data/d", "four");
	run(f);
	assert_true(!f->current && there(f, "data/d"));
	assert_ok(fs_remove_tree(in_src(f, "data")));
	run(f);
	assert_false(there(f, "data"));
	assert_int_equal(f->t.removed.n, 5);
}

static void files_of_others_in_an_overlay_stay(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->overlay = true;
	put(f, "README", "read");
	put_at(f, in_out(f, "README"), "mine", 0644);
	put_at(f, in_out(f, "hip/k.hip"), "mine", 0644);
	put_at(f, in_out(f, "sub/notes"), "mine", 0644);
	run(f);
	assert_fails(f, "README", "was not made by rocsmith");
	assert_fails(f, "k.cu", "was not made by rocsmith");
	test_has(in_out(f, "README"), "mine");
	test_has(in_out(f, "hip/k.hip"), "mine");
	test_has(in_out(f, "sub/m.h"), "CUDA M");
	restore(f, false);
	test_has(in_out(f, "sub/notes"), "mine");
	assert_false(there(f, "sub/m.h"));
}

static void a_file_that_cannot_be_copied_is_named(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->overlay = true;
	put(f, "data/a", "one");
	assert_ok(fs_mkdirs(f->out));
	assert_ok(fs_symlink(f->src, in_out(f, "data")));
	run(f);
	assert_fails(f, "data", "leads out of the folder");
	test_has(in_out(f, "sub/m.h"), "CUDA M");
}

static void an_edited_copy_is_made_anew_and_set_aside(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->overlay = true;
	put(f, "README", "read");
	run(f);
	put_at(f, in_out(f, "README"), "mine", 0644);
	run(f);
	test_has(in_out(f, "README"), "read");
	test_has(in_out(f, ".rocsmith/kept/README"), "mine");
	assert_str(str_join(&f->a, &f->t.edited, S(" ")), "README");
}

static void work_in_an_overlay_leaves_it_current(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->overlay = f->worked_in = true;
	put(f, "README", "read");
	usleep(20000); /* what is fresh could change unseen */
	run(f);
	put_at(f, in_out(f, "README"), "mine", 0644);
	put_at(f, in_out(f, "made"), "more", 0644);
	run(f);
	assert_true(f->current);
	test_has(in_out(f, "README"), "mine");
	put(f, "README", "read again"); /* the source is what counts */
	run(f);
	assert_false(f->current);
	test_has(in_out(f, "README"), "read again");
	assert_ok(fs_remove(in_out(f, "README")));
	run(f);
	assert_false(f->current);
	test_has(in_out(f, "README"), "read again");
}

/* Sources of an archive have its times: another one's may be older than what was built from the first one's. */
static void what_replaces_a_file_is_newer_than_what_was_built_from_it(void **state)
{
	struct fixture *f = *state;
	static const struct timespec first[2] = {{.tv_sec = 2000000}, {.tv_sec = 2000000}},
				     other[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
	usual(f);
	f->overlay = f->worked_in = true;
	put(f, "a.c", "one");
	put(f, "b.c", "same");
	assert_int_equal(utimensat(AT_FDCWD, in_src(f, "a.c").p, first, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, in_src(f, "b.c").p, first, 0), 0);
	run(f);
	assert_int_equal(status(in_out(f, "a.c")).st_mtim.tv_sec, 2000000);
	put(f, "a.c", "two");
	assert_int_equal(utimensat(AT_FDCWD, in_src(f, "a.c").p, other, 0), 0);
	run(f);
	test_has(in_out(f, "a.c"), "two");
	assert_true(status(in_out(f, "a.c")).st_mtim.tv_sec > time(NULL) - 100);
	assert_int_equal(status(in_out(f, "b.c")).st_mtim.tv_sec, 2000000);
	usleep(20000);
	run(f);
	run(f);
	assert_true(f->current);
}

static void an_overlay_of_a_translated_tree_sees_the_originals(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	f->overlay = true;
	PAIRS(f, {"k.cu", "k.hip"});
	run(f);
	test_has(in_out(f, "k.hip"), "CUDA K");
	test_has(in_out(f, "sub/m.h"), "cuda m");
	assert_false(there(f, "hip/k.hip"));
	assert_ok(fs_remove(in_src(f, ".rocsmith/originals/sub/m.h")));
	run(f);
	assert_fails(f, "sub/m.h", "original");
}

static void an_overlay_may_lie_in_the_tree(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->overlay = true;
	f->out = in_src(f, "build/hip");
	run(f);
	test_has(in_out(f, "sub/m.h"), "CUDA M");
	assert_false(there(f, "build/hip"));
	run(f);
	run(f);
	assert_true(f->current);
}

static void a_folder_that_is_not_there_is_told(void **state)
{
	struct fixture *f = *state;
	f->overlay = true;
	f->src = in_src(f, "gone");
	assert_err_says(try_run(f), E_NOENT, "no folder '");
	assert_false(fs_present(f->out));
}

static void a_folder_is_in_place_or_an_overlay(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	struct str src = f->src;
	f->overlay = true;
	f->src = path_join(&f->a, f->dir, S("src2"));
	f->out = src;
	usual(f);
	assert_err_says(try_run(f), E_USAGE, "was translated in place");
	f->out = path_join(&f->a, f->dir, S("out"));
	run(f);
	f->overlay = false;
	f->src = f->out;
	assert_err_says(try_run(f), E_USAGE, "is an output folder");
	f->src = src;
	f->overlay = true;
	f->out = f->dir;
	assert_err_says(try_run(f), E_USAGE, "contains the sources");
}

/* Whoever may not read a source may not read what is made of it. */
static void a_result_is_no_more_readable_than_its_source(void **state)
{
	struct fixture *f = *state;
	mode_t mask = umask(022);
	put_at(f, in_src(f, "k.cu"), "cuda k", 0600);
	put_at(f, in_src(f, "x.cu"), "cuda x", 0755);
	put_at(f, in_src(f, "m.h"), "cuda m", 0640);
	put_at(f, in_src(f, "old.cu"), "cuda old", 0600);
	put(f, "hip/old.hip", "of somebody");
	PAIRS(f, {"k.cu", "hip/k.hip"}, {"x.cu", "hip/x.hip"}, {"m.h", "m.h"},
		{"old.cu", "hip/old.hip"});
	for (unsigned i = 0; i < 2; i++) {
		f->overlay = !i;
		run(f);
		assert_int_equal(status(in_out(f, "hip/k.hip")).st_mode & 0777, 0600);
		assert_int_equal(status(in_out(f, "hip/x.hip")).st_mode & 0777, 0644);
		assert_int_equal(status(in_out(f, "m.h")).st_mode & 0777, 0640);
		assert_int_equal(status(in_out(f, "hip/old.hip")).st_mode & 0777, 0600);
		assert_int_equal(chmod(str_z(&f->a, in_src(f, "x.cu")), 0600), 0);
		run(f);
		assert_int_equal(status(in_out(f, "hip/x.hip")).st_mode & 0777, 0600);
		assert_int_equal(chmod(str_z(&f->a, in_src(f, "x.cu")), 0755), 0);
	}
	/* root restores the group of a file in place; nobody else is in it */
	put_at(f, in_src(f, "g.h"), "cuda g", 0640);
	if (chown(str_z(&f->a, in_src(f, "g.h")), geteuid(), 1234) == 0) {
		PAIRS(f, {"g.h", "g.h"});
		run(f);
		assert_int_equal(status(in_src(f, "g.h")).st_size, 6);
		assert_int_equal(status(in_src(f, "g.h")).st_gid, geteuid() ? getegid() : 1234);
		assert_int_equal(status(in_src(f, "g.h")).st_mode & 0777, geteuid() ? 0600 : 0640);
	}
	umask(mask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(an_overlay_is_the_whole_tree),
		FIXTURE_TEST(copies_follow_their_sources),
		FIXTURE_TEST(files_of_others_in_an_overlay_stay),
		FIXTURE_TEST(a_file_that_cannot_be_copied_is_named),
		FIXTURE_TEST(an_edited_copy_is_made_anew_and_set_aside),
		FIXTURE_TEST(work_in_an_overlay_leaves_it_current),
		FIXTURE_TEST(what_replaces_a_file_is_newer_than_what_was_built_from_it),
		FIXTURE_TEST(an_overlay_of_a_translated_tree_sees_the_originals),
		FIXTURE_TEST(an_overlay_may_lie_in_the_tree),
		FIXTURE_TEST(a_folder_that_is_not_there_is_told),
		FIXTURE_TEST(a_folder_is_in_place_or_an_overlay),
		FIXTURE_TEST(a_result_is_no_more_readable_than_its_source),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
