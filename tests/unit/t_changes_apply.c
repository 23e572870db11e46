/* Applying a result in place: what is written, kept, set aside, refused; and when nothing is to be
 * done. */
#include "fixture_changes.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"

static void originals_are_kept_and_modes_too(void **state)
{
	struct fixture *f = *state;
	usual(f);
	ino_t old = status(in_src(f, "sub/m.h")).st_ino;
	run(f);
	test_has(in_src(f, "hip/k.hip"), "CUDA K");
	test_has(in_src(f, "sub/m.h"), "CUDA M");
	test_has(in_src(f, ".rocsmith/originals/sub/m.h"), "cuda m");
	assert_int_equal(status(in_src(f, ".rocsmith/originals/sub/m.h")).st_ino, old);
	assert_int_equal(status(in_src(f, "sub/m.h")).st_mode & 07777, 0755);
	mode_t mask = umask(0);
	umask(mask);
	assert_int_equal(status(in_src(f, "hip/k.hip")).st_mode & 07777, 0666 & ~mask);
	assert_false(there(f, ".rocsmith/new"));
	test_has(in_src(f, ".rocsmith/.gitignore"), "*\n");
	assert_int_equal(file(f, "same.h")->status, CHANGE_UNCHANGED);
}

static void a_second_run_has_nothing_to_do(void **state)
{
	struct fixture *f = *state;
	for (int overlay = 0; overlay < 2; overlay++) {
		f->overlay = overlay;
		usual(f);
		usleep(20000);
		run(f);
		struct str before = snapshot(f, f->dir);
		run(f);
		assert_true(f->current);
		assert_int_equal(file(f, "k.cu")->status, CHANGE_SKIPPED);
		assert_int_equal(file(f, "same.h")->status, CHANGE_UNCHANGED);
		assert_str(snapshot(f, f->dir), before.p);
		before = snapshot(f, in_out(f, "hip"));
		f->identity = overlay ? "3" : "2"; /* all is computed, and nothing differs */
		run(f);
		assert_false(f->current);
		assert_int_equal(file(f, "k.cu")->status, CHANGE_SKIPPED);
		assert_str(snapshot(f, in_out(f, "hip")), before.p);
		if (!overlay)
			assert_ok(fs_remove_tree(f->src));
	}
}

static void a_change_anywhere_is_seen(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	run(f); /* folders that were fresh the first time */
	run(f);
	assert_true(f->current);
	put(f, "k.cu", "cudb k");
	run(f);
	assert_false(f->current);
	test_has(in_src(f, "hip/k.hip"), "CUDB K");
	put(f, "other", "");
	run(f);
	assert_false(f->current);
	put(f, "probe/x", "");
	run(f);
	assert_false(f->current);
	put(f, "hip/k.hip", "edited");
	run(f);
	assert_false(f->current);
	assert_ok(fs_remove(in_src(f, "hip/k.hip")));
	run(f);
	assert_true(!f->current && there(f, "hip/k.hip"));
	put(f, "same.h", "SAMe");
	run(f);
	assert_false(f->current);
	test_has(in_src(f, "same.h"), "SAME");
}

/* The same size within the same tick of the clock: times alone cannot tell. */
static void quick_changes_are_seen(void **state)
{
	struct fixture *f = *state;
	usual(f);
	for (unsigned i = 0; i < 40; i++) {
		struct str text = str_fmt(&f->a, "cuda %02u", i);
		put(f, "k.cu", text.p);
		run(f);
		test_has(in_src(f, "hip/k.hip"), upper(&f->a, text).p);
		put(f, "hip/k.hip", "XXXX XX");
		run(f);
		test_has(in_src(f, "hip/k.hip"), upper(&f->a, text).p);
	}
}

/* The folder was listed before, and is changed by us after it: neither hides what came between. */
static void what_comes_meanwhile_is_seen_next_time(void **state)
{
	struct fixture *f = *state;
	usual(f);
	usleep(20000);
	f->meanwhile = true;
	run(f);
	f->meanwhile = false;
	run(f);
	assert_false(f->current);
	run(f);
	assert_true(f->current);
}

static void an_edit_of_a_replaced_file_is_a_new_source(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	put(f, "sub/m.h", "edited m");
	run(f);
	test_has(in_src(f, "sub/m.h"), "EDITED M");
	assert_str(str_join(&f->a, &f->t.edited, S(" ")), "sub/m.h");
	test_has(in_src(f, ".rocsmith/originals/sub/m.h"), "edited m");
	test_has(in_src(f, ".rocsmith/kept/sub/m.h"), "cuda m");
	assert_int_equal(restore(f, false).n, 0);
	test_has(in_src(f, "sub/m.h"), "edited m");
	test_has(in_src(f, ".rocsmith/kept/sub/m.h"), "cuda m");
}

static void an_edit_of_a_generated_file_is_set_aside(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	for (unsigned i = 1; i < 4; i++) {
		put(f, "hip/k.hip", str_fmt(&f->a, "edit %u", i).p);
		run(f);
		test_has(in_src(f, "hip/k.hip"), "CUDA K");
		assert_str(str_join(&f->a, &f->t.edited, S(" ")), "hip/k.hip");
	}
	test_has(in_src(f, ".rocsmith/kept/hip/k.hip"), "edit 1");
	test_has(in_src(f, ".rocsmith/kept/hip/k.hip.2"), "edit 2");
	test_has(in_src(f, ".rocsmith/kept/hip/k.hip.3"), "edit 3");
}

/* An output of a run that failed may have lost its folder: nothing can wait there to be put in
 * place, and that keeps nobody from the rest. */
static void a_folder_that_became_a_file_fails_alone(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->fails[1] = true;
	run(f);
	assert_ok(fs_remove_tree(in_src(f, "hip")));
	put(f, "hip", "mine");
	run(f);
	assert_fails(f, "k.cu", "Not a directory");
	run(f);
	assert_fails(f, "k.cu", "Not a directory");
	f->fails[1] = false;
	run(f);
	test_has(in_src(f, "sub/m.h"), "CUDA M");
	assert_int_equal(restore(f, false).n, 0);
	test_has(in_src(f, "sub/m.h"), "cuda m");
	test_has(in_src(f, "hip"), "mine");
	assert_false(there(f, ".rocsmith"));
}

/* Where a content waits beside its place something else may be: another file's second name, a pipe.
 */
static void what_waits_is_a_new_file(void **state)
{
	struct fixture *f = *state;
	usual(f);
	struct str k = fs_temp_name(&f->a, in_src(f, "hip/k.hip")),
		   m = fs_temp_name(&f->a, in_src(f, "sub/m.h"));
	put(f, "hip/other", "other");
	assert_ok(fs_link(in_src(f, "hip/other"), k));
	assert_int_equal(mkfifo(m.p, 0600), 0);
	run(f);
	test_has(in_src(f, "hip/other"), "other");
	test_has(in_src(f, "hip/k.hip"), "CUDA K");
	test_has(in_src(f, "sub/m.h"), "CUDA M");
	assert_false(fs_present(k) || fs_present(m));
}

static void a_failed_source_keeps_its_earlier_output(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	f->fails[0] = f->fails[1] = true;
	put(f, "k.cu", "cuda 2");
	run(f);
	test_has(in_src(f, "hip/k.hip"), "CUDA K");
	test_has(in_src(f, "sub/m.h"), "CUDA M");
	run(f);
	assert_false(f->current); /* what failed is tried again */
	f->fails[0] = f->fails[1] = false;
	run(f);
	test_has(in_src(f, "hip/k.hip"), "CUDA 2");
}

static void links_are_followed_inside_only(void **state)
{
	struct fixture *f = *state;
	put(f, "real/x.h", "cuda x");
	put_at(f, path_join(&f->a, f->dir, S("elsewhere.h")), "cuda e", 0644);
	assert_ok(fs_symlink(S("real/x.h"), in_src(f, "in.h")));
	assert_ok(fs_symlink(S("../elsewhere.h"), in_src(f, "away.h")));
	assert_ok(fs_symlink(f->dir, in_src(f, "up")));
	put(f, "k.cu", "cuda k");
	PAIRS(f, {"in.h", "in.h"}, {"away.h", "away.h"}, {"k.cu", "up/k.hip"});
	struct str before = snapshot(f, f->dir);
	run(f);
	test_has(in_src(f, "real/x.h"), "CUDA X");
	assert_true(S_ISLNK(status(in_src(f, "in.h")).st_mode));
	assert_fails(f, "away.h", "leads out of");
	assert_fails(f, "k.cu", "leads out of the folder");
	restore(f, false);
	assert_str(snapshot(f, f->dir), before.p);
}

static void a_link_to_nothing_is_no_place(void **state)
{
	struct fixture *f = *state;
	usual(f);
	assert_ok(fs_mkdirs(in_src(f, "hip")));
	assert_ok(fs_symlink(S("nothing"), in_src(f, "hip/k.hip")));
	run(f);
	assert_fails(f, "k.cu", "a link that leads nowhere");
	test_has(in_src(f, "sub/m.h"), "CUDA M");
}

/* A limit of file sizes stands for a disk that fills up on the way. */
static void what_cannot_be_written_whole_is_not_begun(void **state)
{
	struct fixture *f = *state;
	usual(f);
	char *text = arena_alloc(&f->a, 100000);
	memset(text, 'x', 100000);
	assert_ok(fs_write(in_src(f, "big.cu"), (struct str){text, 100000}, 0644));
	PAIRS(f, {"k.cu", "new/k.hip"}, {"big.cu", "new/er/big.hip"}, {"sub/m.h", "sub/m.h"});
	struct str before = snapshot(f, f->src);
	struct rlimit was, small = {50000, RLIM_INFINITY};
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_IGN);
	small.rlim_max = was.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	struct err *e = try_run(f);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_err_says(e, E_IO, "big.hip");
	assert_false(there(f, "new"));
	test_has(in_src(f, "sub/m.h"), "cuda m");
	run(f);
	test_has(in_src(f, "new/k.hip"), "CUDA K");
	assert_int_equal(restore(f, false).n, 0);
	assert_str(snapshot(f, f->src), before.p);
}

static void outputs_outside_work_in_place(void **state)
{
	struct fixture *f = *state;
	put(f, "../lib/x.h", "cuda x");
	PAIRS(f, {"../lib/x.h", "../lib/x_hip.h"}, {"../lib/x.h", "../lib/hip/new/x.h"},
		{"../lib/x.h", "../lib/x.h"});
	run(f);
	test_has(in_src(f, "../lib/x_hip.h"), "CUDA X");
	test_has(in_src(f, "../lib/x.h"), "CUDA X");
	test_has(in_src(f, "../lib/hip/new/x.h"), "CUDA X");
	test_has(in_src(f, ".rocsmith/originals.up/1/lib/x.h"), "cuda x");
	run(f);
	run(f);
	assert_true(f->current);
	put(f, "../lib/x.h", "cuda y");
	run(f);
	assert_str(str_join(&f->a, &f->t.edited, S(" ")), "../lib/x.h");
	test_has(in_src(f, "../lib/x_hip.h"), "CUDA Y");
	restore(f, true);
	assert_false(there(f, "../lib/hip") || there(f, "../lib/x_hip.h"));
	test_has(in_src(f, "../lib/x.h"), "cuda y");
	put(f, "../lib/x.h", "cuda x");
	f->overlay = true;
	run(f);
	assert_fails(f, "../lib/x.h", "lies outside of");
}

static void a_folder_outside_that_was_there_stays(void **state)
{
	struct fixture *f = *state;
	put(f, "../lib/x.h", "cuda x");
	assert_ok(fs_mkdirs(in_src(f, "../empty/sub")));
	PAIRS(f, {"../lib/x.h", "../empty/sub/new/x.h"});
	run(f);
	test_has(in_src(f, "../empty/sub/new/x.h"), "CUDA X");
	restore(f, false);
	assert_true(there(f, "../empty/sub") && !there(f, "../empty/sub/new"));
}

static void what_becomes_of_a_source_is_seen_inside_and_outside(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < 2; i++) {
		const char *source = i ? "../lib/y.cu" : "y.cu", *output = i ? "up_y.hip" : "y.hip";
		put(f, source, "cuda y");
		PAIRS(f, {source, output});
		run(f);
		assert_int_equal(state_of(f, output), STATE_CURRENT);
		put(f, source, "cuda y, but edited");
		assert_int_equal(state_of(f, output), STATE_STALE);
		put(f, source, "cuda y"); /* another file with the text of before */
		assert_int_equal(state_of(f, output), STATE_CURRENT);
		assert_ok(fs_write(in_out(f, output), S("by hand"), 0644));
		assert_int_equal(state_of(f, output), STATE_EDITED);
		assert_ok(fs_remove(in_out(f, output)));
		assert_int_equal(state_of(f, output), STATE_MISSING);
		run(f);
		assert_ok(fs_remove(in_src(f, source)));
		assert_int_equal(state_of(f, output), STATE_ORPHAN);
	}
}

/* ---- two runs at once ---- */

static struct {
	int lock;
	atomic_uint notes;
	struct str text;
	struct arena *a;
} waits;

static void note_wait(struct str verb, struct str text)
{
	waits.notes += str_eq(verb, S("Waiting"));
	waits.text = str_dup(waits.a, text);
}

/* Some of its steps after it was told, and in any case after ten seconds. */
static void *let_go(void *user)
{
	const struct timespec some_steps = {.tv_nsec = 200000000};
	(void)user;
	for (unsigned i = 0; i < 50 && !waits.notes; i++)
		(void)nanosleep(&some_steps, NULL);
	(void)nanosleep(&some_steps, NULL);
	fd_closep(&waits.lock);
	return NULL;
}

static void another_run_is_waited_for_and_told_once(void **state)
{
	struct fixture *f = *state;
	static const struct progress_sink sink = {.note = note_wait};
	struct str lock = path_join(&f->a, journal(f), S("hipify.lock"));
	usual(f);
	run(f);
	for (size_t held = 0; held < 2; held++) {
		pthread_t other;
		waits.notes = 0;
		waits.a = &f->a;
		if (held) {
			assert_ok(fs_lock(lock, FS_LOCK_NOW, &waits.lock));
			assert_int_equal(pthread_create(&other, NULL, let_go, NULL), 0);
		}
		progress_listen(&sink);
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_CURRENT);
		progress_listen(NULL);
		if (held)
			assert_int_equal(pthread_join(other, NULL), 0);
		assert_int_equal(waits.notes, held);
	}
	assert_str(waits.text, str_fmt(&f->a, "for another run on '%.*s'", STR(f->src)).p);
}

static void a_bad_place_fails_alone(void **state)
{
	struct fixture *f = *state;
	usual(f);
	put(f, "hip", "a file");
	assert_ok(fs_mkdirs(in_src(f, "folder")));
	PAIRS(f, {"k.cu", "hip/k.hip"}, {"sub/m.h", "sub/m.h"}, {"same.h", "folder"},
		{"k.cu", ".rocsmith/x"});
	run(f);
	assert_fails(f, "k.cu", "cannot");
	assert_fails(f, "same.h", "in the way and is not a file");
	assert_int_equal(file(f, "sub/m.h")->status, CHANGE_OK);
	assert_int_equal(f->t.v[3].status, CHANGE_FAILED);
	test_has(in_src(f, "sub/m.h"), "CUDA M");
}

static void the_later_of_two_sources_wins(void **state)
{
	struct fixture *f = *state;
	put(f, "a.cu", "from a");
	put(f, "b.cu", "from b");
	PAIRS(f, {"a.cu", "x.hip"}, {"b.cu", "x.hip"});
	run(f);
	test_has(in_src(f, "x.hip"), "FROM B");
	f->identity = "2";
	run(f);
	assert_int_equal(file(f, "b.cu")->status, CHANGE_SKIPPED);
}

static void looking_writes_nothing(void **state)
{
	struct fixture *f = *state;
	usual(f);
	f->look = true;
	for (int overlay = 0; overlay < 2; overlay++) {
		f->overlay = overlay;
		struct str before = snapshot(f, f->dir);
		run(f);
		assert_int_equal(file(f, "k.cu")->status, CHANGE_OK);
		assert_str(snapshot(f, f->dir), before.p);
		f->look = false;
		run(f);
		f->look = true;
		before = snapshot(f, f->dir);
		run(f);
		assert_int_equal(file(f, "k.cu")->status, CHANGE_SKIPPED);
		assert_true(file(f, "k.cu")->text.p != NULL);
		assert_str(snapshot(f, f->dir), before.p);
		if (!overlay)
			restore(f, false);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(originals_are_kept_and_modes_too),
		FIXTURE_TEST(a_second_run_has_nothing_to_do),
		FIXTURE_TEST(a_change_anywhere_is_seen),
		FIXTURE_TEST(quick_changes_are_seen),
		FIXTURE_TEST(what_comes_meanwhile_is_seen_next_time),
		FIXTURE_TEST(an_edit_of_a_replaced_file_is_a_new_source),
		FIXTURE_TEST(an_edit_of_a_generated_file_is_set_aside),
		FIXTURE_TEST(a_folder_that_became_a_file_fails_alone),
		FIXTURE_TEST(what_waits_is_a_new_file),
		FIXTURE_TEST(a_failed_source_keeps_its_earlier_output),
		FIXTURE_TEST(links_are_followed_inside_only),
		FIXTURE_TEST(a_link_to_nothing_is_no_place),
		FIXTURE_TEST(what_cannot_be_written_whole_is_not_begun),
		FIXTURE_TEST(outputs_outside_work_in_place),
		FIXTURE_TEST(a_folder_outside_that_was_there_stays),
		FIXTURE_TEST(what_becomes_of_a_source_is_seen_inside_and_outside),
		FIXTURE_TEST(another_run_is_waited_for_and_told_once),
		FIXTURE_TEST(a_bad_place_fails_alone),
		FIXTURE_TEST(the_later_of_two_sources_wins),
		FIXTURE_TEST(looking_writes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
