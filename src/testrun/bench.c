/* bench_run(): starts bench.py, and is its watchdog from outside. bench.py knows hangs of its own; what a driver blocks so that
 * Python cannot act is ended here. */
#include "base/fs.h"
#include "base/progress.h"
#include "testrun/testrun_int.h"

enum { HANG_GRACE = 60, BENCH_SECONDS = 300 };

struct bench_watch {
	struct progress *progress;
	double last;
	unsigned hang;
	uint64_t done;
};

static void bench_watch_end(struct bench_watch *w)
{
	progress_end(w->progress);
}

/* "bench: step 25/563 loss ..." */
static void on_line(void *user, struct str line)
{
	struct bench_watch *w = user;
	const struct str lead = S("bench: "), step = S("bench: step ");
	struct str number, of, rest;
	uint64_t done, total;
	w->last = mono_now();
	if (!str_starts(line, step)) {
		if (str_starts(line, lead))
			progress_add(w->progress, 0, str_sub(line, lead.n, line.n));
		return;
	}
	str_cut(str_sub(line, step.n, line.n), '/', &number, &rest);
	str_cut(rest, ' ', &of, &rest);
	if (!str_u64(number, 10, &done) || !str_u64(of, 10, &total) || done < w->done)
		return;
	if (!w->done) {
		progress_end(w->progress);
		w->progress = progress_begin(S("Training"), S("the model"), UNIT_ITEMS, total);
	}
	progress_add(w->progress, done - w->done, rest);
	w->done = done;
}

static bool bench_tick(void *user)
{
	const struct bench_watch *w = user;
	return mono_now() - w->last <= w->hang;
}

struct err *bench_run(struct arena *a, const struct bench_request *q, const struct node **ret)
{
	CLEANUP(fs_tempdirp) struct str tmp = {0};
	unsigned hang = q->hang ? q->hang : BENCH_SECONDS;
	struct proc_result got;
	struct test_env env;
	struct test_evidence scrap = {0};
	struct test_request ask = {.python = q->python, .jobs = q->jobs};
	CLEANUP(bench_watch_end)
	struct bench_watch w = {.hang = hang + HANG_GRACE, .last = mono_now()};
	struct str text;
	*ret = NULL;
	TRY(fs_tempdir(a, S(""), &tmp));
	struct str script = path_join(a, tmp, S("bench.py")),
		   answer = path_join(a, tmp, S("answer.json"));
	struct proc p = {
		.cwd = tmp, .merge = true, .line = on_line, .tick = bench_tick, .user = &w};
	if (q->gpu.n)
		strs_add(a, &ask.gpus, q->gpu);
	TRY(test_env_open(a, &ask, &env, &scrap));
	if (!env.torch.n)
		return test_env_lacks_torch(
			&env, scrap.findings.n ? scrap.findings.v[0].message : S(""));
	STRS_ADD(a, &p.argv, env.python, script);
	strs_add_all(a, &p.argv, &q->words);
	/* a line for each step is its sign of life */
	proc_arg(a, &p, "--every", "1", "--hang", str_fmt(a, "%u", hang).p, "--output", answer.p,
		"--device", env.devices.n ? "gpu" : "cpu", NULL);
	p.setenv = env.variables;
	strs_add(a, &p.setenv, test_env_gpus(a, &env, 0, 1));
	if (fs_writes_forbidden()) {
		progress_note(S("Would"), "run %.*s on %s", STR(str_join(a, &p.argv, S(" "))),
			env.devices.n ? env.devices.v[0].name.p : "the CPU");
		return NULL;
	}
	TRY(fs_write(script, testrun_bench, 0644 | FS_LOOSE));
	w.progress = progress_begin(S("Running"), S("the benchmark"), UNIT_NONE, 0);
	TRY(proc_run(a, &p, &got));
	if (!fs_exists(answer))
		return got.status ? proc_failure(&p, &got)
				  : err_new(E_TOOL_FAILED, "the benchmark left no result");
	TRY(fs_read(a, answer, NODE_SIZE, &text));
	TRY(json_parse(a, text, answer, ret));
	if (!str_eq(node_text(*ret, S("schema"), S("")), S("rocsmith.bench/1")))
		return err_new(E_TOOL_FAILED, "the benchmark left a result that is none");
	return q->output.n ? fs_write(q->output, text, 0644) : NULL;
}
