/* What a build will need: by the description, by what is there already, by its own history. */
#include "cc/cc_int.h"
#include "flow/build.h"

enum { MIB = 1 << 20 };

#define KIT_MORE                                                                                   \
	struct plan_wish wish;                                                                     \
	struct plan_foreign how;                                                                   \
	struct sdk sdk;                                                                            \
	struct forecast forecast;
#include "unit/kit.h"

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	f->wish.plan = (struct plan){.project = S("/p"), .name = S("p"), .foreign = &f->how};
	strs_add(&f->a, &f->wish.plan.gpus, S("gfx1201"));
	strs_add(&f->a, &f->wish.plan.sdk.components, S("compiler"));
	strs_add(&f->a, &f->wish.plan.sdk.components, S("math"));
	f->how.cost = (struct plan_cost){.host_seconds = 1000,
		.device_seconds = 100,
		.disk = 60,
		.device_disk = 10,
		.sdk_disk = 50,
		.memory = 7};
	return 0;
}

static const struct forecast *look(struct fixture *f)
{
	build_forecast(&f->a, &f->wish, f->dir, 2, &f->forecast);
	return &f->forecast;
}

static void put_sized(struct fixture *f, const char *name, size_t bytes)
{
	struct str path = path_join(&f->a, f->dir, str_from(name));
	char *text = arena_alloc(&f->a, bytes + 1);
	memset(text, 'x', bytes);
	assert_ok(fs_mkdirs(path_dir(path)));
	assert_ok(fs_write(path, (struct str){text, bytes}, 0644));
}

static void the_description_is_scaled_by_gpus(void **state)
{
	struct fixture *f = *state;
	assert_true(look(f)->known);
	assert_int_equal(f->forecast.disk, 70 * MIB);
	assert_int_equal(f->forecast.sdk, 50 * MIB);
	assert_int_equal(f->forecast.memory, 7 * MIB);
	assert_true(f->forecast.cpu > 1099 && f->forecast.cpu < 1101);
	assert_true(f->forecast.cores > 0 && f->forecast.cores <= 2); /* others may have a part */
	double cpu = f->forecast.seconds * f->forecast.cores;
	assert_true(cpu > 1099 && cpu < 1101);
	strs_add(&f->a, &f->wish.plan.gpus, S("gfx1100"));
	assert_int_equal(look(f)->disk, 80 * MIB);
	assert_true(f->forecast.cpu > 1199 && f->forecast.cpu < 1201);
	f->how.cost = (struct plan_cost){0};
	assert_false(look(f)->known);
	f->wish.plan.foreign = NULL;
	assert_false(look(f)->known);
}

static void what_is_there_is_not_needed_again(void **state)
{
	struct fixture *f = *state;
	put_sized(f, "tree/a.o", 20 * MIB);
	look(f);
	assert_true(f->forecast.disk <= 50 * MIB && f->forecast.disk > 49 * MIB);
	put_sized(f, "tree/b.o", 60 * MIB);
	assert_int_equal(look(f)->disk, 0);
	assert_ok(fs_remove_tree(path_join(&f->a, f->dir, S("tree"))));
	put_sized(f, "state/done", 1);
	assert_int_equal(look(f)->disk, 0);
}

static void an_sdk_is_needed_as_far_as_it_is_not_there(void **state)
{
	struct fixture *f = *state;
	f->sdk.bytes = 20 * MIB;
	strs_add(&f->a, &f->sdk.requested, S("compiler"));
	f->wish.here = &f->sdk;
	assert_int_equal(look(f)->sdk, 30 * MIB);
	f->sdk.bytes = 99 * MIB;
	assert_int_equal(look(f)->sdk, 0);
	f->sdk.bytes = 20 * MIB;
	strs_add(&f->a, &f->sdk.requested, S("math"));
	assert_int_equal(look(f)->sdk, 0);
	f->wish.here = NULL;
	assert_int_equal(look(f)->sdk, 50 * MIB);
	f->wish.plan.sdk.prefix = S("/opt/rocm");
	assert_int_equal(look(f)->sdk, 0);
}

/* One compile of 9 MiB and 3,000 seconds. */
static void remember(struct fixture *f)
{
	struct str dir = path_join(&f->a, f->dir, S("rocm"));
	struct history_key key = {.kind = CC_CXX, .hash = {4 | 1, 8 | 2, 12 | 3}};
	assert_ok(fs_mkdirs(path_dir(cc_file(&f->a, dir, "history"))));
	assert_ok(history_add(cc_file(&f->a, dir, "history"), &key, 9 * MIB, 3000));
}

static void the_history_of_a_whole_build_counts(void **state)
{
	struct fixture *f = *state;
	remember(f);
	look(f); /* of a part: what it has seen is the least */
	assert_false(f->forecast.history);
	assert_int_equal(f->forecast.memory, 9 * MIB);
	assert_true(f->forecast.cpu > 2999 && f->forecast.cpu < 3001);
	f->how.cost.host_seconds = 9000;
	f->how.cost.memory = 30;
	assert_int_equal(look(f)->memory, 30 * MIB);
	assert_true(f->forecast.cpu > 9000);
	put_sized(f, "state/done", 1);
	assert_true(look(f)->history);
	assert_int_equal(f->forecast.memory, 9 * MIB);
	double work = f->forecast.seconds * f->forecast.cores;
	assert_true(work > 2999 && work < 3001);
	f->how.cost = (struct plan_cost){0}; /* then nobody else has to know */
	assert_true(look(f)->known);
}

static void what_cannot_fit_is_refused(void **state)
{
	struct fixture *f = *state;
	struct forecast c = {
		.known = true, .dir = f->dir, .sdk_dir = f->dir, .disk = 10, .sdk = 10};
	c.disk_free = c.sdk_free = 20;
	c.memory = c.memory_free = 5;
	c.one_disk = true;
	assert_ok(forecast_check(&f->a, &c));
	c.disk = 11;
	assert_err(forecast_check(&f->a, &c), E_NOSPACE);
	c.one_disk = false;
	assert_ok(forecast_check(&f->a, &c));
	c.sdk = 21;
	assert_err(forecast_check(&f->a, &c), E_NOSPACE);
	c.sdk = 0;
	c.memory = 6;
	assert_err(forecast_check(&f->a, &c), E_NOMEMORY);
	c.memory_free = 0;
	assert_ok(forecast_check(&f->a, &c));
	c = (struct forecast){.disk = 1};
	assert_ok(forecast_check(&f->a, &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_description_is_scaled_by_gpus, begin, teardown),
		cmocka_unit_test_setup_teardown(what_is_there_is_not_needed_again, begin, teardown),
		cmocka_unit_test_setup_teardown(
			an_sdk_is_needed_as_far_as_it_is_not_there, begin, teardown),
		cmocka_unit_test_setup_teardown(
			the_history_of_a_whole_build_counts, begin, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_fit_is_refused, begin, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
