/* What is taken of a program that may be hostile: jobs/job.c. */
#include "jobs/job.h"

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_a_program_writes_is_taken_and_its_folder_goes),
		TEST(a_link_or_pipe_in_the_place_of_a_result_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
