/* Running programs: base/proc.h; and the trace of them: base/trace.h. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fault/fault.h"
#include "base/pool.h"
#include "base/proc.h"
#include "base/trace.h"
#include "formats/node.h"

/* A shell is what the children of this test are made of; rocsmith itself never uses one. */
static struct proc_result sh(struct arena *a, struct proc p, const char *script)
{
	struct proc_result r;
	proc_arg(a, &p, "sh", "-c", script, NULL);
	assert_ok(proc_run(a, &p, &r));
	return r;
}

static void output_and_status_are_told(void **state)
{
	(void)state;
	ARENA(a);
	struct proc_result r = sh(&a, (struct proc){0}, "echo out; echo err >&2; exit 3");
	assert_str(r.out, "out\n");
	assert_str(r.err, "err\n");
	assert_int_equal(r.status, 3);
	assert_false(r.timed_out);
	assert_true(r.seconds > 0 && r.seconds < 60 && r.start > 0);
	r = sh(&a, (struct proc){.merge = true}, "echo out; echo err >&2");
	assert_str(r.out, "out\nerr\n");
	assert_str(r.err, "");
	r = sh(&a, (struct proc){0}, "kill -9 $$");
	assert_int_equal(r.status, 128 + 9);
}

static void stderr_alone_may_be_taken(void **state)
{
	(void)state;
	ARENA(a);
	struct proc p = {.only_err = true};
	struct proc_result r = sh(&a, p, "echo err >&2; [ /dev/fd/1 -ef /proc/$PPID/fd/1 ]");
	assert_str(r.err, "err\n");
	assert_str(r.out, "");
	assert_int_equal(r.status, 0);
}

static void input_is_fed_and_may_be_refused(void **state)
{
	(void)state;
	ARENA(a);
	size_t n = 3000000;
	char *p = arena_alloc(&a, n);
	memset(p, 'x', n);
	struct proc with = {.input = {.p = p, .n = n}, .limit = n * 2};
	struct proc_result r = sh(&a, with, "cat");
	assert_int_equal(r.out.n, n);
	assert_int_equal(sh(&a, with, "exec <&-; echo no").status, 0);
	assert_int_equal(sh(&a, with, "head -c 10 >/dev/null").status, 0);
	/* none at all is an empty one, not ours */
	assert_str(sh(&a, (struct proc){0}, "cat; echo end").out, "end\n");
}

static void only_the_last_output_is_kept(void **state)
{
	(void)state;
	ARENA(a);
	struct proc_result r = sh(&a, (struct proc){.limit = 1000}, "seq 1 100000");
	assert_true(r.out.n >= 500 && r.out.n <= 1000);
	assert_true(str_ends(r.out, S("99999\n100000\n")));
}

static void the_log_gets_everything(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), log = path_join(&a, dir, S("log"));
	sh(&a, (struct proc){.log = log}, "echo one");
	sh(&a, (struct proc){.log = log}, "echo two >&2");
	test_has(log, "one\ntwo\n");
	struct str link = path_join(&a, dir, S("link")); /* not one of ours */
	assert_ok(fs_symlink(log, link));
	struct proc p = {.log = path_join(&a, dir, S("no/log"))};
	struct proc_result r;
	proc_arg(&a, &p, "echo", "three", NULL);
	assert_err(proc_run(&a, &p, &r), E_NOENT);
	p.log = link;
	assert_err(proc_run(&a, &p, &r), E_IO);
	test_has(log, "one\ntwo\n");
	test_dir_remove(dir);
}

static void folder_and_environment_are_set(void **state)
{
	(void)state;
	ARENA(a);
	struct strs env = {0};
	setenv("T_KEEP", "kept", 1);
	setenv("T_GONE", "x", 1);
	setenv("T_NEW", "old", 1);
	strs_add(&a, &env, S("T_GONE"));
	strs_add(&a, &env, S("T_NEW=new=er"));
	const char *show = "pwd; echo \"$T_KEEP,${T_GONE-unset},$T_NEW\"";
	struct proc p = {.cwd = S("/"), .setenv = env};
	assert_str(sh(&a, p, show).out, "/\nkept,unset,new=er\n");
	p.clear_env = true;
	assert_str(sh(&a, p, show).out, "/\n,unset,new=er\n");
	assert_string_equal(getenv("T_NEW"), "old");
}

static void time_limits_end_the_whole_group(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	struct proc p = {.timeout = 1, .cwd = dir};
	struct proc_result r;
	double before = mono_now();
	proc_arg(&a, &p, "sh", "-c", "sleep 77 & echo $! >pid; wait", NULL);
	assert_err_says(proc_check(&a, &p, &r), E_TIMEOUT, "time limit of 1 s");
	assert_true(mono_now() - before < 20);
	assert_true(r.timed_out);
	struct str pid;
	uint64_t n = 0;
	assert_ok(fs_read(&a, path_join(&a, dir, S("pid")), 100, &pid));
	assert_true(str_u64(str_trim(pid), 10, &n));
	for (int i = 0; i < 100 && kill((pid_t)n, 0) == 0; i++)
		usleep(10000);
	/* a zombie that its new parent has not reaped yet counts as ended */
	struct str stat = {0};
	assert_ok(fs_read_opt(&a, str_fmt(&a, "/proc/%d/stat", (int)n), 4096, &stat));
	assert_true(!stat.p || str_contains(stat, S(") Z ")));
	test_dir_remove(dir);
}

static bool second_tick_is_the_last(void *user)
{
	return ++*(int *)user < 2;
}

static void a_tick_may_end_it(void **state)
{
	(void)state;
	ARENA(a);
	int ticks = 0;
	struct proc p = {.tick = second_tick_is_the_last, .user = &ticks};
	struct proc_result r;
	proc_arg(&a, &p, "sleep", "77", NULL);
	assert_err_says(proc_check(&a, &p, &r), E_TIMEOUT, "no sign of life");
	assert_true(r.timed_out);
	assert_true(r.seconds < 40 && ticks >= 2);
}

static void stubborn_children_are_killed(void **state)
{
	(void)state;
	ARENA(a);
	double before = mono_now();
	struct proc_result r =
		sh(&a, (struct proc){.timeout = 1}, "trap '' TERM; while :; do sleep 0.1; done");
	assert_int_equal(r.status, 128 + SIGKILL);
	assert_true(mono_now() - before < 30);
}

static void grandchildren_do_not_keep_us(void **state)
{
	(void)state;
	ARENA(a);
	double before = mono_now();
	struct proc_result r = sh(&a, (struct proc){0}, "sleep 50 & echo done");
	assert_str(r.out, "done\n");
	assert_true(mono_now() - before < 30);
}

static void missing_programs_are_told(void **state)
{
	(void)state;
	ARENA(a);
	struct proc_result r;
	struct proc p = {0}, q = {0}, s = {.cwd = S("/does/not/exist")};
	proc_arg(&a, &p, "no-such-program", NULL);
	assert_err_says(proc_run(&a, &p, &r), E_TOOL_MISSING, "'no-such-program' is not installed");
	proc_arg(&a, &q, "/etc/passwd", NULL);
	assert_err(proc_run(&a, &q, &r), E_TOOL_MISSING);
	proc_arg(&a, &s, "true", NULL);
	assert_err(proc_run(&a, &s, &r), E_TOOL_MISSING);
	assert_true(str_ends(proc_find(&a, S("sh")), S("/sh")));
	assert_str(proc_find(&a, S("no-such-program")), "");
	assert_str(proc_find(&a, S("./as-it-is")), "./as-it-is");
}

static void failures_carry_the_last_lines(void **state)
{
	(void)state;
	ARENA(a);
	struct proc p = {0}, ok = {0};
	struct proc_result r;
	proc_arg(&a, &p, "sh", "-c", "seq 1 50 >&2; exit 4", NULL);
	CLEANUP(err_freep) struct err *e = proc_check(&a, &p, &r);
	assert_non_null(e);
	assert_int_equal(e->code, E_TOOL_FAILED);
	assert_string_equal(e->msg, "'sh' failed: exit status 4");
	assert_true(str_starts(str_from(e->detail), S("31\n")));
	assert_true(str_ends(str_from(e->detail), S("\n50")));
	proc_arg(&a, &ok, "true", NULL);
	assert_ok(proc_check(&a, &ok, &r));
}

static void statuses_are_put_in_words(void **state)
{
	(void)state;
	static const struct {
		int status;
		const char *words;
	} cases[] = {
		{.status = 0, .words = "'cc' failed: exit status 0"},
		{.status = 137, .words = "'cc' failed: killed by SIGKILL"},
		{.status = 139, .words = "'cc' failed: killed by SIGSEGV"},
		{.status = 255, .words = "'cc' failed: exit status 255"},
	};
	ARENA(a);
	struct proc p = {0};
	proc_arg(&a, &p, "/usr/bin/cc", NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct proc_result r = {.status = cases[i].status};
		assert_err_says(proc_failure(&p, &r), E_TOOL_FAILED, cases[i].words);
	}
}

struct job {
	unsigned n;
	bool good;
};

static struct err *one_job(struct arena *tmp, void *user)
{
	struct job *j = user;
	struct proc p = {0};
	struct proc_result r;
	proc_arg(tmp, &p, "sh", "-c", str_fmt(tmp, "echo %u; exit %u", j->n, j->n % 7).p, NULL);
	TRY(proc_run(tmp, &p, &r));
	j->good = r.status == (int)(j->n % 7) && str_eq(r.out, str_fmt(tmp, "%u\n", j->n));
	return NULL;
}

static void many_threads_run_programs(void **state)
{
	(void)state;
	struct job jobs[60];
	for (unsigned i = 0; i < 60; i++)
		jobs[i] = (struct job){.n = i};
	assert_ok(pool_each(6, jobs, 60, sizeof(*jobs), one_job));
	for (unsigned i = 0; i < 60; i++)
		assert_true(jobs[i].good);
}

static size_t open_files(void)
{
	ARENA(a);
	struct strs names;
	assert_ok(fs_list(&a, S("/proc/self/fd"), &names));
	return names.n;
}

static void no_descriptor_is_lost_whatever_fails(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a);
	size_t before = open_files();
	for (uint64_t n = 1;; n++) {
		struct proc p = {.input = S("text"), .log = path_join(&a, dir, S("log"))};
		struct proc_result r;
		proc_arg(&a, &p, "cat", NULL);
		fault_arm(n, EMFILE);
		struct err *e = proc_run(&a, &p, &r);
		const char *hit = fault_hit();
		fault_arm(0, 0);
		/* all of the output, or an error: never a part of it that passes for all; feeding
		 * the child and the log are no promise */
		bool fed = hit && !strcmp(hit, "write");
		assert_true(e || (r.status == 0 && (fed || str_eq(r.out, S("text")))));
		err_free(e);
		assert_int_equal(open_files(), before);
		if (!hit)
			break;
		assert_true(n < 50);
	}
	/* and no child is left unreaped */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	test_dir_remove(dir);
}

/* In a child, because the flag stays set. */
static void an_interrupt_ends_the_children(void **state)
{
	(void)state;
	ARENA(a);
	pid_t pid = fork();
	if (pid == 0) {
		struct proc p = {0};
		struct proc_result r;
		cancel_init();
		proc_arg(&a, &p, "sleep", "60", NULL);
		struct err *e = proc_run(&a, &p, &r);
		bool good = e && e->code == E_CANCELLED && cancelled() &&
			    cancel_signal() == SIGINT && r.status == 128 + SIGTERM;
		struct err *again = proc_run(&a, &p, &r);
		_exit(good && again && again->code == E_CANCELLED ? 0 : 1);
	}
	int status = -1;
	usleep(300000);
	kill(pid, SIGINT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void runs_are_traced_as_json_lines(void **state)
{
	(void)state;
	ARENA(a);
	struct str dir = test_dir(&a), path = path_join(&a, dir, S("trace")), text, line;
	trace_event("ignored", S(""));
	assert_err(trace_open(path_join(&a, path, S("x"))), E_NOENT);
	assert_ok(trace_open(path));
	trace_event("plain", S(""));
	sh(&a, (struct proc){0}, "echo \"quoted \\\\ \"; # \t tab");
	struct job jobs[20] = {0};
	assert_ok(pool_each(4, jobs, 20, sizeof(*jobs), one_job));
	trace_close();
	assert_ok(fs_read(&a, path, 1 << 20, &text));
	unsigned n = 0;
	double last = 0;
	for (; str_next(&text, '\n', &line); n++) {
		const struct node *e;
		assert_ok(json_parse(&a, line, S("trace"), &e));
		assert_str(node_text(e, S("event"), S("")), n ? "child" : "plain");
		last = node_number(e, S("t"), -1);
		assert_true(last >= 0);
		assert_true(n == 0 || node_get(e, S("argv"))->n == 3);
	}
	assert_int_equal(n, 22);
	test_dir_remove(dir);
}

static void the_later_of_two_settings_counts(void **state)
{
	(void)state;
	ARENA(a);
	struct proc p = {.clear_env = true};
	struct proc_result r;
	strs_add(&a, &p.setenv, S("X=first"));
	strs_add(&a, &p.setenv, S("XY=other"));
	strs_add(&a, &p.setenv, S("X=second=2"));
	proc_arg(&a, &p, "/usr/bin/env", NULL);
	assert_ok(proc_check(&a, &p, &r));
	assert_str(r.out, "XY=other\nX=second=2\n");
}

/* Becomes the script in a child, whose status is the answer. */
static int status_of_what_we_become(const char *script)
{
	int status;
	pid_t pid = fork();
	if (!pid) {
		ARENA(a);
		struct proc p = {0};
		strs_add(&a, &p.setenv, S("ANSWER=41"));
		proc_arg(&a, &p, "sh", "-c", script, NULL);
		err_free(proc_become(&p));
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void a_process_becomes_a_program(void **state)
{
	(void)state;
	ARENA(a);
	struct proc p = {0};
	assert_int_equal(status_of_what_we_become("exit $((ANSWER + 1))"), 42);
	/* SIGPIPE, which we ignore, ends a program */
	assert_int_equal(status_of_what_we_become("kill -PIPE $$; exit 0"), 128 + SIGPIPE);
	proc_arg(&a, &p, "no-such-program-here", NULL);
	assert_err_says(proc_become(&p), E_TOOL_MISSING, "no-such-program-here");
	p.argv.v[0] = S("/etc/passwd");
	assert_err_says(proc_become(&p), E_PERM, "/etc/passwd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_becomes_a_program),
		cmocka_unit_test(the_later_of_two_settings_counts),
		cmocka_unit_test(output_and_status_are_told),
		cmocka_unit_test(stderr_alone_may_be_taken),
		cmocka_unit_test(input_is_fed_and_may_be_refused),
		cmocka_unit_test(only_the_last_output_is_kept),
		cmocka_unit_test(the_log_gets_everything),
		cmocka_unit_test(folder_and_environment_are_set),
		cmocka_unit_test(time_limits_end_the_whole_group),
		cmocka_unit_test(a_tick_may_end_it),
		cmocka_unit_test(stubborn_children_are_killed),
		cmocka_unit_test(grandchildren_do_not_keep_us),
		cmocka_unit_test(missing_programs_are_told),
		cmocka_unit_test(failures_carry_the_last_lines),
		cmocka_unit_test(statuses_are_put_in_words),
		cmocka_unit_test(many_threads_run_programs),
		cmocka_unit_test(no_descriptor_is_lost_whatever_fails),
		cmocka_unit_test(an_interrupt_ends_the_children),
		cmocka_unit_test(runs_are_traced_as_json_lines),
	};
	signal(SIGPIPE, SIG_IGN); /* as cancel_init() does */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
