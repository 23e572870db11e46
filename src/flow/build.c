/* Runs the stages of a build in order, times each, and writes the report; see build.h. */
#include "flow/build.h"

#include <string.h>

#include "base/fs.h"
#include "base/progress.h"
#include "make/make.h"
#include "sdk/shims.h"

/* A build in progress. */
struct build {
	struct arena *a;
	const struct build_request *q;
	struct plan *plan; /* settled without an SDK at first, then with the opened one */
	struct build_result *ret;
	const struct builder *builder;
	struct make make; /* the builder uses either make or foreign */
	struct foreign foreign;
};

/* The builder of one kind of project: its stages, from opening the SDK to verification, and its results. */
struct builder {
	struct err *(*stages[STAGE_COUNT])(struct build *b);
	/* fills in the steps that a dry run lists */
	void (*preview)(struct build *b);
	/* copies the results of the stages into b->ret */
	void (*results)(struct build *b);
};

/* ---- the sdk stage: an installed SDK that can compile for the plan's GPUs ---- */

/* Probes the SDK for each GPU of the plan. If it cannot compile for one, the error lists those it can. */
static struct err *check_targets(struct arena *a, const struct sdk *sdk, const struct strs *gpus)
{
	struct sdk_targets targets = {0}, all = {0};
	struct strs good = {0};
	TRY_CTX(sdk_probe(a, sdk, gpus, &targets), "cannot find out what '%.*s' compiles",
		STR(sdk->name));
	VEC_EACH (const struct sdk_target, bad, &targets.list) {
		if (bad->compiles)
			continue;
		struct err *e = err_wrap(err_new(E_GFX, "%.*s", STR(str_trim(bad->why))),
			"the SDK '%.*s' cannot compile for '%.*s'", STR(sdk->name), STR(bad->name));
		err_free(sdk_probe(a, sdk, NULL, &all));
		VEC_EACH (const struct sdk_target, t, &all.list)
			if (t->compiles)
				strs_add(a, &good, t->name);
		if (!good.n)
			return e;
		return err_hint(e, "it can compile for: %.*s", STR(str_join(a, &good, S(" "))));
	}
	return NULL;
}

/* Finds the SDK's Python headers if the build needs some and this machine has none. */
static struct err *find_python(struct build *b)
{
	struct str dir = path_join(b->a, b->ret->sdk.root, S("usr/include"));
	struct strs names = {0};
	if (!b->plan->needs_python || b->plan->host.python_include.n)
		return NULL;
	if (b->ret->sdk.root.n)
		TRY(fs_list(b->a, dir, &names));
	VEC_EACH (struct str, n, &names) {
		struct str header = str_fmt(b->a, "%.*s/%.*s/Python.h", STR(dir), STR(*n));
		if (str_starts(*n, S("python3.")) && fs_exists(header))
			b->make.sdk_python = str_sub(*n, 6, n->n);
	}
	if (b->make.sdk_python.n)
		return NULL;
	return err_hint(err_new(E_SDK, "neither this machine nor the SDK '%.*s' has Python.h",
				STR(b->ret->sdk.name)),
		"install python3-dev on this machine");
}

static struct err *open_sdk(struct build *b)
{
	struct sdk_spec spec = b->plan->sdk;
	spec.gpus = b->plan->gpus;
	struct err *e = sdk_open(b->a, &spec, &b->ret->sdk);
	if (e && e->code == E_SDK && !b->q->no_install) {
		err_free(e);
		e = sdk_install(b->a, &spec, &b->ret->sdk, NULL);
	}
	TRY(e);
	struct findings findings = b->plan->findings;
	plan_settle(b->a, b->q->wish, &b->ret->sdk, &findings, b->plan);
	TRY(find_python(b));
	return check_targets(b->a, &b->ret->sdk, &b->plan->gpus);
}

/* ---- our own build of .cu sources ---- */

static struct err *translate_sources(struct build *b)
{
	TRY(make_open(&b->make));
	return make_translate(&b->make);
}

static struct err *compile_sources(struct build *b)
{
	return make_compile(&b->make);
}

static struct err *pack_wheel(struct build *b)
{
	return build_pack(&b->make, b->q->out, b->ret);
}

static struct err *verify_the_wheel(struct build *b)
{
	const struct plan_foreign *foreign = b->plan->foreign;
	struct verify_options v = {.device_code = foreign ? foreign->device : !b->plan->no_kernels,
		.jobs = b->ret->jobs};
	if (foreign && !b->plan->host_native) {
		v.sdk = b->ret->sdk.name;
		sdk_library_dirs(b->a, &b->ret->sdk, &v.sdk_dirs);
	}
	if (v.device_code)
		TRY(targets_parse(b->a, &b->plan->gpus, &v.require));
	bool sound = !foreign || findings_worst(&b->foreign.findings) != SEV_ERROR;
	TRY(build_proved(b->a, &v, b->ret));
	if (!sound || !b->ret->proved.verify) {
		b->ret->proved = (struct build_proof){0};
		TRY_CTX(verify_wheel(b->a, b->ret->wheel, &v, &b->ret->verdict),
			"cannot verify the wheel");
		b->ret->verdict.pass &= sound;
	}
	b->ret->verified = true;
	return NULL;
}

static void preview_jobs(struct build *b)
{
	make_jobs(&b->make);
}

static void take_made(struct build *b)
{
	struct make *m = &b->make;
	for (size_t i = 0; i < m->set.all.n; i++)
		*VEC_PUSH(b->a, &b->ret->steps) = m->set.all.v[i]->report;
	b->ret->edits = m->edits;
	b->ret->findings = m->findings;
	b->ret->warnings = m->warnings;
	hipify_tree_free(&m->tree);
}

/* ---- a build by another build system ---- */

static struct err *copy_project(struct build *b)
{
	TRY(foreign_open(&b->foreign));
	return foreign_copy(&b->foreign);
}

static struct err *run_build_system(struct build *b)
{
	return foreign_build(&b->foreign);
}

static struct err *deliver_wheel(struct build *b)
{
	return build_deliver_wheel(&b->foreign, b->q->out, b->ret);
}

static struct err *deliver_tree(struct build *b)
{
	return build_deliver_tree(&b->foreign, b->q->out, b->ret);
}

static struct err *verify_tree(struct build *b)
{
	return build_check_tree(b->a, b->plan, b->ret);
}

static void preview_steps(struct build *b)
{
	foreign_steps(&b->foreign);
}

static void take_foreign(struct build *b)
{
	struct foreign *f = &b->foreign;
	for (size_t i = 0; f->steps[i].kind.n; i++)
		*VEC_PUSH(b->a, &b->ret->steps) = f->steps[i];
	b->ret->findings = f->findings;
	b->ret->foreign = NEW(b->a, struct foreign);
	*b->ret->foreign = *f;
}

/* ---- the builders ---- */

enum builder_kind { BUILDER_OWN, BUILDER_PYTHON, BUILDER_CMAKE };

static const struct builder builders[] = {
	[BUILDER_OWN] = {.stages = {open_sdk, translate_sources, compile_sources, pack_wheel,
				 verify_the_wheel},
		.preview = preview_jobs,
		.results = take_made},
	[BUILDER_PYTHON] = {.stages = {open_sdk, copy_project, run_build_system, deliver_wheel,
				    verify_the_wheel},
		.preview = preview_steps,
		.results = take_foreign},
	[BUILDER_CMAKE] = {.stages = {open_sdk, copy_project, run_build_system, deliver_tree,
				   verify_tree},
		.preview = preview_steps,
		.results = take_foreign},
};

static struct build begin(struct arena *a, const struct build_request *q, struct build_result *ret)
{
	struct plan *plan = NEW(a, struct plan);
	const struct findings none = {0};
	plan_settle(a, q->wish, NULL, &none, plan);
	*ret = (struct build_result){.plan = plan, .jobs = build_jobs(q->jobs, plan->foreign)};
	ret->dir = q->dir.n ? path_abs(a, q->dir) : build_folder(a, plan->project);
	enum builder_kind kind = !plan->foreign                          ? BUILDER_OWN
				 : plan->foreign->system == SOURCE_CMAKE ? BUILDER_CMAKE
									 : BUILDER_PYTHON;
	return (struct build){.a = a,
		.q = q,
		.plan = plan,
		.ret = ret,
		.builder = &builders[kind],
		.make = {.a = a,
			.plan = plan,
			.sdk = &ret->sdk,
			.dir = ret->dir,
			.jobs = ret->jobs,
			.keep_going = q->keep_going,
			.began = q->began},
		.foreign = {.a = a,
			.plan = plan,
			.sdk = &ret->sdk,
			.dir = ret->dir,
			.out = path_abs(a, q->out),
			.jobs = ret->jobs,
			.keep_going = q->keep_going,
			.targets = &q->targets,
			.began = q->began}};
}

static struct err *run_stages(struct build *b)
{
	struct err *e = NULL;
	unsigned end = b->q->targets.n ? STAGE_PACKAGE : STAGE_COUNT;
	if (b->q->targets.n && !b->plan->foreign)
		return err_new(E_USAGE, "'%.*s' is built by rocsmith itself: it has no targets",
			STR(b->plan->name));
	for (unsigned i = 0; i < end && !e; i++) {
		double start = mono_now();
		e = cancel_check();
		if (!e)
			e = b->builder->stages[i](b);
		b->ret->seconds[i] = mono_now() - start;
	}
	return e;
}

/* ---- further failures, with --keep-going ---- */

/* The compiler's message without the name of the file that was being compiled. */
static struct str message_of(const struct err *e)
{
	struct str text = str_from(err_root(e)->msg);
	return str_sub(text, 0, str_find(text, S(" (compiling '")));
}

/* Does an error that is shown already cover this one? Each GPU's compile reports the same mistake again. Errors with
 * the same message at other places become details of the one that is shown, which also takes their hints. */
static bool is_covered(struct err *shown, struct err *e)
{
	ARENA(tmp);
	const struct err *x = err_root(shown), *y = err_root(e);
	if (x->path && y->path && strcmp(x->path, y->path) == 0 && x->line == y->line &&
		x->col == y->col)
		return true;
	if (!shown->path || !e->path || !str_eq(message_of(shown), message_of(e)))
		return false;
	struct str at = str_fmt(&tmp, "also at %s:%u:%u", e->path, e->line, e->col);
	struct str known = str_from(shown->detail);
	if (!str_contains(known, at))
		err_detail(shown,
			str_fmt(&tmp, "%.*s%s%.*s", STR(known), known.n ? "\n" : "", STR(at)));
	struct err_hint **end = &shown->hints;
	while (*end)
		end = &(*end)->next;
	*end = e->hints;
	e->hints = NULL;
	return true;
}

/* The failures after the first, each mistake once. */
static struct err *further_failures(struct err *first, struct err *more)
{
	struct err *list = err_join(first->also, more), *kept = NULL;
	first->also = NULL;
	while (list) {
		struct err *e = list;
		list = e->also;
		e->also = NULL;
		bool known = is_covered(first, e);
		for (struct err *k = kept; k && !known; k = k->also)
			known = is_covered(k, e);
		if (known)
			err_free(e);
		else
			kept = err_join(kept, e);
	}
	return kept;
}

/* ---- before the stages ---- */

/* Marks a build folder, also for backup programs: https://bford.info/cachedir/ */
static const char tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
			  "# A build folder of rocsmith: all in here can be made again.\n";

/* A build removes files in its folder, so the folder must be ours: new, empty, in our cache, or with our tag in it. */
static struct err *check_folder(struct arena *a, struct str dir)
{
	struct strs names;
	struct str text, ours = fs_place(a, FS_CACHE, S("build/"));
	if (str_starts(dir, ours))
		return fs_place_check(FS_CACHE);
	if (!fs_exists(dir))
		return NULL;
	TRY(fs_list(a, dir, &names));
	if (!names.n)
		return NULL;
	CLEANUP(err_freep)
	struct err *no = fs_read(a, path_join(a, dir, S("CACHEDIR.TAG")), sizeof(tag), &text);
	if (!no && str_eq(text, str_from(tag)))
		return NULL;
	struct err *e = err_new(
		E_USAGE, "'%.*s' is neither empty nor a build folder of rocsmith", STR(dir));
	return err_hint(e, "give a new folder with --build-dir, or leave the option out");
}

/* Finds the assumptions of the sources about wave size, and shows the plan before the long work begins. */
static struct err *look_at_sources(struct build *b)
{
	TRY(plan_waves(b->a, b->plan, &b->plan->findings));
	if (b->q->say_plan)
		b->q->say_plan(b->plan);
	return NULL;
}

/* Locks the build folder, and makes the checks that would otherwise fail only after an SDK has been installed. */
static struct err *prepare_build(struct build *b, int *ret_lock)
{
	struct str dir = b->ret->dir;
	struct forecast f;
	struct err *e = b->plan->foreign ? sdk_shims_place(dir) : NULL;
	if (e && !b->q->dir.n)
		err_hint(e, "build folders are below '%.*s': name another one with --build-dir",
			STR(fs_place(b->a, FS_CACHE, S("build"))));
	TRY(e);
	TRY(check_folder(b->a, dir));
	TRY(fs_mkdirs(dir));
	/* written before the lock, so that a second build accepts a folder that has only a lock */
	TRY(fs_write(path_join(b->a, dir, S("CACHEDIR.TAG")), str_from(tag), 0644 | FS_IF_CHANGED));
	TRY(progress_lock(
		path_join(b->a, dir, S("lock")), ret_lock, "builds '%.*s'", STR(b->plan->name)));
	TRY(look_at_sources(b));
	build_forecast(b->a, b->q->wish, dir, b->ret->jobs, &f);
	return forecast_check(b->a, &f);
}

struct err *build_run(struct arena *a, const struct build_request *q, struct build_result *ret)
{
	struct build b = begin(a, q, ret);
	CLEANUP(fd_closep) int lock = -1;
	ret->started = true;
	struct err *e = prepare_build(&b, &lock), *lost = NULL;
	if (!e)
		e = run_stages(&b);
	b.builder->results(&b);
	if (!e || e->code != E_CANCELLED)
		ret->report = build_report(a, b.q, ret, e);
	/* a failure to write the report must not hide the build's own error */
	if (ret->report.n && lock >= 0)
		lost = fs_write(path_join(a, ret->dir, S("build.json")), ret->report, 0644);
	if (!e)
		return lost;
	err_free(lost);
	if (e->code == E_COMPILE || e->code == E_LINK)
		ret->failures = further_failures(e, b.make.failures);
	else
		err_free(b.make.failures);
	return e;
}

struct err *build_preview(struct arena *a, const struct build_request *q, struct build_result *ret)
{
	struct build b = begin(a, q, ret);
	TRY(look_at_sources(&b));
	b.builder->preview(&b);
	b.builder->results(&b);
	ret->report = build_report(a, b.q, ret, NULL);
	return NULL;
}
