/* The list of what was made in an output folder: what is written is read back, damage is an error
 * and never a path outside of the folder, and two runs wait for each other. */
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "hipify/hipify.h"
#include "hipify/listing.h"

#define HEAD "# rocsmith hipify manifest 1\n"
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void what_is_written_is_read_back(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct listing m = {.a = &a, .by_output = {.a = &a}}, again;
	static const char *const outputs[] = {"z.hip", "a b.hip", "sub/x.h", "größe.hip", "-n.h"};
	for (size_t i = 0; i < 5; i++)
		listing_add(&m, (struct listing_entry){.hash = S(HASH),
					.output = str_from(outputs[i]),
					.source = S("some/source.cu")});
	assert_ok(fs_mkdirs(path_join(&a, dir, S(".rocsmith"))));
	assert_ok(listing_write(&m, dir));
	assert_ok(listing_read(&a, dir, &again));
	assert_int_equal(again.by_output.n, 5);
	for (size_t i = 0; i < 5; i++) {
		struct listing_entry *e = map_get(&again.by_output, str_from(outputs[i]));
		assert_non_null(e);
		assert_str(e->hash, HASH);
		assert_str(e->output, outputs[i]);
		assert_str(e->source, "some/source.cu");
	}
	test_dir_remove(dir);
}

static void the_file_is_sorted_so_that_equal_runs_give_equal_bytes(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S(".rocsmith/hipify.manifest"));
	struct listing m = {.a = &a, .by_output = {.a = &a}};
	const struct listing_entry b = {.hash = S(HASH), .output = S("b"), .source = S("2")};
	const struct listing_entry c = {.hash = S(HASH), .output = S("a"), .source = S("1")};
	assert_ok(fs_mkdirs(path_dir(path)));
	listing_add(&m, b);
	listing_add(&m, c);
	listing_add(&m, b);
	assert_ok(listing_write(&m, dir));
	test_has(path, HEAD HASH "\ta\t1\n" HASH "\tb\t2\n");
	test_dir_remove(dir);
}

static void a_folder_without_one_has_made_nothing(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct listing m;
	assert_ok(listing_read(&a, dir, &m));
	assert_int_equal(m.by_output.n, 0);
	assert_ok(listing_read(&a, path_join(&a, dir, S("none")), &m));
	assert_int_equal(m.by_output.n, 0);
	test_dir_remove(dir);
}

static void damage_is_an_error(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} files[] = {
		{"", "is none"},
		{"# rocsmith hipify manifest 2\n", "is none"},
		{"# rocsmith hipify manifest 1", "is none"},
		{"x", "is none"},
		{HEAD "one\n", "damaged line"},
		{HEAD HASH "\tonly-output\n", "damaged line"},
		{HEAD "short\ta.hip\ta.cu\n", "damaged line"},
		{HEAD HASH "0\ta.hip\ta.cu\n", "damaged line"},
		{HEAD HASH "\t/etc/passwd\ta.cu\n", "damaged line"},
		{HEAD HASH "\t../a.hip\ta.cu\n", "damaged line"},
		{HEAD HASH "\tb/../../a.hip\ta.cu\n", "damaged line"},
		{HEAD HASH "\ta.hip\ta.cu\n" HASH "\t..\tb.cu\n", "damaged line"},
	};
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S(".rocsmith/hipify.manifest"));
	assert_ok(fs_mkdirs(path_dir(path)));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct listing m;
		test_put(path, files[i].text);
		assert_err_says(listing_read(&a, dir, &m), E_CORRUPT, files[i].says);
	}
	test_dir_remove(dir);
}

static void a_second_run_waits_for_the_first(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), mark = path_join(&a, dir, S("mark"));
	int fd, other, status;
	assert_ok(listing_lock(dir, &fd));
	pid_t child = fork();
	if (!child) {
		close(fd); /* the lock is the open file's: ours must be one of our own */
		struct err *e = listing_lock(dir, &other);
		_exit(e || !fs_exists(mark));
	}
	usleep(20000);
	test_put(mark, "");
	close(fd);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	test_dir_remove(dir);
}

struct tree {
	struct arena a;
	struct str dir, out;
	struct hipify_tree t;
};

static void tree_open(struct tree *t)
{
	*t = (struct tree){0};
	t->dir = test_dir(&t->a);
	t->out = path_join(&t->a, t->dir, S("out"));
	assert_ok(fs_mkdirs(path_join(&t->a, t->dir, S("src"))));
}

static void tree_put(struct tree *t, const char *name, const char *text)
{
	struct str path = path_join(&t->a, path_join(&t->a, t->dir, S("src")), str_from(name));
	assert_ok(fs_mkdirs(path_dir(path)));
	test_put(path, text);
}

static void tree_run(struct tree *t, const char *only)
{
	struct hipify_options o = {
		.dir = path_join(&t->a, t->dir, S("src")), .out = t->out, .jobs = 1};
	if (only)
		strs_add(&t->a, &o.only, str_from(only));
	o.keep = only != NULL;
	hipify_tree_free(&t->t);
	assert_ok(hipify_tree(&t->a, &o, &t->t));
}

static bool tree_has(struct tree *t, const char *name)
{
	return fs_exists(path_join(&t->a, t->out, str_from(name)));
}

static void tree_close(struct tree *t)
{
	hipify_tree_free(&t->t);
	test_dir_remove(t->dir);
	arena_free(&t->a);
}

static void a_name_that_breaks_the_lines_fails_alone(void **state)
{
	(void)state;
	struct tree t;
	tree_open(&t);
	tree_put(&t, "good.cu", "cudaFree(0);");
	tree_put(&t, "two words.cu", "cudaFree(0);");
	tree_put(&t, "line\nend.cu", "cudaFree(0);");
	tree_put(&t, "tab\there.cu", "cudaFree(0);");
	for (unsigned i = 0; i < 3; i++) {
		size_t failed = 0;
		tree_run(&t, NULL);
		VEC_EACH (const struct hipify_file, f, &t.t.files)
			failed += f->status == HIPIFY_FAILED &&
				  test_err_says(f->error, "line end or a tab");
		assert_int_equal(failed, 2);
		assert_true(tree_has(&t, "good.hip") && tree_has(&t, "two words.hip"));
		assert_false(tree_has(&t, "line\nend.hip") || tree_has(&t, "tab\there.hip"));
	}
	tree_close(&t);
}

static void one_source_does_not_take_away_the_others(void **state)
{
	(void)state;
	struct tree t;
	tree_open(&t);
	tree_put(&t, "a.cu", "cudaFree(0);");
	tree_put(&t, "sub/b.cu", "cudaFree(0);");
	tree_run(&t, NULL);
	tree_run(&t, "a.cu");
	assert_int_equal(t.t.removed.n, 0);
	assert_true(tree_has(&t, "a.hip") && tree_has(&t, "sub/b.hip"));
	/* they are still ours: a later run of the folder removes what is gone */
	assert_ok(fs_remove_tree(path_join(&t.a, t.dir, S("src/sub"))));
	tree_run(&t, NULL);
	assert_str(str_join(&t.a, &t.t.removed, S(" ")), "sub/b.hip");
	assert_false(tree_has(&t, "sub"));
	tree_close(&t);
}

static void outputs_in_use_by_others_are_left_when_their_source_goes(void **state)
{
	(void)state;
	struct tree t;
	tree_open(&t);
	tree_put(&t, "x/a.cu", "cudaFree(0);");
	tree_run(&t, NULL);
	test_put(path_join(&t.a, t.out, S("x/notes.txt")), "mine");
	assert_ok(fs_remove_tree(path_join(&t.a, t.dir, S("src/x"))));
	tree_run(&t, NULL);
	assert_false(tree_has(&t, "x/a.hip"));
	test_has(path_join(&t.a, t.out, S("x/notes.txt")), "mine");
	tree_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(the_file_is_sorted_so_that_equal_runs_give_equal_bytes),
		cmocka_unit_test(a_folder_without_one_has_made_nothing),
		cmocka_unit_test(damage_is_an_error),
		cmocka_unit_test(a_second_run_waits_for_the_first),
		cmocka_unit_test(a_name_that_breaks_the_lines_fails_alone),
		cmocka_unit_test(one_source_does_not_take_away_the_others),
		cmocka_unit_test(outputs_in_use_by_others_are_left_when_their_source_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
