/* What is taken of a program that may be hostile, and the order in which jobs run: jobs/job.c. */
#include "jobs/job.h"

#include <stdatomic.h>
#include <unistd.h>

#define KIT_MORE                                                                                   \
	struct str known;                                                                          \
	struct jobs set;                                                                           \
	struct job *job;
#include "unit/kit.h"

static struct err *as_it_is(struct arena *tmp, const struct job *j, struct proc *p)
{
	(void)tmp;
	(void)j;
	(void)p;
	return NULL;
}

static struct str same(struct arena *tmp, const struct job *j, struct str path)
{
	(void)tmp;
	(void)j;
	return path;
}

static struct err *explain(struct arena *tmp, const struct job *j, const struct proc_result *r)
{
	(void)tmp;
	(void)j;
	return err_new(E_COMPILE, "status %d", r->status);
}

static const struct job_hooks hooks = {.wrap = as_it_is, .locate = same, .explain = explain};

static int begin(void **state)
{
	struct fixture *f = kit_new(state);
	f->known = path_join(&f->a, f->dir, S("known"));
	test_put(f->known, "secret");
	return 0;
}

/* Runs a job of this shell script; $W is its folder, $K a file that it may not get at. */
static struct err *run(struct fixture *f, const char *script, bool depfile)
{
	f->set = (struct jobs){
		.a = &f->a, .hooks = &hooks, .stamps_dir = path_join(&f->a, f->dir, S("stamp"))};
	assert_ok(fs_mkdirs(f->set.stamps_dir));
	struct job *j = f->job = job_add(&f->set, "c", S("x.c"));
	j->output = path_join(&f->a, f->dir, S("x.o"));
	j->work = path_join(&f->a, f->dir, S("tmp/x.o"));
	j->depfile = depfile ? path_join(&f->a, j->work, S("dep")) : S("");
	strs_add(&f->a, &j->proc.setenv, str_fmt(&f->a, "W=%.*s", STR(j->work)));
	strs_add(&f->a, &j->proc.setenv, str_fmt(&f->a, "K=%.*s", STR(f->known)));
	proc_arg(&f->a, &j->proc, "sh", "-c", script, NULL);
	return jobs_run(&f->set, 1, NULL);
}

static void what_a_program_writes_is_taken_and_its_folder_goes(void **state)
{
	struct fixture *f = *state;
	struct str text;
	assert_ok(fs_mkdirs(path_join(&f->a, f->dir, S("tmp/x.o/left"))));
	assert_ok(run(f, "test ! -e $W/left && echo a >$W/" JOB_OUT " && echo 'x:' >$W/dep", true));
	assert_ok(fs_read(&f->a, f->job->output, 100, &text));
	assert_str(text, "a\n");
	assert_false(fs_present(f->job->work));
	assert_ok(run(f, "test ! -e $W/left && echo a >$W/" JOB_OUT " && echo 'x:' >$W/dep", true));
	assert_true(f->job->report.cached);
}

static const struct {
	const char *script;
	enum errcode code;
} hostile[] = {
	{"ln -s $K $W/" JOB_OUT, E_TOOL_FAILED},
	{"ln -s nowhere $W/" JOB_OUT, E_TOOL_FAILED},
	{"mkfifo $W/" JOB_OUT, E_TOOL_FAILED},
	{"mkdir $W/" JOB_OUT, E_TOOL_FAILED},
	{"echo a >$W/" JOB_OUT "; ln -s $K $W/dep", E_TOOL_FAILED},
	{"echo a >$W/" JOB_OUT "; mkfifo $W/dep", E_TOOL_FAILED},
	{"echo a >$W/" JOB_OUT "; ln -s / $W/loop; ln -s .. $W/up", E_NOENT}, /* no depfile */
	{"true", E_NOENT},
	{"exit 3", E_COMPILE},
};

static void a_link_or_pipe_in_the_place_of_a_result_is_refused(void **state)
{
	struct fixture *f = *state;
	struct str text;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct err *e = run(f, hostile[i].script, true);
		const struct err *root = e;
		while (root && root->cause && root->cause->code != E_IO)
			root = root->cause;
		if (!root || root->code != hostile[i].code) {
			test_print_err(e);
			fail_msg("'%s'", hostile[i].script);
		}
		err_free(e);
		assert_false(fs_present(f->job->output));
		assert_ok(fs_read(&f->a, f->known, 100, &text));
		assert_str(text, "secret");
	}
}

/* ---- a job that runs its program in its own way ---- */

static struct err *own_run(
	struct arena *tmp, struct job *j, struct proc_result *ret, struct strs *io_inputs)
{
	strs_add(tmp, io_inputs, path_join(tmp, path_dir(j->output), S("doubt")));
	return proc_run(tmp, &j->proc, ret);
}

static struct err *run_own(struct fixture *f)
{
	f->set = (struct jobs){
		.a = &f->a, .hooks = &hooks, .stamps_dir = path_join(&f->a, f->dir, S("stamp"))};
	assert_ok(fs_mkdirs(f->set.stamps_dir));
	struct job *j = f->job = job_add(&f->set, "device", S("x.cu"));
	j->output = path_join(&f->a, f->dir, S("x.co"));
	j->work = path_join(&f->a, f->dir, S("tmp/x.co"));
	j->run = own_run;
	strs_add(&f->a, &j->proc.setenv, str_fmt(&f->a, "W=%.*s", STR(j->work)));
	proc_arg(&f->a, &j->proc, "sh", "-c", "echo a >$W/" JOB_OUT, NULL);
	return jobs_run(&f->set, 1, NULL);
}

static void an_output_is_not_believed_once_its_doubt_appears(void **state)
{
	struct fixture *f = *state;
	assert_ok(run_own(f));
	assert_ok(run_own(f));
	assert_true(f->job->report.cached);
	put(f, "doubt", "wrong");
	assert_ok(run_own(f));
	assert_false(f->job->report.cached);
}

/* ---- the order ---- */

static atomic_int clock_now, running, most;

static struct task {
	const struct job *job;
	int at; /* when it ended, counted from 1 */
	bool fails;
} tasks[48];

static struct err *work(struct arena *tmp, struct job *j, struct str part)
{
	(void)tmp;
	struct task *t = tasks;
	while (t->job != j)
		t++;
	int now = atomic_fetch_add(&running, 1) + 1;
	int seen = atomic_load(&most);
	while (now > seen && !atomic_compare_exchange_weak(&most, &seen, now))
		;
	usleep(1000);
	t->at = atomic_fetch_add(&clock_now, 1) + 1;
	atomic_fetch_sub(&running, 1);
	return t->fails ? err_new(E_COMPILE, "job failed") : fs_write(part, S("x"), 0644);
}

/* A set of n jobs, which are tasks[0] to [n - 1]. */
static struct jobs *of_tasks(struct fixture *f, size_t n)
{
	struct jobs *set = &f->set;
	*set = (struct jobs){
		.a = &f->a, .hooks = &hooks, .stamps_dir = path_join(&f->a, f->dir, S("stamp"))};
	assert_ok(fs_mkdirs(set->stamps_dir));
	memset(tasks, 0, sizeof(tasks));
	atomic_store(&clock_now, 0);
	atomic_store(&running, 0);
	atomic_store(&most, 0);
	for (size_t i = 0; i < n; i++) {
		struct job *j = job_add(set, "bundle", str_fmt(&f->a, "%zu", i));
		tasks[i].job = j;
		j->make = work;
		j->output = path_join(&f->a, f->dir, j->report.name);
	}
	return set;
}

static void need(struct jobs *set, size_t later, size_t earlier)
{
	job_need(set->all.v[later], set->all.v[earlier]);
}

/* A source with many device passes, a bundle and a host pass; then a link of all. */
static void needs_come_before_what_needs_them(void **state)
{
	enum { SOURCES = 8, GPUS = 3, EACH = GPUS + 2, LINK = SOURCES * EACH };
	struct jobs *set = of_tasks(*state, LINK + 1);
	for (size_t s = 0; s < SOURCES; s++) {
		for (size_t i = 0; i < GPUS; i++)
			need(set, s * EACH + GPUS, s * EACH + i);
		need(set, s * EACH + GPUS + 1, s * EACH + GPUS);
		need(set, LINK, s * EACH + GPUS + 1);
	}
	assert_ok(jobs_run(set, 4, NULL));
	assert_int_equal(tasks[LINK].at, set->all.n);
	for (size_t s = 0; s < SOURCES; s++)
		for (size_t i = 0; i < GPUS; i++)
			assert_true(tasks[s * EACH + i].at < tasks[s * EACH + GPUS].at);
	assert_true(atomic_load(&most) > 1);
	assert_true(atomic_load(&most) <= 4);
}

static void one_job_runs_one_at_a_time(void **state)
{
	assert_ok(jobs_run(of_tasks(*state, 6), 1, NULL));
	assert_int_equal(atomic_load(&most), 1);
}

static void a_failure_stops_what_has_not_started(void **state)
{
	struct jobs *set = of_tasks(*state, 5);
	tasks[0].fails = true;
	need(set, 4, 0);
	assert_err_says(jobs_run(set, 1, NULL), E_COMPILE, "job failed");
	assert_int_equal(tasks[4].at, 0);
	assert_int_equal(tasks[1].at + tasks[2].at + tasks[3].at, 0);
}

static void keep_going_runs_all_that_does_not_need_a_failure(void **state)
{
	struct jobs *set = of_tasks(*state, 5);
	tasks[0].fails = tasks[2].fails = true;
	need(set, 4, 0);
	need(set, 4, 1);
	struct err *more = NULL;
	assert_err(jobs_run(set, 2, &more), E_COMPILE);
	assert_non_null(more);
	assert_null(more->also);
	err_free(more);
	assert_int_equal(tasks[4].at, 0);
	assert_true(tasks[1].at && tasks[3].at);
}

/* ---- what is expected ---- */

static void of_those_that_fit_the_longest_runs_first(void **state)
{
	static const double seconds[] = {2, 9, 5, 0};
	struct jobs *set = of_tasks(*state, 4);
	for (size_t i = 0; i < 4; i++)
		set->all.v[i]->expected.seconds = seconds[i];
	assert_ok(jobs_run(set, 1, NULL));
	assert_int_equal(tasks[1].at, 1);
	assert_int_equal(tasks[2].at, 2);
	assert_int_equal(tasks[0].at, 3);
	assert_int_equal(tasks[3].at, 4);
}

/* A set of shell scripts, which may use `memory` bytes; the job of script i is expected to take mib[i]. */
static struct jobs *of_scripts(
	struct fixture *f, uint64_t memory, const char *const *scripts, const unsigned *mib)
{
	struct jobs *set = &f->set;
	*set = (struct jobs){.a = &f->a,
		.hooks = &hooks,
		.stamps_dir = path_join(&f->a, f->dir, S("stamp")),
		.memory = memory};
	assert_ok(fs_mkdirs(set->stamps_dir));
	for (size_t i = 0; scripts[i]; i++) {
		struct job *j = job_add(set, "c", str_fmt(&f->a, "%zu.c", i));
		j->output = path_join(&f->a, f->dir, str_fmt(&f->a, "%zu.o", i));
		j->work = path_join(&f->a, f->dir, str_fmt(&f->a, "tmp/%zu.o", i));
		j->expected.memory = (uint64_t)mib[i] << 20;
		strs_add(&f->a, &j->proc.setenv, str_fmt(&f->a, "W=%.*s", STR(j->work)));
		strs_add(&f->a, &j->proc.setenv, str_fmt(&f->a, "D=%.*s", STR(f->dir)));
		proc_arg(&f->a, &j->proc, "sh", "-c", scripts[i], NULL);
	}
	return set;
}

#define ALONE "mkdir $D/large || exit 1; sleep 0.2; rmdir $D/large; echo >$W/" JOB_OUT

static void two_that_fit_only_one_by_one_do_not_run_at_once(void **state)
{
	static const char *const scripts[] = {ALONE, "echo >$W/" JOB_OUT, ALONE, ALONE, NULL};
	static const unsigned mib[] = {60, 10, 60, 60};
	assert_ok(jobs_run(of_scripts(*state, 100 << 20, scripts, mib), 4, NULL));
}

static void what_is_larger_than_the_memory_runs_alone(void **state)
{
	static const char *const scripts[] = {ALONE, ALONE, NULL};
	static const unsigned mib[] = {600, 60};
	assert_ok(jobs_run(of_scripts(*state, 100 << 20, scripts, mib), 4, NULL));
}

/* The first one is killed for as long as the second one runs, as by a kernel that lacks memory. */
static void what_is_killed_beside_others_runs_once_more_alone(void **state)
{
	static const char *const scripts[] = {"until test -e $D/runs; do sleep 0.01; done; test -e "
					      "$D/done || kill -9 $$; echo >$W/" JOB_OUT,
		"touch $D/runs; sleep 0.3; touch $D/done; echo >$W/" JOB_OUT, NULL};
	static const unsigned mib[] = {10, 10};
	struct fixture *f = *state;
	assert_ok(jobs_run(of_scripts(f, 100 << 20, scripts, mib), 2, NULL));
	assert_true(f->set.all.v[0]->alone);
}

static void what_is_killed_alone_has_failed(void **state)
{
	static const char *const scripts[] = {"kill -9 $$", NULL};
	static const unsigned mib[] = {10};
	assert_err_says(jobs_run(of_scripts(*state, 100 << 20, scripts, mib), 2, NULL), E_COMPILE,
		"status 137");
}

static void a_job_is_expected_to_cost_what_it_did_the_last_time(void **state)
{
	static const char *const scripts[] = {"sleep 0.1; echo >$W/" JOB_OUT, NULL},
				 *const now[] = {"echo 2 >$W/" JOB_OUT, NULL};
	static const unsigned mib[] = {10};
	assert_ok(jobs_run(of_scripts(*state, 0, scripts, mib), 2, NULL));
	struct jobs *set = of_scripts(*state, 0, now, mib);
	assert_ok(jobs_run(set, 2, NULL));
	assert_false(set->all.v[0]->report.cached);
	assert_true(set->all.v[0]->known);
	assert_true(set->all.v[0]->expected.seconds >= 0.1);
	assert_true(set->all.v[0]->expected.memory != 10 << 20);
}

static void an_empty_set_is_done(void **state)
{
	assert_ok(jobs_run(of_tasks(*state, 0), 2, NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_a_program_writes_is_taken_and_its_folder_goes),
		TEST(an_output_is_not_believed_once_its_doubt_appears),
		TEST(a_link_or_pipe_in_the_place_of_a_result_is_refused),
		TEST(needs_come_before_what_needs_them),
		TEST(one_job_runs_one_at_a_time),
		TEST(a_failure_stops_what_has_not_started),
		TEST(keep_going_runs_all_that_does_not_need_a_failure),
		TEST(of_those_that_fit_the_longest_runs_first),
		TEST(two_that_fit_only_one_by_one_do_not_run_at_once),
		TEST(what_is_larger_than_the_memory_runs_alone),
		TEST(what_is_killed_beside_others_runs_once_more_alone),
		TEST(what_is_killed_alone_has_failed),
		TEST(a_job_is_expected_to_cost_what_it_did_the_last_time),
		TEST(an_empty_set_is_done),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
