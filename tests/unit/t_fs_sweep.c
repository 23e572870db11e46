/* What trees take, and their removal (base/fs_sweep.c), and folders in use (fs_hold()): trees as nobody should make them, and
 * removals that were killed. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/map.h"
#include "unit/kit.h"

static char *z(struct fixture *f, const char *name)
{
	return str_z(&f->a, at(f, name));
}

/* As du(1) says, which is independent of us. */
static uint64_t by_du(struct fixture *f, const char *name)
{
	struct proc p = {0};
	uint64_t n = 0;
	proc_arg(&f->a, &p, "du", "-s", "--block-size=1", z(f, name), NULL);
	struct str out = ran(f, &p);
	assert_true(str_u64(str_sub(out, 0, str_chr(out, '\t')), 10, &n));
	return n;
}

static uint64_t measured(struct fixture *f, const char *name)
{
	MAP(seen, &f->a);
	struct fs_use use = {.seen = &seen};
	assert_ok(fs_measure(at(f, name), &use));
	return use.bytes;
}

static void make_odd_tree(struct fixture *f)
{
	char zeros[5000] = {0};
	put(f, "outside/precious", "mine");
	assert_ok(fs_mkdirs(at(f, "t/a/b")));
	assert_ok(fs_write(at(f, "t/a/data"), (struct str){.p = zeros, .n = sizeof(zeros)}, 0644));
	assert_int_equal(link(z(f, "t/a/data"), z(f, "t/a/b/same")), 0);
	assert_int_equal(symlink(z(f, "outside"), z(f, "t/way out")), 0);
	assert_int_equal(symlink("loop", z(f, "t/loop")), 0);
	assert_int_equal(mkfifo(z(f, "t/pipe"), 0600), 0);
	put(f, "t/a new\nline\033[31m", "x");
	put(f, "t/closed/x", "x");
	assert_int_equal(truncate(z(f, "t/a/b/same"), 1 << 30), 0); /* a hole */
	assert_int_equal(chmod(z(f, "t/closed"), 0), 0);
}

static void a_tree_takes_what_du_says(void **state)
{
	struct fixture *f = *state;
	make_odd_tree(f);
	assert_int_equal(chmod(z(f, "t/closed"), 0700), 0);
	assert_int_equal(measured(f, "t"), by_du(f, "t"));
	assert_int_equal(measured(f, "nothing"), 0);
	assert_int_equal(measured(f, "t/way out"), by_du(f, "t/way out"));
}

static void each_name_counts_without_a_memory(void **state)
{
	struct fixture *f = *state;
	struct fs_use use = {0};
	make_odd_tree(f);
	assert_int_equal(chmod(z(f, "t/closed"), 0700), 0);
	assert_ok(fs_measure(at(f, "t"), &use));
	assert_true(use.bytes > by_du(f, "t"));
	assert_true(use.newest > 0);
}

static void odd_trees_are_removed_and_nothing_else(void **state)
{
	struct fixture *f = *state;
	struct fs_use use = {0};
	make_odd_tree(f);
	uint64_t all = measured(f, "t");
	assert_ok(fs_retire(at(f, "t"), S(""), &use));
	assert_int_equal(use.bytes, all);
	assert_file(f, "outside/precious", "mine");
	struct strs names;
	assert_ok(fs_list(&f->a, f->dir, &names));
	assert_int_equal(names.n, 1);
}

/* Deeper than PATH_MAX, and than a process may have open folders. */
static void make_deep(struct fixture *f, unsigned levels)
{
	assert_ok(fs_mkdirs(at(f, "deep")));
	int dir = open(z(f, "deep"), O_RDONLY | O_DIRECTORY);
	for (unsigned i = 0; i < levels; i++) {
		assert_int_equal(mkdirat(dir, "level", 0700), 0);
		int next = openat(dir, "level", O_RDONLY | O_DIRECTORY);
		close(dir);
		dir = next;
	}
	close(dir);
}

static void no_tree_is_too_deep(void **state)
{
	struct fixture *f = *state;
	struct fs_use use = {0};
	make_deep(f, 1200);
	assert_ok(fs_measure(at(f, "deep"), &use));
	assert_int_equal(use.unread, 1);
	assert_ok(fs_remove_tree(at(f, "deep")));
	assert_false(fs_present(at(f, "deep")));
}

/* A removal that was killed leaves the names under which deep folders wait for their turn; a stranger's tree may have them, too. */
static void names_of_deep_folders_may_be_taken(void **state)
{
	struct fixture *f = *state;
	make_deep(f, 300);
	for (unsigned i = 0; i < 20; i++)
		put(f, str_fmt(&f->a, "deep/.rocsmith.deep-%u%s", i, i % 2 ? "/x" : "").p, "x");
	assert_ok(fs_remove_tree(at(f, "deep")));
	assert_false(fs_present(at(f, "deep")));
}

static void a_removal_that_was_killed_is_continued(void **state)
{
	struct fixture *f = *state;
	struct fs_use use = {0};
	put(f, "t/old", "x");
	assert_ok(fs_rename(at(f, "t"), fs_gone_name(&f->a, at(f, "t"))));
	put(f, "t/new", "x"); /* made again since */
	put(f, "t.json", "of it");
	assert_ok(fs_retire(at(f, "t"), at(f, "t.json"), &use));
	struct strs names;
	assert_ok(fs_list(&f->a, f->dir, &names));
	assert_int_equal(names.n, 0);
	put(f, ".rocsmith.gone-t/x", "x");
	assert_ok(fs_retire(at(f, ".rocsmith.gone-t"), S(""), &use));
	assert_false(fs_present(at(f, ".rocsmith.gone-t")));
	assert_ok(fs_retire(at(f, "t"), S(""), &use));
}

static void a_retired_name_tells_the_old_one(void **state)
{
	struct fixture *f = *state;
	struct str gone = path_base(fs_gone_name(&f->a, S("/x/debian-sid")));
	assert_str(fs_gone_base(gone), "debian-sid");
	assert_str(fs_gone_base(S("debian-sid")), "");
}

/* ---- in use ---- */

/* Another process holds the folder in this way; has it got it? */
static bool other_gets(struct fixture *f, const char *name, enum fs_hold how)
{
	int status;
	pid_t pid = fork();
	if (!pid) {
		int fd = open(z(f, name), O_RDONLY | O_DIRECTORY);
		_exit(flock(fd, LOCK_NB | (how == FS_HOLD_ALONE ? LOCK_EX : LOCK_SH)) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status == 0;
}

static void a_used_folder_is_nobodys_alone(void **state)
{
	struct fixture *f = *state;
	assert_ok(fs_mkdirs(at(f, "sdk")));
	assert_ok(fs_hold(at(f, "sdk"), FS_HOLD_USED));
	assert_true(other_gets(f, "sdk", FS_HOLD_USED));
	assert_false(other_gets(f, "sdk", FS_HOLD_ALONE));
	assert_ok(fs_hold(at(f, "sdk"), FS_HOLD_ALONE)); /* our own use is no obstacle */
	assert_false(other_gets(f, "sdk", FS_HOLD_USED));
}

static void what_others_use_is_left(void **state)
{
	struct fixture *f = *state;
	assert_ok(fs_mkdirs(at(f, "sdk")));
	int other = open(z(f, "sdk"), O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(other, LOCK_SH), 0);
	assert_ok(fs_hold(at(f, "sdk"), FS_HOLD_USED));
	assert_err(fs_hold(at(f, "sdk"), FS_HOLD_ALONE), E_LOCKED);
	assert_false(other_gets(f, "sdk", FS_HOLD_ALONE)); /* and we still hold it */
	assert_int_equal(flock(other, LOCK_UN), 0);
	assert_ok(fs_hold(at(f, "sdk"), FS_HOLD_ALONE));
	close(other);
}

static void using_a_folder_sets_its_time(void **state)
{
	struct fixture *f = *state;
	const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct stat st;
	assert_ok(fs_mkdirs(at(f, "sdk")));
	assert_int_equal(utimensat(AT_FDCWD, z(f, "sdk"), old, 0), 0);
	assert_ok(fs_hold(at(f, "sdk"), FS_HOLD_ALONE));
	assert_ok(fs_stat(at(f, "sdk"), &st));
	assert_int_equal(st.st_mtim.tv_sec, 1000);
	assert_ok(fs_hold(at(f, "sdk"), FS_HOLD_USED));
	assert_ok(fs_stat(at(f, "sdk"), &st));
	assert_true(st.st_mtim.tv_sec > 1000);
	assert_err(fs_hold(at(f, "missing"), FS_HOLD_USED), E_NOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_tree_takes_what_du_says, setup, teardown),
		cmocka_unit_test_setup_teardown(each_name_counts_without_a_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(
			odd_trees_are_removed_and_nothing_else, setup, teardown),
		cmocka_unit_test_setup_teardown(no_tree_is_too_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(
			names_of_deep_folders_may_be_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_removal_that_was_killed_is_continued, setup, teardown),
		cmocka_unit_test_setup_teardown(a_retired_name_tells_the_old_one, setup, teardown),
		cmocka_unit_test_setup_teardown(a_used_folder_is_nobodys_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(what_others_use_is_left, setup, teardown),
		cmocka_unit_test_setup_teardown(using_a_folder_sets_its_time, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
