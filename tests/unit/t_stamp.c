/* What is up to date: jobs/stamp.c. */

#include <fcntl.h>

#include "jobs/job.h"

#define KIT_MORE                                                                                   \
	struct str in, header;                                                                     \
	struct strs inputs;                                                                        \
	struct stamp_key key;
#include "unit/kit.h"

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	f->in = path_join(&f->a, f->dir, S("a.cu"));
	f->header = path_join(&f->a, f->dir, S("my header.h"));
	f->key = (struct stamp_key){.file = path_join(&f->a, f->dir, S("stamp")),
		.output = path_join(&f->a, f->dir, S("a.o")),
		.command = hash_bytes(HASH_SHA256, "cc", 2)};
	test_put(f->in, "source");
	test_put(f->header, "header");
	test_put(f->key.output, "object");
	strs_add(&f->a, &f->inputs, f->in);
	strs_add(&f->a, &f->inputs, f->header);
	return 0;
}

static void put_stamp(struct fixture *f)
{
	STAMPS(s, &f->a);
	struct job_cost cost = {.seconds = 1.5, .cpu = 1.25, .memory = 4096};
	assert_ok(stamp_write(&s, &f->key, &f->inputs, &cost));
}

static bool fresh(struct fixture *f)
{
	STAMPS(s, &f->a);
	struct job_cost cost = {0};
	bool yes = stamp_fresh(&s, &f->key, &cost);
	if (yes) {
		assert_true(cost.seconds > 1.49 && cost.seconds < 1.51);
		assert_int_equal(cost.memory, 4096);
	}
	return yes;
}

static void what_did_not_change_is_fresh(void **state)
{
	assert_false(fresh(*state));
	put_stamp(*state);
	assert_true(fresh(*state));
}

static void another_content_is_seen_even_at_the_same_size(void **state)
{
	struct fixture *f = *state;
	put_stamp(f);
	test_put(f->header, "HEADER");
	assert_false(fresh(f));
	test_put(f->header, "header");
	assert_true(fresh(f)); /* touched, but the same */
}

/* Within the resolution of the clock a file may change without its time telling. */
static void a_change_that_keeps_the_time_is_seen(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	assert_ok(fs_stat(f->in, &st));
	put_stamp(f);
	test_put(f->in, "SOURCE");
	const struct timespec times[2] = {st.st_atim, st.st_mtim};
	assert_int_equal(utimensat(AT_FDCWD, str_z(&f->a, f->in), times, 0), 0);
	assert_false(fresh(f));
}

static void another_command_is_not_fresh(void **state)
{
	struct fixture *f = *state;
	put_stamp(f);
	f->key.command = hash_bytes(HASH_SHA256, "cc -O2", 6);
	assert_false(fresh(f));
}

static void a_lost_or_torn_output_is_not_fresh(void **state)
{
	struct fixture *f = *state;
	put_stamp(f);
	test_put(f->key.output, "objec");
	assert_false(fresh(f));
	assert_ok(fs_remove(f->key.output));
	assert_false(fresh(f));
}

static void an_input_that_appears_or_goes_is_seen(void **state)
{
	struct fixture *f = *state;
	struct str late = path_join(&f->a, f->dir, S("late.h"));
	strs_add(&f->a, &f->inputs, late);
	put_stamp(f);
	assert_true(fresh(f));
	test_put(late, "now");
	assert_false(fresh(f));
	put_stamp(f);
	assert_ok(fs_remove(late));
	assert_false(fresh(f));
}

static void a_stamp_cut_short_or_damaged_does_not_count(void **state)
{
	struct fixture *f = *state;
	struct str whole;
	put_stamp(f);
	assert_ok(fs_read(&f->a, f->key.file, 1 << 20, &whole));
	for (size_t n = 0; n < whole.n; n++) {
		assert_ok(fs_write(f->key.file, str_sub(whole, 0, n), 0644));
		if (fresh(f))
			fail_msg("a stamp of %zu of %zu bytes counts", n, whole.n);
	}
	size_t head = str_find(whole, S("\ncost ")), output = str_find(whole, S("\nout "));
	assert_true(head < output && output < whole.n);
	const size_t ends[] = {head, output}; /* an end behind the command, and behind the cost */
	for (size_t i = 0; i < 2; i++) {
		assert_ok(fs_write(f->key.file,
			str_fmt(&f->a, "%.*s\nend\n", STR(str_sub(whole, 0, ends[i]))), 0644));
		assert_false(fresh(f));
	}
	char *bytes = str_z(&f->a, whole);
	for (size_t i = 0; i < whole.n; i++) {
		char old = bytes[i];
		bytes[i] = '\x01';
		assert_ok(fs_write(f->key.file, (struct str){.p = bytes, .n = whole.n}, 0644));
		struct job_cost cost;
		STAMPS(s, &f->a);
		(void)stamp_fresh(&s, &f->key, &cost); /* must not crash */
		bytes[i] = old;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_did_not_change_is_fresh, begin, teardown),
		cmocka_unit_test_setup_teardown(
			another_content_is_seen_even_at_the_same_size, begin, teardown),
		cmocka_unit_test_setup_teardown(
			a_change_that_keeps_the_time_is_seen, begin, teardown),
		cmocka_unit_test_setup_teardown(another_command_is_not_fresh, begin, teardown),
		cmocka_unit_test_setup_teardown(
			a_lost_or_torn_output_is_not_fresh, begin, teardown),
		cmocka_unit_test_setup_teardown(
			an_input_that_appears_or_goes_is_seen, begin, teardown),
		cmocka_unit_test_setup_teardown(
			a_stamp_cut_short_or_damaged_does_not_count, begin, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
