/* The whole build: SDK, translation, steps, wheel; see make.h. */
#include "base/fs.h"
#include "base/pool.h"
#include "base/progress.h"
#include "formats/node.h"
#include "make/build.h"

const char *const make_stage_names[STAGE_COUNT] = {[STAGE_SDK] = "sdk",
	[STAGE_HIPIFY] = "hipify",
	[STAGE_COMPILE] = "compile",
	[STAGE_PACKAGE] = "package",
	[STAGE_VERIFY] = "verify"};

/* What one clang run may take; measured 0.3-0.6 GiB for a HIP source of ordinary size. */
enum { MEMORY_PER_JOB = 700 << 20 };

struct str make_build_dir(struct arena *a, struct str project)
{
	struct digest d = hash_bytes(HASH_SHA256, project.p, project.n);
	struct str name = str_fmt(a, "build/%.*s-%.*s", STR(path_base(project)),
		STR(str_sub(digest_hex(a, &d), 0, 12)));
	return fs_place(a, FS_CACHE, name);
}

/* MemAvailable of /proc/meminfo in bytes, 0 = unknown. */
static uint64_t memory_available(void)
{
	ARENA(tmp);
	struct str text, line, key, value;
	uint64_t kib = 0;
	struct err *e = fs_read(&tmp, S("/proc/meminfo"), 1 << 20, &text);
	if (e) {
		err_free(e);
		return 0;
	}
	while (str_next(&text, '\n', &line)) {
		str_cut(line, ':', &key, &value);
		str_cut(str_trim(value), ' ', &value, &line);
		if (str_eq(key, S("MemAvailable")) && str_u64(value, 10, &kib))
			return kib * 1024;
	}
	return 0;
}

static unsigned choose_jobs(unsigned asked)
{
	if (asked)
		return asked;
	unsigned cpus = cpu_count();
	uint64_t fit = memory_available() / MEMORY_PER_JOB;
	if (!fit)
		fit = 1;
	return fit < cpus ? (unsigned)fit : cpus;
}

static struct err *open_sdk(struct build *b)
{
	const struct plan *p = b->plan;
	struct sdk_spec spec = {.provider = p->sdk_provider,
		.suite = p->sdk_suite,
		.components = p->sdk_components,
		.mirror = p->sdk_mirror,
		.prefix = p->sdk_prefix};
	struct err *e = sdk_open(b->a, &spec, &b->ret->sdk);
	if (!e || e->code != E_SDK || !str_eq(p->sdk_provider, S("debian")))
		return e;
	if (b->o->no_install)
		return e; /* with a hint that names the command */
	err_free(e);
	return sdk_install(b->a, &spec, &b->ret->sdk);
}

/* Targets that the SDK can compile, of all that are current: for the message. */
static struct str can_compile(struct arena *a, const struct sdk *sdk)
{
	struct strs all = {0}, good = {0};
	for (size_t i = 0; i < gpu_count; i++)
		if (!gpu_table[i].removed)
			strs_add(a, &all, str_from(gpu_table[i].name));
	bool *ok = arena_array(a, all.n, sizeof(*ok));
	struct str *why = arena_array(a, all.n, sizeof(*why));
	struct err *e = sdk_probe(a, sdk, &all, ok, why);
	if (e) {
		err_free(e);
		return S("");
	}
	for (size_t i = 0; i < all.n; i++)
		if (ok[i])
			strs_add(a, &good, all.v[i]);
	return str_join(a, &good, S(" "));
}

static struct err *check_targets(struct build *b)
{
	const struct strs *gpus = &b->plan->gpus;
	bool *ok = arena_array(b->a, gpus->n, sizeof(*ok));
	struct str *why = arena_array(b->a, gpus->n, sizeof(*why));
	TRY_CTX(sdk_probe(b->a, &b->ret->sdk, gpus, ok, why),
		"cannot find out what '%.*s' compiles", STR(b->ret->sdk.name));
	for (size_t i = 0; i < gpus->n; i++) {
		if (ok[i])
			continue;
		struct err *e = err_wrap(err_new(E_GFX, "%.*s", STR(str_trim(why[i]))),
			"the SDK '%.*s' cannot compile for '%.*s'", STR(b->ret->sdk.name),
			STR(gpus->v[i]));
		struct str good = can_compile(b->a, &b->ret->sdk);
		return good.n ? err_hint(e, "it can compile for: %.*s", STR(good)) : e;
	}
	return NULL;
}

/* Debian's pyconfig.h lies apart: /usr/include/TRIPLET/python3.11 beside /usr/include/python3.11.
 */
static void bind_python(struct build *b)
{
	const struct host *h = &b->plan->host;
	struct str dir = h->python_include;
	if (!b->plan->needs_python || !dir.n || b->plan->host_native || !b->ret->sdk.sandbox)
		return;
	*VEC_PUSH(b->a, &b->binds) =
		(struct sdk_bind){.path = dir, .at = S(PYTHON_ROOT "/include")};
	struct str inner = str_fmt(b->a, "%.*s/%.*s", STR(h->triplet), STR(path_base(dir)));
	struct str arch = path_join(b->a, path_dir(dir), inner);
	if (h->triplet.n && fs_is_dir(arch))
		*VEC_PUSH(b->a, &b->binds) = (struct sdk_bind){
			.path = arch, .at = str_fmt(b->a, PYTHON_ROOT "/arch/%.*s", STR(inner))};
}

static struct err *make_folders(struct build *b)
{
	const struct {
		const char *name;
		struct str *path;
	} dirs[] = {{.name = "hip", .path = &b->hip}, {.name = "obj", .path = &b->obj},
		{.name = "mod", .path = &b->mod}, {.name = "log", .path = &b->log},
		{.name = "stamp", .path = &b->stamp}, {.name = "tmp", .path = &b->tmp}};
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		*dirs[i].path = path_join(b->a, b->ret->dir, str_from(dirs[i].name));
		if (dirs[i].path == &b->tmp)
			TRY(fs_remove_tree(b->tmp));
		TRY(fs_mkdirs(*dirs[i].path));
	}
	*VEC_PUSH(b->a, &b->binds) = (struct sdk_bind){.path = b->plan->project};
	*VEC_PUSH(b->a, &b->binds) = (struct sdk_bind){.path = b->ret->dir, .writable = true};
	bind_python(b);
	return NULL;
}

static void take_reports(struct build *b)
{
	for (size_t i = 0; i < b->nsteps; i++)
		*VEC_PUSH(b->a, &b->ret->steps) = b->steps[i].report;
}

static struct err *compile(struct build *b)
{
	steps_make(b);
	size_t n = b->plan->sources.n;
	struct str what = str_fmt(b->a, "%zu source%s for %.*s", n, n == 1 ? "" : "s",
		STR(str_join(b->a, &b->plan->gpus, S(", "))));
	b->progress = progress_begin(S("Compiling"), what, UNIT_ITEMS, b->nsteps);
	struct err **more = b->o->keep_going ? &b->ret->failures : NULL;
	struct err *e = graph_run(b->a, &b->graph, b->ret->jobs, b->o->keep_going, more);
	progress_end(b->progress);
	take_reports(b);
	return e;
}

static struct err *stage(struct build *b, enum make_stage which, struct err *(*run)(struct build *))
{
	double start = mono_now();
	struct err *e = cancel_check();
	if (!e)
		e = run(b);
	b->ret->seconds[which] = mono_now() - start;
	return e;
}

/* The version of the SDK's Python headers, when the build needs them. */
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
			b->sdk_python = str_sub(*n, 6, n->n);
	}
	if (b->sdk_python.n)
		return NULL;
	return err_hint(err_new(E_SDK, "neither this machine nor the SDK '%.*s' has Python.h",
				STR(b->ret->sdk.name)),
		"install python3-dev on this machine");
}

static struct err *sdk_stage(struct build *b)
{
	TRY(open_sdk(b));
	TRY(find_python(b));
	return check_targets(b);
}

static struct err *all_stages(struct build *b)
{
	TRY(stage(b, STAGE_SDK, sdk_stage));
	TRY(make_folders(b));
	TRY(stage(b, STAGE_HIPIFY, translate));
	TRY(stage(b, STAGE_COMPILE, compile));
	return stage(b, STAGE_PACKAGE, pack_wheel);
}

static void start(struct build *b)
{
	const struct make_options *o = b->o;
	*b->ret = (struct make_result){.jobs = choose_jobs(o->jobs)};
	b->ret->dir = o->dir.n ? path_abs(b->a, o->dir) : make_build_dir(b->a, b->plan->project);
}

/* We clear what lies in a build folder, so it has to be ours: new, empty, or with our lock in it.
 */
static struct err *check_ours(struct arena *a, struct str dir)
{
	struct strs names;
	if (!fs_exists(dir) || fs_exists(path_join(a, dir, S("lock"))) ||
		fs_exists(path_join(a, dir, S("build.json"))))
		return NULL;
	TRY(fs_list(a, dir, &names));
	if (!names.n)
		return NULL;
	struct err *e =
		err_new(E_USAGE, "'%.*s' is not empty and no build folder of rocsmith", STR(dir));
	return err_hint(e, "give a new folder with --build-dir, or leave the option out");
}

struct err *make_wheel(struct arena *a, const struct plan *p, const struct make_options *o,
	struct make_result *ret)
{
	struct build b = {.a = a, .plan = p, .o = o, .ret = ret};
	CLEANUP(fd_closep) int lock = -1;
	start(&b);
	TRY(check_ours(a, ret->dir));
	TRY(fs_mkdirs(ret->dir));
	TRY(fs_lock(path_join(a, ret->dir, S("lock")), false, &lock));
	CLEANUP(stamps_freep) struct stamps *stamps = stamps_new();
	b.stamps = stamps;
	struct err *e = all_stages(&b);
	hipify_tree_free(&b.tree);
	return e;
}

void make_steps(struct arena *a, const struct plan *p, struct make_result *ret)
{
	struct make_options o = {0};
	struct build b = {.a = a, .plan = p, .o = &o, .ret = ret};
	start(&b);
	steps_make(&b);
	take_reports(&b);
}
