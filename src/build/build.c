/* The flow: its stages in order, one stopwatch for each, and the record behind them; see build.h */
#include "base/fs.h"
#include "base/pool.h"
#include "build/build_int.h"

#include <string.h>

/* What one clang run may take; measured 0.3-0.6 GiB for a HIP source of ordinary size. */
enum { MEMORY_PER_JOB = 700 << 20 };

struct str build_folder(struct arena *a, struct str project)
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

static struct build begin(struct arena *a, const struct build_request *q, struct build_result *ret)
{
	*ret = (struct build_result){.jobs = choose_jobs(q->jobs)};
	ret->dir = q->dir.n ? path_abs(a, q->dir) : build_folder(a, q->plan->project);
	return (struct build){.a = a,
		.q = q,
		.ret = ret,
		.make = {.a = a,
			.plan = q->plan,
			.sdk = &ret->sdk,
			.dir = ret->dir,
			.jobs = ret->jobs,
			.keep_going = q->keep_going,
			.began = q->began}};
}

/* ---- stages ---- */

static struct err *translate(struct build *b)
{
	TRY(make_open(&b->make));
	return make_translate(&b->make);
}

static struct err *compile(struct build *b)
{
	return make_compile(&b->make);
}

static struct err *verify(struct build *b)
{
	struct verify_options v = {.device_code = true, .jobs = b->ret->jobs};
	TRY(targets_parse(b->a, &b->q->plan->gpus, &v.require));
	TRY_CTX(verify_wheel(b->a, b->ret->wheel, &v, &b->ret->verdict), "cannot verify the wheel");
	b->ret->verified = true;
	return NULL;
}

static struct err *(*const stages[STAGE_COUNT])(struct build *) = {[STAGE_SDK] = build_open_sdk,
	[STAGE_HIPIFY] = translate,
	[STAGE_COMPILE] = compile,
	[STAGE_PACKAGE] = build_pack,
	[STAGE_VERIFY] = verify};

static struct err *all_stages(struct build *b)
{
	struct err *e = NULL;
	for (unsigned i = 0; i < STAGE_COUNT && !e; i++) {
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
	for (size_t i = 0; i < m->set.all.n; i++)
		*VEC_PUSH(b->a, &b->ret->steps) = m->set.all.v[i]->report;
	b->ret->edits = m->edits;
	b->ret->findings = m->findings;
	hipify_tree_free(&m->tree);
}

static const struct err *root_of(const struct err *e)
{
	while (e->cause)
		e = e->cause;
	return e;
}

static bool same_place(const struct err *x, const struct err *y)
{
	x = root_of(x);
	y = root_of(y);
	return x->path && y->path && strcmp(x->path, y->path) == 0 && x->line == y->line &&
	       x->col == y->col;
}

/* The failures behind the first, without what was said before: the same mistake is met once for
 * each GPU. */
static struct err *further(struct err *first, struct err *more)
{
	struct err *list = err_join(first->also, more), *kept = NULL;
	first->also = NULL;
	while (list) {
		struct err *e = list;
		list = e->also;
		e->also = NULL;
		bool known = same_place(first, e);
		for (const struct err *k = kept; k && !known; k = k->also)
			known = same_place(k, e);
		if (known)
			err_free(e);
		else
			kept = err_join(kept, e);
	}
	return kept;
}

/* We clear what lies in a build folder, so it has to be ours: new, empty, or with our lock in it */
static struct err *check_folder(struct arena *a, struct str dir)
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

static struct err *take_folder(struct arena *a, struct str dir, int *ret_lock)
{
	TRY(check_folder(a, dir));
	TRY(fs_mkdirs(dir));
	return fs_lock(path_join(a, dir, S("lock")), false, ret_lock);
}

struct err *build_run(struct arena *a, const struct build_request *q, struct build_result *ret)
{
	struct build b = begin(a, q, ret);
	CLEANUP(fd_closep) int lock = -1;
	ret->started = true;
	struct err *e = take_folder(a, ret->dir, &lock), *lost = NULL;
	if (!e)
		e = all_stages(&b);
	take_results(&b);
	if (!e || e->code != E_CANCELLED)
		ret->record = build_record(a, q, ret, e);
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

void build_preview(struct arena *a, const struct build_request *q, struct build_result *ret)
{
	struct build b = begin(a, q, ret);
	make_jobs(&b.make);
	take_results(&b);
	ret->record = build_record(a, q, ret, NULL);
}
