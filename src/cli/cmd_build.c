/* rocsmith build: builds a verified wheel from a project folder or a saved plan. */
#include "base/fs.h"
#include "cc/compile.h"
#include "cli/project_opts.h"
#include "flow/set.h"
#include "term/out.h"

struct build_args {
	struct common common;
	struct plan_request project;
	struct build_request q;
	struct str cache_limit;
	bool set; /* several projects, whose reports go into one document */
};
#define ARGS struct build_args

const struct opt cmd_build_opts[] = {
	PROJECT_DIR,
	PROJECT_OPTS,
	{OPT_OUTPUT(q.out, "DIR", "folder for the wheel (default: dist)"),
		.env = "ROCSMITH_OUTPUT"},
	{OPT_VALUE(
		 "build-dir", OPT_PATH, q.dir, "DIR", "folder for objects (default: in the cache)"),
		.env = "ROCSMITH_BUILD_DIR"},
	{OPT_VALUE("target", OPT_LIST, q.targets, "NAME",
		"build only this target of CMake or ninja, and no wheel")},
	{OPT_FLAG("editable", q.editable,
		"install into --python's environment, from the build folder")},
	{OPT_VALUE("patches", OPT_PATH, q.patches, "QUEUE",
		"queue of patches for the copy that is built")},
	OPT_SHARE(q.share),
	{OPT_FLAG("keep-going", q.keep_going, "after an error go on with what does not need it"),
		.sname = 'k'},
	{OPT_FLAG("offline", q.no_install, "never install an SDK")},
	{OPT_VALUE("cache", OPT_STR, q.cache.where, "WHERE",
		 "cache of objects: local, a folder, an https or s3 URL"),
		.env = "ROCSMITH_CACHE"},
	{OPT_VALUE("cache-limit", OPT_STR, cache_limit, "SIZE",
		 "size of the own cache (default: 10 GiB)"),
		.env = "ROCSMITH_CACHE_LIMIT"},
	{OPT_VALUE("cache-key", OPT_PATH, q.cache.key_file, "FILE",
		 "the key that seals what is shared"),
		.env = "ROCSMITH_CACHE_KEY"},
	OPT_LAST,
};

enum { SHOWN = 20 };

static void say_compiler_warnings(const struct build_result *r)
{
	for (size_t i = 0; i < r->warnings.n && i < SHOWN; i++)
		say_warning(
			"%.*s: %.*s", STR(r->warnings.v[i].path), STR(r->warnings.v[i].message));
	if (r->warnings.n > SHOWN)
		say_hint("%zu more warnings are in '%.*s/build.json'", r->warnings.n - SHOWN,
			STR(r->dir));
}

/* Prints the compiler's errors, then the state of the build. main() prints errors of other kinds. */
static struct err *say_failure(
	struct build_args *o, const struct plan *p, struct build_result *r, struct err *e)
{
	if (e->code != E_COMPILE && e->code != E_LINK)
		return e;
	size_t done = 0;
	VEC_EACH (const struct job_report, s, &r->steps)
		done += s->done;
	say_compiler_warnings(r);
	e = err_join(e, r->failures);
	r->failures = NULL;
	say_error(e);
	say_findings(&r->findings);
	say_status(S("Stopped"), "'%.*s' is not built, %zu of %zu steps are done", STR(p->name),
		done, r->steps.n);
	o->common.status = err_status(e->code);
	err_free(e);
	return NULL;
}

static void say_compiled(struct arena *a, const struct build_result *r)
{
	size_t ran = 0, all = r->steps.n, n = r->warnings.n, restored = 0;
	VEC_EACH (const struct job_report, s, &r->steps) {
		ran += s->done && !s->cached && !s->restored;
		restored += s->restored;
	}
	VEC_EACH (const struct job_report, s, &r->compiles)
		restored += s->restored;
	struct str warnings =
		n ? str_fmt(a, "; %.*s", STR(human_count(a, n, "compiler warning"))) : S("");
	bool some = ran > 0;
	if (restored) {
		all -= r->foreign ? 0 : restored;
		say_status(S("Restored"), "%.*s from the cache",
			STR(human_count(a, restored, "object")));
	}
	if (r->foreign) /* stages such as "wheel" are no steps of it */
		ran = all = r->foreign->compiled;
	if (some)
		say_status(S("Compiled"), "%.*s%s%.*s", STR(human_count(a, ran, "step")),
			ran < all ? ", the others were up to date" : "", STR(warnings));
	else if (n || r->foreign)
		say_status(S("Unchanged"), "all steps are up to date%.*s", STR(warnings));
}

static void print_preview(const struct build_request *q, const struct build_result *r)
{
	VEC_EACH (const struct job_report, s, &r->steps)
		out_fmt("%-7.*s %.*s%s%.*s\n", STR(s->kind), STR(s->name), s->gpu.n ? " " : "",
			STR(s->gpu));
	if (q->targets.n)
		return;
	if (q->editable)
		out_fmt("install %.*s\nlive    %.*s\n", STR(r->environment), STR(r->live));
	else if (q->wish->plan.foreign && q->wish->plan.foreign->system == SOURCE_CMAKE)
		out_fmt("folder  %.*s/%.*s\n", STR(q->out), STR(q->wish->plan.name));
	else
		out_fmt("wheel   %.*s\n", STR(q->out));
}

static void say_installed(struct arena *a, const struct plan *plan, const struct build_result *r,
	struct str gpus, struct str took)
{
	struct str name, rest;
	str_cut(path_base(r->wheel), '-', &name, &rest); /* the back end's, not the folder's */
	say_status(S("Installed"), "%.*s in '%.*s' for %.*s in %.*s", STR(name),
		STR(r->environment), STR(gpus), STR(took));
	say_status(S("Live"), "is the copy in '%.*s', and not '%.*s'", STR(r->live),
		STR(plan->project));
	say_hint("the same command takes your edits there, and compiles only what they change");
	say_hint("to undo it: %.*s/bin/python3 -m pip uninstall %.*s",
		STR(str_shell(a, r->environment)), STR(name));
}

/* Builds one project by its plan. */
static struct err *build_one(struct arena *a, struct build_args *o, const struct plan_wish *wish,
	struct str dir, struct build_result *r)
{
	const struct plan *plan = &wish->plan;
	struct build_request q = o->q;
	struct err *e = NULL;
	q.wish = wish;
	q.out = q.out.n ? q.out : S("dist");
	q.dir = dir;
	q.sysroot = o->project.sysroot;
	q.patches = q.patches.n ? path_abs(a, q.patches) : S("");
	q.jobs = o->common.jobs;
	q.say_plan = project_say_findings;
	q.began = mono_now();
	if (fs_writes_forbidden()) {
		TRY(build_preview(a, &q, r));
	} else {
		TRY(plan_meet_python(a, wish));
		e = build_run(a, &q, r);
	}
	if (o->common.json && !o->set)
		out_text(r->report);
	if (e)
		return say_failure(o, plan, r, e);
	if (!r->started) {
		if (!o->common.json)
			print_preview(&q, r);
		return NULL;
	}
	say_compiler_warnings(r);
	if (plan->foreign)
		say_findings(&r->findings);
	if (q.targets.n) {
		say_status(S("Built"), "%.*s in %.*s, no wheel",
			STR(str_join(a, &q.targets, S(", "))), STR(r->dir));
		return NULL;
	}
	say_compiled(a, r);
	findings_sort(a, &r->verdict.findings);
	say_findings(&r->verdict.findings);
	if (!r->verdict.pass) {
		o->common.status = 1;
		return err_at(err_new(E_VERIFY, "the wheel failed verification"),
			(struct loc){.path = r->wheel});
	}
	struct str gpus = str_join(a, &plan->gpus, S(", ")),
		   took = human_seconds(a, mono_now() - q.began);
	if (q.editable)
		say_installed(a, plan, r, gpus, took);
	else if (r->verdict.fat)
		say_status(S("Built"), "%.*s (%.*s) for %.*s in %.*s", STR(r->wheel),
			STR(human_bytes(a, r->wheel_size)), STR(gpus), STR(took));
	else /* its sources are compiled when they are used, or it has none for GPUs */
		say_status(S("Built"), "%.*s (%.*s) in %.*s", STR(r->wheel),
			STR(human_bytes(a, r->wheel_size)), STR(took));
	if (!o->common.json && !o->common.quiet)
		out_fmt("%.*s\n", STR(q.editable ? r->live : r->wheel));
	return NULL;
}

/* ---- a set ---- */

/* Builds the members in order. One that fails stops those that need it; with --keep-going others are still built. */
static struct err *build_set(struct arena *a, struct build_args *o)
{
	struct build_set set;
	struct strs failed = {0}, reports = {0};
	struct err *first = NULL;
	o->set = true;
	if (o->q.targets.n || o->q.editable)
		return err_new(E_USAGE, "--%s is for a single project, not for a set",
			o->q.editable ? "editable" : "target");
	TRY(set_open(a, &o->project, o->q.dir, o->common.jobs, &set));
	TRY(forecast_check(a, &set.all));
	VEC_EACH (const struct set_member, m, &set.v)
		say_status(S("Planned"), "%.*s %.*s%s", STR(m->name),
			STR(str_replace(a, m->wish.plan.version, S(SDK_ROCM), S(""))),
			m->finished ? ", which was built before" : "");
	if (set.all.known)
		say_status(S("Needs"), "%.*s of disk, %.*s on %.1f cores",
			STR(human_bytes(a, set.all.disk + set.all.sdk)),
			STR(human_seconds(a, set.all.seconds)), set.all.cores);
	VEC_EACH (struct set_member, m, &set.v) {
		struct build_result r = {0};
		struct str *missing = NULL;
		VEC_EACH (struct str, name, &m->after)
			missing = strs_has(&failed, *name) ? name : missing;
		if (missing || (failed.n && !o->q.keep_going)) {
			strs_add(a, &failed, m->name);
			say_status(S("Left out"), "'%.*s'%s%.*s", STR(m->name),
				missing ? ", which needs " : "", STR(missing ? *missing : S("")));
			continue;
		}
		int status = o->common.status;
		o->common.status = 0;
		struct err *e = m->after.n && !fs_writes_forbidden() ? set_renew(a, &set, m) : NULL;
		if (!e)
			e = build_one(a, o, &m->wish, m->dir, &r);
		if (r.report.n)
			strs_add(a, &reports, str_trim(r.report));
		if (e || o->common.status)
			strs_add(a, &failed, m->name);
		o->common.status = status ? status : o->common.status;
		m->wheel = r.wheel;
		first = first ? err_join(first, e) : e;
	}
	if (o->common.json)
		out_fmt("{\"schema\":\"rocsmith.builds/1\",\"failed\":%zu,\"builds\":[%.*s]}\n",
			failed.n, STR(str_join(a, &reports, S(","))));
	const char *more = "the same command goes on: what is finished is not built again";
	if (first)
		return err_hint(first, "%s", more);
	if (failed.n)
		say_hint("%s", more);
	return NULL;
}

struct err *cmd_build(struct arena *a, void *args)
{
	struct build_args *o = args;
	struct plan_wish wish;
	struct build_result r;
	if (o->cache_limit.n &&
		(!str_amount(o->cache_limit, str_sizes, &o->q.cache.limit) || !o->q.cache.limit))
		return err_new(
			E_USAGE, "'%.*s' is no size such as 20G or 500M", STR(o->cache_limit));
	if (set_is(o->project.dir))
		return build_set(a, o);
	TRY(project_plan(a, &o->common, &o->project, &wish));
	return build_one(a, o, &wish, o->q.dir, &r);
}
