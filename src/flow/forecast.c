/* Forecasts what a build will need, and checks that this machine has it; see build.h.
 *
 * The figures come from the project's description, scaled by the number of GPUs, or from the history of compiles (cc/)
 * if this build folder has one. */
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/pool.h"
#include "cc/cc.h"
#include "disk/disk.h"
#include "flow/build.h"
#include "target/target.h"
#include "term/out.h"

struct str build_folder(struct arena *a, struct str project, struct str environment)
{
	struct str both =
		environment.n ? str_fmt(a, "%.*s\n%.*s", STR(project), STR(environment)) : project;
	enum { MAX_NAME = 64 }; /* some tools take no long paths */
	struct str name = path_base(project);
	BUF(plain, a); /* spaces would break hipcc's shell and lists of flags */
	for (size_t i = 0; i < name.n; i++) {
		bool good = ascii_alnum(name.p[i]) || str_chr(S("._-+"), name.p[i]) < 4;
		buf_char(&plain, good ? name.p[i] : '_');
	}
	name = str_fmt(a, "%s/%.*s-%.*s", environment.n ? "editable" : "build",
		STR(str_sub(buf_str(&plain), 0, MAX_NAME)),
		STR(str_sub(sha256_hex(a, both), 0, 12)));
	return fs_place(a, environment.n ? FS_DATA : FS_CACHE, name);
}

struct err *build_folder_take(struct arena *a, struct str dir, struct str project)
{
	enum { MAX_PATH = 1 << 16 };
	struct str path = path_join(a, dir, S("project")), other;
	TRY(fs_place_check(str_starts(dir, fs_place(a, FS_CACHE, S(""))) ? FS_CACHE : FS_DATA));
	TRY(fs_check_way(dir));
	TRY(fs_mkdirs(dir));
	TRY(fs_read_opt(a, path, MAX_PATH, &other));
	if (!other.p)
		return fs_write(path, project, 0644);
	if (str_eq(other, project))
		return NULL;
	return err_hint(err_new(E_USAGE, "'%.*s' is the build folder of another project, '%.*s'",
				STR(dir), STR(other)),
		"if that is of no use any more: rm -r %.*s", STR(str_shell(a, dir)));
}

/* Converts MiB to bytes. Limits n to 2^36, more than any machine has, so that sums cannot overflow. */
static uint64_t mib(uint64_t n)
{
	const uint64_t most = 1ull << 36;
	return (n < most ? n : most) << 20;
}

static uint64_t free_at(struct str path)
{
	uint64_t n, size;
	return fs_free_space(path, &n, &size) ? n : UINT64_MAX;
}

/* Adds the disk space of one file. */
static struct err *add_blocks(void *user, struct fs_entry *e)
{
	*(uint64_t *)user += (uint64_t)e->st.st_blocks * 512;
	return NULL;
}

/* Is an SDK installed with everything that the plan requests? */
static bool sdk_is_complete(const struct plan_wish *wish)
{
	const struct plan *p = &wish->plan;
	bool all = wish->here != NULL;
	for (size_t i = 0; all && i < p->sdk.components.n; i++)
		all = strs_has(&wish->here->requested, p->sdk.components.v[i]);
	for (size_t i = 0; all && wish->here->gpus.n && i < p->gpus.n; i++)
		all = strs_has(&wish->here->gpus, target_read(p->gpus.v[i]).name);
	return all || p->sdk.prefix.n;
}

/* The cores that so many jobs will get: all that the build may use, or its part of them beside what runs now, which the
 * load of the last five minutes tells. */
static double cores_for(unsigned jobs)
{
	double cores = jobs < cpu_count() ? jobs : cpu_count(), loads[2],
	       all = (double)sysconf(_SC_NPROCESSORS_ONLN);
	double load = getloadavg(loads, 2) == 2 ? loads[1] : 0;
	double part = load > 0 ? all * jobs / (jobs + load) : cores;
	return part < cores ? part : cores;
}

void build_forecast(struct arena *a, const struct plan_wish *wish, struct str dir, unsigned jobs,
	struct forecast *ret)
{
	const struct plan *p = &wish->plan;
	const struct plan_cost *c = p->foreign ? &p->foreign->cost : NULL;
	uint64_t used = 0, sdk = 0, there = wish->here ? wish->here->bytes : 0;
	struct cc_follow past;
	struct stat x, y;
	*ret = (struct forecast){
		.dir = dir.n ? path_abs(a, dir) : build_folder(a, p->project, S("")),
		.sdk_dir = fs_place(a, FS_DATA, S("sdk")),
		.jobs = jobs ? jobs : cpu_count()};
	if (!c)
		return;
	/* the history of a complete build replaces the description's figures; a partial one's only raises them */
	bool complete = fs_is_file(path_join(a, ret->dir, S("state/done")));
	cc_follow_start(path_join(a, ret->dir, S("rocm")), path_join(a, ret->dir, S("log")),
		ret->jobs, 0, &past);
	ret->memory = mib(c->memory);
	ret->cpu = (double)c->host_seconds + (double)c->device_seconds * (double)p->gpus.n;
	ret->history = past.left > 0 && complete;
	if (ret->history || past.left_memory > ret->memory)
		ret->memory = past.left_memory;
	if (ret->history || past.left_seconds > ret->cpu)
		ret->cpu = past.left_seconds;
	ret->cores = cores_for(ret->jobs);
	ret->chain = (double)c->chain_seconds < ret->cpu ? (double)c->chain_seconds : ret->cpu;
	ret->seconds = ret->chain + (ret->cpu - ret->chain) / ret->cores;
	ret->known = c->memory || ret->history;
	if (!ret->known)
		return;
	ret->memory_free = machine_memory_free(S(""));
	ret->disk = mib(c->disk) + mib(c->device_disk) * (p->gpus.n < 64 ? p->gpus.n : 64);
	/* the next build overwrites a complete one in place, and an incomplete one has used part of the space already */
	if (complete)
		used = ret->disk;
	else if (fs_is_dir(ret->dir))
		err_free(fs_walk(ret->dir, add_blocks, &used));
	ret->disk -= used < ret->disk ? used : ret->disk;
	sdk = sdk_is_complete(wish) ? 0 : mib(c->sdk_disk);
	ret->sdk = sdk - (there < sdk ? there : sdk);
	ret->disk_free = free_at(ret->dir);
	ret->sdk_free = free_at(ret->sdk_dir);
	ret->one_disk = fs_try_stat(fs_existing(ret->dir), &x) &&
			fs_try_stat(fs_existing(ret->sdk_dir), &y) && x.st_dev == y.st_dev;
}

static struct err *no_room(struct arena *a, struct str dir, uint64_t need, uint64_t have)
{
	struct err *e = err_new(E_NOSPACE, "'%.*s' has %.*s free, and the build needs %.*s",
		STR(fs_existing(dir)), STR(human_bytes(a, have)), STR(human_bytes(a, need)));
	return err_hint(disk_hint(e, dir),
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
			"%.*s of memory is available, and the largest compile needs "
			"%.*s",
			STR(human_memory(a, f->memory_free)), STR(human_memory(a, f->memory))),
		"end other programs, add swap space, or raise the limit of the container");
}
