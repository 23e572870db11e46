/* rocsmith build: the whole flow from a project folder (or a saved plan) to a verified wheel. */
#include <string.h>

#include "base/fs.h"
#include "cli/project_opts.h"
#include "devcode/devcode.h"
#include "make/make.h"
#include "term/out.h"
#include "verify/verify.h"

struct build_args {
	struct common common;
	struct project_opts project;
	struct str out, dir;
	bool keep_going, offline;
};

static const struct opt opts[] = {
	{.lname = "DIR",
		.kind = OPT_POS,
		.off = PROJECT_OPT(build_args, target),
		.help = "project folder (default: this one) or a saved plan"},
	PROJECT_OPTS(build_args),
	{.lname = "output",
		.sname = 'o',
		.kind = OPT_PATH,
		.off = offsetof(struct build_args, out),
		.env = "ROCSMITH_OUTPUT",
		.arg = "DIR",
		.help = "folder for the wheel (default: dist)"},
	{.lname = "build-dir",
		.kind = OPT_PATH,
		.off = offsetof(struct build_args, dir),
		.env = "ROCSMITH_BUILD_DIR",
		.arg = "DIR",
		.help = "folder for objects (default: in the cache)"},
	{.lname = "keep-going",
		.sname = 'k',
		.kind = OPT_BOOL,
		.off = offsetof(struct build_args, keep_going),
		.help = "after an error compile what does not need it"},
	{.lname = "offline",
		.kind = OPT_BOOL,
		.off = offsetof(struct build_args, offline),
		.help = "never install an SDK"},
	{.kind = OPT_END},
};

struct build_run {
	struct arena *a;
	const struct build_args *o;
	struct plan plan;
	struct make_options options;
	struct make_result result;
	struct verdict verdict;
	bool verified;
};

/* What a record tells beside the build itself; what cannot be had is NULL, and left out. */
struct evidence {
	const struct machine *facts;
	const struct devcode *inspect;
	const struct verdicts *verify;
};

static const struct json_field evidence_fields[] = {
	FIELD_POINTER("facts", struct evidence, facts, machine_fields),
	FIELD_POINTER("inspect", struct evidence, inspect, devcode_fields),
	FIELD_POINTER("verify", struct evidence, verify, verdicts_fields),
	{.kind = FIELD_END},
};

/* Writes build.json; prints it with --json. A failure to write it never hides the build's own. */
static struct err *record(struct build_run *b, const struct err *failure)
{
	struct machine facts;
	struct devcode inspect;
	struct verdicts verify = {{.v = &b->verdict, .n = 1}};
	struct evidence evidence = {0};
	struct err *e = machine_read(b->a, b->o->project.sysroot, &facts);
	evidence.facts = e ? NULL : &facts;
	err_free(e);
	if (b->verified) {
		e = devcode_scan(b->a, b->result.wheel, DEVCODE_KERNELS | DEVCODE_HASH, &inspect);
		evidence.inspect = e ? NULL : &inspect;
		evidence.verify = &verify;
		err_free(e);
	}
	struct make_record m = {.plan = &b->plan,
		.result = &b->result,
		.failure = failure,
		.began = b->options.began,
		.more = evidence_fields,
		.more_of = &evidence};
	struct str json = make_record(b->a, &m);
	if (b->o->common.json)
		out_text(json);
	if (!b->result.dir.n || !fs_is_dir(b->result.dir))
		return NULL;
	return fs_write(path_join(b->a, b->result.dir, S("build.json")), json, 0644);
}

static struct err *verify(struct build_run *b)
{
	double start = mono_now();
	struct verify_options v = {.device_code = true, .jobs = b->result.jobs};
	TRY(targets_parse(b->a, &b->plan.gpus, &v.require));
	TRY_CTX(verify_wheel(b->a, b->result.wheel, &v, &b->verdict), "cannot verify the wheel");
	b->result.seconds[STAGE_VERIFY] = mono_now() - start;
	b->verified = true;
	return NULL;
}

static void say_findings(const struct findings *list)
{
	VEC_EACH (const struct finding, f, list) {
		if (f->severity == SEV_INFO)
			continue;
		say_warning("%.*s: %.*s", STR(f->path), STR(f->message));
		VEC_EACH (const struct str, fix, &f->fix)
			say_hint("%.*s", STR(*fix));
	}
}

static const struct err *root_of(const struct err *e)
{
	while (e->cause)
		e = e->cause;
	return e;
}

/* The same mistake, met once for each GPU. */
static bool same_place(const struct err *x, const struct err *y)
{
	x = root_of(x);
	y = root_of(y);
	return x->path && y->path && strcmp(x->path, y->path) == 0 && x->line == y->line &&
	       x->col == y->col;
}

static bool said_before(const struct err *first, const struct err *list, const struct err *e)
{
	if (same_place(first, e))
		return true;
	for (; list != e; list = list->also)
		if (same_place(list, e))
			return true;
	return false;
}

/* Without those behind it in the list. */
static void say_alone(struct err *e)
{
	struct err *behind = e->also;
	e->also = NULL;
	say_error(e);
	e->also = behind;
}

/* The compiler's errors, then what became of the build; other errors are main's to show. */
static struct err *explain_failure(struct build_run *b, struct err *e, int *ret_status)
{
	struct make_result *r = &b->result;
	if (e->code != E_COMPILE && e->code != E_LINK)
		return e;
	size_t done = 0;
	VEC_EACH (const struct make_step, s, &r->steps)
		done += s->done;
	r->failures = err_join(e->also, r->failures);
	e->also = NULL;
	say_error(e);
	for (struct err *more = r->failures; more; more = more->also)
		if (!said_before(e, r->failures, more))
			say_alone(more);
	say_findings(&r->findings);
	say_status(S("Stopped"), "'%.*s' is not built, %zu of %zu steps are done",
		STR(b->plan.name), done, r->steps.n);
	*ret_status = err_status(e->code);
	err_free(e);
	return NULL;
}

static void say_summary(struct build_run *b)
{
	struct arena *a = b->a;
	size_t ran = 0;
	VEC_EACH (const struct make_step, s, &b->result.steps)
		ran += s->done && !s->cached;
	size_t all = b->result.steps.n;
	if (ran)
		say_status(S("Compiled"), "%zu steps%s", ran,
			ran < all ? ", the others were up to date" : "");
	say_status(S("Built"), "%.*s (%.*s) for %.*s in %.*s", STR(b->result.wheel),
		STR(human_bytes(a, b->result.wheel_size)), STR(str_join(a, &b->plan.gpus, S(", "))),
		STR(human_seconds(a, mono_now() - b->options.began)));
}

static struct err *dry_run(struct build_run *b)
{
	struct arena *a = b->a;
	make_steps(a, &b->plan, &b->result);
	if (b->o->common.json) {
		struct make_record m = {
			.plan = &b->plan, .result = &b->result, .began = b->options.began};
		out_text(make_record(a, &m));
		return NULL;
	}
	VEC_EACH (const struct make_step, s, &b->result.steps)
		out_fmt("%-7.*s %.*s%s%.*s\n", STR(s->kind), STR(s->name), s->gpu.n ? " " : "",
			STR(s->gpu));
	out_fmt("wheel   %.*s\n", STR(b->options.out));
	return NULL;
}

static struct err *build(struct build_run *b, int *ret_status)
{
	struct err *e = make_wheel(b->a, &b->plan, &b->options, &b->result);
	if (!e)
		e = verify(b);
	struct err *lost = e && e->code == E_CANCELLED ? NULL : record(b, e);
	if (e) {
		e = explain_failure(b, e, ret_status);
		err_free(b->result.failures);
		err_free(lost);
		return e;
	}
	TRY(lost);
	say_findings(&b->verdict.findings);
	if (!b->verdict.pass) {
		*ret_status = 1;
		return err_at(err_new(E_VERIFY, "the wheel does not prove what was asked for"),
			(struct loc){.path = b->result.wheel});
	}
	say_summary(b);
	if (!b->o->common.json)
		out_fmt("%.*s\n", STR(b->result.wheel));
	return NULL;
}

static struct err *run(struct arena *a, void *args, int *ret_status)
{
	struct build_args *o = args;
	struct build_run b = {.a = a, .o = o};
	b.options = (struct make_options){.out = o->out.n ? o->out : S("dist"),
		.dir = o->dir,
		.jobs = o->common.jobs,
		.keep_going = o->keep_going,
		.no_install = o->offline,
		.began = mono_now()};
	TRY(project_plan(a, &o->project, &b.plan));
	return fs_writes_forbidden() ? dry_run(&b) : build(&b, ret_status);
}

const struct command cmd_build = {
	.name = "build",
	.summary = "build a CUDA project into a verified ROCm wheel",
	.opts = opts,
	.size = sizeof(struct build_args),
	.needs = NEED_WRITE,
	.run = run,
};
