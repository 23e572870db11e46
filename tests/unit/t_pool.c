/* The worker pool: base/pool.h. */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/pool.h"

struct count {
	atomic_uint runs, fails_at;
	struct pool *pool;
};

static struct err *bump(struct arena *tmp, void *user)
{
	struct count *c = user;
	(void)memset(arena_alloc(tmp, 100), 1, 100);
	unsigned n = atomic_fetch_add(&c->runs, 1) + 1;
	if (n == atomic_load(&c->fails_at))
		return err_new(E_IO, "job %u failed", n);
	return NULL;
}

static void every_job_runs_once(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads <= 8; threads += 4) {
		struct count c = {0};
		struct pool *p = pool_new(threads);
		for (int i = 0; i < 5000; i++)
			pool_add(p, bump, &c);
		assert_ok(pool_end(p));
		assert_int_equal(atomic_load(&c.runs), 5000);
	}
	assert_ok(pool_end(pool_new(3)));
}

static void jobs_run_in_the_end_if_no_thread_can_be_started(void **state)
{
	(void)state;
	struct count c = {0};
	struct pool *some = pool_new(4);
	assert_false(pool_is_alone(some));
	test_forbid_threads(true);
	struct pool *p = pool_new(4);
	test_forbid_threads(false);
	assert_true(pool_is_alone(p));
	for (int i = 0; i < 10; i++)
		pool_add(p, bump, &c);
	assert_int_equal(atomic_load(&c.runs), 0);
	assert_ok(pool_wait(p));
	assert_int_equal(atomic_load(&c.runs), 10);
	pool_add(p, bump, &c);
	assert_ok(pool_end(p));
	assert_int_equal(atomic_load(&c.runs), 11);
	assert_ok(pool_end(some));
}

static void the_first_error_cancels_what_has_not_started(void **state)
{
	(void)state;
	struct count c = {.fails_at = 1};
	struct pool *p = pool_new(1);
	for (int i = 0; i < 1000; i++)
		pool_add(p, bump, &c);
	assert_err_says(pool_end(p), E_IO, "job 1 failed");
	/* one thread: nothing runs after the job that failed */
	assert_int_equal(atomic_load(&c.runs), 1);
}

static void a_pool_goes_on_after_waiting(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		struct count c = {.fails_at = 1};
		struct pool *p = pool_new(threads);
		assert_ok(pool_wait(p));
		pool_add(p, bump, &c);
		assert_err_says(pool_wait(p), E_IO, "job 1 failed");
		for (int i = 1; i <= 100; i++) {
			pool_add(p, bump, &c);
			assert_ok(pool_wait(p));
			assert_int_equal(atomic_load(&c.runs), 1 + i);
		}
		assert_ok(pool_end(p));
	}
}

static struct err *meet_and_fail(struct arena *tmp, void *user)
{
	(void)tmp;
	pthread_barrier_wait(user);
	return err_new(E_IO, "both fail");
}

static void later_errors_are_joined(void **state)
{
	(void)state;
	pthread_barrier_t both;
	pthread_barrier_init(&both, NULL, 2);
	struct pool *p = pool_new(2);
	pool_add(p, meet_and_fail, &both);
	pool_add(p, meet_and_fail, &both);
	CLEANUP(err_freep) struct err *e = pool_end(p);
	assert_non_null(e);
	assert_non_null(e->also);
	assert_null(e->also->also);
	pthread_barrier_destroy(&both);
}

static struct err *split(struct arena *tmp, void *user)
{
	struct count *c = user;
	(void)tmp;
	if (atomic_fetch_add(&c->runs, 1) < 500) {
		pool_add(c->pool, split, c);
		pool_add(c->pool, split, c);
	}
	return NULL;
}

static void jobs_may_add_jobs(void **state)
{
	(void)state;
	struct count c = {.pool = pool_new(4)};
	pool_add(c.pool, split, &c);
	assert_ok(pool_end(c.pool));
	assert_int_equal(atomic_load(&c.runs), 1001);
}

static struct err *square(struct arena *tmp, void *user)
{
	unsigned *n = user;
	(void)tmp;
	*n *= *n;
	return NULL;
}

static void each_element_of_an_array_is_visited(void **state)
{
	(void)state;
	unsigned v[100];
	for (unsigned i = 0; i < 100; i++)
		v[i] = i;
	assert_ok(pool_each(3, v, 100, sizeof(*v), square));
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(v[i], i * i);
	assert_ok(pool_each(0, v, 0, sizeof(*v), square));
}

static void jobs_run_in_parallel(void **state)
{
	(void)state;
	/* would hang for ever with one thread: each waits for the other */
	pthread_barrier_t both;
	pthread_barrier_init(&both, NULL, 2);
	struct pool *p = pool_new(2);
	pool_add(p, meet_and_fail, &both);
	pool_add(p, meet_and_fail, &both);
	assert_err(pool_end(p), E_IO);
	pthread_barrier_destroy(&both);
}

static void the_number_of_cpus_is_plausible(void **state)
{
	(void)state;
	assert_true(cpu_count() >= 1);
	assert_true(cpu_count() <= (unsigned)sysconf(_SC_NPROCESSORS_CONF));
}

/* They begin on other CPUs, and may then go to any. */
static struct err *compare_cpus(struct arena *tmp, void *user)
{
	(void)tmp;
	cpu_set_t mine;
	assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
	return CPU_EQUAL(&mine, (cpu_set_t *)user) ? NULL : err_new(E_INTERNAL, "other CPUs");
}

static void a_thread_may_use_every_cpu_of_the_process(void **state)
{
	(void)state;
	cpu_set_t all;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	struct pool *p = pool_new(4);
	for (int i = 0; i < 200; i++)
		pool_add(p, compare_cpus, &all);
	assert_ok(pool_end(p));
}

static void a_process_may_leave_cpus_to_others(void **state)
{
	(void)state;
	cpu_set_t all, now;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	cpu_pin(10000);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&all, &now));
	cpu_pin(1);
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_int_equal(CPU_COUNT(&now), 1);
	CPU_AND(&now, &now, &all);
	assert_int_equal(CPU_COUNT(&now), 1);
	assert_int_equal(cpu_count(), 1);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_job_runs_once),
		cmocka_unit_test(jobs_run_in_the_end_if_no_thread_can_be_started),
		cmocka_unit_test(the_first_error_cancels_what_has_not_started),
		cmocka_unit_test(later_errors_are_joined),
		cmocka_unit_test(jobs_may_add_jobs),
		cmocka_unit_test(a_pool_goes_on_after_waiting),
		cmocka_unit_test(each_element_of_an_array_is_visited),
		cmocka_unit_test(jobs_run_in_parallel),
		cmocka_unit_test(the_number_of_cpus_is_plausible),
		cmocka_unit_test(a_thread_may_use_every_cpu_of_the_process),
		cmocka_unit_test(a_process_may_leave_cpus_to_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
