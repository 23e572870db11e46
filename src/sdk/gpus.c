/* Of libraries that bring kernels for many GPUs, those for the GPUs that somebody asked for. Nearly all of
 * their size is in two forms. Files with a GPU in their name (rocBLAS's, hipBLASLt's, MIOpen's) are not
 * unpacked. In a shared library the code of other GPUs becomes holes of the file: size and symbols stay, so
 * it links, and runs on the GPUs asked for. Compressed bundles stay whole. See slim/slim.h. */
#include "sdk/provider.h"
#include "slim/slim.h"

struct err *gpus_parse(struct arena *a, const struct strs *words, struct strs *ret)
{
	struct targets targets;
	*ret = (struct strs){0};
	if (!words->n || strs_has(words, S("all")))
		return NULL;
	TRY(targets_parse(a, words, &targets));
	VEC_EACH (const struct target, t, &targets)
		strs_put(a, ret, t->name);
	targets_sort(ret);
	return NULL;
}

bool gpus_cover(const struct strs *have, const struct strs *want)
{
	bool all = !have->n || want->n;
	for (size_t i = 0; have->n && i < want->n; i++)
		all = all && strs_has(have, want->v[i]);
	return all;
}

static struct slim_keep keep_of(struct arena *a, const struct strs *gpus)
{
	struct target *v = arena_array(a, gpus->n + 1, sizeof(*v));
	for (size_t i = 0; i < gpus->n; i++)
		v[i] = target_read(gpus->v[i]);
	return (struct slim_keep){.v = v, .n = gpus->n};
}

bool gpus_want_file(const struct strs *gpus, struct str path)
{
	ARENA(tmp);
	struct slim_keep keep = keep_of(&tmp, gpus);
	return slim_keeps_file(&keep, path);
}

uint64_t gpus_thin(int fd, uint64_t size, const struct strs *gpus)
{
	ARENA(tmp);
	struct slim_keep keep = keep_of(&tmp, gpus);
	struct bytes src = bytes_fd(fd, size);
	struct slim_plan plan;
	struct budget budget;
	uint64_t freed = 0;
	budget_set(&budget, size);
	src.budget = &budget;
	struct err *e = slim_read(&tmp, &src, &keep, &plan);
	if (!e)
		e = slim_punch(&plan, fd, &freed);
	err_free(e); /* what cannot be read stays as it is */
	return freed;
}
