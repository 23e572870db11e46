/* The flow: its stages in order, one stopwatch for each, and the record behind them; see build.h */
#include "flow/build.h"
#include "base/fs.h"
#include "base/progress.h"
#include "make/make.h"
#include "sdk/shims.h"

#include <string.h>

/* A build in progress. */
struct build {
	struct arena *a;
	const struct build_request *q;
	struct plan *plan; /* ours: what only the SDK knows is put in */
	struct build_result *ret;
	struct make make;       /* our own build, */
	struct foreign foreign; /* or another build system's */
};

static struct build begin(
	struct arena *a, const struct build_request *given, struct build_result *ret)
{
	struct build_request *q = NEW(a, struct build_request);
	struct plan *plan = NEW(a, struct plan);
	*plan = *given->plan;
	*q = *given;
	q->plan = plan;
	*ret = (struct build_result){.jobs = build_jobs(q->jobs, q->plan->foreign)};
	ret->dir = q->dir.n ? path_abs(a, q->dir) : build_folder(a, q->plan->project);
	return (struct build){.a = a,
		.q = q,
		.plan = plan,
		.ret = ret,
		.make = {.a = a,
			.plan = q->plan,
			.sdk = &ret->sdk,
			.dir = ret->dir,
			.jobs = ret->jobs,
			.keep_going = q->keep_going,
			.began = q->began},
		.foreign = {.a = a,
			.plan = q->plan,
			.sdk = &ret->sdk,
			.dir = ret->dir,
			.out = path_abs(a, q->out),
			.jobs = ret->jobs,
			.keep_going = q->keep_going,
			.targets = &q->targets,
			.began = q->began}};
}

/* ---- the stage sdk: one that is there and can do what the plan asks for ---- */

static struct err *open_or_install(struct build *b)
{
	struct sdk_spec spec = b->q->plan->sdk;
	spec.gpus = b->q->plan->gpus;
	struct err *e = sdk_open(b->a, &spec, &b->ret->sdk);
	if (!e || e->code != E_SDK || b->q->no_install)
		return e; /* with a hint that names the command */
	err_free(e);
	return sdk_install(b->a, &spec, &b->ret->sdk, NULL);
}

/* The version of the SDK's Python headers, when the build needs them. */
static struct err *find_python(struct build *b)
{
	const struct plan *p = b->q->plan;
	struct str dir = path_join(b->a, b->ret->sdk.root, S("usr/include"));
	struct strs names = {0};
	if (!p->needs_python || p->host.python_include.n)
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

static struct err *open_sdk(struct build *b)
{
	TRY(open_or_install(b));
	plan_settle(b->a, &b->ret->sdk, b->plan);
	TRY(find_python(b));
	return check_targets(b->a, &b->ret->sdk, &b->q->plan->gpus);
}

/* ---- the other stages ---- */

static struct err *translate(struct build *b)
{
	TRY(make_open(&b->make));
	return make_translate(&b->make);
}

static struct err *compile(struct build *b)
{
	return make_compile(&b->make);
}

static struct err *package(struct build *b)
{
	return build_pack(&b->make, b->q->out, b->ret);
}

static struct err *verify(struct build *b)
{
	const struct plan_foreign *foreign = b->q->plan->foreign;
	struct verify_options v = {
		.device_code = foreign ? foreign->device : !b->q->plan->no_kernels,
		.jobs = b->ret->jobs};
	if (foreign && !b->q->plan->host_native) {
		v.sdk = b->ret->sdk.name;
		sdk_library_dirs(b->a, &b->ret->sdk, &v.sdk_dirs);
	}
	if (v.device_code)
		TRY(targets_parse(b->a, &b->q->plan->gpus, &v.require));
	bool sound = !foreign || findings_worst(&b->foreign.findings) != SEV_ERROR;
	TRY(build_proved(b->a, b->q, &v, b->ret));
	if (!sound || !b->ret->proved.n) {
		b->ret->proved = S("");
		TRY_CTX(verify_wheel(b->a, b->ret->wheel, &v, &b->ret->verdict),
			"cannot verify the wheel");
		b->ret->verdict.pass &= sound;
	}
	b->ret->verified = true;
	return NULL;
}

static struct err *copy(struct build *b)
{
	TRY(foreign_open(&b->foreign));
	return foreign_copy(&b->foreign);
}

static struct err *build(struct build *b)
{
	return foreign_build(&b->foreign);
}

static struct err *deliver(struct build *b)
{
	return build_deliver(&b->foreign, b->q->out, b->ret);
}

static struct err *verify_foreign(struct build *b)
{
	if (b->q->plan->foreign->system != SOURCE_CMAKE)
		return verify(b);
	return build_check_tree(b->a, b->q->plan, b->ret);
}

typedef struct err *stage_fn(struct build *);

static stage_fn *const our_stages[STAGE_COUNT] = {[STAGE_SDK] = open_sdk,
	[STAGE_HIPIFY] = translate,
	[STAGE_COMPILE] = compile,
	[STAGE_PACKAGE] = package,
	[STAGE_VERIFY] = verify};
static stage_fn *const foreign_stages[STAGE_COUNT] = {[STAGE_SDK] = open_sdk,
	[STAGE_HIPIFY] = copy,
	[STAGE_COMPILE] = build,
	[STAGE_PACKAGE] = deliver,
	[STAGE_VERIFY] = verify_foreign};

static struct err *all_stages(struct build *b)
{
	struct err *e = NULL;
	stage_fn *const *stages = b->q->plan->foreign ? foreign_stages : our_stages;
	unsigned end = b->q->targets.n ? STAGE_PACKAGE : STAGE_COUNT;
	if (b->q->targets.n && !b->q->plan->foreign)
		return err_new(E_USAGE, "'%.*s' is built by rocsmith itself: it has no targets",
			STR(b->q->plan->name));
	for (unsigned i = 0; i < end && !e; i++) {
		double start = mono_now();
		e = cancel_check();
		if (!e)
			e = stages[i](b);
		b->ret->seconds[i] = mono_now() - start;
	}
	return e;
}

/* ---- what came of it ---- */

static void take_results(struct build *b)
{
	struct make *m = &b->make;
	struct foreign *f = &b->foreign;
	if (b->q->plan->foreign) {
		for (size_t i = 0; f->steps[i].kind.n; i++)
			*VEC_PUSH(b->a, &b->ret->steps) = f->steps[i];
		b->ret->findings = f->findings;
		b->ret->foreign = NEW(b->a, struct foreign);
		*b->ret->foreign = *f;
		return;
	}
	for (size_t i = 0; i < m->set.all.n; i++)
		*VEC_PUSH(b->a, &b->ret->steps) = m->set.all.v[i]->report;
	b->ret->edits = m->edits;
	b->ret->findings = m->findings;
	b->ret->warnings = m->warnings;
	hipify_tree_free(&m->tree);
}

static bool same_place(const struct err *x, const struct err *y)
{
	x = err_root(x);
	y = err_root(y);
	return x->path && y->path && strcmp(x->path, y->path) == 0 && x->line == y->line &&
	       x->col == y->col;
}

/* What the compiler said, without what it was compiling. */
static struct str said(const struct err *e)
{
	struct str text = str_from(err_root(e)->msg);
	return str_sub(text, 0, str_find(text, S(" (compiling '")));
}

/* Is it told by an error that is shown already? The same mistake is met once for each GPU; of the same
 * one at other places these are added, and the hints. */
static bool is_told(struct err *told, struct err *e)
{
	ARENA(tmp);
	if (same_place(told, e))
		return true;
	if (!told->path || !e->path || !str_eq(said(told), said(e)))
		return false;
	struct str at = str_fmt(&tmp, "also at %s:%u:%u", e->path, e->line, e->col);
	struct str known = str_from(told->detail);
	if (!str_contains(known, at))
		err_detail(told,
			str_fmt(&tmp, "%.*s%s%.*s", STR(known), known.n ? "\n" : "", STR(at)));
	struct err_hint **end = &told->hints;
	while (*end)
		end = &(*end)->next;
	*end = e->hints;
	e->hints = NULL;
	return true;
}

/* The failures behind the first, each mistake once. */
static struct err *further(struct err *first, struct err *more)
{
	struct err *list = err_join(first->also, more), *kept = NULL;
	first->also = NULL;
	while (list) {
		struct err *e = list;
		list = e->also;
		e->also = NULL;
		bool known = is_told(first, e);
		for (struct err *k = kept; k && !known; k = k->also)
			known = is_told(k, e);
		if (known)
			err_free(e);
		else
			kept = err_join(kept, e);
	}
	return kept;
}

/* What marks a build folder, for programs that save or count files, too:
 * https://bford.info/cachedir/ */
static const char tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
			  "# A build folder of rocsmith: all in here can be made again.\n";

/* We clear what lies in a build folder, so it has to be ours: new, empty, where we have them, or with
 * our mark in it. */
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

static struct err *take_folder(const struct build *b, int *ret_lock)
{
	struct str dir = b->ret->dir;
	TRY(check_folder(b->a, dir));
	TRY(fs_mkdirs(dir));
	/* first, so that a second build knows a folder with nothing but a lock in it */
	TRY(fs_write_if_changed(path_join(b->a, dir, S("CACHEDIR.TAG")), str_from(tag), 0644));
	return progress_lock(
		path_join(b->a, dir, S("lock")), ret_lock, "builds '%.*s'", STR(b->plan->name));
}

static struct err *check_room(const struct build *b)
{
	struct forecast f;
	build_forecast(b->a, b->q->plan, b->ret->dir, b->ret->jobs, &f);
	return forecast_check(b->a, &f);
}

/* Better now than when the SDK is installed. */
static struct err *check_place(struct arena *a, const struct build_request *q, struct str dir)
{
	struct err *e = q->plan->foreign ? sdk_shims_place(dir) : NULL;
	if (!e || q->dir.n)
		return e;
	return err_hint(e, "build folders are below '%.*s': name another one with --build-dir",
		STR(fs_place(a, FS_CACHE, S("build"))));
}

/* What the sources assume is said before the long work. */
static struct err *look(struct build *b, bool keep)
{
	TRY(plan_waves(b->a, b->plan, b->ret->dir, keep));
	if (b->q->say_plan)
		b->q->say_plan(b->plan);
	return NULL;
}

struct err *build_run(struct arena *a, const struct build_request *q, struct build_result *ret)
{
	struct build b = begin(a, q, ret);
	CLEANUP(fd_closep) int lock = -1;
	ret->started = true;
	struct err *e = check_place(a, q, ret->dir), *lost = NULL;
	if (!e)
		e = take_folder(&b, &lock);
	if (!e)
		e = look(&b, true);
	if (!e)
		e = check_room(&b);
	if (!e)
		e = all_stages(&b);
	take_results(&b);
	if (!e || e->code != E_CANCELLED)
		ret->record = build_record(a, b.q, ret, e);
	/* That it cannot be written never hides what became of the build. */
	if (ret->record.n && lock >= 0)
		lost = fs_write(path_join(a, ret->dir, S("build.json")), ret->record, 0644);
	if (!e)
		return lost;
	err_free(lost);
	if (e->code == E_COMPILE || e->code == E_LINK)
		ret->failures = further(e, b.make.failures);
	else
		err_free(b.make.failures);
	return e;
}

struct err *build_preview(struct arena *a, const struct build_request *q, struct build_result *ret)
{
	struct build b = begin(a, q, ret);
	TRY(look(&b, false));
	if (q->plan->foreign)
		foreign_steps(&b.foreign);
	else
		make_jobs(&b.make);
	take_results(&b);
	ret->record = build_record(a, b.q, ret, NULL);
	return NULL;
}
