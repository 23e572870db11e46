/* What a build will need, and whether this machine has it; see build.h.
 *
 * The figures are those of the project's description, scaled by the number of GPUs, and better ones
 * where this build folder has a history of compiles (cc/). */
#include "base/fs.h"
#include "base/pool.h"
#include "build/build.h"
#include "cc/cc.h"
#include "term/out.h"

/* Bytes; of what no machine has, a number that can still be added to. */
static uint64_t mib(uint64_t n)
{
	const uint64_t most = 1ull << 36;
	return (n < most ? n : most) << 20;
}

/* The folder that will hold it, as far as there is one. */
static struct str existing(struct str path)
{
	while (path.n > 1 && !fs_exists(path))
		path = path_dir(path);
	return path;
}

static bool same_disk(struct str a, struct str b)
{
	struct stat x, y;
	return fs_try_stat(existing(a), &x) && fs_try_stat(existing(b), &y) && x.st_dev == y.st_dev;
}

static uint64_t free_at(struct str path)
{
	uint64_t n;
	return fs_free_space(existing(path), &n) ? n : UINT64_MAX;
}

static void forecast_time(const struct plan_cost *c, const struct plan *p, struct forecast *f)
{
	struct cc_follow past;
	ARENA(tmp);
	cc_follow_start(path_join(&tmp, f->dir, S("rocm")), path_join(&tmp, f->dir, S("log")),
		f->jobs, &past);
	f->history = past.left > 0;
	f->cpu = f->history
			 ? past.left_seconds
			 : (double)c->host_seconds + (double)c->device_seconds * (double)p->gpus.n;
	f->seconds = f->cpu / f->jobs;
}

void build_forecast(
	struct arena *a, const struct plan *p, struct str dir, unsigned jobs, struct forecast *ret)
{
	const struct plan_cost *c = p->foreign ? &p->foreign->cost : NULL;
	struct sdk sdk;
	*ret = (struct forecast){.dir = dir.n ? path_abs(a, dir) : build_folder(a, p->project),
		.sdk_dir = fs_place(a, FS_DATA, S("sdk")),
		.jobs = build_jobs(jobs, p->foreign)};
	if (!c || !c->memory)
		return;
	ret->known = true;
	forecast_time(c, p, ret);
	ret->memory = mib(c->memory);
	ret->memory_free = machine_memory_free(S(""));
	if (!fs_is_dir(path_join(a, ret->dir, S("tree")))) /* else it goes on there */
		ret->disk = mib(c->disk) + mib(c->device_disk) * (p->gpus.n < 64 ? p->gpus.n : 64);
	struct err *e = p->sdk.prefix.n ? NULL : sdk_open(a, &p->sdk, &sdk);
	ret->sdk = e ? mib(c->sdk_disk) : 0;
	err_free(e);
	ret->disk_free = free_at(ret->dir);
	ret->sdk_free = free_at(ret->sdk_dir);
	ret->one_disk = same_disk(ret->dir, ret->sdk_dir);
}

static struct err *no_room(struct arena *a, struct str dir, uint64_t need, uint64_t have)
{
	return err_hint(
		err_new(E_NOSPACE, "'%.*s' has %.*s free, and the build needs %.*s",
			STR(existing(dir)), STR(human_bytes(a, have)), STR(human_bytes(a, need))),
		"name a folder on another disk with --build-dir, or free some space");
}

struct err *forecast_check(struct arena *a, const struct forecast *f)
{
	uint64_t disk = f->disk + (f->one_disk ? f->sdk : 0);
	if (!f->known)
		return NULL;
	if (disk > f->disk_free)
		return no_room(a, f->dir, disk, f->disk_free);
	if (f->sdk > f->sdk_free)
		return no_room(a, f->sdk_dir, f->sdk, f->sdk_free);
	if (!f->memory_free || f->memory <= f->memory_free)
		return NULL;
	return err_hint(
		err_new(E_NOMEMORY,
			"there are %.*s of memory to be had, and the largest compile needs "
			"%.*s",
			STR(human_bytes(a, f->memory_free)), STR(human_bytes(a, f->memory))),
		"end other programs, add swap space, or raise the limit of the container");
}
