/* Staged folders (base/fs_stage.h): whole or not there, whatever a killed run left. The kill and fault sweeps of
 * tests/e2e show the same with real SDKs and sources. */
#include "test.h"

#include <unistd.h>

#include "base/fs_stage.h"

struct folder {
	struct arena a;
	struct str dir, place;
	struct fs_stage s;
};

static int setup(void **state)
{
	struct folder *f = calloc(1, sizeof(*f));
	f->dir = test_dir(&f->a);
	f->place = path_join(&f->a, f->dir, S("out"));
	f->s = (struct fs_stage){.place = f->place, .receipt = S("made.json"), .resumes = true};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct folder *f = *state;
	test_dir_remove(f->dir);
	arena_free(&f->a);
	free(f);
	return 0;
}

static struct str in(struct folder *f, struct str dir, const char *name)
{
	return path_join(&f->a, dir, str_from(name));
}

static void fill(struct folder *f, const struct fs_stage *s, const char *text)
{
	assert_ok(fs_mkdirs(s->tree));
	test_put(in(f, s->tree, "f"), text);
}

/* The names in the folder of the place, with a blank between. */
static struct str names(struct folder *f)
{
	struct strs list;
	assert_ok(fs_list(&f->a, f->dir, &list));
	return str_join(&f->a, &list, S(" "));
}

/* What a kill does: nobody holds the lock any more, and nothing is removed. */
static void kill_run(struct fs_stage *s)
{
	fd_closep(&s->lock);
	fs_unguardp(&s->guard);
}

static void a_folder_of_others_beside_is_not_ours(void **state)
{
	struct folder *f = *state;
	struct fs_stage x = {.place = f->place}, second = x;
	struct str place = f->place, dir = f->dir;
	ARENA(a);
	struct str beside = fs_temp_name(&a, place), other = path_join(&a, dir, S("other"));
	assert_ok(fs_mkdirs(path_join(&a, other, S("tree"))));
	test_put(path_join(&a, other, S("tree/f")), "theirs");
	assert_ok(fs_symlink(other, beside));
	assert_err(fs_stage_begin(&a, &x), E_PERM);
	test_has(path_join(&a, other, S("tree/f")), "theirs");
	assert_ok(fs_remove(beside));
	if (geteuid() == 0) {
		assert_ok(fs_move(other, beside, false));
		assert_true(fs_try_chown(beside, 65534, 65534));
		assert_err(fs_stage_begin(&a, &x), E_PERM);
		test_has(path_join(&a, beside, S("tree/f")), "theirs");
		assert_ok(fs_remove_tree(beside));
	}
	assert_ok(fs_stage_begin(&a, &x));
	assert_err(fs_stage_begin(&a, &second), E_LOCKED);
	assert_ok(fs_mkdirs(x.tree));
	test_put(path_join(&a, x.tree, S("f")), "whole");
	assert_false(fs_present(place));
	assert_ok(fs_stage_commit(&x, S("")));
	assert_ok(fs_stage_end(&x));
	assert_false(fs_present(beside));
	test_has(path_join(&a, place, S("f")), "whole");
	assert_str(names(f), "out");
}

/* ---- killed runs ---- */
static void what_a_killed_run_left_goes(void **state)
{
	struct folder *f = *state;
	f->s.resumes = false;
	assert_ok(fs_stage_begin(&f->a, &f->s));
	fill(f, &f->s, "half");
	test_put(in(f, f->s.beside, "scratch"), "x");
	kill_run(&f->s);
	assert_ok(fs_stage_begin(&f->a, &f->s));
	assert_false(fs_present(f->s.tree));
	assert_false(fs_present(in(f, f->s.beside, "scratch")));
	assert_ok(fs_stage_end(&f->s));
	assert_str(names(f), "");
}

static void a_run_that_resumes_finds_the_tree_of_the_failed_one(void **state)
{
	struct folder *f = *state;
	assert_ok(fs_stage_begin(&f->a, &f->s));
	fill(f, &f->s, "half");
	assert_ok(fs_stage_end(&f->s)); /* not committed */
	assert_ok(fs_stage_begin(&f->a, &f->s));
	test_has(in(f, f->s.tree, "f"), "half");
	test_put(in(f, f->s.beside, "scratch"), "x");
	assert_ok(fs_stage_commit(&f->s, S("{}")));
	assert_ok(fs_stage_end(&f->s));
	assert_str(names(f), "out");
	test_has(in(f, f->place, "made.json"), "{}");
}

/* Killed between the receipt and the new name, and between that and the removal of the old folder. */
static void a_tree_with_its_receipt_gets_its_name_or_is_the_old_one(void **state)
{
	struct folder *f = *state;
	for (int old = 0; old < 2; old++) {
		assert_ok(fs_stage_begin(&f->a, &f->s));
		fill(f, &f->s, old ? "old" : "new");
		test_put(in(f, f->s.tree, "made.json"), "{}");
		kill_run(&f->s);
		assert_ok(fs_stage_begin(&f->a, &f->s));
		assert_false(fs_present(f->s.tree));
		test_has(in(f, f->place, "f"), "new");
		assert_ok(fs_stage_end(&f->s));
	}
	assert_str(names(f), "out");
}

static void a_folder_that_is_there_is_replaced(void **state)
{
	struct folder *f = *state;
	test_put(f->place, "a file");
	for (int i = 0; i < 2; i++) {
		assert_ok(fs_stage_begin(&f->a, &f->s));
		fill(f, &f->s, i ? "second" : "first");
		assert_ok(fs_stage_commit(&f->s, S("{}")));
		assert_ok(fs_stage_end(&f->s));
		test_has(in(f, f->place, "f"), i ? "second" : "first");
	}
	assert_str(names(f), "out");
}

/* The old folder's receipt must not stand beside the new folder, not even for a moment. */
static void a_receipt_beside_the_folder_is_written_last(void **state)
{
	struct folder *f = *state;
	struct str receipt = in(f, f->dir, "out.json"), beside = in(f, f->dir, ".new");
	f->s = (struct fs_stage){.place = f->place, .receipt = receipt, .beside = beside};
	test_put(receipt, "old");
	assert_ok(fs_stage_begin(&f->a, &f->s));
	assert_str(f->s.tree, in(f, beside, "tree").p);
	assert_err(fs_stage_commit(&f->s, S("new")), E_NOENT); /* nothing was filled */
	test_has(receipt, "old");
	fill(f, &f->s, "x");
	assert_ok(fs_stage_commit(&f->s, S("new")));
	assert_ok(fs_stage_end(&f->s));
	test_has(receipt, "new");
	assert_str(names(f), "out out.json");
}

static void a_receipt_of_another_text_goes(void **state)
{
	struct folder *f = *state;
	struct str path = in(f, f->dir, "made");
	bool same;
	assert_ok(fs_receipt_check(path, S("key 1"), &same));
	assert_false(same);
	test_put(path, "key 1\n");
	assert_ok(fs_receipt_check(path, S("key 1"), &same));
	assert_true(same);
	assert_ok(fs_receipt_check(path, S("key 2"), &same));
	assert_false(same);
	assert_false(fs_present(path));
}

#define FOLDER_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FOLDER_TEST(a_folder_of_others_beside_is_not_ours),
		FOLDER_TEST(what_a_killed_run_left_goes),
		FOLDER_TEST(a_run_that_resumes_finds_the_tree_of_the_failed_one),
		FOLDER_TEST(a_tree_with_its_receipt_gets_its_name_or_is_the_old_one),
		FOLDER_TEST(a_folder_that_is_there_is_replaced),
		FOLDER_TEST(a_receipt_beside_the_folder_is_written_last),
		FOLDER_TEST(a_receipt_of_another_text_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
