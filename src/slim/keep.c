/* Which device code stays: of targets, and of the files beside libraries that name one; see slim.h. */
#include <string.h>

#include "slim/slim.h"

static bool same(const struct target *x, const struct target *y)
{
	return x->gpu == y->gpu && x->xnack == y->xnack && x->sramecc == y->sramecc;
}

/* A generic target's kernels run on what it covers, and who asks for one runs on all of these. */
static bool serves(const struct target *have, const struct target *want)
{
	return target_covers(have, want) || target_covers(want, have);
}

bool slim_keeps(const struct slim_keep *k, struct str target)
{
	struct target have = target_read(target);
	bool keep = !have.gpu || !k->n;
	for (size_t i = 0; i < k->n && !keep; i++)
		keep = k->exact ? same(&have, &k->v[i]) : serves(&have, &k->v[i]);
	return keep;
}

/* A name without features stands for all of its variants. */
static bool keeps_gpu(const struct slim_keep *k, const struct gpu *gpu)
{
	struct target have = target_read(str_from(gpu->name));
	for (size_t i = 0; i < k->n; i++)
		if (gpu == k->v[i].gpu || (!k->exact && serves(&have, &k->v[i])))
			return true;
	return !k->n;
}

bool slim_keeps_file(const struct slim_keep *k, struct str path)
{
	static const char *const ends[] = {".dat", ".co", ".hsaco", ".aks2", ".kdb", ".db",
		".db.txt", ".fdb.txt", ".model", ".a", "/TensileManifest.txt", NULL};
	struct target_word w;
	bool side = false, others = false;
	for (size_t i = 0; ends[i]; i++)
		side = side || str_ends(path, str_from(ends[i]));
	while (side && target_word(&path, &w)) {
		for (size_t i = 0; i < gpu_count; i++)
			if (target_word_is(&w, &gpu_table[i]) && keeps_gpu(k, &gpu_table[i]))
				return true;
		others = true;
	}
	return !others;
}
