/* The scheduler of build steps: jobs/graph.c. */
#include "test.h"

#include <stdatomic.h>
#include <unistd.h>

#include "jobs/job.h"

static atomic_int clock_now, running, most;

struct task {
	int at; /* when it ended, counted from 1 */
	bool fails;
};

static struct err *work(struct arena *tmp, void *user)
{
	(void)tmp;
	struct task *j = user;
	int now = atomic_fetch_add(&running, 1) + 1;
	int seen = atomic_load(&most);
	while (now > seen && !atomic_compare_exchange_weak(&most, &seen, now))
		;
	usleep(1000);
	j->at = atomic_fetch_add(&clock_now, 1) + 1;
	atomic_fetch_sub(&running, 1);
	return j->fails ? err_new(E_COMPILE, "job failed") : NULL;
}

static void reset(void)
{
	atomic_store(&clock_now, 0);
	atomic_store(&running, 0);
	atomic_store(&most, 0);
}

/* A source with many device passes, a bundle and a host pass; then a link of all. */
static void needs_come_before_what_needs_them(void **state)
{
	(void)state;
	reset();
	ARENA(a);
	enum { SOURCES = 8, GPUS = 3, EACH = GPUS + 2 };
	struct task jobs[SOURCES * EACH + 1] = {0};
	struct graph g = {0};
	for (size_t s = 0; s < SOURCES; s++) {
		for (size_t i = 0; i < EACH; i++)
			assert_int_equal(graph_add(&a, &g, work, &jobs[g.n]), s * EACH + i);
		for (size_t i = 0; i < GPUS; i++)
			graph_need(&a, &g, s * EACH + GPUS, s * EACH + i);
		graph_need(&a, &g, s * EACH + GPUS + 1, s * EACH + GPUS);
	}
	size_t link = graph_add(&a, &g, work, &jobs[g.n]);
	for (size_t s = 0; s < SOURCES; s++)
		graph_need(&a, &g, link, s * EACH + GPUS + 1);
	assert_ok(graph_run(&a, &g, 4, NULL));
	assert_int_equal(jobs[link].at, g.n);
	for (size_t s = 0; s < SOURCES; s++)
		for (size_t i = 0; i < GPUS; i++)
			assert_true(jobs[s * EACH + i].at < jobs[s * EACH + GPUS].at);
	assert_true(atomic_load(&most) > 1);
	assert_true(atomic_load(&most) <= 4);
}

static void one_job_runs_one_at_a_time(void **state)
{
	(void)state;
	reset();
	ARENA(a);
	struct task jobs[6] = {0};
	struct graph g = {0};
	for (size_t i = 0; i < 6; i++)
		(void)graph_add(&a, &g, work, &jobs[i]);
	assert_ok(graph_run(&a, &g, 1, NULL));
	assert_int_equal(atomic_load(&most), 1);
}

static void a_failure_stops_what_has_not_started(void **state)
{
	(void)state;
	reset();
	ARENA(a);
	struct task jobs[5] = {[0] = {.fails = true}};
	struct graph g = {0};
	for (size_t i = 0; i < 5; i++)
		(void)graph_add(&a, &g, work, &jobs[i]);
	graph_need(&a, &g, 4, 0);
	assert_err_says(graph_run(&a, &g, 1, NULL), E_COMPILE, "job failed");
	assert_int_equal(jobs[4].at, 0);
	assert_int_equal(jobs[1].at + jobs[2].at + jobs[3].at, 0);
}

static void keep_going_runs_all_that_does_not_need_a_failure(void **state)
{
	(void)state;
	reset();
	ARENA(a);
	struct task jobs[5] = {[0] = {.fails = true}, [2] = {.fails = true}};
	struct graph g = {0};
	for (size_t i = 0; i < 5; i++)
		(void)graph_add(&a, &g, work, &jobs[i]);
	graph_need(&a, &g, 4, 0);
	graph_need(&a, &g, 4, 1);
	struct err *more = NULL;
	assert_err(graph_run(&a, &g, 2, &more), E_COMPILE);
	assert_non_null(more);
	assert_null(more->also);
	err_free(more);
	assert_int_equal(jobs[4].at, 0);
	assert_true(jobs[1].at && jobs[3].at);
}

static void an_empty_graph_is_done(void **state)
{
	(void)state;
	ARENA(a);
	struct graph g = {0};
	assert_ok(graph_run(&a, &g, 2, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(needs_come_before_what_needs_them),
		cmocka_unit_test(one_job_runs_one_at_a_time),
		cmocka_unit_test(a_failure_stops_what_has_not_started),
		cmocka_unit_test(keep_going_runs_all_that_does_not_need_a_failure),
		cmocka_unit_test(an_empty_graph_is_done),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
