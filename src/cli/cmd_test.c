/* rocsmith test: smoke tests of a torch, a project's own tests, and what changed between two runs. */
#include "cli/opt.h"
#include "term/table.h"
#include "testrun/testrun.h"

enum { SHOWN = 50 };

/* ---- a run ---- */

struct test_args {
	struct common common;
	struct test_request q;
	struct str shard, output, junit;
};
#define ARGS struct test_args

/* Options of both kinds of run. */
/* clang-format off */
#define TEST_SUBJECT                                                                               \
	{OPT_VALUE("python", OPT_STR, q.python, "PYTHON", "environment, interpreter or version")}, \
	{OPT_VALUE("gpu", OPT_WORDS, q.gpus, "GPU,...", "indices, targets, all or none")},         \
	{OPT_VALUE("wheel", OPT_LIST, q.wheels, "FILE",                                            \
		"prove that this wheel is what is tested")}
#define TEST_OUTPUTS                                                                               \
	{OPT_OUTPUT(output, "FILE", "write the evidence, rocsmith.test/1")},                       \
	{OPT_VALUE("junit", OPT_PATH, junit, "FILE", "write JUnit XML")},                          \
	{OPT_VALUE("logs", OPT_PATH, q.logs, "DIR", "keep the logs in this empty folder")}
/* clang-format on */

const struct opt cmd_test_smoke_opts[] = {
	TEST_SUBJECT,
	{OPT_VALUE("timeout", OPT_UINT, q.timeout, "SECONDS", "for one check (600)")},
	TEST_OUTPUTS,
	OPT_LAST,
};

const struct opt cmd_test_torch_opts[] = {
	{OPT_VALUE("source", OPT_PATH, q.source, "DIR", "the project's folder, with its tests"),
		.flags = OPT_REQUIRED},
	{OPT_VALUE("config", OPT_STR, q.config, "NAME", "default, distributed or inductor")},
	{OPT_VALUE("shard", OPT_STR, shard, "N/M", "run the N-th of M parts")},
	{OPT_VALUE("include", OPT_LIST, q.include, "ID", "run this file, class or test only")},
	{OPT_VALUE("exclude", OPT_LIST, q.exclude, "ID", "do not run this file, class or test")},
	{OPT_VALUE("skip-list", OPT_LIST, q.skip_lists, "FILE",
		"a skip list, a folder of them, or \"known\"")},
	{OPT_FLAG("only-skipped", q.only_skipped, "run what skip lists skip: does it pass now?")},
	{OPT_FLAG("strict-skips", q.strict_skips, "fail for entries that expired or pass now")},
	TEST_SUBJECT,
	{OPT_FLAG("allow-version-mismatch", q.any_version, "run tests of another torch")},
	{OPT_VALUE("timeout", OPT_UINT, q.timeout, "SECONDS", "for one test (900)")},
	{OPT_VALUE("retries", OPT_UINT, q.retries, "N", "tests that are run again (100)")},
	TEST_OUTPUTS,
	OPT_LAST,
};

static void show_counts(struct arena *a, const struct test_evidence *e)
{
	struct strs words = {0};
	for (unsigned i = 0; i < TEST_OUTCOMES; i++)
		if (e->counts[i])
			strs_fmt(a, &words, "%llu %s", (unsigned long long)e->counts[i],
				test_outcomes[i]);
	struct str where = e->gpu.n ? e->gpu : S("the CPU");
	out_fmt("%.*s on %.*s: %.*s (%.*s, %.*s)\n", STR(e->suite), STR(where),
		STR(e->pass ? styled_out(a, STYLE_GREEN, S("pass"))
			    : styled_out(a, STYLE_RED, S("fail"))),
		STR(words.n ? str_join(a, &words, S(", ")) : S("no tests")),
		STR(human_seconds(a, e->seconds)));
}

static void show_evidence(struct arena *a, const struct test_evidence *e)
{
	unsigned bad = 0;
	VEC_EACH (const struct test_result, t, &e->tests)
		if (test_is_bad(t->outcome) && bad++ < SHOWN)
			out_fmt("%s: %.*s: %.*s\n", test_outcomes[t->outcome], STR(t->id),
				STR(str_sub(t->message, 0, str_chr(t->message, '\n'))));
	if (bad > SHOWN)
		out_fmt("and %u more; --json has all of them\n", bad - SHOWN);
	VEC_EACH (const struct finding, f, &e->findings)
		out_finding(a, f, S(""));
	show_counts(a, e);
	if (e->logs.n)
		say_hint("the logs are in '%.*s'", STR(e->logs));
}

static struct err *finish(struct arena *a, struct test_args *o, const struct test_evidence *e)
{
	if (!o->common.dry_run)
		TRY(evidence_write(a, e, o->output, o->junit));
	if (!show_json(&o->common, evidence_fields, e) && !o->common.dry_run)
		show_evidence(a, e);
	o->common.status = !e->pass && !o->common.dry_run;
	return NULL;
}

struct err *cmd_test_smoke(struct arena *a, void *args)
{
	struct test_args *o = args;
	struct test_evidence e;
	o->q.jobs = o->common.jobs;
	TRY(test_smoke(a, &o->q, &e));
	return finish(a, o, &e);
}

struct err *cmd_test_torch(struct arena *a, void *args)
{
	struct test_args *o = args;
	struct test_evidence e;
	struct str number, of;
	uint64_t n = 0, m = 0;
	o->q.jobs = o->common.jobs;
	o->q.config = o->q.config.n ? o->q.config : S("default");
	if (o->shard.n && (!str_cut(o->shard, '/', &number, &of) || !str_u64(number, 10, &n) ||
				  !str_u64(of, 10, &m) || !n || n > m || m > 10000))
		return err_new(
			E_USAGE, "--shard is N/M, the N-th of M parts, not '%.*s'", STR(o->shard));
	o->q.shard = (unsigned)n;
	o->q.shards = (unsigned)m;
	TRY(test_torch(a, &o->q, &e));
	return finish(a, o, &e);
}

/* ---- two runs ---- */

#undef ARGS
struct test_diff_args {
	struct common common;
	struct str before, now, slower;
};
#define ARGS struct test_diff_args

const struct opt cmd_test_diff_opts[] = {
	{OPT_VALUE("slower", OPT_STR, slower, "FACTOR", "times as long is slower (2)")},
	{OPT_ARGUMENT("BEFORE", OPT_POS, before, "evidence, or JUnit XML"), .flags = OPT_REQUIRED},
	{OPT_ARGUMENT("NOW", OPT_POS, now, "the same of a later run"), .flags = OPT_REQUIRED},
	OPT_LAST,
};

static void show_changes(const char *what, const struct test_changes *list)
{
	VEC_EACH (const struct test_change, c, list) {
		if (c - list->v == SHOWN) {
			out_fmt("%s: and %zu more; --json has all of them\n", what,
				list->n - SHOWN);
			break;
		}
		struct str message = str_sub(c->message, 0, str_chr(c->message, '\n'));
		out_fmt("%s: %.*s (%.*s -> %.*s, %.2f s -> %.2f s)%s%.*s\n", what, STR(c->id),
			STR(c->before.n ? c->before : S("not there")),
			STR(c->now.n ? c->now : S("not there")), c->seconds_before, c->seconds_now,
			message.n ? ": " : "", STR(message));
	}
}

struct err *cmd_test_diff(struct arena *a, void *args)
{
	struct test_diff_args *o = args;
	struct test_evidence before, now;
	struct test_diff d = {.before = o->before, .now = o->now};
	char *end = NULL;
	double factor = o->slower.n ? strtod(str_z(a, o->slower), &end) : 2;
	if (end && (*end || !(factor >= 1 && factor <= 1e6)))
		return err_new(
			E_USAGE, "--slower is a factor of at least 1, not '%.*s'", STR(o->slower));
	TRY(evidence_read(a, o->before, true, &before));
	TRY(evidence_read(a, o->now, true, &now));
	test_diff(a, &before, &now, factor, &d);
	o->common.status = d.failed.n > 0;
	if (show_json(&o->common, test_diff_fields, &d))
		return NULL;
	out_lines("differs: ", &d.notes);
	show_changes("new failure", &d.failed);
	show_changes("fixed", &d.fixed);
	show_changes("flaky", &d.flaky);
	show_changes("slower", &d.slower);
	show_changes("missing", &d.missing);
	out_fmt("%s, %zu fixed, %zu flaky, %zu slower, %zu missing, %zu added\n",
		human_count(a, d.failed.n, "new failure").p, d.fixed.n, d.flaky.n, d.slower.n,
		d.missing.n, d.added.n);
	return NULL;
}
