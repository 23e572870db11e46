/* Runs the stages of a build in order, times each, and writes the report; see build.h. */
#include "flow/build.h"

#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/pool.h"
#include "base/progress.h"
#include "disk/disk.h"
#include "make/make.h"
#include "sdk/shims.h"
#include "wheel/wheel.h"

/* A build in progress. */
struct build {
	struct arena *a;
	const struct build_request *q;
	struct plan *plan; /* settled without an SDK at first, then with the opened one */
	struct build_result *ret;
	struct sdk_sysroot sysroot; /* a policy's; root "" = none */
	struct make make;           /* our own build of .cu sources, */
	struct foreign foreign;     /* or that of another build system: plan->foreign */
};

/* ---- the stages ---- */

/* The sdk stage: opens or installs an SDK, finds its Python headers if the build needs some and this machine has none,
 * and probes it for each GPU of the plan. If it cannot compile for one, the error lists those it can. */
static struct err *open_sdk(struct build *b)
{
	struct arena *a = b->a;
	struct sdk *sdk = &b->ret->sdk;
	struct sdk_spec spec = b->plan->sdk;
	struct sdk_targets targets = {0}, all = {0};
	struct strs names = {0}, good = {0};
	spec.gpus = b->plan->gpus;
	struct err *e = sdk_open(a, &spec, sdk);
	if (e && e->code == E_SDK && !b->q->no_install) {
		err_free(e);
		e = sdk_install(a, &spec, sdk, NULL);
	}
	TRY(e);
	struct findings findings = b->plan->findings;
	plan_settle(a, b->q->wish, sdk, &findings, b->plan);
	bool python = b->plan->needs_python && !b->plan->host.python_include.n;
	struct str dir = path_join(a, sdk->root, S("usr/include"));
	if (python && sdk->root.n)
		TRY(fs_list(a, dir, &names));
	VEC_EACH (struct str, n, &names)
		if (str_starts(*n, S("python3.")) &&
			fs_exists(str_fmt(a, "%.*s/%.*s/Python.h", STR(dir), STR(*n))))
			b->make.sdk_python = str_sub(*n, 6, n->n);
	if (python && !b->make.sdk_python.n)
		return err_hint(
			err_new(E_SDK, "neither this machine nor the SDK '%.*s' has Python.h",
				STR(sdk->name)),
			"install python3-dev on this machine");
	TRY_CTX(sdk_probe(a, sdk, &b->plan->gpus, &targets), "cannot find out what '%.*s' compiles",
		STR(sdk->name));
	for (size_t i = 0; i < targets.list.n && !e; i++)
		if (!targets.list.v[i].compiles)
			e = err_wrap(err_new(E_GFX, "%.*s", STR(str_trim(targets.list.v[i].why))),
				"the SDK '%.*s' cannot compile for '%.*s'", STR(sdk->name),
				STR(targets.list.v[i].name));
	if (!e)
		return NULL;
	err_free(sdk_probe(a, sdk, NULL, &all));
	VEC_EACH (const struct sdk_target, t, &all.list)
		if (t->compiles)
			strs_add(a, &good, t->name);
	return good.n ? err_hint(e, "it can compile for: %.*s", STR(str_join(a, &good, S(" "))))
		      : e;
}

/* The rest of the sdk stage: another libc, if a policy is older than this machine's. */
static struct err *open_sysroot(struct build *b)
{
	const struct plan *p = b->plan;
	if (!plan_needs_sysroot(p))
		return NULL;
	b->sysroot = (struct sdk_sysroot){.minor = p->policy,
		.root = p->policy_sysroot,
		.own = path_join(b->a, b->ret->dir, S("policy")),
		.offline = b->q->no_install,
		.minor_of = wheel_version_minor,
		.gcc_dir = p->host.gcc_dir,
		.triplet = p->host.triplet};
	return sysroot_make(b->a, &b->ret->sdk, &b->sysroot);
}

static struct err *verify_the_wheel(struct build *b)
{
	const struct plan_foreign *foreign = b->plan->foreign;
	struct verdict *verdict = &b->ret->verdict;
	/* the verdict on a missing part of another build system is below, by its logs */
	bool device = !foreign || foreign->device;
	struct verify_options v = {.device_code = device,
		.optional = foreign || b->plan->no_kernels,
		.jobs = b->ret->jobs,
		.policy = b->plan->policy};
	if (foreign)
		strs_add_all(b->a, &v.allow, &foreign->allow);
	v.description = foreign != NULL;
	if (foreign && !b->plan->host_native) {
		v.sdk = b->ret->sdk.name;
		sdk_library_dirs(b->a, &b->ret->sdk, &v.sdk_dirs);
	}
	if (v.device_code)
		TRY(targets_parse(b->a, &b->plan->gpus, &v.require));
	bool sound =
		findings_worst(foreign ? &b->foreign.findings : &b->make.findings) != SEV_ERROR;
	TRY(build_proved(b->a, &v, b->ret));
	if (!sound || !b->ret->proved.verify) {
		b->ret->proved = (struct build_proof){0};
		TRY(verify_wheel(b->a, b->ret->wheel, &v, verdict));
		bool none = !verdict->fat && !verdict->archives.n;
		if (none && foreign)
			TRY(foreign_without_kernels(&b->foreign, &verdict->findings));
		else if (none && b->plan->no_kernels)
			progress_note(
				S("Noted"), "no kernels, neither in the wheel nor in its sources");
		verdict->pass = sound && findings_worst(&verdict->findings) != SEV_ERROR;
	}
	b->ret->verified = true;
	return NULL;
}

/* Each stage does its work by our own build of .cu sources (make/), or by another build system (foreign/), whose result
 * is a wheel, or with CMake a tree. */
static struct err *run_stage(struct build *b, enum build_stage stage)
{
	bool own = !b->plan->foreign;
	bool tree = !own && b->plan->foreign->system == SOURCE_CMAKE;
	switch (stage) {
	case STAGE_SDK:
		TRY(open_sdk(b));
		if (own) /* first: what changes while it is read is another one */
			b->make.programs = sdk_programs(b->a, &b->ret->sdk);
		if (own && b->make.cache)
			TRY(sdk_identity(b->a, &b->ret->sdk, &b->make.identity));
		return open_sysroot(b);
	case STAGE_HIPIFY:
		if (b->plan->build_requires.n) {
			struct str site;
			TRY(foreign_requirements(&b->foreign, &site));
			TRY(plan_find_headers(b->a, b->plan, site));
		}
		TRY(own ? make_open(&b->make) : foreign_open(&b->foreign));
		return own ? make_translate(&b->make) : foreign_copy(&b->foreign);
	case STAGE_COMPILE:
		return own ? make_compile(&b->make) : foreign_build(&b->foreign);
	case STAGE_PACKAGE:
		if (own)
			return build_pack(&b->make, b->q->out, b->ret);
		return b->q->editable ? build_deliver_editable(&b->foreign, b->ret)
		       : tree         ? build_deliver_tree(&b->foreign, b->q->out, b->ret)
				      : build_deliver_wheel(&b->foreign, b->q->out, b->ret);
	case STAGE_VERIFY:
	case STAGE_COUNT:
		break;
	}
	if (b->q->editable)
		return build_check_tree(
			&b->foreign, path_join(b->a, b->foreign.dist, S("code")), b->ret);
	return tree ? build_check_tree(&b->foreign, b->ret->wheel, b->ret) : verify_the_wheel(b);
}

/* Copies what the stages left, after a failure too, into b->ret. */
static void take_results(struct build *b)
{
	struct make *m = &b->make;
	struct foreign *f = &b->foreign;
	for (size_t i = 0; i < m->set.all.n; i++)
		*VEC_PUSH(b->a, &b->ret->steps) = m->set.all.v[i]->report;
	for (size_t i = 0; f->steps[i].kind.n; i++)
		*VEC_PUSH(b->a, &b->ret->steps) = f->steps[i];
	b->ret->edits = m->edits;
	b->ret->warnings = m->warnings;
	b->ret->findings = b->plan->foreign ? f->findings : m->findings;
	b->ret->foreign = b->plan->foreign ? f : NULL;
	if (b->ret->foreign)
		build_compiles(b->q, b->ret);
	hipify_tree_free(&m->tree);
}

static struct build *begin(struct arena *a, const struct build_request *q, struct build_result *ret)
{
	struct plan *plan = NEW(a, struct plan);
	struct build *b = NEW(a, struct build);
	const struct findings none = {0};
	plan_settle(a, q->wish, NULL, &none, plan);
	*ret = (struct build_result){.plan = plan, .jobs = q->jobs ? q->jobs : cpu_count()};
	if (q->editable)
		ret->environment = path_dir(path_dir(plan->host.python));
	ret->dir =
		q->dir.n ? path_abs(a, q->dir) : build_folder(a, plan->project, ret->environment);
	ret->live = q->editable ? path_join(a, ret->dir, S("tree")) : S("");
	*b = (struct build){.a = a,
		.q = q,
		.plan = plan,
		.ret = ret,
		.make = {.a = a,
			.plan = plan,
			.sdk = &ret->sdk,
			.sysroot = &b->sysroot,
			.dir = ret->dir,
			.jobs = ret->jobs,
			.keep_going = q->keep_going,
			.share = q->share,
			.began = q->began},
		.foreign = {.a = a,
			.plan = plan,
			.sdk = &ret->sdk,
			.sysroot = &b->sysroot,
			.dir = ret->dir,
			.out = path_abs(a, q->out),
			.jobs = ret->jobs,
			.keep_going = q->keep_going,
			.share = q->share,
			.patches = q->patches,
			.editable = ret->environment,
			.targets = &q->targets,
			.began = q->began}};
	return b;
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

/* A build removes files in its folder, so the folder must be ours: new, empty, in our cache, or with our tag in it. */
static struct err *check_folder(struct arena *a, struct str dir, struct str project)
{
	enum { MAX_TAG = 1024 };
	struct strs names;
	struct str text, real;
	if (str_starts(dir, fs_place(a, FS_CACHE, S("build/"))) ||
		str_starts(dir, fs_place(a, FS_DATA, S("editable/"))))
		return build_folder_take(a, dir, project);
	if (!fs_exists(dir))
		return NULL;
	TRY(fs_list(a, dir, &names));
	if (!names.n)
		return NULL;
	if (fs_real(a, dir, &real))
		TRY(fs_check_own(real));
	CLEANUP(err_freep)
	struct err *no = fs_read(a, path_join(a, dir, S("CACHEDIR.TAG")), MAX_TAG, &text);
	if (!no && str_eq(text, str_from(disk_tag)))
		return NULL;
	struct err *e = err_new(
		E_USAGE, "'%.*s' is neither empty nor a build folder of rocsmith", STR(dir));
	return err_hint(e, "name another folder with --build-dir, or leave the option out");
}

/* Finds what the sources assume about the GPUs, and shows the plan before the long work begins. */
static struct err *look_at_sources(struct build *b)
{
	if (b->plan->foreign) /* a build of our own ends with all of them before its first compile */
		TRY(plan_names(b->a, b->plan, &b->plan->findings));
	TRY(plan_waves(b->a, b->plan, &b->plan->findings));
	TRY(plan_kernels(b->a, b->plan, &b->plan->findings));
	if (b->q->say_plan)
		b->q->say_plan(b->plan);
	if (b->plan->policy && !b->plan->host_native)
		progress_warn("host code is for the SDK's C library: only the wheel will show if "
			      "it fits manylinux_2_%u",
			b->plan->policy);
	return NULL;
}

static struct err *check_request(struct build *b)
{
	const struct build_request *q = b->q;
	const struct plan_foreign *f = b->plan->foreign;
	struct str name = b->plan->name, env = b->ret->environment;
	if (q->patches.n && !f)
		return err_new(E_USAGE,
			"'%.*s' is built by rocsmith itself, which takes no queue of patches",
			STR(name));
	if (q->targets.n && !f)
		return err_hint(
			err_new(E_USAGE, "'%.*s' is built by rocsmith itself: it has no targets",
				STR(name)),
			"--target is for CMake projects, and for PyTorch");
	if (!q->editable)
		return NULL;
	if (!f || f->system != SOURCE_PYTHON)
		return err_hint(
			err_new(E_USAGE, "'%.*s' is built by %s: it has no editable installs",
				STR(name), f ? "CMake" : "rocsmith itself"),
			"--editable is for projects with setup.py or pyproject.toml; without it, "
			"too, only what changed is compiled");
	if (q->targets.n)
		return err_new(E_USAGE, "--target builds parts, and --editable the whole");
	if (fs_exists(path_join(b->a, env, S("pyvenv.cfg"))) ||
		fs_exists(path_join(b->a, env, S("conda-meta"))))
		return NULL;
	return err_hint(err_new(E_USAGE,
				"'%.*s' is the Python of no virtual environment, and --editable "
				"changes no other",
				STR(b->plan->host.python)),
		"make one: python3 -m venv .venv; then add --python .venv");
}

/* Locks the build folder, and makes the checks that would otherwise fail only after an SDK has been installed. */
static struct err *prepare_build(struct build *b, int *ret_lock)
{
	struct str dir = b->ret->dir;
	struct forecast f;
	TRY(check_request(b));
	struct str at = fs_existing(path_abs(b->a, b->q->out));
	if (!b->q->editable && !b->q->targets.n && !fs_access(at, W_OK))
		return err_errno("nothing can be built into '%.*s': '%.*s' is not writable",
			STR(b->q->out), STR(at));
	struct err *e = b->plan->foreign ? sdk_shims_place(dir) : NULL;
	if (e && !b->q->dir.n)
		err_hint(e, "build folders are below '%.*s': name another one with --build-dir",
			STR(fs_place(b->a, FS_CACHE, S("build"))));
	TRY(e);
	TRY(check_folder(b->a, dir, b->plan->project));
	TRY(fs_mkdirs(dir));
	/* written before the lock, so that a second build accepts a folder that has only a lock */
	TRY(fs_write(
		path_join(b->a, dir, S("CACHEDIR.TAG")), str_from(disk_tag), 0644 | FS_IF_CHANGED));
	disk_note(dir);
	TRY(progress_lock(
		path_join(b->a, dir, S("lock")), ret_lock, "builds '%.*s'", STR(b->plan->name)));
	TRY(look_at_sources(b));
	build_forecast(b->a, b->q->wish, dir, b->ret->jobs, &f);
	return forecast_check(b->a, &f);
}

/* The one of two folders whose disk has less space left. */
static struct str fullest(struct str one, struct str other)
{
	uint64_t free_one, free_other, size;
	bool known = fs_free_space(one, &free_one, &size) && other.n &&
		     fs_free_space(other, &free_other, &size);
	return known && free_other < free_one ? other : one;
}

struct err *build_run(struct arena *a, const struct build_request *q, struct build_result *ret)
{
	struct build *b = begin(a, q, ret);
	CLEANUP(fd_closep) int lock = -1;
	CLEANUP(cache_closep) struct cache *cache = NULL;
	ret->started = true;
	struct err *e = prepare_build(b, &lock), *lost = NULL;
	if (!e)
		e = cache_open(&q->cache, &cache);
	b->make.cache = b->foreign.cache = cache;
	unsigned end = q->targets.n ? STAGE_PACKAGE : STAGE_COUNT;
	for (unsigned i = 0; i < end && !e; i++) {
		double start = mono_now();
		e = cancel_check();
		if (!e)
			e = run_stage(b, i);
		ret->seconds[i] = mono_now() - start;
	}
	take_results(b);
	if (ret->wheel.n && fs_is_file(ret->wheel))
		disk_note(ret->wheel);
	if (e && e->code == E_NOSPACE)
		disk_hint(e, fullest(ret->dir, q->out));
	if (!e || e->code != E_CANCELLED)
		ret->report = build_report(a, q, ret, e);
	/* a failure to write the report must not hide the build's own error */
	if (ret->report.n && lock >= 0)
		lost = fs_write(path_join(a, ret->dir, S("build.json")), ret->report, 0644);
	if (!e)
		return lost;
	err_free(lost);
	if (e->code == E_COMPILE || e->code == E_LINK)
		ret->failures = further_failures(e, b->make.failures);
	else
		err_free(b->make.failures);
	return e;
}

struct err *build_preview(struct arena *a, const struct build_request *q, struct build_result *ret)
{
	struct build *b = begin(a, q, ret);
	TRY(check_request(b));
	TRY(look_at_sources(b));
	if (b->plan->foreign)
		foreign_steps(&b->foreign);
	else
		make_jobs(&b->make);
	take_results(b);
	ret->report = build_report(a, q, ret, NULL);
	return NULL;
}
