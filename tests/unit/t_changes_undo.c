/* Taking a result back: restoring, what has no source any more, and the state of each output. */
#include "fixture_changes.h"

#include "base/proc.h"

#include <time.h>
#include <unistd.h>

#include "changes/manifest.h"

static void assert_restored(struct fixture *f, bool force, struct str before)
{
	assert_int_equal(restore(f, force).n, 0);
	assert_str(snapshot(f, f->src), before.p);
}

static void restore_gives_the_tree_back_bit_by_bit(void **state)
{
	struct fixture *f = *state;
	usual(f);
	put(f, "hip/foreign.hip", "cuda f"); /* was there before us, and is replaced */
	PAIRS(f, {"k.cu", "new/deep/k.hip"}, {"sub/m.h", "sub/m.h"}, {"k.cu", "hip/foreign.hip"});
	struct str before = snapshot(f, f->src);
	run(f);
	test_has(in_src(f, "hip/foreign.hip"), "CUDA K");
	assert_restored(f, false, before);
	struct strs kept;
	assert_err_says(
		changes_restore(&f->a, journal(f), false, &kept), E_NOENT, "was not translated");
}

/* The power fails before the intent is on the disk: the manifest before it is, and nothing that the
 * intent names was put in place. */
static void a_lost_intent_leaves_the_manifest_before_it(void **state)
{
	struct fixture *f = *state;
	usual(f);
	struct str before = snapshot(f, f->src), path = in_src(f, ".rocsmith/hipify.manifest"),
		   intent;
	struct str beside = fs_temp_name(&f->a, path);
	struct manifest *m;
	run(f);
	assert_ok(manifest_read(&f->a, journal(f), &m));
	assert_ok(manifest_put(&f->a, m, &intent));
	assert_true(fs_present(beside));
	assert_int_equal(truncate(intent.p, 0), 0);
	run(f);
	assert_true(f->current);
	assert_restored(f, false, before);
	run(f);
	assert_false(fs_present(beside));
	assert_ok(fs_write(path, S(""), 0644));
	struct err *e = try_run(f);
	assert_err_says(e, E_CORRUPT, "cannot be used");
}

/* It fails soon after a run, before what was added at its end is on the disk. */
static void a_lost_end_leaves_the_intent(void **state)
{
	struct fixture *f = *state;
	usual(f);
	struct str path = in_src(f, ".rocsmith/hipify.manifest");
	struct stat st;
	run(f);
	assert_ok(fs_stat(path, &st));
	assert_int_equal(truncate(path.p, st.st_size - 1), 0);
	assert_int_equal(state_of(f, "hip/k.hip"), STATE_CURRENT);
	run(f);
	assert_false(f->current);
	run(f);
	assert_true(f->current);
	put(f, "k.cu", "cuda 2");
	run(f);
	assert_ok(fs_stat(path, &st));
	assert_int_equal(truncate(path.p, st.st_size - 1), 0);
	assert_int_equal(restore(f, false).n, 0);
	assert_false(there(f, "hip"));
	test_has(in_src(f, "sub/m.h"), "cuda m");
}

/* Killed with a file begun, which the next run has no output of that name for. */
static void what_was_begun_is_tidied_up(void **state)
{
	struct fixture *f = *state;
	usual(f);
	struct str begun = fs_temp_name(&f->a, in_src(f, "hip/k.hip"));
	struct str others = fs_temp_name(&f->a, in_src(f, "hip/others"));
	struct str path = in_src(f, ".rocsmith/hipify.manifest");
	run(f);
	assert_int_equal(truncate(path.p, status(path).st_size - 1), 0);
	assert_ok(fs_write(begun, S("cuda"), 0644));
	assert_ok(fs_write(others, S("mine"), 0644));
	PAIRS(f, {"sub/m.h", "sub/m.h"});
	run(f);
	assert_true(!fs_present(begun) && fs_present(others));
}

static void restore_keeps_what_was_edited(void **state)
{
	struct fixture *f = *state;
	usual(f);
	struct str before = snapshot(f, f->src);
	run(f);
	put(f, "hip/k.hip", "edit k");
	put(f, "sub/m.h", "edit m");
	struct strs kept = restore(f, false);
	assert_str(str_join(&f->a, &kept, S(" ")), "hip/k.hip sub/m.h");
	test_has(in_src(f, "hip/k.hip"), "edit k");
	test_has(in_src(f, "sub/m.h"), "edit m");
	assert_int_equal(restore(f, false).n, 2); /* they stay known */
	assert_restored(f, true, before);
}

static void what_has_no_source_any_more_is_taken_back(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	assert_ok(fs_remove(in_src(f, "k.cu")));
	PAIRS(f, {"k.cu", "hip/k.hip"}); /* and m.h is translated no longer */
	run(f);
	assert_str(str_join(&f->a, &f->t.removed, S(" ")), "hip/k.hip sub/m.h");
	assert_false(there(f, "hip"));
	test_has(in_src(f, "sub/m.h"), "cuda m");
	run(f);
	(void)nanosleep(&(struct timespec){.tv_nsec = 50000000},
		NULL); /* ticks after the last change all is sure */
	run(f);
	run(f);
	assert_true(f->current);
	assert_int_equal(restore(f, false).n, 0);
	test_has(in_src(f, "sub/m.h"), "cuda m");
}

static void what_was_edited_stays_without_its_source(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	put(f, "hip/k.hip", "mine");
	assert_ok(fs_remove(in_src(f, "k.cu")));
	for (unsigned twice = 0; twice < 2; twice++) {
		run(f);
		assert_str(str_join(&f->a, &f->t.edited, S(" ")), "hip/k.hip");
		assert_int_equal(f->t.removed.n, 0);
		test_has(in_src(f, "hip/k.hip"), "mine");
		f->identity = "2";
	}
}

static void what_was_taken_back_is_told_in_order(void **state)
{
	struct fixture *f = *state;
	usual(f);
	PAIRS(f, {"k.cu", "z.hip"}, {"same.h", "b.h"}, {"sub/m.h", "sub/a.h"});
	run(f);
	f->identity = "2";
	PAIRS(f, {"k.cu", "c.hip"}, {"sub/m.h", "a.hip"});
	run(f);
	assert_str(str_join(&f->a, &f->t.removed, S(" ")), "b.h sub/a.h z.hip");
}

/* A setup.py with two extensions: each has a run of its own, in one folder. */
static void runs_of_other_sources_do_not_take_away(void **state)
{
	struct fixture *f = *state;
	f->some = true;
	for (int overlay = 0; overlay < 2; overlay++) {
		f->overlay = overlay;
		f->identity = "1";
		usual(f);
		run(f);
		f->identity = "2";
		put(f, "z.cu", "cuda z");
		PAIRS(f, {"z.cu", "hip/z.hip"});
		run(f);
		assert_true(there(f, "hip/k.hip") && there(f, "hip/z.hip"));
		test_has(in_out(f, "sub/m.h"), "CUDA M");
		put(f, "k.cu", "changed");
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_STALE);
		assert_ok(fs_remove(in_src(f, "k.cu")));
		run(f);
		assert_true(!there(f, "hip/k.hip") && there(f, "hip/z.hip"));
		assert_int_equal(restore(f, false).n, 0);
		assert_false(there(f, "hip/z.hip"));
		test_has(in_src(f, "sub/m.h"), "cuda m");
	}
}

static void what_was_right_already_is_not_ours(void **state)
{
	struct fixture *f = *state;
	usual(f);
	put(f, "hip/k.hip", "CUDA K");
	struct str before = snapshot(f, f->src);
	run(f);
	assert_int_equal(file(f, "k.cu")->status, CHANGE_SKIPPED);
	run(f);
	restore(f, false);
	assert_str(snapshot(f, f->src), before.p);
}

static void states_are_told(void **state)
{
	struct fixture *f = *state;
	for (int overlay = 0; overlay < 2; overlay++) {
		f->overlay = overlay;
		usual(f);
		run(f);
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_CURRENT);
		assert_int_equal(state_of(f, "sub/m.h"), STATE_CURRENT);
		put(f, "k.cu", "cuda 2");
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_STALE);
		put(f, "k.cu", "cuda k"); /* only touched */
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_CURRENT);
		assert_ok(fs_remove(in_src(f, "k.cu")));
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_ORPHAN);
		put_at(f, in_out(f, "sub/m.h"), "edited", 0644);
		assert_int_equal(state_of(f, "sub/m.h"), STATE_EDITED);
		assert_ok(fs_remove(in_out(f, "hip/k.hip")));
		assert_int_equal(state_of(f, "hip/k.hip"), STATE_MISSING);
		restore(f, true);
	}
	struct change_entries all;
	assert_err(changes_state(&f->a, changes_journal(&f->a, f->dir, S("")), &all), E_NOENT);
}

static void a_copied_tree_is_still_known(void **state)
{
	struct fixture *f = *state;
	usual(f);
	run(f);
	struct str to = path_join(&f->a, f->dir, S("moved"));
	assert_ok(fs_rename(f->src, to));
	f->src = to;
	assert_int_equal(state_of(f, "sub/m.h"), STATE_CURRENT);
	run(f);
	assert_false(f->current); /* patterns may depend on where it is */
	assert_int_equal(file(f, "k.cu")->status, CHANGE_SKIPPED);
	assert_int_equal(restore(f, false).n, 0);
	test_has(in_src(f, "sub/m.h"), "cuda m");
}

/* ---- a tree in which somebody else has been ---- */

static struct str outside(struct fixture *f)
{
	struct str home = path_join(&f->a, f->dir, S("victim"));
	put_at(f, path_join(&f->a, home, S("m.h")), "precious", 0644);
	put_at(f, path_join(&f->a, home, S("k.hip")), "CUDA K", 0644);
	return home;
}

/* What we made comes to lie behind a link: then it is not what we made. */
static void nothing_is_taken_back_through_links(void **state)
{
	struct fixture *f = *state;
	struct strs kept;
	usual(f);
	run(f);
	struct str home = outside(f), before = snapshot(f, home);
	assert_ok(fs_remove_tree(in_src(f, "hip")));
	assert_ok(fs_remove_tree(in_src(f, "sub")));
	assert_ok(fs_symlink(home, in_src(f, "hip")));
	assert_ok(fs_symlink(home, in_src(f, "sub")));
	assert_err(changes_restore(&f->a, journal(f), true, &kept), E_PERM);
	assert_true(str_eq(snapshot(f, home), before));
	struct err *e = try_run(f);
	err_free(e);
	assert_true(str_eq(snapshot(f, home), before));
}

/* Originals that became links are neither read nor put back. */
static void originals_are_real_files(void **state)
{
	struct fixture *f = *state;
	struct strs kept;
	usual(f);
	run(f);
	struct str home = outside(f), before = snapshot(f, home);
	assert_ok(fs_remove_tree(in_src(f, ".rocsmith/originals/sub")));
	assert_ok(fs_symlink(home, in_src(f, ".rocsmith/originals/sub")));
	f->identity = "2";
	run(f);
	assert_fails(f, "sub/m.h", "links are not followed");
	assert_err(changes_restore(&f->a, journal(f), false, &kept), E_PERM);
	assert_true(str_eq(snapshot(f, home), before));
	test_has(in_src(f, "sub/m.h"), "CUDA M");
}

/* Somebody who may write to the journal, but has not the key. */
static void another_original_is_not_put_back(void **state)
{
	struct fixture *f = *state;
	struct strs kept;
	struct str original = in_src(f, ".rocsmith/originals/sub/m.h");
	usual(f);
	run(f);
	put(f, ".rocsmith/originals/sub/m.h", "not cuda m");
	for (unsigned force = 0; force < 2; force++) {
		assert_err_says(changes_restore(&f->a, journal(f), force, &kept), E_CORRUPT,
			"is not the file that rocsmith replaced");
		test_has(in_src(f, "sub/m.h"), "CUDA M");
		assert_false(there(f, "hip/k.hip")); /* the others are taken back */
	}
	f->identity = "2";
	run(f);
	assert_fails(f, "sub/m.h", "is not the file that rocsmith replaced");
	/* nor is it if the output is the same file, or has the same text */
	put(f, "sub/m.h", "not cuda m");
	assert_int_equal(restore(f, false).n, 1);
	assert_ok(fs_remove(in_src(f, "sub/m.h")));
	assert_ok(fs_link(original, in_src(f, "sub/m.h")));
	assert_err(changes_restore(&f->a, journal(f), true, &kept), E_CORRUPT);
	/* as the hint says */
	assert_ok(fs_remove(in_src(f, "sub/m.h")));
	assert_ok(fs_move(original, in_src(f, "sub/m.h"), true));
	assert_int_equal(restore(f, false).n, 0);
	assert_false(there(f, ".rocsmith"));
}

static void copy_files(struct fixture *f, struct str from, struct str to)
{
	struct proc p = {0};
	struct proc_result r;
	proc_arg(&f->a, &p, "cp", "-r", str_z(&f->a, from), str_z(&f->a, to), NULL);
	assert_ok(proc_check(&f->a, &p, &r));
}

/* A journal counts where it was written, wherever that folder is now, and in a copy of all of it. */
static void a_journal_of_another_folder_does_not_count(void **state)
{
	struct fixture *f = *state;
	struct str first = f->src, moved = path_join(&f->a, f->dir, S("moved")),
		   copied = path_join(&f->a, f->dir, S("copied")),
		   other = path_join(&f->a, f->dir, S("other"));
	struct change_entries all;
	struct strs kept;
	usual(f);
	run(f);
	copy_files(f, first, copied);
	f->src = other;
	for (unsigned i = 0; i < 3; i++) { /* nothing; as it was before; something else */
		assert_ok(fs_mkdirs(other));
		copy_files(f, changes_journal(&f->a, first, S("")), other);
		if (i)
			put(f, "k.cu", "cuda k");
		if (i)
			put(f, "sub/m.h", i == 1 ? "other m" : "CUDA m");
		struct str before = snapshot(f, other);
		assert_err_says(changes_restore(&f->a, journal(f), true, &kept), E_PERM,
			"belongs to another folder");
		assert_err(changes_state(&f->a, journal(f), &all), E_PERM);
		assert_err(try_run(f), E_PERM);
		assert_str(snapshot(f, other), before.p);
		assert_ok(fs_remove_tree(other));
	}
	/* outputs that replace nothing, none of which is there, beside other sources */
	PAIRS(f, {"k.cu", "hip/k.hip"});
	f->src = path_join(&f->a, f->dir, S("new"));
	put(f, "k.cu", "cuda k");
	run(f);
	assert_ok(fs_mkdirs(other));
	copy_files(f, journal(f), other);
	f->src = other;
	put(f, "k.cu", "other k");
	assert_err(changes_restore(&f->a, journal(f), true, &kept), E_PERM);
	put(f, "k.cu", "cuda k");
	assert_int_equal(restore(f, true).n, 0);
	assert_ok(fs_rename(first, moved));
	copy_files(f, copied, first); /* another folder of the same name, and the same files */
	struct str *folders[] = {&moved, &first, &copied};
	for (unsigned i = 0; i < 3; i++) {
		f->src = *folders[i];
		assert_int_equal(restore(f, false).n, 0);
		test_has(in_src(f, "sub/m.h"), "cuda m");
		assert_false(there(f, "hip"));
	}
	f->src = first;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(restore_gives_the_tree_back_bit_by_bit),
		FIXTURE_TEST(a_lost_intent_leaves_the_manifest_before_it),
		FIXTURE_TEST(a_lost_end_leaves_the_intent),
		FIXTURE_TEST(what_was_begun_is_tidied_up),
		FIXTURE_TEST(restore_keeps_what_was_edited),
		FIXTURE_TEST(what_has_no_source_any_more_is_taken_back),
		FIXTURE_TEST(what_was_edited_stays_without_its_source),
		FIXTURE_TEST(what_was_taken_back_is_told_in_order),
		FIXTURE_TEST(runs_of_other_sources_do_not_take_away),
		FIXTURE_TEST(what_was_right_already_is_not_ours),
		FIXTURE_TEST(states_are_told),
		FIXTURE_TEST(a_copied_tree_is_still_known),
		FIXTURE_TEST(nothing_is_taken_back_through_links),
		FIXTURE_TEST(originals_are_real_files),
		FIXTURE_TEST(another_original_is_not_put_back),
		FIXTURE_TEST(a_journal_of_another_folder_does_not_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
